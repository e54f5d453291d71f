// The gRPC server: the Bigtable API, health and reflection, on one port.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/admission.h"
#include "base/large_room.h"
#include "metrics/figure.h"
#include "metrics/query_metrics.h"
#include "metrics/request_metrics.h"
#include "metrics/running_calls.h"
#include "rpc/server.h"
#include "sql/bind/binder.h"
#include "sql/spill/spill_space.h"
#include "table/change_streams.h"
#include "table/tables.h"
#include "tls/context.h"
#include "wire/sql/spooled_results.h"

namespace sonde {

class AccessControl;
class AuditLog;
class IdleWorkers;
class KeyVisualizer;
class PolicyStore;
class ViewDefinitions;

struct GrpcServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any free port
  // MutateRows waits for the disk, so worker threads run it.
  bool writes_block = true;
  size_t worker_threads = 32;
  // Number of threads for long reads.  It is some more than the machine has cores: these threads seldom wait,
  // and the threads that take requests in must get their turn beside them.  0: as many as fit the machine.
  size_t reader_threads = 0;
  // Limits of reads and of writes at a time.  A request over them is refused with UNAVAILABLE.  Change
  // streams have half of `read_bytes_max` besides.
  int64_t reads_max = 10'000;
  int64_t read_bytes_max = int64_t{256} << 20;
  int64_t writes_max = 10'000;
  int64_t write_bytes_max = int64_t{128} << 20;
  // Requests and rows of kLargeBytes or more take their places here.  Null: they count like smaller ones.
  // Must outlive the server.
  LargeRoom* large_room = nullptr;
  // Where queries put rows that their memory has no room for.  Null: nowhere.  Must outlive the server.
  sql::SpillSpace* sql_spill = nullptr;
  // Long results of queries that cannot go on by themselves: they are kept in `sql_spill`.
  SpooledResults::Limits sql_spooled = {};
  // The threads that read parts of queries.  Null: each query is one thread's work.  Must outlive the server.
  IdleWorkers* idle_workers = nullptr;
  // Limit of the bytes of requests that are still coming in; a single request may have more.  Requests beyond
  // it are refused with UNAVAILABLE.
  int64_t incoming_bytes_max = int64_t{512} << 20;
  // As rpc::ServerOptions::tls.
  std::function<std::shared_ptr<const tls::Context>()> tls;
  // A connection over this number is closed at once.  One address may have half of the number.
  size_t connections_max = 10'000;
  // A read whose client has taken nothing for this long gives back what it can.  The default leaves a client
  // time to work through a message.
  absl::Duration read_patience = absl::Seconds(5);
  // Quotas.  A request over them is refused with RESOURCE_EXHAUSTED.  0: no quota.
  int64_t reads_per_second = 0;
  int64_t writes_per_second = 0;
  // Decides who may do what.  Null: authentication is off, and everybody may do everything.  Must outlive the server.
  AccessControl* access = nullptr;
  // Null: nothing is written.  Must outlive the server.
  AuditLog* audit = nullptr;
  // Keeps the policies that SetIamPolicy sets.  Null: its calls are not there.  Must outlive the server.
  PolicyStore* policies = nullptr;
  // Which language PrepareQuery takes.
  sql::Dialect sql_dialect = sql::Dialect::kSonde;
  // Checks the definitions of materialized views; null: they are not built.
  ViewDefinitions* view_definitions = nullptr;
  // An instance has one cluster, as there is one copy of the data.
  bool refuses_clusters = false;
  // Tables need an instance that was created, and data calls an app profile that exists.
  bool strict_instances = false;
  // How long UndeleteTable may bring a deleted table back.  0: deleted tables are dropped at once.
  absl::Duration undelete_for = absl::Hours(24 * 7);
  // The part of the disk that is free: when it is low, deleted tables are dropped sooner.  Null: nobody can tell.
  std::function<std::optional<double>()> disk_free_share = nullptr;
};

class CommitLine;

// Threads: all functions may be called at once, but for the destructor.
class GrpcServer {
 public:
  // Answers requests when it returns.  `tables` and `key_visualizer` must outlive the server;
  // `key_visualizer` may be null.  FAILED_PRECONDITION: the address cannot be had.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const GrpcServerOptions& options, Tables* tables,
                                                           KeyVisualizer* key_visualizer = nullptr);
  // Ends the calls that are under way, and waits for those that do not end at once.
  ~GrpcServer();

  int port() const;
  // Where requests are counted, those of other ports, too.
  RequestMetrics* request_metrics();
  QueryMetrics* query_metrics();
  // The calls that are under way.  The functions may be called as long as the server lives.
  RunningCallsAccess running_calls() const;
  // The reads and the writes that are under way, and their limits.
  const Admission& reads() const;
  const Admission& writes() const;
  const ChangeStreams& change_streams() const;
  // The line that writes of others (series over HTTP) may join.  It lives as long as the server.
  CommitLine* commit_line();
  // The bytes that reads, writes, change streams and calls of the administration have taken.
  int64_t bytes_under_way() const;
  rpc::ServerFacts transport_facts() const;
  // The transport's facts, and facts about backups, as figures for /metrics.
  std::vector<Figure> TransportFigures() const;
  // Figures of what is done by the clock: dropping deleted tables, making automated backups.
  std::vector<Figure> UpkeepFigures() const;
  // Returns false if no connection can be taken now, as no file descriptor is left, or none will be any more.
  bool is_accepting() const;
  // Health says NOT_SERVING from now on, so that clients and balancers go elsewhere.  Requests are answered as before.
  void StopServing();
  // Takes no new requests; those under way may go on for `grace`.  Returns how many have not ended even then:
  // they still use what this server was started with.  A second call, from another thread, may shorten the grace.
  int64_t Shutdown(absl::Duration grace);

 private:
  struct Parts;
  explicit GrpcServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sonde
