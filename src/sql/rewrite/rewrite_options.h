// How plans are rewritten (rewrite.h).
#pragma once

namespace sonde::sql {

struct RewriteOptions {
  // TO_INT64(cf['q']) and its like are read as numbers (ScanColumn::Kind::kNumber) where the table keeps numbers.
  // False is for tests, which compare both ways.
  bool numbers = true;
};

}  // namespace sonde::sql
