// The samples of known series as the source of PromQL's evaluator.
//
// Threads: one query's; several may exist.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "promql/samples/samples.h"
#include "series/known/declarations.h"
#include "series/metric/metric_reader.h"

namespace sonde::series {

// Of one query.
constexpr int64_t kMetricSeriesMax = 1'000'000;

class SeriesSamples final : public promql::SampleSource {
 public:
  // `settings`: all but matchers and times.  `tables` must outlive it.
  SeriesSamples(std::vector<KnownSeriesRef> known, MetricRead settings, TableAccess* tables)
      : known_(std::move(known)), read_(std::move(settings)), tables_(tables) {}
  // Gives back what is held.
  ~SeriesSamples() override { GiveBack(); }
  SeriesSamples(const SeriesSamples&) = delete;
  SeriesSamples& operator=(const SeriesSamples&) = delete;

  // What is wrong with a pattern comes as FAILED_PRECONDITION: the query's text is right.  The memory of samples counts
  // until the next call.
  absl::StatusOr<std::vector<promql::SampleSeries>> Select(const std::vector<promql::Matcher>& matchers,
                                                           int64_t start_millis, int64_t end_millis) override;
  absl::Status ForEach(const std::vector<promql::Matcher>& matchers, int64_t start_millis, int64_t end_millis,
                       const promql::SeriesVisit& visit) override;
  std::optional<std::string> RowsOf(std::string_view metric) override;
  absl::Status ForEachOf(const std::vector<std::string>& metrics,
                         const std::vector<promql::Matcher>& matchers, int64_t start_millis,
                         int64_t end_millis, const promql::SeriesVisit& visit) override;

 private:
  void Begin(const std::vector<promql::Matcher>& matchers, int64_t start_millis, int64_t end_millis);
  void GiveBack();

  const std::vector<KnownSeriesRef> known_;
  MetricRead read_;
  TableAccess* const tables_;
  int64_t held_bytes_ = 0;
};

}  // namespace sonde::series
