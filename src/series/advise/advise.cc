#include "series/advise/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/random.h"
#include "series/advise/tablets.h"
#include "series/index/entity_index.h"
#include "series/known/indexed_series.h"
#include "series/known/series_tables.h"
#include "series/query/query.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr size_t kWindows = 24;  // of the simulated day
constexpr int64_t kBucketsSimulated = 8;
constexpr int kTimestampBytes = 8;

// About how long reading takes, so that counts can be weighed against each other.  examples/*/README.md have
// the times that these are from.
constexpr double kQueryMicros = 100;  // a request and its answer, whatever is in it
constexpr double kRangeMicros = 10;
constexpr double kRowMicros = 0.7;
constexpr double kCellMicros = 0.15;
constexpr double kJsonByteMicros = 0.05;  // to be parsed

double SecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Measurer {
 public:
  Measurer(const SeriesSchema& schema, const Sample& sample, const AdviceOptions& options)
      : schema_(schema), sample_(sample), options_(options) {}

  absl::StatusOr<CandidateMeasure> Measure(const Candidate& candidate, TrialStore* store);
  const std::vector<DeclaredQuery>& Queries();

 private:
  absl::Status Load(TableAccess* tables, CandidateMeasure* measure);
  absl::Status LookAtRows(TableAccess* tables, CandidateMeasure* measure);
  absl::Status MeasureHeat(CandidateMeasure* measure);
  absl::StatusOr<QueryMeasure> RunOne(const SeriesSchema& schema, const DeclaredQuery& declared,
                                      TableAccess* tables);
  Query MakeQuery(const DeclaredQuery& declared, RandomSource& random) const;

  const SeriesSchema& schema_;
  const Sample& sample_;
  const AdviceOptions& options_;
  std::vector<DeclaredQuery> queries_;
};

const std::vector<DeclaredQuery>& Measurer::Queries() {
  if (!queries_.empty()) return queries_;
  for (const DeclaredQuery& query : schema_.queries) {
    if (!query.is_text_only) queries_.push_back(query);
  }
  if (!queries_.empty()) return queries_;
  DeclaredQuery one;
  one.text = "one series, a day";
  for (size_t tag = 0; tag < schema_.tags.size(); ++tag) one.tags.push_back(tag);
  one.range = DeclaredQuery::Range::kDuration;
  one.range_micros = kMicrosPerDay;
  DeclaredQuery newest;
  newest.text = "the newest of all";
  newest.range = DeclaredQuery::Range::kLatest;
  queries_ = {one, newest};
  return queries_;
}

absl::Status Measurer::Load(TableAccess* tables, CandidateMeasure* measure) {
  const SeriesSchema& schema = measure->candidate.schema;
  if (absl::Status status = EnsureSeriesTables(schema, tables); !status.ok()) return status;
  const SystemClock clock;
  if (absl::Status status = KeepIndexMark(schema, /*is_new=*/true, tables, clock); !status.ok())
    return status;
  PointWriter writer(schema, tables);
  const auto start = SteadyClock::now();
  for (const SamplePoint& point : sample_) {
    const std::vector<std::string_view> tags(point.tags.begin(), point.tags.end());
    std::vector<std::string_view> fields(point.fields.size());
    for (size_t i = 0; i < fields.size(); ++i) {
      if (!point.fields[i].empty()) fields[i] = point.fields[i];
    }
    if (absl::Status status = writer.Add({tags, point.time_micros, fields}); !status.ok()) return status;
    if (absl::Status status = writer.FlushIfFull(); !status.ok()) return status;
  }
  if (absl::Status status = writer.Flush(); !status.ok()) return status;
  measure->points_per_second = static_cast<double>(sample_.size()) / SecondsSince(start);
  return absl::OkStatus();
}

