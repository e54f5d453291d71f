#include "sql/scan/scan_columns.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "sql/expression/node.h"
#include "sql/key/row_key_codec.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

using Kind = ScanColumn::Kind;

constexpr size_t kIntBytes = 8;

int64_t BigEndianInt(std::string_view bytes) {
  uint64_t number = 0;
  for (const char byte : bytes.substr(0, kIntBytes)) number = number << 8 | static_cast<uint8_t>(byte);
  return static_cast<int64_t>(number);
}

bool HasIntCells(AggregateKind kind) { return kind != AggregateKind::kNone && !IsHll(kind); }

using Cells = absl::Span<const FilterCell>;

// The cells of one family, or of one qualifier, of cells in order.
Cells OfFamily(Cells cells, uint32_t family) {
  const auto begin = std::ranges::lower_bound(cells, family, {}, &FilterCell::family);
  const auto end = std::ranges::upper_bound(begin, cells.end(), family, {}, &FilterCell::family);
  return cells.subspan(begin - cells.begin(), end - begin);
}

// The cells of a column mostly view one copy of its name.
bool AreSame(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.data() == b.data() || a == b);
}

size_t CellsOfFirstColumn(Cells cells) {
  size_t count = 1;
  while (count < cells.size() && AreSame(cells[count].cell.qualifier, cells[0].cell.qualifier)) ++count;
  return count;
}

