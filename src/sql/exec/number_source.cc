#include "sql/exec/number_source.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "sql/value/value.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

using Kind = ScanColumn::Kind;

constexpr double kExactMax = 9'007'199'254'740'992;  // 2^53

// The type of the numbers, with or without a history.
const Type& NumberTypeOf(const ScanColumn& column) {
  return column.type.Is(TypeKind::kArray) ? column.type.element().fields()[1].type : column.type;
}

bool HasKnownForm(const ScanColumn& column) {
  const Type& type = NumberTypeOf(column);
  switch (column.written) {
    case NumberBytes::kBigEndianInteger:
      return type.Is(TypeKind::kInt64);
    case NumberBytes::kBigEndianDouble:
      return type.Is(TypeKind::kFloat64);
    case NumberBytes::kDecimalText:
      break;
  }
  return type.Is(TypeKind::kInt64) || type.Is(TypeKind::kFloat64);
}

}  // namespace

bool NumberSource::Fits(const Plan::Scan& scan, const CellSelection& selection) {
  if (scan.needs_all_rows || (selection.versions.has_value() && !selection.times_further.IsAll()))
    return false;
  const ScanColumn* first = nullptr;
  for (const ScanColumn& column : scan.columns) {
    if (column.kind == Kind::kKey) continue;
    if (column.kind != Kind::kNumber || !HasKnownForm(column)) return false;
    if (first == nullptr) first = &column;
    if (column.family != first->family) return false;
    // One qualifier is read in one way.
    for (const ScanColumn& other : scan.columns) {
      if (other.kind == Kind::kNumber && other.qualifier == column.qualifier &&
          other.written != column.written) {
        return false;
      }
    }
  }
  return first != nullptr && scan.table->FindFamily(first->family)->aggregate == AggregateKind::kNone;
}

absl::StatusOr<std::unique_ptr<NumberSource>> NumberSource::Create(const Plan::Scan& scan,
                                                                   const CellSelection& selection,
                                                                   const ExecutionState& state) {
  std::unique_ptr<NumberSource> source(new NumberSource(scan, selection, state));
  NumberRead& read = source->read_;
  for (const ScanColumn& spec : scan.columns) {
    std::optional<Column>& column = source->columns_.emplace_back();
    if (spec.kind == Kind::kKey) continue;
    read.family = spec.family;
    size_t place = 0;
    while (place < read.columns.size() && read.columns[place].qualifier != spec.qualifier) ++place;
    if (place == read.columns.size()) read.columns.push_back({spec.qualifier, spec.written});
    absl::StatusOr<std::unique_ptr<NumberValues>> values = NumberValues::Create(spec, state.evaluation.facts);
    if (!values.ok()) return values.status();
    column.emplace(Column{place, NumberTypeOf(spec), *std::move(values)});
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
  return stream_->Next(&row_);
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

absl::StatusOr<Datum> NumberSource::Newest(size_t column, Arena* arena) {
  Column& of = *columns_[column];
  for (const NumberRow::Part& part : row_.parts) {
    if (part.column != of.read_column) continue;
    const absl::StatusOr<ColumnView> value = Convert(of, part.values.Part(0, 1), arena);
    if (!value.ok()) return value.status();
    return DatumAt(*value, 0);
  }
  return Datum::Missing();
}

absl::StatusOr<ColumnView> NumberSource::Values(size_t column, Arena* arena) {
  if (!has_times_) FindTimes();
  Column& of = *columns_[column];
  const bool is_double = of.type.Is(TypeKind::kFloat64);
  if (has_shared_times_) {
    for (const NumberRow::Part& part : row_.parts) {
      if (part.column == of.read_column) return Convert(of, part.values, arena);
    }
    return ColumnView::Missing(is_double ? ColumnType::kDouble : ColumnType::kInt64, times_.size());
  }
  auto* const there = arena->New<uint8_t>(times_.size());
  std::fill_n(there, times_.size(), 0);
  auto* const ints = arena->New<int64_t>(times_.size());  // of doubles, the same bytes
  auto* const doubles = reinterpret_cast<double*>(ints);
  for (const NumberRow::Part& part : row_.parts) {
    if (part.column != of.read_column) continue;
    const absl::StatusOr<ColumnView> values = Convert(of, part.values, arena);
    if (!values.ok()) return values;
    size_t place =
        std::lower_bound(times_.begin(), times_.end(), part.timestamps_micros[0], std::greater<>()) -
        times_.begin();
    for (size_t i = 0; i < part.timestamps_micros.size(); ++i) {
      while (times_[place] > part.timestamps_micros[i]) ++place;
      if (!values->IsThere(i)) continue;
      there[place] = 1;
      if (is_double) {
        doubles[place] = values->doubles()[values->PlaceOf(i)];
      } else {
        ints[place] = values->ints()[values->PlaceOf(i)];
      }
    }
  }
  return is_double ? ColumnView::OfDoubles({doubles, times_.size()}, there)
                   : ColumnView::OfInts({ints, times_.size()}, there);
}

absl::StatusOr<ColumnView> NumberSource::Convert(Column& column, const ColumnView& values, Arena* arena) {
  const bool is_double = column.type.Is(TypeKind::kFloat64);
  const size_t count = values.size();
  if (values.type() == ColumnType::kBytes) return column.values->Of(values, arena);
  if (is_double == (values.type() == ColumnType::kDouble)) return values;
  if (is_double) {
    auto* const doubles = arena->New<double>(count);
    for (size_t i = 0; i < count; ++i) doubles[i] = static_cast<double>(values.ints()[i]);
    return ColumnView::OfDoubles({doubles, count});
  }
  // Whole numbers came among others; those that are none are told as they would be by CAST.
  auto* const texts = arena->New<std::string_view>(count);
  auto* const ints = arena->New<int64_t>(count);
  bool are_ints = true;
  for (size_t i = 0; i < count && are_ints; ++i) {
    const double number = values.doubles()[i];
    are_ints = std::trunc(number) == number && std::abs(number) <= kExactMax;
    if (are_ints) ints[i] = static_cast<int64_t>(number);
  }
  if (are_ints) return ColumnView::OfInts({ints, count});
  for (size_t i = 0; i < count; ++i) texts[i] = arena->Copy(DoubleText(values.doubles()[i]));
  return column.values->Of(ColumnView::OfBytes({texts, count}), arena);
}

}  // namespace sonde::sql
