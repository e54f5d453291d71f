#include "sql/scan/number_source.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "base/number_loops.h"
#include "base/varint.h"
#include "sql/expression/node.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

using Kind = ScanColumn::Kind;

// The type of the numbers, with or without a history.
const Type& NumberTypeOf(const ScanColumn& column) {
  return column.type.Is(TypeKind::kArray) ? column.type.element().fields()[1].type : column.type;
}

// A cell that is wanted as it is, whatever it says.
bool IsCell(const ScanColumn& column) {
  return column.kind == Kind::kCell && NumberTypeOf(column).Is(TypeKind::kBytes);
}

bool IsOfNumber(const ScanColumn& column) {
  return column.kind == Kind::kNumber || column.kind == Kind::kNumberBytes;
}

// Integers of eight bytes as these.
ColumnView AsBytes(const ColumnView& values, Arena* arena) {
  const size_t count = values.size();
  auto* const bytes = arena->New<uint64_t>(count);
  auto* const views = arena->New<std::string_view>(count);
  for (size_t i = 0; i < count; ++i) {
    bytes[i] = ToBigEndian(static_cast<uint64_t>(values.ints()[i]));
    views[i] = {reinterpret_cast<const char*>(bytes + i), sizeof(uint64_t)};
  }
  return ColumnView::OfBytes({views, count});
}

// Integers, as text, become doubles where these are wanted.
ColumnView AsType(const ColumnView& values, ColumnType wanted, Arena* arena) {
  if (values.type() == wanted) return values;
  if (wanted == ColumnType::kBytes) return AsBytes(values, arena);
  const size_t count = values.size();
  auto* const doubles = arena->New<double>(count);
  ToDoubles({values.ints(), count}, doubles);
  return ColumnView::OfDoubles({doubles, count});
}

}  // namespace

bool NumberSource::Fits(const Plan::Scan& scan, const CellSelection& selection) {
  if (scan.needs_all_rows || (selection.versions.has_value() && !selection.times_further.IsAll()))
    return false;
  const ScanColumn* first = nullptr;
  for (const ScanColumn& column : scan.columns) {
    if (column.kind == Kind::kKey) continue;
    if (!IsOfNumber(column) && !IsCell(column)) return false;
    if (first == nullptr) first = &column;
    if (column.family != first->family) return false;
    // One qualifier is read in one way.
    for (const ScanColumn& other : scan.columns) {
      if (other.qualifier != column.qualifier || other.kind == Kind::kKey) continue;
      if (other.written != column.written || IsCell(other) != IsCell(column)) return false;
    }
  }
  return first != nullptr && scan.table->FindFamily(first->family)->aggregate == AggregateKind::kNone;
}

std::unique_ptr<NumberSource> NumberSource::Create(const Plan::Scan& scan, const CellSelection& selection,
                                                   const ExecutionState& state) {
  std::unique_ptr<NumberSource> source(new NumberSource(scan, selection, state));
  NumberRead& read = source->read_;
  for (const ScanColumn& spec : scan.columns) {
    std::optional<Column>& column = source->columns_.emplace_back();
    if (spec.kind == Kind::kKey) continue;
    read.family = spec.family;
    size_t place = 0;
    while (place < read.columns.size() && read.columns[place].qualifier != spec.qualifier) ++place;
    // Integers are what bytes can be made of again.
    const NumberBytes written = IsCell(spec) ? NumberBytes::kBigEndianInteger : spec.written;
    if (place == read.columns.size()) read.columns.push_back({spec.qualifier, written});
    column.emplace(Column{place, spec.kind, NumberTypeOf(spec)});
  }
  CellTimes times = selection.times;
  times.KeepFrom(selection.times_further.first_micros);
  times.KeepTo(selection.times_further.last_micros);
  read.start_micros = std::max<int64_t>(times.first_micros, 0);
  read.end_micros = times.last_micros == std::numeric_limits<int64_t>::max() ? 0 : times.last_micros + 1;
  read.cells_per_column_max = static_cast<int32_t>(
      std::min<int64_t>(selection.versions.value_or(0), std::numeric_limits<int32_t>::max()));
  read.reversed = scan.reversed;
  read.whole_rows = true;
  read.interrupted = state.interrupted;
  return source;
}