Cells OfQualifier(Cells cells, std::string_view qualifier) {
  const auto begin = std::ranges::lower_bound(cells, qualifier, {},
                                              [](const FilterCell& cell) { return cell.cell.qualifier; });
  const Cells from = cells.subspan(begin - cells.begin());
  if (from.empty() || from[0].cell.qualifier != qualifier) return {};
  return from.subspan(0, CellsOfFirstColumn(from));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ScanColumns>> ScanColumns::Create(const Plan::Scan& scan) {
  std::unique_ptr<ScanColumns> columns(new ScanColumns(scan));
  for (const ScanColumn& spec : scan.columns) {
    Column& column = columns->columns_.emplace_back();
    column.spec = &spec;
    if (spec.kind == Kind::kKeyField) columns->reads_key_fields_ = true;
    if (spec.kind == Kind::kKey || spec.kind == Kind::kKeyField) continue;
    const FamilySchema* const family = scan.table->FindFamily(spec.family);
    DCHECK(family != nullptr);
    column.family = static_cast<uint32_t>(family - scan.table->families.data());
    column.is_int = HasIntCells(family->aggregate);
    column.is_history = scan.temporal.with_history && spec.kind != Kind::kWriteTimestamp;
  }
  return columns;
}

void ScanColumns::Clear(Arena* arena) {
  arena_ = arena;
  rows_ = 0;
  keys_.clear();
  for (Column& column : columns_) {
    column.bytes.clear();
    column.ints.clear();
    column.lists.clear();
    column.there.clear();
    column.last_map = {};
  }
}

bool ScanColumns::Append(std::string_view row_key, Cells cells) {
  bool has_any = false;
  if (reads_key_fields_) keys_.push_back(row_key);
  for (Column& column : columns_) {
    if (column.spec->kind == Kind::kKeyField) continue;
    if (column.spec->kind == Kind::kNumber) continue;  // cells come as bytes
    if (column.spec->kind == Kind::kKey) {
      column.bytes.push_back(row_key);
      column.there.push_back(1);
    } else {
      const bool is_one_family =
          !cells.empty() && cells.front().family == column.family && cells.back().family == column.family;
      has_any |= AppendCells(column, is_one_family ? cells : OfFamily(cells, column.family));
    }
  }
  ++rows_;
  return has_any;
}

bool ScanColumns::AppendCells(Column& column, Cells of_family) {
  if (column.spec->kind == Kind::kFamily) {
    AppendMap(column, of_family);
    return !of_family.empty();
  }
  const Cells of_column = OfQualifier(of_family, column.spec->qualifier);
  if (of_column.empty()) {
    AppendMissing(column);
  } else {
    AppendCell(column, of_column);
  }
  return !of_column.empty();
}

void ScanColumns::AppendMap(Column& column, Cells of_family) {
  cells_of_columns_.clear();
  for (size_t first = 0; first < of_family.size(); first += cells_of_columns_.back()) {
    cells_of_columns_.push_back(CellsOfFirstColumn(of_family.subspan(first)));
  }
  auto* const items = arena_->New<Datum>(2 * cells_of_columns_.size());
  size_t item = 0;
  size_t first = 0;
  for (const size_t count : cells_of_columns_) {
    const std::string_view qualifier = of_family[first].cell.qualifier;
    const bool is_known = item < column.last_map.size() && column.last_map[item].bytes() == qualifier;
    items[item] = is_known ? column.last_map[item] : Datum::Bytes(arena_->Copy(qualifier));
    items[item + 1] = column.is_history ? HistoryOf(column, of_family.subspan(first, count))
                                        : ValueOf(column, of_family[first]);
    item += 2;
    first += count;
  }
  column.last_map = {items, item};
  column.lists.push_back(Datum::List(column.last_map));
  column.there.push_back(1);
}

Datum ScanColumns::ValueOf(const Column& column, const FilterCell& cell) {
  if (!column.is_int) return Datum::Bytes(arena_->Copy(cell.cell.value));
  return cell.cell.value.size() == kIntBytes ? Datum::Int(BigEndianInt(cell.cell.value)) : Datum::Missing();
}

Datum ScanColumns::HistoryOf(Column& column, Cells of_column) {
  constexpr size_t kFields = 2;  // timestamp, value
  auto* const points = arena_->New<Datum>(of_column.size());
  auto* const fields = arena_->New<Datum>(kFields * of_column.size());
  size_t value_bytes = 0;
  for (const FilterCell& cell : of_column) value_bytes += cell.cell.value.size();
  char* bytes = column.is_int ? nullptr : arena_->New<char>(value_bytes);
  for (size_t i = 0; i < of_column.size(); ++i) {
    Datum* const point = fields + kFields * i;
    const std::string_view value = of_column[i].cell.value;
    point[0] = Datum::Int(of_column[i].cell.timestamp_micros);
    if (column.is_int) {
      point[1] = ValueOf(column, of_column[i]);
    } else {
      point[1] = Datum::Bytes({bytes, value.size()});
      bytes = std::copy(value.begin(), value.end(), bytes);
    }
    points[i] = Datum::List({point, kFields});
  }
  return Datum::List({points, of_column.size()});
}

void ScanColumns::AppendCell(Column& column, Cells of_column) {
  column.there.push_back(1);
  if (column.spec->kind == Kind::kWriteTimestamp) {
    column.ints.push_back(of_column[0].cell.timestamp_micros);
  } else if (column.is_history) {
    column.lists.push_back(HistoryOf(column, of_column));
  } else if (column.is_int) {
    const Datum value = ValueOf(column, of_column[0]);
    column.ints.push_back(value.integer);
    column.there.back() = value.is_there ? 1 : 0;
  } else {
    column.bytes.push_back(arena_->Copy(of_column[0].cell.value));
  }
}

ColumnType ScanColumns::TypeOf(const Column& column) const {
  if (column.spec->kind == Kind::kKey || column.spec->kind == Kind::kKeyField) {
    return ColumnTypeOf(column.spec->type);
  }
  if (column.spec->kind == Kind::kFamily || column.is_history) return ColumnType::kList;
  if (column.spec->kind == Kind::kWriteTimestamp || column.is_int) return ColumnType::kInt64;
  return ColumnType::kBytes;
}

void ScanColumns::AppendMissing(Column& column) {
  column.there.push_back(0);
  switch (TypeOf(column)) {
    case ColumnType::kList:
      column.lists.push_back(Datum::Missing());
      break;
    case ColumnType::kBytes:
      column.bytes.emplace_back();
      break;
    default:
      column.ints.push_back(0);
  }
}

void ScanColumns::RemoveLast() {
  DCHECK(rows_ > 0);
  --rows_;
  if (reads_key_fields_) keys_.pop_back();
  for (Column& column : columns_) {
    if (column.spec->kind == Kind::kKeyField) continue;
    if (column.spec->kind == Kind::kNumber) continue;
    column.there.pop_back();
    switch (TypeOf(column)) {
      case ColumnType::kList:
        column.lists.pop_back();
        break;
      case ColumnType::kBytes:
        column.bytes.pop_back();
        break;
      default:
        column.ints.pop_back();
    }
  }
}

ColumnView ScanColumns::ViewOf(const Column& column) const {
  if (column.spec->kind == Kind::kNumber) return NullColumn(column.spec->type, rows_);
  const bool are_all_there = std::find(column.there.begin(), column.there.end(), 0) == column.there.end();
  const uint8_t* const there = are_all_there ? nullptr : column.there.data();
  switch (TypeOf(column)) {
    case ColumnType::kList:
      return ColumnView::OfLists(column.lists, there);
    case ColumnType::kBytes:
      return ColumnView::OfBytes(column.bytes, there);
    default:
      return ColumnView::OfInts(column.ints, there);
  }
}

absl::Status ScanColumns::ReadKeys() {
  const RowKeySchema& schema = *scan_.table->row_key_schema;
  std::vector<Datum> fields(schema.fields.size());
  for (const std::string_view key : keys_) {
    if (absl::Status status = ReadRowKey(schema, key, arena_, absl::MakeSpan(fields)); !status.ok())
      return status;
    for (Column& column : columns_) {
      if (column.spec->kind != Kind::kKeyField) continue;
      const Datum& field = fields[column.spec->index];
      column.there.push_back(field.is_there ? 1 : 0);
      if (TypeOf(column) == ColumnType::kBytes) {
        column.bytes.push_back(field.is_there ? field.bytes() : std::string_view());
      } else {
        column.ints.push_back(field.integer);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status ScanColumns::View(rows::Batch* batch) {
  if (reads_key_fields_) {
    if (absl::Status status = ReadKeys(); !status.ok()) return status;
  }
  batch->rows = rows_;
  for (const Column& column : columns_) batch->columns.push_back(ViewOf(column));
  return absl::OkStatus();
}

}  // namespace sonde::sql