absl::Status Measurer::LookAtRows(TableAccess* tables, CandidateMeasure* measure) {
  RowRead read;
  read.ranges = {RowRange::All()};
  const absl::Status status = tables->ReadRows(measure->candidate.schema.table, read, [&](ReadRow&& row) {
    ++measure->rows;
    measure->cells += static_cast<int64_t>(row.cells.size());
    auto bytes = static_cast<int64_t>(row.row_key.size());
    for (const ReadCell& cell : row.cells) {
      const auto value = static_cast<int64_t>(cell.value.size());
      measure->largest_cell_bytes = std::max(measure->largest_cell_bytes, value);
      bytes += value + static_cast<int64_t>(cell.family.size() + cell.qualifier.size()) + kTimestampBytes;
    }
    if (bytes > measure->largest_row_bytes) {
      measure->largest_row_bytes = bytes;
      measure->largest_row_key = row.row_key;
    }
    return true;
  });
  std::set<std::vector<std::string>> series;
  for (const SamplePoint& point : sample_) series.insert(point.tags);
  const double days = static_cast<double>(sample_.back().time_micros - sample_.front().time_micros + 1) /
                      static_cast<double>(kMicrosPerDay);
  measure->rows_per_series_day =
      static_cast<double>(measure->rows) / static_cast<double>(series.size()) / std::max(days, 1e-9);
  return status;
}

absl::Status Measurer::MeasureHeat(CandidateMeasure* measure) {
  const KeyCodec codec(measure->candidate.schema);
  std::vector<std::string> keys;
  std::string key;
  // The sample is stretched over a day or more, so that its writes pass through several buckets.
  const std::optional<BucketWidth>& bucket = measure->candidate.schema.bucket;
  const int64_t start_micros = sample_.front().time_micros;
  const int64_t span_micros = std::max<int64_t>(1, sample_.back().time_micros - start_micros);
  const int64_t wanted_micros =
      std::max(kMicrosPerDay, bucket ? kBucketsSimulated * bucket->MicrosMax() : int64_t{0});
  const double stretch = std::max(1.0, static_cast<double>(wanted_micros) / static_cast<double>(span_micros));
  for (const SamplePoint& point : sample_) {
    const std::vector<std::string_view> tags(point.tags.begin(), point.tags.end());
    const int64_t resolution = measure->candidate.schema.resolution_micros;
    const int64_t time_micros =
        start_micros + static_cast<int64_t>(static_cast<double>(point.time_micros - start_micros) * stretch);
    const absl::Status status = codec.Encode(tags, FloorMicros(time_micros, resolution), &key);
    if (!status.ok()) return status;
    keys.push_back(key);
  }
  measure->hottest_share = HottestTabletShare(keys, options_.tablets, kWindows);
  return absl::OkStatus();
}

// Tags of a point of the sample; a time range that ends where the sample does, or before.
Query Measurer::MakeQuery(const DeclaredQuery& declared, RandomSource& random) const {
  Query query;
  const SamplePoint& point = sample_[random.Uniform(sample_.size())];
  query.selection.tags.resize(schema_.tags.size());
  for (const size_t tag : declared.tags) query.selection.tags[tag].values = {point.tags[tag]};
  query.fields = declared.fields;
  if (declared.range == DeclaredQuery::Range::kLatest) query.latest = 1;
  if (declared.range == DeclaredQuery::Range::kDuration) {
    const int64_t end = std::max(sample_.front().time_micros + declared.range_micros, point.time_micros);
    query.selection.to_micros = std::min(end, sample_.back().time_micros) + 1;
    query.selection.from_micros =
        std::max(kTimeBeginMicros, query.selection.to_micros - declared.range_micros);
  }
  if (declared.every && !query.latest) {
    query.every = TimeBuckets(*declared.every);
    query.aggregates = {Aggregate::kAvg};
  }
  return query;
}

