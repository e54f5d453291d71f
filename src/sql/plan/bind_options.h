// What a query is bound with.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

enum class Dialect : uint8_t {
  kSonde,       // production's language and Sonde's extensions
  kProduction,  // production's language only
};

struct RewriteOptions {
  // TO_INT64(cf['q']) and its like are read as numbers (ScanColumn::Kind::kNumber).  A cell that is no such number is an
  // error then even in a row that a condition leaves out, or where IF does not choose it.
  bool numbers = false;
};

struct BindOptions {
  Dialect dialect = Dialect::kSonde;
  // Finds a table of the instance by its id; NOT_FOUND: there is none.
  std::function<absl::StatusOr<TableSchemaRef>(std::string_view table_id)> find_table;
  std::vector<QueryParameter> parameters;
  RewriteOptions rewrite;
};

}  // namespace sonde::sql
