// How plans are rewritten (rewrite.h).
#pragma once

namespace sonde::sql {

struct RewriteOptions {
  // TO_INT64(cf['q']) and its like are read as numbers (ScanColumn::Kind::kNumber).  A cell that is no such number is an
  // error then even in a row that a condition leaves out, or where IF does not choose it.
  bool numbers = false;
};

}  // namespace sonde::sql
