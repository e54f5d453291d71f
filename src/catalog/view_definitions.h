// The definitions of materialized views, as the administration sees them: whoever keeps such views implements this.
//
// Threads: all functions may be called at once.
#pragma once

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "catalog/record/sql_views.h"
#include "model/table_schema.h"

namespace sonde {

// What a definition comes to.
struct MaterializedViewFacts {
  ViewSource source;
  std::string shown_columns;     // as MaterializedViewRecord::shown_columns
  std::string unpacked_columns;  // as MaterializedViewRecord::unpacked_columns
  // Schemas of the view's own tables (MaterializedViewRecord); the catalog gives them names and ids.
  TableSchema storage;
  TableSchema workings;
};

// Says whether the one who creates a view may read a table of this name, before it is known whether there is one.
using MayReadTable = absl::FunctionRef<absl::Status(std::string_view table_name)>;

class ViewDefinitions {
 public:
  virtual ~ViewDefinitions() = default;

  // Checks the definition of a view of `instance` (projects/P/instances/I).  Errors: as those of sql::ParseAndBind (NOT_FOUND: there
  // is no such table); those of `may_read`; INVALID_ARGUMENT: the query is no definition of a materialized view.
  virtual absl::StatusOr<MaterializedViewFacts> Check(std::string_view instance, std::string_view query,
                                                      MayReadTable may_read) = 0;
};

}  // namespace sonde
