#include "series/query/number_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>

#include "base/number_loops.h"
#include "rows/select.h"
#include "series/key/field_codec.h"
#include "series/key/row_points.h"
#include "series/query/query_header.h"

namespace sonde::series {
namespace {

NumberBytes NumberBytesOf(const Field& field) {
  if (field.encoding == FieldEncoding::kText) return NumberBytes::kDecimalText;
  return field.type == FieldType::kInt ? NumberBytes::kBigEndianInteger : NumberBytes::kBigEndianDouble;
}

// Whether each is a whole number.  False: perhaps not; a loop without branches.
bool AreSurelyWhole(absl::Span<const double> values) {
  constexpr double kRounder = 0x1.8p52;  // below 2^51, a sum with it has no bits for a fraction
  uint64_t problems = 0;
  for (const double value : values) {
    problems |= std::bit_cast<uint64_t>((value + kRounder) - kRounder) ^ std::bit_cast<uint64_t>(value);
  }
  return problems == 0;
}

bool IsFine(double value, bool is_int) {
  return std::isfinite(value) && (!is_int || std::trunc(value) == value);
}

bool AreFine(absl::Span<const double> values, bool is_int) {
  if (!is_int) return AreFinite(values);
  return AreSurelyWhole(values) ||
         std::ranges::all_of(values, [is_int](double value) { return IsFine(value, is_int); });
}

}  // namespace

bool NumberPoints::CanRead(const SeriesSchema& schema, const std::vector<size_t>& fields,
                           const std::vector<size_t>& witnesses) {
  if (fields.empty()) return false;
  const bool has_columns =
      schema.layout == Layout::kRow || (schema.layout == Layout::kCells && !schema.keeps_corrections);
  const auto is_of_family = [&](size_t field) {
    return schema.fields[field].family == schema.fields[fields[0]].family;
  };
  const auto is_number = [&](size_t field) { return schema.fields[field].type != FieldType::kString; };
  return has_columns && std::ranges::all_of(fields, is_number) && std::ranges::all_of(fields, is_of_family) &&
         std::ranges::all_of(witnesses, is_of_family);
}

NumberPoints::NumberPoints(const SeriesSchema& schema, std::vector<size_t> fields, bool gives_whole,
                           const std::vector<size_t>& witnesses)
    : schema_(schema), fields_(std::move(fields)), gives_whole_(gives_whole) {
  for (size_t place = 0; place < fields_.size(); ++place) {
    auto column = std::find_if(columns_.begin(), columns_.end(),
                               [&](const Column& some) { return some.field == fields_[place]; });
    if (column == columns_.end()) column = columns_.insert(column, Column{.field = fields_[place]});
    column->places.push_back(place);
  }
  for (const size_t witness : witnesses) columns_.push_back({.field = witness, .places = {}});
}

NumberRead NumberPoints::MakeRead(int64_t from_micros, int64_t to_micros,
                                  std::vector<RowRange> ranges) const {
  std::vector<size_t> all_fields;
  for (const Column& column : columns_) all_fields.push_back(column.field);
  RowRead rows = MakeRowRead(schema_, all_fields, from_micros, to_micros, std::move(ranges));
  NumberRead read{.ranges = std::move(rows.ranges),
                  .family = schema_.fields[fields_[0]].family,
                  .start_micros = rows.start_micros,
                  .end_micros = rows.end_micros,
                  .cells_per_column_max = rows.cells_per_column_max};
  for (const Column& column : columns_) {
    const Field& field = schema_.fields[column.field];
    read.columns.push_back(
        {field.qualifier, column.places.empty() ? NumberBytes::kTimesOnly : NumberBytesOf(field)});
  }
  return read;
}

absl::Status NumberPoints::Read(const NumberRow& row, const DecodedKey& key, int64_t from_micros,
                                int64_t to_micros, bool ascending, rows::Batch* batch) {
  batch->rows = 0;
  parts_.clear();
  int64_t origin_micros = 0;
  int64_t time_of_row = 0;
  if (schema_.layout == Layout::kRow) {
    // One point a row; an amended value is a newer version of its cell.
    time_of_row = key.time_micros.value_or(0);
    if (key.time_micros && (time_of_row < from_micros || time_of_row >= to_micros)) return absl::OkStatus();
    for (const NumberRow::Part& part : row.parts) {
      parts_.push_back({part.column, {&time_of_row, 1}, part.values.Part(0, 1)});
    }
  } else {
    origin_micros = schema_.TimestampOrigin();
    for (const NumberRow::Part& part : row.parts) {
      const rows::RowSpan rows =
          rows::RowsInTime(part.timestamps_micros, from_micros - origin_micros, to_micros - origin_micros);
      if (rows.size() == 0) continue;
      parts_.push_back({part.column, part.timestamps_micros.subspan(rows.begin, rows.size()),
                        part.values.Part(rows.begin, rows.size())});
    }
  }
  if (parts_.empty()) return absl::OkStatus();
  for (Column& column : columns_) column.values = ColumnView();
  const absl::Status status = HaveSharedTimes() ? ReadShared(ascending) : ReadJoined();
  if (!status.ok()) return status;
  if (schema_.layout == Layout::kRow || origin_micros != 0) {
    // Until here, they were timestamps.
    if (times_.data() != held_times_.data()) held_times_.assign(times_.begin(), times_.end());
    for (int64_t& time_micros : held_times_) time_micros += origin_micros;
    times_ = held_times_;
  }
  batch->rows = times_.size();
  const size_t first = batch->columns.size();
  batch->columns.resize(first + 1 + fields_.size());
  batch->columns[first] = ColumnView::OfTimes(times_);
  for (const Column& column : columns_) {
    const bool is_missing = column.values.empty();
    const ColumnType type = ColumnTypeOf(schema_.fields[column.field]);
    for (const size_t place : column.places) {
      batch->columns[first + 1 + place] = is_missing ? ColumnView::Missing(type, batch->rows) : column.values;
    }
  }
  return absl::OkStatus();
}

// Columns that were written together share one list of times, which is known by its address.
bool NumberPoints::HaveSharedTimes() const {
  const absl::Span<const int64_t> first = parts_.front().timestamps_micros;
  return std::ranges::all_of(parts_, [first](const NumberRow::Part& part) {
    return part.timestamps_micros.data() == first.data() && part.timestamps_micros.size() == first.size();
  });
}

absl::Status NumberPoints::ReadShared(bool ascending) {
  times_ = parts_.front().timestamps_micros;
  const bool turns = ascending && times_.size() > 1;
  if (turns) {
    held_times_.assign(times_.rbegin(), times_.rend());
    times_ = held_times_;
  }
  for (const NumberRow::Part& part : parts_) {
    Column& column = columns_[part.column];
    if (column.places.empty()) continue;
    const absl::StatusOr<ColumnView> values =
        Take(part.values, schema_.fields[column.field], turns, &column.held);
    if (!values.ok()) return values.status();
    column.values = *values;
  }
  return absl::OkStatus();
}

absl::Status NumberPoints::ReadJoined() {
  held_times_.clear();
  const int64_t* last_times = nullptr;
  for (const NumberRow::Part& part : parts_) {
    if (part.timestamps_micros.data() == last_times) continue;
    last_times = part.timestamps_micros.data();
    held_times_.insert(held_times_.end(), part.timestamps_micros.rbegin(), part.timestamps_micros.rend());
  }
  std::sort(held_times_.begin(), held_times_.end());
  held_times_.erase(std::unique(held_times_.begin(), held_times_.end()), held_times_.end());
  times_ = held_times_;
  for (const NumberRow::Part& part : parts_) {
    Column& column = columns_[part.column];
    if (column.places.empty()) continue;
    const Field& field = schema_.fields[column.field];
    const size_t count = part.timestamps_micros.size();
    const bool is_whole = count == times_.size();
    const absl::StatusOr<ColumnView> values =
        Take(part.values, field, true, is_whole ? &column.held : &of_part_);
    if (!values.ok()) return values.status();
    if (!is_whole) {
      if (column.values.empty()) {
        column.held.Become(values->type());
        column.held.ResizeMissing(times_.size());
      }
      size_t at = std::ranges::lower_bound(times_, part.timestamps_micros.back()) - times_.begin();
      for (size_t i = 0; i < count; ++i) {
        while (times_[at] < part.timestamps_micros[count - 1 - i]) ++at;
        if (values->type() == ColumnType::kInt64) {
          column.held.ints()[at] = values->ints()[i];
        } else {
          column.held.doubles()[at] = values->doubles()[i];
        }
        column.held.SetThere(at);
      }
    }
    column.values = is_whole ? *values : column.held.View();
  }
  return absl::OkStatus();
}

absl::StatusOr<ColumnView> NumberPoints::Take(const ColumnView& values, const Field& field, bool turns,
                                              rows::Column* held) const {
  const size_t count = values.size();
  const bool is_int = field.type == FieldType::kInt;
  const bool is_bad = values.type() == ColumnType::kDouble && !AreFine({values.doubles(), count}, is_int);
  if (is_bad) {
    // The oldest of them is told.
    size_t bad = count - 1;
    while (IsFine(values.doubles()[bad], is_int)) --bad;
    return NoNumber(field, fmt::format("{}", values.doubles()[bad]));
  }
  if (!turns && values.type() == ColumnTypeOf(field)) return values;
  const bool stays_whole = gives_whole_ && !is_int && !turns && values.type() == ColumnType::kInt64;
  if (stays_whole && AreNearZero({values.ints(), count})) return values;
  held->Become(ColumnTypeOf(field));
  held->ResizeDense(count);
  const auto place = [&](size_t i) { return turns ? count - 1 - i : i; };
  const auto copy = [&](const auto* from, auto* to) {
    using To = std::remove_pointer_t<decltype(to)>;
    if (turns) {
      for (size_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[count - 1 - i]);
    } else {
      for (size_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
    }
  };
  switch (values.type()) {
    case ColumnType::kDouble:
      is_int ? copy(values.doubles(), held->ints()) : copy(values.doubles(), held->doubles());
      break;
    case ColumnType::kBytes:
      for (size_t i = count; i-- > 0;) {  // the oldest first
        const std::string_view text = values.bytes()[i];
        const size_t to = place(i);
        if (is_int ? !DecodeInt(field, text, &held->ints()[to])
                   : !DecodeDouble(field, text, &held->doubles()[to])) {
          return NoNumber(field, text);
        }
      }
      break;
    default:
      if (!is_int && !turns) {
        ToDoubles({values.ints(), count}, held->doubles());
        break;
      }
      is_int ? copy(values.ints(), held->ints()) : copy(values.ints(), held->doubles());
  }
  return held->View();
}

}  // namespace sonde::series
