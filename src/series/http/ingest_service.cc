#include "series/http/ingest_service.h"

#include <charconv>
#include <utility>

#include "absl/time/time.h"
#include "series/known/table_rules.h"

namespace sonde::series {
namespace {

// Writers that are not this server's (a load that died) leave marks, too.
constexpr int kRecoverEverySeconds = 600;

}  // namespace

IngestService::IngestService(std::unique_ptr<TableAccess> tables, const Clock* clock, Settings settings)
    : tables_(std::move(tables)),
      clock_(clock),
      settings_(settings),
      declarations_(tables_.get(), clock),
      metadata_(tables_.get()),
      refresher_(tables_.get(), clock),
      index_writer_(tables_.get(), clock, settings.index),
      index_(settings.index_cache_bytes_max),
      admission_("requests over HTTP", {kIngestRequestsMax, settings.bytes_under_way_max}) {}

absl::StatusOr<std::unique_ptr<IngestService>> IngestService::Open(std::unique_ptr<TableAccess> tables,
                                                                   const Clock* clock, Settings settings) {
  std::unique_ptr<IngestService> service(new IngestService(std::move(tables), clock, settings));
  if (absl::Status status = service->declarations_.Load(); !status.ok()) return status;
  service->upkeep_thread_ =
      std::thread([raw = service.get(), all = service->declarations_.List()] { raw->KeepUp(all); });
  return service;
}

std::shared_ptr<TableAccess> IngestService::TablesFor(const HttpRequest& request) {
  if (settings_.tables_of_caller) return settings_.tables_of_caller(request.Caller());
  return {std::shared_ptr<void>(), tables_.get()};  // not owned
}

IngestService::~IngestService() {
  {
    const absl::MutexLock lock(&mutex_);
    is_ending_ = true;
  }
  if (upkeep_thread_.joinable()) upkeep_thread_.join();
}

void IngestService::Recover(const std::vector<KnownSeriesRef>& all) {
  for (const KnownSeriesRef& series : all) {
    if (!series->is_open()) (void)refresher_.Recover(series->schema);
  }
}

void IngestService::KeepUp(const std::vector<KnownSeriesRef>& at_start) {
  for (const KnownSeriesRef& series : at_start) {
    // Tables that another build has made may keep their points for too short a time.
    if (!series->schema.rollups.empty()) (void)UpdateOwnRules(series->schema, tables_.get(), *clock_);
  }
  Recover(at_start);
  int rounds = 0;
  bool is_ending = false;
  while (!is_ending) {
    {
      const absl::MutexLock lock(&mutex_);
      mutex_.AwaitWithTimeout(absl::Condition(&is_ending_), absl::Seconds(kRollupsBehindSeconds));
      is_ending = is_ending_;
    }
    // What was not done is done in the next round.
    (void)(is_ending ? index_writer_.FinishUp() : index_writer_.KeepUp());
    const bool is_refreshed = refresher_.Refresh().ok();
    if (is_ending) break;
    // Roll-ups that could not be refreshed have their marks.
    if (is_refreshed && ++rounds < kRecoverEverySeconds / kRollupsBehindSeconds) continue;
    rounds = 0;
    Recover(declarations_.List());
  }
}

std::vector<Figure> IngestService::IndexFigures() const {
  const IndexWriterCounts written = index_writer_.counts();
  const EntityIndexCounts asked = index_.counts();
  Figure registered = Figure::Counter("sonde_series_index_registered_total",
                                      "Entities of series that were new to their index.");
  registered.Add(static_cast<double>(written.registered));
  Figure commits = Figure::Counter("sonde_series_index_commits_total",
                                   "Writes of the index of series that points waited for.");
  commits.Add(static_cast<double>(written.commits));
  Figure questions =
      Figure::Counter("sonde_series_index_questions_total",
                      "Questions for entities of series, by whether the index answered (index) or all "
                      "rows were to be read (scan).");
  questions.Add(static_cast<double>(asked.answered), {{"answer", "index"}});
  questions.Add(static_cast<double>(asked.unanswered), {{"answer", "scan"}});
  Figure memory = Figure::Gauge("sonde_series_index_memory_bytes",
                                "Memory of the index of series: what writers know, and decoded blocks.");
  memory.Add(static_cast<double>(written.known_bytes), {{"part", "known"}});
  memory.Add(static_cast<double>(asked.held_bytes), {{"part", "blocks"}});
  return {std::move(registered), std::move(commits), std::move(questions), std::move(memory)};
}

void IngestService::AddRoutes(Router* router, SeriesOfMatchers of_matchers) {
  AddInfluxRoutes(this, router);
  AddPrometheusRoutes(this, router);
  AddTagRoutes(this, router);
  AddSeriesRoutes(this, std::move(of_matchers), router);
}

absl::StatusOr<Admission::Place> IngestService::Admit(const HttpRequest& request) {
  int64_t bytes = kIngestBodyBytesUsual;
  const std::optional<std::string> length = request.Header("content-length");
  if (length && !request.Header("content-encoding")) {
    int64_t told = 0;
    const auto [end, error] = std::from_chars(length->data(), length->data() + length->size(), told);
    if (error == std::errc() && told >= 0) bytes = told;
  }
  return admission_.Admit(bytes);
}

absl::StatusOr<std::string> ReadBody(HttpBody* body, Admission::Place* place) {
  return body->ReadAll([place](size_t bytes) {
    const auto wanted = static_cast<int64_t>(bytes);
    return wanted <= place->bytes() ? absl::OkStatus() : place->Resize(wanted);
  });
}

bool IsPassing(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsAborted(status) || absl::IsDeadlineExceeded(status);
}

void AskToRetry(HttpResponse* response) {
  response->headers.emplace_back("Retry-After", std::to_string(kRetryAfterSeconds));
}

}  // namespace sonde::series
