#include "bench/inside/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/random.h"
#include "base/varint.h"

namespace sonde::bench {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kDaySeconds = 86'400;
constexpr int64_t kReadingsPerBucket = 360;
constexpr int64_t kStepsPerEntity = 4'320;  // half a day

std::string ToValue(double number, int decimals, NumberKind kind) {
  if (kind == NumberKind::kText) {
    std::string text = fmt::format("{:.{}f}", number, decimals);
    if (decimals > 0) {
      text.erase(text.find_last_not_of('0') + 1);
      if (text.back() == '.') text.pop_back();
    }
    return text == "-0" ? "0" : text;
  }
  std::string bytes;
  if (kind == NumberKind::kBigEndianInteger) {
    PutFixed64(&bytes, static_cast<uint64_t>(static_cast<int64_t>(number)));
  } else {
    const double power = std::pow(10, decimals);
    PutFixed64(&bytes, std::bit_cast<uint64_t>(std::round(number * power) / power));
  }
  return bytes;
}

std::string_view NameOf(NumberKind kind) {
  return kind == NumberKind::kText ? "text" : kind == NumberKind::kBigEndianInteger ? "int64" : "double";
}

// So many steps of so many entities make at least `cells`.
struct Size {
  int64_t entities = 1;
  int64_t steps = 1;
};
Size SizeFor(int64_t cells, int64_t metrics) {
  const int64_t steps = std::max<int64_t>(1, (cells + metrics - 1) / metrics);
  return {.entities = (steps + kStepsPerEntity - 1) / kStepsPerEntity,
          .steps = std::min(steps, kStepsPerEntity)};
}

// About N(0, 1).
double NormalStep(RandomSource* random) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += random->UniformReal();
  return sum - 6;
}

// A metric of trucks: a walk within bounds.
struct TruckMetric {
  const char* name;
  int decimals;
  double low, high, step;
};
constexpr TruckMetric kTruckMetrics[] = {
    {"elevation", 0, 0, 3000, 20}, {"fuel_consumption", 1, 0, 50, 1}, {"grade", 0, 0, 100, 1},
    {"heading", 0, 0, 360, 5},     {"latitude", 5, 0, 90, 0.005},     {"longitude", 5, 0, 180, 0.005},
    {"velocity", 0, 0, 100, 10},
};

absl::Status NotFound(const std::string& path) {
  return absl::NotFoundError(fmt::format("Cannot read {}", path));
}

}  // namespace

DataSet MakeCpu(NumberKind kind, int64_t cells) {
  DataShape shape;
  const Size size = SizeFor(cells, shape.cells_per_row);
  shape.hosts = static_cast<int>(size.entities);
  DataSet data{.name = fmt::format("cpu {}", NameOf(kind)), .bucket_seconds = kBucketSeconds};
  std::vector<std::pair<std::string, int>> metrics;
  for (int metric = 0; metric < shape.cells_per_row; ++metric)
    metrics.emplace_back(MetricName(metric), metric);
  std::sort(metrics.begin(), metrics.end());
  for (int host = 0; host < shape.hosts; ++host) {
    EntityReadings& entity = data.entities.emplace_back();
    entity.name = fmt::format("host_{:05}", host);
    for (const auto& [name, metric] : metrics) entity.metrics.push_back(name);
    entity.values.resize(metrics.size());
    HostWalk walk(shape, host);
    std::vector<uint8_t> values;
    for (int64_t step = 0; step < size.steps; ++step) {
      walk.Next(&values);
      entity.times_micros.push_back(StepMicros(step));
      for (size_t i = 0; i < metrics.size(); ++i) {
        entity.values[i].push_back(ToValue(values[metrics[i].second], 0, kind));
      }
    }
  }
  return data;
}

DataSet MakeTrucks(NumberKind kind, int64_t cells) {
  const Size size = SizeFor(cells, std::size(kTruckMetrics));
  SeededRandom random(7);
  DataSet data{.name = fmt::format("trucks {}", NameOf(kind))};
  for (int64_t truck = 0; truck < size.entities; ++truck) {
    EntityReadings& entity = data.entities.emplace_back();
    entity.name = fmt::format("truck_{}", truck);
    std::vector<double> levels;
    for (const TruckMetric& metric : kTruckMetrics) {
      entity.metrics.emplace_back(metric.name);
      levels.push_back(metric.low + random.UniformReal() * (metric.high - metric.low));
    }
    entity.values.resize(levels.size());
    for (int64_t step = 0; step < size.steps; ++step) {
      const bool is_missing = random.Uniform(10) == 0;
      if (!is_missing) entity.times_micros.push_back(StepMicros(step));
      for (size_t i = 0; i < levels.size(); ++i) {
        const TruckMetric& metric = kTruckMetrics[i];
        levels[i] = std::clamp(levels[i] + NormalStep(&random) * metric.step, metric.low, metric.high);
        if (is_missing) continue;
        entity.values[i].push_back(random.Uniform(50) == 0 ? "" : ToValue(levels[i], metric.decimals, kind));
      }
    }
  }
  return data;
}

