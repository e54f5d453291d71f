#include "sql/bind/view_sources.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "sql/plan/plan_tree.h"
#include "sql/syntax/lexer.h"

namespace sonde::sql {
namespace {

using FamiliesRead = std::set<std::pair<TableId, std::string>>;

void AddFamiliesRead(Plan* plan, FamiliesRead* read) {
  if (plan->kind == Plan::Kind::kScan) {
    for (const ScanColumn& column : plan->scan->columns) {
      if (!column.family.empty()) read->emplace(plan->scan->table->id, column.family);
    }
  }
  for (const PlanPtr& input : plan->inputs) AddFamiliesRead(input.get(), read);
  ForEachSubquery(
      plan, [read](Expression::Kind /*kind*/, PlanPtr* subquery) { AddFamiliesRead(subquery->get(), read); });
}

// All names of a text in lower case, without quotes: names compare without case.
std::set<std::string> NamesIn(const std::string& text) {
  std::set<std::string> names;
  for (const Token& token : CutIntoTokens(text).tokens) {
    if (token.kind != Token::Kind::kName && token.kind != Token::Kind::kKeyword) continue;
    std::string name = absl::AsciiStrToLower(text.substr(token.offset, token.bytes));
    if (name.size() > 1 && name.front() == '`') name = name.substr(1, name.size() - 2);
    names.insert(std::move(name));
  }
  return names;
}

}  // namespace

void SetSources(BoundQuery* query, LogicalViewRecord* view) {
  view->tables.clear();
  view->views.clear();
  FamiliesRead read;
  AddFamiliesRead(query->plan.get(), &read);
  const std::set<std::string> names = NamesIn(view->query);
  std::set<std::string> named(query->named.begin(), query->named.end());
  for (const TableSchemaRef& table : query->tables) {
    if (named.erase(table->name) == 0) continue;
    ViewSource source{table->name, table->id, {}};
    for (const FamilySchema& family : table->families) {
      if (read.contains({table->id, family.name}) || names.contains(absl::AsciiStrToLower(family.name)))
        source.families.push_back(family.id);
    }
    view->tables.push_back(std::move(source));
  }
  view->views.assign(named.begin(), named.end());
}

}  // namespace sonde::sql
