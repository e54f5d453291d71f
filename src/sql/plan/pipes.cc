// Pipe operators.
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/plan/query_binder.h"

namespace sonde::sql {

absl::StatusOr<Relation> QueryBinder::BindPipe(const PipeOperator& /*pipe*/, Relation /*input*/, const Scope* /*outer*/) {
  return absl::UnimplementedError("Pipe operators are not built");
}

}  // namespace sonde::sql