DataSet MakeCounters(int64_t cells) {
  static constexpr const char* kNames[] = {"bytes_in", "bytes_out", "errors", "packets_in", "packets_out"};
  const Size size = SizeFor(cells, std::size(kNames));
  SeededRandom random(8);
  DataSet data{.name = "counters text, jitter"};
  for (int64_t host = 0; host < size.entities; ++host) {
    EntityReadings& entity = data.entities.emplace_back();
    entity.name = fmt::format("router{}", host);
    entity.metrics.assign(std::begin(kNames), std::end(kNames));
    entity.values.resize(std::size(kNames));
    std::vector<double> levels(std::size(kNames));
    for (int64_t step = 0; step < size.steps; ++step) {
      entity.times_micros.push_back(StepMicros(step) + static_cast<int64_t>(random.Uniform(20)) * 1000);
      const double packets = 1000 + 100 * NormalStep(&random);
      const double steps[] = {packets * 700, packets * 300, random.Uniform(100) == 0 ? 1.0 : 0.0, packets,
                              packets / 2};
      for (size_t i = 0; i < levels.size(); ++i) {
        levels[i] += std::floor(steps[i]);
        entity.values[i].push_back(ToValue(levels[i], 0, NumberKind::kText));
      }
    }
  }
  return data;
}

absl::StatusOr<DataSet> ReadCsv(const std::string& path, int entity_column,
                                const std::vector<int>& metric_columns) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) return NotFound(path);
  const std::vector<std::string> header = absl::StrSplit(line, ',');
  DataSet data{.name = std::filesystem::path(path).filename(),
               .bucket_seconds = kReadingsPerBucket * kDaySeconds};
  std::map<std::string, EntityReadings> entities;
  while (std::getline(in, line)) {
    const std::vector<std::string> words = absl::StrSplit(line, ',');
    if (words.size() < header.size()) continue;
    const std::string name = entity_column < 0 ? "all" : words[entity_column];
    EntityReadings& entity = entities[name];
    if (entity.metrics.empty()) {
      entity.name = name;
      for (const int column : metric_columns) entity.metrics.push_back(header[column]);
      entity.values.resize(metric_columns.size());
    }
    const auto day = static_cast<int64_t>(entity.times_micros.size());
    entity.times_micros.push_back((kFirstSecond + day * kDaySeconds) * kMicrosPerSecond);
    for (size_t i = 0; i < metric_columns.size(); ++i) entity.values[i].push_back(words[metric_columns[i]]);
  }
  for (auto& [name, entity] : entities) data.entities.push_back(std::move(entity));
  return data;
}

absl::StatusOr<DataSet> ReadLines(const std::string& path) {
  std::ifstream in(path);
  if (!in) return NotFound(path);
  std::map<int64_t, std::map<std::string, std::string>> readings;
  std::string line;
  while (std::getline(in, line)) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    int64_t time_ms = 0;
    if (words.size() != 3 || !absl::SimpleAtoi(words[0], &time_ms)) {
      return absl::InvalidArgumentError(
          fmt::format("{}: a line is TIME_MS METRIC VALUE, not '{}'", path, line));
    }
    readings[time_ms][words[1]] = words[2];
  }
  if (readings.empty()) return absl::InvalidArgumentError(fmt::format("{} is empty", path));
  DataSet data{.name = std::filesystem::path(path).filename(), .bucket_seconds = kReadingsPerBucket};
  EntityReadings& entity = data.entities.emplace_back();
  entity.name = "this";
  for (const auto& [name, value] : readings.begin()->second) entity.metrics.push_back(name);
  entity.values.resize(entity.metrics.size());
  for (const auto& [time_ms, values] : readings) {
    entity.times_micros.push_back(time_ms * 1000);
    for (size_t i = 0; i < entity.metrics.size(); ++i) {
      const auto found = values.find(entity.metrics[i]);
      entity.values[i].push_back(found == values.end() ? "" : found->second);
    }
  }
  return data;
}

std::vector<PageRow> MakeRows(const DataSet& data, Schema schema) {
  std::vector<PageRow> rows;
  for (const EntityReadings& entity : data.entities) {
    const size_t times = entity.times_micros.size();
    const auto row_of = [&](size_t i) {
      const int64_t second = entity.times_micros[i] / kMicrosPerSecond;
      return schema == Schema::kTall ? entity.times_micros[i] : second - second % data.bucket_seconds;
    };
    for (size_t begin = 0, end = 0; begin < times; begin = end) {
      while (end < times && row_of(end) == row_of(begin)) ++end;
      // Tall rows count in milliseconds where their times do.
      const int64_t second = entity.times_micros[begin] / kMicrosPerSecond;
      PageRow& row = rows.emplace_back();
      if (schema == Schema::kBucket) {
        row.key = fmt::format("{}#{:010}", entity.name, row_of(begin));
      } else if (std::all_of(entity.times_micros.begin(), entity.times_micros.end(),
                             [](int64_t micros) { return micros % kMicrosPerSecond == 0; })) {
        row.key = fmt::format("{}#{:010}", entity.name, second);
      } else {
        row.key = fmt::format("{}#{:013}", entity.name, entity.times_micros[begin] / 1000);
      }
      for (size_t metric = 0; metric < entity.metrics.size(); ++metric) {
        for (size_t i = end; i-- > begin;) {
          const std::string& value = entity.values[metric][i];
          if (!value.empty()) row.cells.push_back({entity.metrics[metric], entity.times_micros[i], value});
        }
      }
      if (row.cells.empty()) rows.pop_back();
    }
  }
  std::sort(rows.begin(), rows.end(), [](const PageRow& a, const PageRow& b) { return a.key < b.key; });
  return rows;
}

}  // namespace sonde::bench
