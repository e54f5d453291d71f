#include "sql/exec/local_sql.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "model/limits.h"
#include "model/names.h"
#include "sql/exec/execution.h"
#include "sql/exec/instance_names.h"
#include "sql/exec/query_name.h"

namespace sonde::sql {

absl::Status LocalSql::Ask(const Question& question, AnswerSink* sink) {
  std::optional<InstanceNames> names;  // nothing: there are no tables
  if (tables_ != nullptr) names.emplace(&tables_->catalog(), &bundles_, &*series_, instance_, dialect_);
  if (names.has_value()) names->AllowInserts();
  std::vector<QueryParameter> parameters;
  std::vector<Value> values;
  for (const Question::Parameter& parameter : question.parameters) {
    parameters.push_back({parameter.name, parameter.value.type()});
    values.push_back(parameter.value);
  }
  BindOptions options;
  if (names.has_value()) {
    options = names->Options(std::move(parameters));
  } else {
    options.dialect = dialect_;
    options.parameters = std::move(parameters);
  }
  const absl::StatusOr<BoundQuery> query = ParseAndBind(question.text, options);
  if (!query.ok()) return query.status();
  std::vector<AnswerColumn> columns;
  for (const OutputColumn& column : query->columns)
    columns.push_back({column.name, column.type, column.unit});
  if (absl::Status status = sink->TakeColumns(columns); !status.ok()) return status;
  int64_t held_bytes = 0;
  const auto hold = [&held_bytes](int64_t more_bytes) {
    if (more_bytes > 0 && held_bytes + more_bytes > kMemoryBytes) {
      return absl::ResourceExhaustedError(
          fmt::format("The query needs {} bytes of memory; {} is the limit of a query",
                      held_bytes + more_bytes, kMemoryBytes));
    }
    held_bytes += more_bytes;
    return absl::OkStatus();
  };
  const absl::StatusOr<std::unique_ptr<Execution>> execution =
      Execute(*query, std::move(values),
              {.tables = tables_.get(),
               .interrupted = question.interrupted,
               .hold = hold,
               .caller = [&] { return NameOfQuery(question.text); },
               .spill = spill_.get()});
  if (!execution.ok()) return execution.status();
  rows::Batch batch;
  while (true) {
    const absl::StatusOr<bool> more = (*execution)->Next(&batch);
    if (!more.ok()) return more.status();
    if (!*more) return absl::OkStatus();
    if (absl::Status status = sink->TakeRows(batch); !status.ok()) return status;
  }
}

absl::StatusOr<std::vector<std::string>> LocalSql::ListViews() {
  const Catalog& catalog = tables_->catalog();
  std::vector<std::string> ids;
  for (const LogicalViewRef& view : catalog.ListLogicalViews(instance_, "", kLogicalViewsPerInstanceMax))
    ids.emplace_back(IdOfSqlView(view->name));
  for (const MaterializedViewRef& view :
       catalog.ListMaterializedViews(instance_, "", kMaterializedViewsPerInstanceMax)) {
    ids.emplace_back(IdOfSqlView(view->name));
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace sonde::sql
