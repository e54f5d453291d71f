#include "sql/view/shown_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "base/varint.h"
#include "model/limits.h"
#include "sql/key/row_key_codec.h"
#include "sql/syntax/literal.h"

namespace sonde::sql {
namespace {

std::string CellOf(const ViewColumn& column) {
  if (column.IsFamily()) return QuotedName(column.family);
  return fmt::format("{}[{}]", QuotedName(column.family), QuotedBytes(column.qualifier));
}

// The value of a column, of its type, by its cell.
std::string ValueOfCell(const ViewColumn& column, const std::string& cell) {
  switch (column.type.kind()) {
    case TypeKind::kBool:
      return fmt::format("{} = b'\\x01'", cell);
    case TypeKind::kFloat32:
      return fmt::format("TO_FLOAT32({})", cell);
    case TypeKind::kFloat64:
      return fmt::format("TO_FLOAT64({})", cell);
    case TypeKind::kString:
      return fmt::format("CAST({} AS STRING)", cell);
    case TypeKind::kTimestamp:
      return fmt::format("TIMESTAMP_MICROS(TO_INT64({}))", cell);
    case TypeKind::kBytes:
    case TypeKind::kMap:
      return cell;
    default:
      return fmt::format("TO_INT64({})", cell);
  }
}

// A key column in the rows of the view.
std::string KeyOf(const ViewDefinition& definition, const ViewColumn& column) {
  return definition.schema.has_value() ? QuotedName(column.name) : std::string(kViewKeyColumn);
}

// Times are those of cells, so a row without value columns has none.
bool ShowsTimes(const ViewDefinition& definition) {
  return definition.time.has_value() && std::ranges::find(definition.columns, ViewColumn::Role::kValue,
                                                          &ViewColumn::role) != definition.columns.end();
}

// Of a SELECT.
struct Items {
  void Add(const std::string& value, const std::string& name) {
    text += fmt::format("{}{} AS {}", text.empty() ? "" : ", ", value, QuotedName(name));
  }
  std::string text;
};

}  // namespace

TableSchema StorageOf(const ViewDefinition& definition) {
  std::set<std::string, std::less<>> names = {std::string(kViewFamily)};
  for (const ViewColumn& column : definition.columns) {
    if (column.role == ViewColumn::Role::kValue) names.insert(column.family);
  }
  TableSchema storage;
  for (const std::string& name : names) storage.families.push_back({.name = name});
  storage.row_key_schema = definition.schema;
  return storage;
}

std::string ShownColumns(const ViewDefinition& definition) {
  const bool is_unpacked = ShowsTimes(definition);
  Items items;
  for (const ViewColumn& column : definition.columns) {
    switch (column.role) {
      case ViewColumn::Role::kKey:
        items.Add(is_unpacked ? QuotedName(column.name) : KeyOf(definition, column), column.name);
        break;
      case ViewColumn::Role::kTime:
        if (is_unpacked) items.Add(std::string(kViewTimeColumn), column.name);
        break;
      case ViewColumn::Role::kValue:
        items.Add(ValueOfCell(column, is_unpacked ? QuotedName(column.name) : CellOf(column)), column.name);
        break;
    }
  }
  return items.text;
}

std::string UnpackedColumns(const ViewDefinition& definition) {
  Items items;
  if (!ShowsTimes(definition)) return items.text;
  for (const ViewColumn& column : definition.columns) {
    if (column.role == ViewColumn::Role::kKey) items.Add(KeyOf(definition, column), column.name);
    if (column.role == ViewColumn::Role::kValue) items.Add(CellOf(column), column.name);
  }
  return items.text;
}

void AppendViewCell(const Type& type, const Datum& value, std::string* cell) {
  switch (type.kind()) {
    case TypeKind::kBool:
      cell->push_back(value.integer != 0 ? '\1' : '\0');
      return;
    case TypeKind::kFloat32:
      return PutFixed32(cell, std::bit_cast<uint32_t>(static_cast<float>(value.number)));
    case TypeKind::kFloat64:
      return PutFixed64(cell, std::bit_cast<uint64_t>(value.number));
    case TypeKind::kString:
    case TypeKind::kBytes:
      cell->append(value.bytes());
      return;
    default:
      return PutFixed64(cell, static_cast<uint64_t>(value.integer));
  }
}

std::optional<std::string> ViewRowKey(const ViewDefinition& definition, absl::Span<const Datum> keys) {
  std::string row_key;
  if (definition.schema.has_value()) {
    if (!AppendRowKey(*definition.schema, keys, &row_key).ok()) return std::nullopt;
  } else {
    row_key = keys[0].bytes();
  }
  if (row_key.empty() || row_key.size() > kRowKeyBytesMax) return std::nullopt;
  return row_key;
}

absl::Status ReadViewRowKey(const ViewDefinition& definition, std::string_view row_key, Arena* arena,
                            absl::Span<Datum> keys) {
  if (definition.schema.has_value()) return ReadRowKey(*definition.schema, row_key, arena, keys);
  keys[0] = Datum::Bytes(row_key);
  return absl::OkStatus();
}

}  // namespace sonde::sql