absl::Status NumberSource::Open(std::vector<RowRange> ranges) {
  read_.ranges = std::move(ranges);
  absl::StatusOr<std::unique_ptr<NumberStream>> stream =
      state_.tables->OpenNumbers(scan_.table, read_, state_.caller);
  if (stream.ok()) stream_ = *std::move(stream);
  return stream.status();
}

absl::StatusOr<bool> NumberSource::Next() {
  has_times_ = false;
  absl::StatusOr<bool> more = stream_->Next(&row_);
  if (more.ok() && *more) Count();
  return more;
}

void NumberSource::Count() {
  ++counts_.rows;
  for (const NumberRow::Part& part : row_.parts) {
    counts_.cells += static_cast<int64_t>(part.values.size());
    if (part.values.type() != ColumnType::kBytes) {
      counts_.value_bytes += static_cast<int64_t>(part.values.size() * sizeof(int64_t));
      continue;
    }
    for (size_t i = 0; i < part.values.size(); ++i) {
      counts_.value_bytes += static_cast<int64_t>(part.values.bytes()[i].size());
    }
  }
}

void NumberSource::FindTimes() {
  has_times_ = true;
  // Columns that were written together share one list of times, which is known by its address.
  const absl::Span<const int64_t> first = row_.parts[0].timestamps_micros;
  has_shared_times_ = true;
  std::vector<bool> has_part(read_.columns.size());
  for (const NumberRow::Part& part : row_.parts) {
    has_shared_times_ &= part.timestamps_micros.data() == first.data() &&
                         part.timestamps_micros.size() == first.size() && !has_part[part.column];
    has_part[part.column] = true;
  }
  times_ = first;
  if (has_shared_times_) return;
  joined_times_.clear();
  for (const NumberRow::Part& part : row_.parts) {
    joined_times_.insert(joined_times_.end(), part.timestamps_micros.begin(), part.timestamps_micros.end());
  }
  std::sort(joined_times_.begin(), joined_times_.end(), std::greater<>());
  joined_times_.erase(std::unique(joined_times_.begin(), joined_times_.end()), joined_times_.end());
  times_ = joined_times_;
}

absl::Span<const int64_t> NumberSource::Times() {
  if (!has_times_) FindTimes();
  return times_;
}

bool NumberSource::Column::Takes(const NumberRow::Part& part) const {
  if (part.column != read_column) return false;
  return kind == Kind::kCell || (kind == Kind::kNumberBytes) == (part.values.type() == ColumnType::kBytes);
}

Datum NumberSource::Newest(size_t column, Arena* arena) {
  const Column& of = *columns_[column];
  const auto newest = std::ranges::find(row_.parts, of.read_column, &NumberRow::Part::column);
  if (newest == row_.parts.end() || !of.Takes(*newest)) return Datum::Missing();
  const Datum value = DatumAt(AsType(newest->values.Part(0, 1), ColumnTypeOf(of.type), arena), 0);
  return of.type.Is(TypeKind::kBytes) ? Datum::Bytes(arena->Copy(value.bytes())) : value;
}

ColumnView NumberSource::Values(size_t column, Arena* arena) {
  if (!has_times_) FindTimes();
  const Column& of = *columns_[column];
  const auto takes = [&of](const NumberRow::Part& part) { return of.Takes(part); };
  const auto first = std::ranges::find_if(row_.parts, takes);
  if (first == row_.parts.end()) return NullColumn(of.type, times_.size());
  if (has_shared_times_) return AsType(first->values, ColumnTypeOf(of.type), arena);
  std::vector<Datum> data(times_.size());
  size_t place = 0;
  for (const NumberRow::Part& part : row_.parts) {
    if (!of.Takes(part)) continue;
    const ColumnView values = AsType(part.values, ColumnTypeOf(of.type), arena);
    for (size_t i = 0; i < values.size(); ++i) {
      while (times_[place] > part.timestamps_micros[i]) ++place;
      data[place] = DatumAt(values, i);
    }
  }
  return ColumnOfData(of.type, data, arena);
}

}  // namespace sonde::sql
