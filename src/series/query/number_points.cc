#include "series/query/number_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "series/key/field_codec.h"
#include "series/key/row_points.h"

namespace sonde::series {
namespace {

NumberBytes NumberBytesOf(const Field& field) {
  if (field.encoding == FieldEncoding::kText) return NumberBytes::kDecimalText;
  return field.type == FieldType::kInt ? NumberBytes::kBigEndianInteger : NumberBytes::kBigEndianDouble;
}

// Whether each is finite, and a whole number if `is_int`.  False: perhaps not; a loop without branches.
bool AreSurelyFine(absl::Span<const double> values, bool is_int) {
  constexpr uint64_t kExponent = uint64_t{0x7ff} << 52;
  constexpr double kRounder = 0x1.8p52;  // below 2^51, a sum with it has no bits for a fraction
  uint64_t problems = 0;
  if (is_int) {
    for (const double value : values) {
      problems |= std::bit_cast<uint64_t>((value + kRounder) - kRounder) ^ std::bit_cast<uint64_t>(value);
    }
    return problems == 0;
  }
  for (const double value : values) {
    problems |= (std::bit_cast<uint64_t>(value) & kExponent) + (uint64_t{1} << 52);
  }
  return problems >> 63 == 0;
}

bool IsFine(double value, bool is_int) {
  return std::isfinite(value) && (!is_int || std::trunc(value) == value);
}

// The part of it in [from, to).
NumberRow::Part Cut(const NumberRow::Part& part, int64_t from_micros, int64_t to_micros) {
  const absl::Span<const int64_t> times = part.timestamps_micros;
  if (times.front() < to_micros && times.back() >= from_micros) return part;
  const auto newer = [](int64_t a, int64_t b) { return a > b; };
  const auto newest = std::upper_bound(times.begin(), times.end(), to_micros, newer);
  const size_t begin = newest - times.begin();
  const size_t count = std::upper_bound(newest, times.end(), from_micros, newer) - newest;
  NumberRow::Part cut = part;
  cut.timestamps_micros = times.subspan(begin, count);
  if (!part.numbers.empty()) cut.numbers = part.numbers.subspan(begin, count);
  if (!part.texts.empty()) cut.texts = part.texts.subspan(begin, count);
  return cut;
}

bool HaveSameTimes(const NumberRow::Part& a, const NumberRow::Part& b) {
  return a.timestamps_micros.data() == b.timestamps_micros.data() &&
         a.timestamps_micros.size() == b.timestamps_micros.size();
}

}  // namespace

bool NumberPoints::CanRead(const SeriesSchema& schema, const std::vector<size_t>& fields) {
  if (fields.empty()) return false;
  const bool has_columns =
      schema.layout == Layout::kRow || (schema.layout == Layout::kCells && !schema.keeps_corrections);
  return has_columns && std::all_of(fields.begin(), fields.end(), [&](size_t index) {
           const Field& field = schema.fields[index];
           return field.type != FieldType::kString && field.family == schema.fields[fields[0]].family;
         });
}

NumberPoints::NumberPoints(const SeriesSchema& schema, std::vector<size_t> fields)
    : schema_(schema), fields_(std::move(fields)) {
  for (size_t place = 0; place < fields_.size(); ++place) {
    auto column = std::find_if(columns_.begin(), columns_.end(),
                               [&](const Column& some) { return some.field == fields_[place]; });
    if (column == columns_.end()) column = columns_.insert(column, {.field = fields_[place]});
    column->places.push_back(place);
  }
}

NumberRead NumberPoints::MakeRead(int64_t from_micros, int64_t to_micros,
                                  std::vector<RowRange> ranges) const {
  RowRead rows = MakeRowRead(schema_, fields_, from_micros, to_micros, std::move(ranges));
  NumberRead read{.ranges = std::move(rows.ranges),
                  .family = schema_.fields[fields_[0]].family,
                  .start_micros = rows.start_micros,
                  .end_micros = rows.end_micros,
                  .cells_per_column_max = rows.cells_per_column_max};
  for (const Column& column : columns_) {
    const Field& field = schema_.fields[column.field];
    read.columns.push_back({field.qualifier, NumberBytesOf(field)});
  }
  return read;
}

absl::Status NumberPoints::Read(const NumberRow& row, const DecodedKey& key, int64_t from_micros,
                                int64_t to_micros, Numbers* numbers) {
  numbers->columns.resize(fields_.size());
  numbers->Clear();
  parts_.clear();
  std::vector<int64_t>& times = numbers->times_micros;
  if (schema_.layout == Layout::kRow) {
    // One point a row; an amended value is a newer version of its cell.
    const int64_t time_micros = key.time_micros.value_or(0);
    if (key.time_micros && (time_micros < from_micros || time_micros >= to_micros)) return absl::OkStatus();
    parts_.assign(row.parts.begin(), row.parts.end());
    times = {time_micros};
  } else {
    const int64_t origin_micros = schema_.TimestampOrigin();
    for (const NumberRow::Part& part : row.parts) {
      const NumberRow::Part cut = Cut(part, from_micros - origin_micros, to_micros - origin_micros);
      if (!cut.timestamps_micros.empty()) parts_.push_back(cut);
    }
    if (parts_.empty()) return absl::OkStatus();
    JoinTimes(parts_, &times);
  }
  for (const NumberRow::Part& part : parts_) {
    Numbers::Column* const column = &numbers->columns[columns_[part.column].places[0]];
    if (absl::Status status = AddPart(part, times, column); !status.ok()) return status;
  }
  // Until here, they were timestamps.
  if (const int64_t origin_micros = schema_.TimestampOrigin(); origin_micros != 0) {
    for (int64_t& time_micros : times) time_micros += origin_micros;
  }
  for (const Column& column : columns_) {
    Numbers::Column& first = numbers->columns[column.places[0]];
    first.is_text = false;
    first.is_int = schema_.fields[column.field].type == FieldType::kInt;
    if (first.values.empty()) first.values.assign(times.size(), kNoNumber);
    for (size_t i = 1; i < column.places.size(); ++i) numbers->columns[column.places[i]] = first;
  }
  return absl::OkStatus();
}

// Ascending, each once.
void NumberPoints::JoinTimes(absl::Span<const NumberRow::Part> parts, std::vector<int64_t>* times) const {
  const NumberRow::Part* last = nullptr;
  bool is_joined = true;
  for (const NumberRow::Part& part : parts) {
    if (last != nullptr && HaveSameTimes(*last, part)) continue;
    is_joined = last == nullptr;
    last = &part;
    times->insert(times->end(), part.timestamps_micros.rbegin(), part.timestamps_micros.rend());
  }
  if (is_joined) return;
  std::sort(times->begin(), times->end());
  times->erase(std::unique(times->begin(), times->end()), times->end());
}

absl::Status NumberPoints::AddPart(const NumberRow::Part& part, const std::vector<int64_t>& times,
                                   Numbers::Column* column) {
  const Field& field = schema_.fields[columns_[part.column].field];
  if (schema_.layout == Layout::kRow) {
    NumberRow::Part newest = part;
    newest.timestamps_micros = part.timestamps_micros.first(1);
    return ReadValues(newest, field, column);
  }
  const size_t count = part.timestamps_micros.size();
  if (count == times.size()) return ReadValues(part, field, column);
  if (absl::Status status = ReadValues(part, field, &of_part_); !status.ok()) return status;
  if (column->values.empty()) column->values.assign(times.size(), kNoNumber);
  size_t at = std::lower_bound(times.begin(), times.end(), part.timestamps_micros.back()) - times.begin();
  for (size_t i = 0; i < count; ++i) {
    while (times[at] < part.timestamps_micros[count - 1 - i]) ++at;
    column->values[at] = of_part_.values[i];
    if (!of_part_.rests.empty()) column->SetRest(at, of_part_.rests[i]);
  }
  return absl::OkStatus();
}

// The oldest first.
absl::Status NumberPoints::ReadValues(const NumberRow::Part& part, const Field& field,
                                      Numbers::Column* out) const {
  const size_t count = part.timestamps_micros.size();
  out->values.resize(count);
  out->rests.clear();
  if (!part.texts.empty()) {
    for (size_t i = 0; i < count; ++i) {
      const std::string_view text = part.texts[count - 1 - i];
      const std::optional<ExactNumber> number = DecodeNumber(field, text);
      if (!number) return NoNumber(field, text);
      out->values[i] = number->value;
      if (number->rest != 0) out->SetRest(i, number->rest);
    }
    return absl::OkStatus();
  }
  double* const values = out->values.data();
  std::reverse_copy(part.numbers.begin(), part.numbers.begin() + count, values);
  const bool is_int = field.type == FieldType::kInt;
  if (AreSurelyFine({values, count}, is_int)) return absl::OkStatus();
  const double* const bad =
      std::find_if(values, values + count, [is_int](double value) { return !IsFine(value, is_int); });
  if (bad == values + count) return absl::OkStatus();
  return NoNumber(field, fmt::format("{}", *bad));
}

}  // namespace sonde::series