absl::StatusOr<QueryMeasure> Measurer::RunOne(const SeriesSchema& schema, const DeclaredQuery& declared,
                                              TableAccess* tables) {
  SeededRandom random(7);  // each candidate is asked the same
  QueryMeasure measure;
  measure.text = declared.text;
  std::vector<double> milliseconds;
  EntityIndex index;
  for (int run = 0; run <= options_.runs_per_query; ++run) {
    Query query = MakeQuery(declared, random);
    query.index = &index;
    const auto start = SteadyClock::now();
    const absl::StatusOr<QueryStats> stats =
        RunQuery(schema, query, tables, [](const ResultRow&) { return true; });
    if (!stats.ok()) return stats.status();
    if (run == 0) continue;  // warms up
    milliseconds.push_back(SecondsSince(start) * 1000);
    measure.ranges += static_cast<double>(stats->ranges.size()) / options_.runs_per_query;
    measure.rows += static_cast<double>(stats->rows_read) / options_.runs_per_query;
    measure.cells += static_cast<double>(stats->cells_read) / options_.runs_per_query;
    measure.value_bytes += static_cast<double>(stats->value_bytes_read) / options_.runs_per_query;
    measure.results += static_cast<double>(stats->results) / options_.runs_per_query;
    measure.is_full_scan |= stats->is_full_scan;
  }
  measure.milliseconds = Median(milliseconds);
  return measure;
}

absl::StatusOr<CandidateMeasure> Measurer::Measure(const Candidate& candidate, TrialStore* store) {
  CandidateMeasure measure;
  measure.candidate = candidate;
  if (absl::Status status = Load(store->tables(), &measure); !status.ok()) return status;
  const absl::StatusOr<int64_t> bytes = store->StoredBytes();
  if (!bytes.ok()) return bytes.status();
  measure.bytes_per_point = static_cast<double>(*bytes) / static_cast<double>(sample_.size());
  if (absl::Status status = LookAtRows(store->tables(), &measure); !status.ok()) return status;
  if (absl::Status status = MeasureHeat(&measure); !status.ok()) return status;
  for (const DeclaredQuery& query : Queries()) {
    absl::StatusOr<QueryMeasure> one = RunOne(candidate.schema, query, store->tables());
    if (!one.ok()) return one.status();
    measure.queries.push_back(*std::move(one));
  }
  return measure;
}

double ReadMicros(const CandidateMeasure& candidate, const QueryMeasure& query) {
  const SeriesSchema& schema = candidate.candidate.schema;
  const bool is_json = schema.layout == Layout::kBlob && schema.blob_format == BlobFormat::kJson;
  return kQueryMicros + kRangeMicros * query.ranges + kRowMicros * query.rows + kCellMicros * query.cells +
         (is_json ? kJsonByteMicros * query.value_bytes : 0);
}

// The logarithm of how much worse than the best each measure is: half of it what queries read, by their rank;
// a quarter each bytes, and the share of the hottest tablet.
void ComputeCosts(const std::vector<DeclaredQuery>& queries, size_t tablets,
                  std::vector<CandidateMeasure>* measures) {
  std::vector<double> weights;
  double weight_sum = 0;
  for (size_t i = 0; i < queries.size(); ++i) {
    weights.push_back(1.0 / static_cast<double>(i + 1));
    weight_sum += weights.back();
  }
  const auto best = [&](const auto& value_of) {
    double value = value_of((*measures)[0]);
    for (const CandidateMeasure& measure : *measures) value = std::min(value, value_of(measure));
    return value;
  };
  const double best_bytes = best([](const CandidateMeasure& m) { return m.bytes_per_point; });
  for (CandidateMeasure& measure : *measures) measure.cost = 0;
  for (size_t i = 0; i < queries.size(); ++i) {
    const double best_micros = best([&](const CandidateMeasure& m) { return ReadMicros(m, m.queries[i]); });
    for (CandidateMeasure& measure : *measures) {
      const double worse = std::log(ReadMicros(measure, measure.queries[i]) / best_micros);
      measure.cost += 0.5 * weights[i] / weight_sum * worse;
    }
  }
  for (CandidateMeasure& measure : *measures) {
    measure.cost += 0.25 * std::log(measure.bytes_per_point / best_bytes);
    // A tablet or two more than its part is no heat.
    const double heat = std::max(1.0, measure.hottest_share * static_cast<double>(tablets) / 2);
    measure.cost += 0.25 * std::log(heat);
  }
}

