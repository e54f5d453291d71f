#include "promql/samples/series_parts.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"

namespace sonde::promql {
namespace {

// The work of a part, about in samples that are looked at once; of a series beside its samples and steps.
constexpr size_t kPartWork = 1 << 17;
constexpr size_t kSeriesWork = 64;
// Parts that each thread may be ahead.
constexpr size_t kPartsAhead = 4;

// The place behind the last series of each part.
std::vector<size_t> Divide(const std::vector<SampleSeries>& all, size_t series_work) {
  std::vector<size_t> ends;
  size_t work = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    work += all[i].times.size() + series_work + kSeriesWork;
    if (work < kPartWork && i + 1 < all.size()) continue;
    ends.push_back(i + 1);
    work = 0;
  }
  return ends;
}

}  // namespace

absl::Status VisitInParts(std::vector<SampleSeries> all, const SeriesVisit& visit) {
  const std::vector<size_t> ends = Divide(all, visit.series_work);
  std::vector<std::unique_ptr<SeriesSink>> done(ends.size());
  const auto work = [&](size_t part) {
    done[part] = visit.make();
    for (size_t i = part == 0 ? 0 : ends[part - 1]; i < ends[part]; ++i) {
      if (absl::Status status = done[part]->Take(&all[i]); !status.ok()) return status;
      all[i] = {};
    }
    return absl::OkStatus();
  };
  const auto take = [&](size_t part) {
    const std::unique_ptr<SeriesSink> sink = std::move(done[part]);
    return visit.take(sink.get());
  };
  IdleWorkers* const workers = visit.idle_workers;
  if (workers == nullptr || ends.size() < 2) {
    for (size_t part = 0; part < ends.size(); ++part) {
      if (absl::Status status = work(part); !status.ok()) return status;
      if (absl::Status status = take(part); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
  PartsInOrder parts(workers, ends.size(), kPartsAhead * (1 + workers->helpers()),
                     [&](const PartsInOrder& every, size_t part) {
                       if (every.IsInVain(part)) return absl::CancelledError("nobody takes this part");
                       return work(part);
                     });
  while (true) {
    const absl::StatusOr<std::optional<size_t>> part = parts.Next();
    if (!part.ok()) return part.status();
    if (!part->has_value()) return absl::OkStatus();
    if (absl::Status status = take(**part); !status.ok()) return status;
  }
}

std::optional<std::string> SampleSource::RowsOf(std::string_view /*metric*/) { return std::nullopt; }

absl::Status SampleSource::ForEachOf(const std::vector<std::string>& /*metrics*/,
                                     const std::vector<Matcher>& /*matchers*/, int64_t /*start_millis*/,
                                     int64_t /*end_millis*/, const SeriesVisit& /*visit*/) {
  return absl::InternalError("metrics whose rows have no name are not read at once");
}

size_t SeriesWork(size_t steps) {
  constexpr size_t kStepWork = 8;
  return kStepWork * steps;
}

absl::Status SampleSource::ForEach(const std::vector<Matcher>& matchers, int64_t start_millis,
                                   int64_t end_millis, const SeriesVisit& visit) {
  absl::StatusOr<std::vector<SampleSeries>> all = Select(matchers, start_millis, end_millis);
  if (!all.ok()) return all.status();
  int64_t samples = 0;
  for (const SampleSeries& series : *all) samples += static_cast<int64_t>(series.times.size());
  if (visit.loaded) {
    if (absl::Status status = visit.loaded(samples); !status.ok()) return status;
  }
  return VisitInParts(*std::move(all), visit);
}

}  // namespace sonde::promql
