// The gRPC server: the Bigtable API, health and reflection, on one port.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/admission.h"
#include "base/large_room.h"
#include "metrics/figure.h"
#include "metrics/request_metrics.h"
#include "rpc/server.h"
#include "table/change_streams.h"
#include "table/tables.h"

namespace sonde {

class KeyVisualizer;

struct GrpcServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any that is free
  // MutateRows waits for the disk, so it is given to threads of its own.
  bool writes_block = true;
  size_t worker_threads = 32;
  // Reads that take long have threads of their own, some more than the machine has cores: they seldom wait,
  // and threads that take requests in must get their turn beside them.  0: as many as fit the machine.
  size_t reader_threads = 0;
  // At a time; what comes over it is refused with UNAVAILABLE.  Change streams have half of `read_bytes_max`
  // besides.
  int64_t reads_max = 10'000;
  int64_t read_bytes_max = int64_t{256} << 20;
  int64_t writes_max = 10'000;
  int64_t write_bytes_max = int64_t{128} << 20;
  // Where requests and rows of kLargeBytes or more take their place.  Null: they count as what is smaller.
  // Must outlive the server.
  LargeRoom* large_room = nullptr;
  // Of requests that come in, until they are there; one that is alone may have more.  Beyond it they are
  // refused with UNAVAILABLE.
  int64_t incoming_bytes_max = int64_t{512} << 20;
  // What comes over it is closed at once; of one address, half of them.
  size_t connections_max = 10'000;
  // A read whose client has taken nothing for so long gives back what it can.  One that works through a
  // message may take as long.
  absl::Duration read_patience = absl::Seconds(5);
  // Quotas: what comes over them is refused with RESOURCE_EXHAUSTED.  0: none.
  int64_t reads_per_second = 0;
  int64_t writes_per_second = 0;
};

class CommitLine;

class GrpcServer {
 public:
  // Answers requests when it returns.  `tables` and `key_visualizer` must outlive it; the latter may be null.
  // FAILED_PRECONDITION: the address cannot be had.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const GrpcServerOptions& options, Tables* tables,
                                                           KeyVisualizer* key_visualizer = nullptr);
  // Ends what is still under way, and waits for what does not end at once.
  ~GrpcServer();

  int port() const;
  const RequestMetrics& request_metrics() const;
  // What is under way, and how much may be.
  const Admission& reads() const;
  const Admission& writes() const;
  const ChangeStreams& change_streams() const;
  // Where writes of others may join those of the server's clients; there as long as this is.
  CommitLine* commit_line();
  // What all of these have taken, and calls of the administration.
  int64_t bytes_under_way() const;
  rpc::ServerFacts transport_facts() const;
  // The same for /metrics.
  std::vector<Figure> TransportFigures() const;
  // False: no connection can be taken for now, as no file descriptor is left, or any more.
  bool is_accepting() const;
  // Takes no new requests; those under way have until the deadline.  How many have not ended even then: they
  // still use what this server was started with.
  int64_t Shutdown(absl::Duration grace);

 private:
  struct Parts;
  explicit GrpcServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sonde
