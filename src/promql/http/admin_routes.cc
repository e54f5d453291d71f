// What changes series: deletion by selectors.
#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "promql/http/prometheus_api.h"
#include "series/index/index_table.h"
#include "series/metric/metric_delete.h"

namespace sonde::promql {

// It takes no room from others: an operator deletes where there is none.
absl::Status PrometheusApi::DeleteSeries(const HttpRequest& request, const ApiForm& form,
                                         HttpResponse* response) const {
  const std::vector<std::string> texts = form.All("match[]");
  if (texts.empty()) return absl::InvalidArgumentError("no match[] parameter provided");
  const absl::StatusOr<int64_t> start = form.TimeOr("start", -kApiMillisMax);
  if (!start.ok()) return start.status();
  const absl::StatusOr<int64_t> end = form.TimeOr("end", kApiMillisMax);
  if (!end.ok()) return end.status();
  if (*end < *start) return absl::InvalidArgumentError("end timestamp must not be before start timestamp");
  absl::StatusOr<std::vector<std::vector<Matcher>>> sets = ParseMatchers(texts);
  if (!sets.ok()) return InvalidParameter("match[]", sets.status());
  series::MetricDelete what;
  what.sets = *std::move(sets);
  what.start_millis = *start;
  what.end_millis = *end;
  what.interrupted = InterruptedBy(request, absl::InfiniteFuture());
  what.index = &service_->index();
  what.clock = &service_->clock();
  // In the server's name, whose index it is.
  what.deleting = [this](const series::KnownSeries& series) {
    return series::NoteDeleted(series.schema.name, now_millis() * 1'000, &service_->tables());
  };
  const absl::StatusOr<series::DeletedCounts> deleted =
      series::DeleteMetrics(service_->declarations().List(), what, service_->TablesFor(request).get());
  // What is wrong with a pattern that parses is a limit.
  if (absl::IsInvalidArgument(deleted.status()))
    return absl::FailedPreconditionError(deleted.status().message());
  if (!deleted.ok()) return deleted.status();
  response->code = 204;
  return absl::OkStatus();
}

}  // namespace sonde::promql
