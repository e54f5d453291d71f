#include "series/query/newest_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "model/row_range.h"
#include "rows/batch.h"
#include "rows/held_memory.h"
#include "series/query/series_prefix.h"

namespace sonde::series {
namespace {

// A scan for newest points passes over so many rows of a series that it is done with before it seeks to the
// next.  Rows of a bucket's points take as long to read as a seek.
constexpr int kRowsPassedOverMax = 16;
constexpr int kBucketsPassedOverMax = 0;

// By time, the newest first.
using NewestRows = std::map<int64_t, std::vector<ResultValue>, std::greater<>>;

class NewestOfSeries {
 public:
  // `fields`: how many values a row has.  `hold`: Query::hold, which must outlive this.
  NewestOfSeries(size_t fields, const rows::Hold& hold) : fields_(fields), held_(hold) {}

  // Series mostly come in the order of their tags.
  NewestRows& Of(const std::vector<std::string>& tags) { return all_.try_emplace(all_.end(), tags)->second; }
  const std::map<std::vector<std::string>, NewestRows>& all() const { return all_; }

  // One row more is held.
  absl::Status AddRow() {
    values_held_ += fields_;
    if (values_held_ <= kValuesHeldMax) {
      return held_.Add(static_cast<int64_t>(kRowBytes + fields_ * sizeof(ResultValue)));
    }
    return absl::InvalidArgumentError(fmt::format(
        "the newest points of each series are more than {} values; ask for fewer points, series or fields",
        kValuesHeldMax));
  }

 private:
  static constexpr size_t kRowBytes = 256;  // with its tags and its place

