#include "series/advise/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/random.h"
#include "series/key/field_codec.h"
#include "series/known/point_scan.h"

namespace sonde::series {
namespace {

constexpr int64_t kSampleStart = 20'458 * kMicrosPerDay;  // 2026-01-05, a Monday
constexpr int64_t kTagCountDefault = 10;
constexpr int kTicksMin = 200;

std::string TagText(const Tag& tag, int64_t index) {
  if (tag.type == TagType::kInt) return fmt::format("{}", index + 1);
  std::string text = fmt::format("{}{}", tag.name, index);
  // Where that is too wide, the number alone, of base 36 if need be.
  if (tag.width_bytes && text.size() > static_cast<size_t>(*tag.width_bytes)) {
    constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
    text.clear();
    for (int64_t rest = index; text.empty() || rest > 0; rest /= 36)
      text.insert(text.begin(), kDigits[rest % 36]);
    text.resize(std::min<size_t>(text.size(), *tag.width_bytes));
  }
  return text;
}

struct MadeSeries {
  std::vector<std::string> tags;
  double share = 1;  // of the points that a series would have if all were equally busy
  std::vector<double> values;
};

// The series with the smallest indexes of each tag, as many as are wanted; busy ones among them as declared.
std::vector<MadeSeries> MakeSeries(const SeriesSchema& schema, size_t series_max) {
  std::vector<MadeSeries> all(1);
  for (size_t i = 0; i < schema.tags.size(); ++i) {
    const Tag& tag = schema.tags[i];
    // Each tag gets its part of what is left.
    const double left = static_cast<double>(series_max) / static_cast<double>(all.size());
    const double part = std::pow(left, 1.0 / static_cast<double>(schema.tags.size() - i));
    const int64_t declared = tag.count.value_or(kTagCountDefault);
    const int64_t count = std::clamp<int64_t>(std::llround(part), 1, declared);
    const int64_t busy = tag.busy_count == 0 ? 0 : std::max<int64_t>(1, tag.busy_count * count / declared);
    std::vector<MadeSeries> longer;
    for (const MadeSeries& prefix : all) {
      for (int64_t value = 0; value < count; ++value) {
        MadeSeries& made = longer.emplace_back(prefix);
        made.tags.push_back(TagText(tag, value));
        if (busy == 0 || busy == count) continue;
        made.share *= value < busy ? tag.busy_share * static_cast<double>(count) / static_cast<double>(busy)
                                   : (1 - tag.busy_share) * static_cast<double>(count) /
                                         static_cast<double>(count - busy);
      }
    }
    all = std::move(longer);
  }
  return all;
}

std::string FieldText(const Field& field, double* value, RandomSource& random) {
  *value += random.UniformReal() * 2 - 1;
  switch (field.type) {
    case FieldType::kInt:
      return fmt::format("{}", std::llround(*value));
    case FieldType::kDouble:
      return fmt::format("{:.2f}", *value);
    case FieldType::kString:
      break;
  }
  return fmt::format("state{}", random.Uniform(5));
}

}  // namespace

absl::StatusOr<Sample> SampleOfTables(const SeriesSchema& schema, TableAccess* tables, size_t points_max) {
  std::map<std::pair<int64_t, std::vector<std::string>>, std::vector<std::string>> points;
  const absl::Status status = ScanPoints(
      schema, {}, tables, [&](const DecodedKey& key, const RowPoint& point) -> absl::StatusOr<bool> {
        std::vector<std::string>& fields = points[{point.time_micros, key.tags}];
        fields.resize(schema.fields.size());
        for (size_t i = 0; i < fields.size(); ++i) {
          if (point.values[i].data() != nullptr) fields[i] = TextOfValue(schema.fields[i], point.values[i]);
        }
        if (points.size() <= points_max) return true;
        return absl::ResourceExhaustedError(
            fmt::format("the sample has more than {} points; measure with a part of it", points_max));
      });
  if (!status.ok()) return status;
  Sample sample;
  for (auto& [of, fields] : points) sample.push_back({of.second, of.first, std::move(fields)});
  return sample;
}

Sample MakeSample(const SeriesSchema& schema, size_t points_max, size_t series_max) {
  SeededRandom random(20260105);
  series_max = std::max<size_t>(1, std::min(series_max, points_max / kTicksMin));
  std::vector<MadeSeries> all = MakeSeries(schema, series_max);
  const int64_t interval_micros =
      std::max(schema.interval_micros.value_or(kMicrosPerSecond), schema.resolution_micros);
  for (MadeSeries& made : all) {
    for (size_t i = 0; i < schema.fields.size(); ++i)
      made.values.push_back(static_cast<double>(random.Uniform(100)));
  }
  Sample sample;
  const size_t ticks = points_max / all.size();
  for (size_t tick = 0; tick < ticks; ++tick) {
    for (MadeSeries& made : all) {
      // A series that is twice as busy has a point twice as often, between the ticks.
      double due = made.share;
      for (int64_t offset = 0; due > 0; due -= 1, ++offset) {
        if (random.UniformReal() >= due) break;
        const int64_t time = kSampleStart + static_cast<int64_t>(tick) * interval_micros +
                             offset * interval_micros / static_cast<int64_t>(std::ceil(made.share));
        SamplePoint& point = sample.emplace_back(SamplePoint{made.tags, time, {}});
        for (size_t i = 0; i < schema.fields.size(); ++i) {
          point.fields.push_back(FieldText(schema.fields[i], &made.values[i], random));
        }
      }
    }
  }
  std::stable_sort(sample.begin(), sample.end(),
                   [](const SamplePoint& a, const SamplePoint& b) { return a.time_micros < b.time_micros; });
  return sample;
}

}  // namespace sonde::series
