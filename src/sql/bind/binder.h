// Binds a query: finds its tables, columns, functions and types, and makes a plan of it.
//
// Errors (INVALID_ARGUMENT unless said otherwise), in GoogleSQL's words and with a place where it gives one:
//   "Unrecognized name: x", "Function not found: F", "Query parameter 'p' not found", "No matching signature for ...", ...
//   NOT_FOUND      "Table not found: t", "Series not found: s"
//   "In view v: ..."   the query of a view does not bind; the code is that of its error
//   UNIMPLEMENTED  what is not built; in production's dialect what production does not have, by name
// Threads: any number may bind at once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "sql/plan/plan.h"
#include "sql/rewrite/rewrite_options.h"
#include "sql/syntax/tree.h"
#include "sql/value/message_type.h"

namespace sonde::sql {

enum class Dialect : uint8_t {
  kSonde,       // production's language and Sonde's extensions
  kProduction,  // production's language only
};

struct FoundBundle {
  BundleUse use;
  std::shared_ptr<const BundleTypes> types;
};

struct BindOptions {
  Dialect dialect = Dialect::kSonde;
  // Finds a table of the instance by its id; NOT_FOUND: there is none.
  std::function<absl::StatusOr<TableSchemaRef>(std::string_view table_id)> find_table;
  // Finds a logical view of the instance by its id, where there is no table of it; NOT_FOUND: there is none.  Unset: there are none.
  std::function<absl::StatusOr<LogicalViewRef>(std::string_view view_id)> find_view = {};
  // Says whether a view of this full name that find_view gave has all of its rows.  An error is the binding's, unless the hint
  // allow_incomplete_view stands before the query or behind the name.  Unset: all have.
  std::function<absl::Status(std::string_view view_name)> check_is_complete = {};
  // Finds what the queries of views read from, with the right of those who defined them.  Must outlive the binding.  Null: these
  // options do.
  const BindOptions* in_views = nullptr;
  // The full name of the view whose query this is; it must not read from itself.  Empty: it is a query of its own.
  std::string defines = {};
  // Finds a schema bundle of a table by its id; NOT_FOUND: there is none.  Unset: no table has any.
  std::function<absl::StatusOr<FoundBundle>(const TableSchema& table, std::string_view bundle_id)>
      find_bundle = {};
  std::vector<QueryParameter> parameters;
  RewriteOptions rewrite;
  // Finds a series of the instance by its name; NOT_FOUND: there is none.  Unset: there are no series.
  std::function<absl::StatusOr<FoundSeries>(std::string_view name)> find_series = {};
  // Finds a series that points may be written to; NOT_FOUND: there is none.  Unset: INSERT is no statement here.
  std::function<absl::StatusOr<FoundSeries>(std::string_view name)> find_series_to_write = {};
};

// `text`: what `statement` was parsed from, for places of errors.
absl::StatusOr<BoundQuery> Bind(const Statement& statement, std::string_view text,
                                const BindOptions& options);
// Parses and binds.
absl::StatusOr<BoundQuery> ParseAndBind(std::string_view text, const BindOptions& options);

// The plan as text, an operator a line, for EXPLAIN.
std::string ToString(const Plan& plan);

}  // namespace sonde::sql
