// How plans are rewritten (rewrite.h).
#pragma once

namespace sonde::sql {

struct RewriteOptions {
  // TO_INT64(cf['q']) and its like are read as numbers (ScanColumn::Kind::kNumber) where the table keeps numbers.
  // False is for tests, which compare both ways.
  bool numbers = true;
  // ROW_NUMBER() OVER (PARTITION BY all tags ORDER BY time DESC) = 1 over a series is latest_n => 1.  False is for tests, too.
  bool newest_points = true;
};

}  // namespace sonde::sql
