#include "sql/plan/binder.h"
#include <gtest/gtest.h>
#include <fstream>
#include <iostream>
#include "absl/status/status.h"
namespace sonde::sql {
namespace {
TableSchemaRef MakeTable(std::string_view id, TableId number) {
  TableSchema schema;
  schema.name = "projects/p/instances/i/tables/" + std::string(id);
  schema.id = number;
  schema.families = {{.name = "cf", .id = 1}, {.name = "n", .id = 2, .aggregate = AggregateKind::kSum}};
  return std::make_shared<const TableSchema>(schema);
}
TEST(Scratch, Asks) {
  const char* path = std::getenv("SCRATCH");
  if (path == nullptr) return;
  BindOptions options;
  options.find_table = [](std::string_view id) -> absl::StatusOr<TableSchemaRef> {
    if (id == "t") return MakeTable("t", 1);
    if (id == "u") return MakeTable("u", 2);
    return absl::NotFoundError("");
  };
  options.parameters = {{"k", TypeKind::kBytes}, {"s", TypeKind::kString}, {"n", TypeKind::kInt64}, {"ks", Type::Array(TypeKind::kBytes)}};
  std::ifstream in(path);
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty()) continue;
    auto q = ParseAndBind(line, options);
    std::cout << line << "\t";
    if (!q.ok()) { std::cout << static_cast<int>(q.status().code()) << ": ";
      for (char c : std::string(q.status().message())) if (c == '\n') std::cout << "\\n"; else std::cout << c;
      std::cout << "\n"; continue; }
    for (auto& c : q->columns) std::cout << c.name << " " << c.type.ToString() << "; ";
    std::cout << "\n" << ToString(*q->plan);
  }
}
}  // namespace
}  // namespace sonde::sql