// The candidates come as they were made, the declared one first.
void Rank(std::vector<CandidateMeasure>* measures) {
  std::stable_sort(measures->begin(), measures->end(),
                   [](const CandidateMeasure& a, const CandidateMeasure& b) {
                     const bool is_hot = !a.candidate.hot_key.empty();
                     const bool is_other_hot = !b.candidate.hot_key.empty();
                     return is_hot != is_other_hot ? is_other_hot : a.cost < b.cost;
                   });
}

// A remark on the share of the hottest tablet.
std::string HeatRemark(const Advice& advice, const AdviceOptions& options) {
  const CandidateMeasure& best = advice.measures[0];
  if (!best.candidate.hot_key.empty()) {
    return fmt::format(": hot, as every candidate is; {}; look for a tag to put in front of the time",
                       best.candidate.hot_key);
  }
  const double even = 1.0 / static_cast<double>(options.tablets);
  if (best.hottest_share <= 5 * even) return "";
  // Each of so few series has a tablet of its own.
  if (advice.series < 2 * static_cast<int64_t>(options.tablets)) {
    return fmt::format(" (the sample has only {} series: measure heat with more)", advice.series);
  }
  return ": look for a salt, or for a tag with more values in front";
}

std::string Recommendation(const Advice& advice, const AdviceOptions& options) {
  const CandidateMeasure& best = advice.measures[0];
  const auto declared = std::find_if(advice.measures.begin(), advice.measures.end(),
                                     [](const CandidateMeasure& m) { return m.candidate.is_declared; });
  const QueryMeasure& first = best.queries[0];
  std::string text = best.candidate.is_declared ? "Keep what is declared, " : "Take ";
  text += fmt::format("{}: '{}', the query that counts most, takes {:.3g} ms and reads {:.0f} {}",
                      best.candidate.name, first.text, first.milliseconds, first.rows,
                      std::round(first.rows) == 1 ? "row" : "rows");
  if (!best.candidate.is_declared && declared != advice.measures.end()) {
    text += fmt::format(" (as declared: {:.3g} ms and {:.0f})", declared->queries[0].milliseconds,
                        declared->queries[0].rows);
  }
  text += fmt::format(". A point takes {:.3g} bytes", best.bytes_per_point);
  if (!best.candidate.is_declared && declared != advice.measures.end()) {
    text += fmt::format(" (as declared: {:.3g})", declared->bytes_per_point);
  }
  text += fmt::format(", and the hottest of {} tablets gets {:.0f}% of the writes{}.", options.tablets,
                      best.hottest_share * 100, HeatRemark(advice, options));
  return text;
}

}  // namespace

absl::StatusOr<Advice> Advise(const SeriesSchema& schema, const Sample& sample,
                              const TrialStoreFactory& stores, const AdviceOptions& options,
                              const std::function<void(const std::string&)>& progress) {
  if (sample.empty()) return absl::InvalidArgumentError("the sample has no point");
  Advice advice;
  advice.points = static_cast<int64_t>(sample.size());
  std::set<std::vector<std::string>> series;
  int64_t oldest_micros = kTimeEndMicros;
  for (const SamplePoint& point : sample) {
    series.insert(point.tags);
    oldest_micros = std::min(oldest_micros, point.time_micros);
  }
  advice.series = static_cast<int64_t>(series.size());
  Measurer measurer(schema, sample, options);
  for (const Candidate& candidate : MakeCandidates(schema, options.candidates_max, oldest_micros)) {
    if (progress) progress(candidate.name);
    const absl::StatusOr<std::unique_ptr<TrialStore>> store = stores();
    if (!store.ok()) return store.status();
    absl::StatusOr<CandidateMeasure> measure = measurer.Measure(candidate, store->get());
    if (!measure.ok()) {
      return absl::Status(measure.status().code(),
                          fmt::format("{}: {}", candidate.name, std::string(measure.status().message())));
    }
    advice.measures.push_back(*std::move(measure));
  }
  ComputeCosts(measurer.Queries(), options.tablets, &advice.measures);
  Rank(&advice.measures);
  advice.recommendation = Recommendation(advice, options);
  return advice;
}

}  // namespace sonde::series
