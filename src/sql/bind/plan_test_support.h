// Tables and parameters that exist only in tests of plans, and transcripts.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_schema.h"
#include "sql/bind/binder.h"

namespace sonde::sql {

inline TableSchemaRef FakeTable(std::string_view id, TableId number) {
  TableSchema schema;
  schema.name = "projects/p/instances/i/tables/" + std::string(id);
  schema.id = number;
  schema.families.push_back({.name = "cf", .id = 1});
  schema.families.push_back({.name = "n", .id = 2, .aggregate = AggregateKind::kSum});
  return std::make_shared<const TableSchema>(std::move(schema));
}

// Tables t, u and T-3; twins, whose families differ only in case.
inline absl::StatusOr<TableSchemaRef> FindFakeTable(std::string_view id) {
  if (id == "t") return FakeTable(id, 1);
  if (id == "u") return FakeTable(id, 2);
  if (id == "T-3") return FakeTable(id, 3);
  if (id == "twins") {
    TableSchema schema = *FakeTable(id, 4);
    schema.families[0].name = "N";
    return std::make_shared<const TableSchema>(std::move(schema));
  }
  return absl::NotFoundError("there is no such table");
}

inline BindOptions FakeOptions() {
  BindOptions options;
  options.find_table = FindFakeTable;
  options.parameters = {{"k", TypeKind::kBytes},
                        {"s", TypeKind::kString},
                        {"n", TypeKind::kInt64},
                        {"ks", Type::Array(TypeKind::kBytes)},
                        {"time", TypeKind::kTimestamp}};
  return options;
}

struct Transcript {
  std::string_view query;
  std::string_view plan;
};

// The columns of a query, or where it has errors those; then its plan.
inline std::string Planned(std::string_view query, const BindOptions& options) {
  const absl::StatusOr<BoundQuery> bound = ParseAndBind(query, options);
  if (!bound.ok()) return std::string(bound.status().ToString()) + "\n";
  std::string text;
  for (const OutputColumn& column : bound->columns) {
    text += (text.empty() ? "" : ", ") + column.name + " " + column.type.ToString();
  }
  return text + "\n" + ToString(*bound->plan);
}

}  // namespace sonde::sql
