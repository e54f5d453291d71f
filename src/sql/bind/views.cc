// Logical views: their queries become parts of the plan, as subqueries would.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/limits.h"
#include "model/names.h"
#include "sql/bind/query_binder.h"
#include "sql/plan/try.h"
#include "sql/syntax/parser.h"

namespace sonde::sql {
namespace {

// The texts of all views of a query together: each use of a view is bound anew.
constexpr size_t kViewTextsBytesMax = kQueryTextBytesMax;

}  // namespace

void QueryBinder::AddTable(const TableSchemaRef& table, std::vector<TableSchemaRef>* tables) {
  for (const TableSchemaRef& other : *tables) {
    if (other->id == table->id) return;
  }
  tables->push_back(table);
}

void QueryBinder::AddNamed(const std::string& resource) {
  for (const std::string& other : named_) {
    if (other == resource) return;
  }
  named_.push_back(resource);
}

absl::StatusOr<Relation> QueryBinder::BindView(const FromItem& item, const std::string& name) {
  if (options_.find_view == nullptr) return TableNotFound(item, name);
  const absl::StatusOr<LogicalViewRef> view = options_.find_view(name);
  if (absl::IsNotFound(view.status())) return TableNotFound(item, name);
  if (!view.ok()) return view.status();
  if (!item.arguments.empty()) {
    return Error(item.arguments[0].position, "Only tables have temporal arguments");
  }
  std::vector<std::string> hints = hints_;
  SONDE_TRY(BindHints(item.hints, &hints));
  if (hints.empty() && options_.check_is_complete != nullptr) {
    SONDE_TRY(options_.check_is_complete((*view)->name));
  }
  if ((*view)->name == options_.defines) {
    return Error(item.path.position, fmt::format("View {} must not read from itself", name));
  }
  AddNamed((*view)->name);
  absl::StatusOr<Relation> relation = BindQueryOf(*view);
  if (!relation.ok()) {
    const absl::Status& status = relation.status();
    return absl::Status(status.code(), fmt::format("In view {}: {}", name, std::string(status.message())));
  }
  SetAlias(item.alias.empty() ? item.path.parts.back() : item.alias, &relation->names);
  return relation;
}

absl::StatusOr<Relation> QueryBinder::BindQueryOf(const LogicalViewRef& view) {
  if (view_depth_ == kLogicalViewNestingMax) {
    return absl::InvalidArgumentError(
        fmt::format("Views read from views more than {} deep", kLogicalViewNestingMax));
  }
  view_text_bytes_ += view->query.size();
  if (view_text_bytes_ > kViewTextsBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("The queries of a query's views have {} bytes of text; at most {} are allowed",
                    view_text_bytes_, kViewTextsBytesMax));
  }
  SONDE_TRY_SET(const std::unique_ptr<Statement> statement, ParseStatement(view->query));
  if (statement->insert != nullptr) return absl::InvalidArgumentError("A view cannot be an INSERT");
  BindOptions options = options_.in_views == nullptr ? options_ : *options_.in_views;
  options.parameters.clear();
  options.defines = options_.defines;
  QueryBinder binder(view->query, options);
  binder.view_depth_ = view_depth_ + 1;
  binder.view_text_bytes_ = view_text_bytes_;
  binder.relations_ = relations_;
  binder.next_lambda_ = next_lambda_;
  binder.hints_ = hints_;
  absl::StatusOr<Relation> relation = binder.BindQuery(*statement->query, nullptr);
  view_text_bytes_ = binder.view_text_bytes_;
  relations_ = binder.relations_;
  next_lambda_ = binder.next_lambda_;
  if (!relation.ok()) return relation;
  error_of_all_rows_.Update(binder.error_of_all_rows_);
  for (const TableSchemaRef& table : binder.tables_) AddTable(table, &tables_in_views_);
  for (const TableSchemaRef& table : binder.tables_in_views_) AddTable(table, &tables_in_views_);
  for (const FoundSeries& series : binder.series_) AddSeries(series);
  binder.views_.push_back(view);
  for (LogicalViewRef& other : binder.views_) {
    bool is_known = false;
    for (const LogicalViewRef& known : views_) is_known = is_known || known->name == other->name;
    if (!is_known) views_.push_back(std::move(other));
  }
  for (BundleUse& use : binder.bundles_) {
    bool is_known = false;
    for (const BundleUse& known : bundles_) is_known = is_known || known.name == use.name;
    if (!is_known) bundles_.push_back(std::move(use));
  }
  return Compact(*std::move(relation));
}

}  // namespace sonde::sql
