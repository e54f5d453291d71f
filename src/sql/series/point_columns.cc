#include "sql/series/point_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <system_error>

#include "base/bytes.h"
#include "base/wide_int.h"
#include "series/known/known_series.h"

namespace sonde::sql {
namespace {

// How many values of a column have to be made: of a constant one is enough.
size_t ValuesOf(const ColumnView& column, size_t rows) {
  return column.is_constant() ? std::min<size_t>(rows, 1) : rows;
}

// A column of `rows` rows of values, of which there is one if `is_constant`.
ColumnView Spread(const ColumnView& values, bool is_constant, size_t rows) {
  return is_constant ? ColumnView::Constant(values, rows) : values;
}

}  // namespace

PointColumns::PointColumns(const Plan::SeriesScan& scan, const series::Query& query)
    : scan_(scan), query_(query), tags_(query.selection.tags.size()) {
  for (const SeriesColumn& column : scan.columns) {
    const auto field = std::ranges::find(query.fields, column.index);
    places_.push_back(field - query.fields.begin());
  }
  const series::KnownSeries& known = *scan.series.known;
  if (!known.is_open()) return;
  labels_by_name_.resize(known.labels.size());
  std::iota(labels_by_name_.begin(), labels_by_name_.end(), 0);
  std::ranges::sort(labels_by_name_, {}, [&known](size_t label) { return known.labels[label]; });
}

absl::Status PointColumns::AddTag(const SeriesColumn& column, const rows::Batch& points, Arena* arena,
                                  rows::Batch* batch) const {
  const ColumnView& tags = points.columns[column.index];
  const bool is_open = scan_.series.known->is_open();
  if (!is_open && column.type.Is(TypeKind::kString)) {
    batch->columns.push_back(tags);
    return absl::OkStatus();
  }
  const size_t count = ValuesOf(tags, points.rows);
  if (is_open) {
    auto* const there = arena->New<uint8_t>(count);
    for (size_t i = 0; i < count; ++i) there[i] = tags.bytes()[i].empty() ? 0 : 1;
    batch->columns.push_back(
        Spread(ColumnView::OfBytes({tags.bytes(), count}, there), tags.is_constant(), points.rows));
    return absl::OkStatus();
  }
  auto* const ints = arena->New<int64_t>(count);
  for (size_t i = 0; i < count; ++i) {
    const std::string_view text = tags.bytes()[i];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ints[i]);
    if (error != std::errc() || end != text.data() + text.size()) {
      return absl::OutOfRangeError(fmt::format(
          "tag {}: {} leaves 64 bits", scan_.series.known->schema.tags[column.index].name, Printable(text)));
    }
  }
  batch->columns.push_back(Spread(ColumnView::OfInts({ints, count}), tags.is_constant(), points.rows));
  return absl::OkStatus();
}

absl::Status PointColumns::AddField(size_t place, const rows::Batch& points, Arena* arena,
                                    rows::Batch* batch) const {
  const ColumnView& values = points.columns[tags_ + 1 + place];
  if (values.type() != ColumnType::kInt128) {
    batch->columns.push_back(values);
    return absl::OkStatus();
  }
  auto* const ints = arena->New<int64_t>(points.rows);
  auto* const there = arena->New<uint8_t>(points.rows);
  for (size_t row = 0; row < points.rows; ++row) {
    there[row] = values.IsThere(row) ? 1 : 0;
    ints[row] = 0;
    if (there[row] == 0) continue;
    const absl::int128 wide = values.wide_ints()[values.PlaceOf(row)];
    if (!IsInt(wide)) {
      return absl::OutOfRangeError(fmt::format("field {}: {} leaves 64 bits",
                                               scan_.series.known->schema.fields[query_.fields[place]].name,
                                               IntText(wide)));
    }
    ints[row] = static_cast<int64_t>(wide);
  }
  batch->columns.push_back(ColumnView::OfInts({ints, points.rows}, there));
  return absl::OkStatus();
}

void PointColumns::AddLabels(const rows::Batch& points, Arena* arena, rows::Batch* batch) const {
  const std::vector<std::string>& names = scan_.series.known->labels;
  const bool is_constant = tags_ == 0 || points.columns[0].is_constant();
  const size_t count = is_constant ? 1 : points.rows;
  auto* const maps = arena->New<Datum>(count);
  for (size_t i = 0; i < count; ++i) {
    auto* const items = arena->New<Datum>(2 * names.size());
    size_t size = 0;
    for (const size_t label : labels_by_name_) {
      const std::string_view value = points.columns[label].bytes()[points.columns[label].PlaceOf(i)];
      if (value.empty()) continue;
      items[size++] = Datum::Bytes(names[label]);
      items[size++] = Datum::Bytes(value);
    }
    maps[i] = Datum::List({items, size});
  }
  batch->columns.push_back(Spread(ColumnView::OfLists({maps, count}), is_constant, points.rows));
}

absl::Status PointColumns::Make(const rows::Batch& points, Arena* arena, rows::Batch* batch) const {
  batch->rows = points.rows;
  batch->columns.clear();
  for (size_t i = 0; i < scan_.columns.size(); ++i) {
    const SeriesColumn& column = scan_.columns[i];
    absl::Status status;
    switch (column.kind) {
      case SeriesColumn::Kind::kTag:
        status = AddTag(column, points, arena, batch);
        break;
      case SeriesColumn::Kind::kTime:
        batch->columns.push_back(ColumnView::OfInts({points.columns[tags_].ints(), points.rows}));
        break;
      case SeriesColumn::Kind::kField:
        status = AddField(places_[i], points, arena, batch);
        break;
      case SeriesColumn::Kind::kLabels:
        AddLabels(points, arena, batch);
        break;
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace sonde::sql