  const size_t fields_;
  size_t values_held_ = 0;
  rows::HeldMemory held_;
  std::map<std::vector<std::string>, NewestRows> all_;
};

absl::Status ScanBySeries(SeriesScan* scan, size_t count, NewestOfSeries* all) {
  const bool is_forward = scan->order_of_read().times_of_series() == RowOrder::Times::kDescending;
  const int passed_over_max = scan->schema().bucket ? kBucketsPassedOverMax : kRowsPassedOverMax;
  std::vector<RowRange> ranges = scan->ranges();
  while (!ranges.empty()) {
    RowRead read = scan->MakeRead(ranges);
    read.reversed = !is_forward;
    const bool is_blob = scan->schema().layout == Layout::kBlob;
    if (read.cells_per_column_max == 0 && count < INT32_MAX && !is_blob) {
      // The newest N points of a row are among the newest N cells of each of its columns; but of blobs, the
      // newest may lack the fields that are asked for.
      read.cells_per_column_max = static_cast<int32_t>(count);
    }
    int rows_passed_over = 0;
    bool seeks = false;
    const absl::Status status = scan->Read(read, [&]() -> absl::StatusOr<bool> {
      NewestRows& newest = all->Of(scan->tags());
      if (newest.size() >= count) {
        seeks = ++rows_passed_over > passed_over_max;
        return !seeks;
      }
      rows_passed_over = 0;
      for (size_t i = scan->points().Count(); i-- > 0 && newest.size() < count;) {
        const RowPoint& point = scan->points().Get(i);
        absl::StatusOr<std::vector<ResultValue>> values = scan->ValuesOf(point);
        if (!values.ok()) return values.status();
        newest.emplace(point.time_micros, *std::move(values));
        if (absl::Status added = all->AddRow(); !added.ok()) return added;
      }
      return true;
    });
    if (!status.ok() || !seeks) return status;
    const absl::StatusOr<std::string> prefix = SeriesPrefix(scan->codec(), scan->key().tags);
    if (!prefix.ok()) return prefix.status();
    if (prefix->empty()) return absl::OkStatus();  // one series only
    if (is_forward && PrefixEnd(*prefix).empty()) return absl::OkStatus();
    ranges = ClipRanges(ranges, is_forward ? RowRange{PrefixEnd(*prefix), ""} : RowRange{"", *prefix});
  }
  return absl::OkStatus();
}

absl::Status ScanAll(SeriesScan* scan, size_t count, NewestOfSeries* all) {
  return scan->Read(scan->MakeRead(scan->ranges()), [&]() -> absl::StatusOr<bool> {
    NewestRows& newest = all->Of(scan->tags());
    for (size_t i = scan->points().Count(); i-- > 0;) {
      const RowPoint& point = scan->points().Get(i);
      if (newest.size() >= count && newest.rbegin()->first > point.time_micros) continue;
      absl::StatusOr<std::vector<ResultValue>> values = scan->ValuesOf(point);
      if (!values.ok()) return values.status();
      const auto [place, is_new] = newest.try_emplace(point.time_micros);
      if (is_new) {
        place->second = *std::move(values);
        if (newest.size() > count) {
          newest.erase(std::prev(newest.end()));
        } else if (absl::Status added = all->AddRow(); !added.ok()) {
          return added;
        }
        continue;
      }
      // In layout columns, another row has the other fields of the point.
      for (size_t field = 0; field < values->size(); ++field) {
        if ((*values)[field].index() != 0) place->second[field] = std::move((*values)[field]);
      }
    }
    return true;
  });
}

// In the order of the tags, whatever table they come from.
absl::Status GiveAll(const NewestOfSeries& all, const SeriesScan& scan, const SeriesScan::TakeBatch& take) {
  std::vector<ColumnType> types(scan.tags_count(), ColumnType::kBytes);
  for (const ColumnType type : scan.ColumnTypes()) types.push_back(type);
  rows::HeldBatch points(types);
  rows::Batch batch;
  const auto give = [&] {
    batch.columns.clear();
    points.View(&batch);
    absl::StatusOr<bool> goes_on = take(batch);
    points.Clear();
    return goes_on;
  };
  for (const auto& [tags, newest] : all.all()) {
    for (const auto& [time_micros, values] : newest) {
      rows::Column* column = points.columns.data();
      for (const std::string& tag : tags) (column++)->AppendBytes(tag);
      (column++)->AppendInt(time_micros);
      for (const ResultValue& value : values) (column++)->AppendValue(value);
      if (points.rows() < rows::kBatchRowsMax) continue;
      const absl::StatusOr<bool> goes_on = give();
      if (!goes_on.ok() || !*goes_on) return goes_on.status();
    }
  }
  return points.rows() == 0 ? absl::OkStatus() : give().status();
}

}  // namespace

absl::Status ReadNewestPoints(const std::vector<std::unique_ptr<SeriesScan>>& scans, int64_t count,
                              const SeriesScan::TakeBatch& take) {
  if (scans.empty()) return absl::OkStatus();
  NewestOfSeries all(scans[0]->fields().size(), scans[0]->hold());
  // All points of a newer version are newer than those of an older one.
  for (auto scan = scans.rbegin(); scan != scans.rend(); ++scan) {
    const absl::Status status = IsSeriesByTime((*scan)->order_of_read())
                                    ? ScanBySeries(scan->get(), static_cast<size_t>(count), &all)
                                    : ScanAll(scan->get(), static_cast<size_t>(count), &all);
    if (!status.ok()) return status;
  }
  return GiveAll(all, *scans[0], take);
}

absl::Status ReadNewestValues(const SeriesSchema& schema, std::optional<int64_t> now_micros, SeriesScan* scan,
                              const SeriesScan::TakeBatch& take) {
  std::vector<int64_t> kept_from_micros;
  for (const size_t field : scan->fields()) {
    const std::optional<int64_t> max_age_micros = schema.RetentionOf(schema.FamilyOf(field)).max_age_micros;
    kept_from_micros.push_back(max_age_micros && now_micros ? KeptFromMicros(*now_micros, *max_age_micros)
                                                            : kTimeBeginMicros);
  }
  const bool forgets =
      std::ranges::any_of(kept_from_micros, [](int64_t from) { return from > kTimeBeginMicros; });
  RowRead read = scan->MakeRead(scan->ranges());
  read.cells_per_column_max = 1;
  NewestOfSeries all(scan->fields().size(), scan->hold());
  const absl::Status status = scan->Read(read, [&]() -> absl::StatusOr<bool> {
    // A field is in one point: its own newest.  So the newest of these points is that of the series, with all
    // that it has.
    for (size_t p = scan->points().Count(); p-- > 0;) {
      const RowPoint* newest = &scan->points().Get(p);
      RowPoint kept;
      if (forgets) {
        kept = *newest;
        newest = &kept;
        for (size_t i = 0; i < kept.values.size(); ++i) {
          if (kept.time_micros < kept_from_micros[i]) kept.values[i] = {};
        }
      }
      if (std::ranges::none_of(newest->values,
                               [](std::string_view value) { return value.data() != nullptr; }))
        continue;
      absl::StatusOr<std::vector<ResultValue>> values = scan->ValuesOf(*newest);
      if (!values.ok()) return values.status();
      all.Of(scan->tags()).emplace(newest->time_micros, *std::move(values));
      if (absl::Status held = all.AddRow(); !held.ok()) return held;
      break;
    }
    return true;
  });
  return status.ok() ? GiveAll(all, *scan, take) : status;
}

}  // namespace sonde::series
