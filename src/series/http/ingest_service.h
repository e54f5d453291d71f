// The parts that all routes of series share: the store, the known series, and the limits of work under way.
//
// Threads: all functions may be called at once.  A thread of its own brings roll-ups up to date, some seconds
// behind the points, and keeps up the index of open series; what a server that died has left is refreshed after the start.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/admission.h"
#include "base/clock.h"
#include "metrics/figure.h"
#include "model/table_access.h"
#include "series/http/metric_metadata.h"
#include "series/http/point_counts.h"
#include "series/index/entity_index.h"
#include "series/index/write/index_writer.h"
#include "series/input/ingest_batch.h"
#include "series/known/declarations.h"
#include "series/write/rollup_refresher.h"
#include "web/http/router.h"
#include "work/idle_workers.h"

namespace sonde::series {

// The limit of a request's body, decoded.
constexpr size_t kIngestBodyBytesMax = 64 << 20;
// The size that a body counts as at first, if its length is not known beforehand.
constexpr int64_t kIngestBodyBytesUsual = 8 << 20;
constexpr int64_t kIngestRequestsMax = 64;
constexpr int kRetryAfterSeconds = 1;
// How far roll-ups may be behind the points that were acknowledged.
constexpr int kRollupsBehindSeconds = 2;

class IngestService {
 public:
  struct Settings {
    IngestSettings ingest;
    int64_t bytes_under_way_max = 256 << 20;
    IndexWriterSettings index;
    size_t index_cache_bytes_max = EntityIndex::kCacheBytes;
    IdleWorkers* idle_workers = nullptr;  // for questions; null: each is one thread's work
    // The same tables, in somebody's name (HttpRequest::Caller); unset: it makes no difference who asks.
    std::function<std::unique_ptr<TableAccess>(std::string caller)> tables_of_caller;
  };

  // `clock` must outlive it.  An error of the store, or DATA_LOSS, as Declarations::Load.
  static absl::StatusOr<std::unique_ptr<IngestService>> Open(std::unique_ptr<TableAccess> tables,
                                                             const Clock* clock, Settings settings);

  // Refreshes the roll-ups that wait.
  ~IngestService();

  // Line protocol, Prometheus and JSON; it must outlive the router.  `of_matchers` answers GET /api/v1/series where it has
  // match[], which is Prometheus'; null: match[] is refused.
  using SeriesOfMatchers = std::function<absl::Status(const HttpRequest& request, HttpResponse* response)>;
  void AddRoutes(Router* router, SeriesOfMatchers of_matchers = nullptr);

  TableAccess& tables() { return *tables_; }
  // For what this request asks.
  std::shared_ptr<TableAccess> TablesFor(const HttpRequest& request);
  Declarations& declarations() { return declarations_; }
  MetadataStore& metadata() { return metadata_; }
  RollupRefresher& refresher() { return refresher_; }
  IndexWriter& index_writer() { return index_writer_; }
  EntityIndex& index() { return index_; }
  // What there is to tell of the index.
  std::vector<Figure> IndexFigures() const;
  // How many entities of open series were new to their index since this was made.
  uint64_t NewEntities() const { return index_writer_.counts().registered; }
  const Clock& clock() const { return *clock_; }
  PointCounts* points() { return &points_; }
  const PointCounts& points() const { return points_; }
  IdleWorkers* idle_workers() const { return settings_.idle_workers; }
  const IngestSettings& ingest_settings() const { return settings_.ingest; }

  // Room for the body of this request; what questions hold counts, too (query_memory.h).  UNAVAILABLE: there
  // is none now.
  absl::StatusOr<Admission::Place> Admit(const HttpRequest& request);
  Admission& admission() { return admission_; }
  const Admission& admission() const { return admission_; }

 private:
  IngestService(std::unique_ptr<TableAccess> tables, const Clock* clock, Settings settings);
  // Until the end; `at_start`: the series that are known then.
  void KeepUp(const std::vector<KnownSeriesRef>& at_start);
  // Repairs what dead processes have left.  A repair that fails keeps its marks.
  void Recover(const std::vector<KnownSeriesRef>& all);

  const std::unique_ptr<TableAccess> tables_;
  const Clock* const clock_;
  const Settings settings_;
  Declarations declarations_;
  MetadataStore metadata_;
  RollupRefresher refresher_;
  IndexWriter index_writer_;
  EntityIndex index_;
  Admission admission_;
  PointCounts points_;

  absl::Mutex mutex_;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread upkeep_thread_;
};

// All of the body of a request that was admitted; `place` grows where what it was counted as is too little.
// Errors as HttpBody::ReadAll; UNAVAILABLE: there is no room for it now.
absl::StatusOr<std::string> ReadBody(HttpBody* body, Admission::Place* place);

// `status` came from the store, from Admit or from ReadBody: whether the same request may succeed later.
bool IsPassing(const absl::Status& status);
// Adds Retry-After.
void AskToRetry(HttpResponse* response);

void AddInfluxRoutes(IngestService* service, Router* router);
void AddPrometheusRoutes(IngestService* service, Router* router);
void AddTagRoutes(IngestService* service, Router* router);
void AddSeriesRoutes(IngestService* service, IngestService::SeriesOfMatchers of_matchers, Router* router);

}  // namespace sonde::series
