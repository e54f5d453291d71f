// Facts about the server as a whole, for pages and metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/admission.h"
#include "base/large_room.h"
#include "keyviz/key_visualizer.h"
#include "metrics/figure.h"
#include "metrics/latency_history.h"
#include "metrics/query_metrics.h"
#include "metrics/request_metrics.h"
#include "metrics/running_calls.h"
#include "table/change_streams.h"
#include "table/tables.h"
#include "web/http/http_counts.h"

namespace sonde {

// Nothing is owned.
struct ServerFacts {
  std::string version;
  int64_t started_seconds = 0;  // since 1970
  std::string grpc_address;     // what clients connect to
  std::string data_dir;
  std::string durability;     // "fsync", "os"
  uint64_t memory_bytes = 0;  // the budget
  Tables* tables = nullptr;
  KeyVisualizer* key_visualizer = nullptr;  // null when nobody watches
  const RequestMetrics* requests = nullptr;
  const QueryMetrics* queries = nullptr;
  const LatencyHistory* latency = nullptr;
  RunningCallsAccess grpc_calls;
  // The work that is under way and its limits, by kind: "reads", "writes", ...
  struct UnderWay {
    std::string kind;
    const Admission* admission = nullptr;
  };
  std::vector<UnderWay> under_way;
  const ChangeStreams* change_streams = nullptr;
  LargeRoom* large_room = nullptr;  // null: there is none
  // Facts about the gRPC port: whether connections can be taken, and its counts.  Each may be null.
  std::function<bool()> is_accepting;
  // Whether the server is about to end, and wants no new clients; may be null.
  std::function<bool()> is_draining;
  std::function<std::vector<Figure>()> transport_figures;
  std::shared_ptr<HttpCounts> http_counts = std::make_shared<HttpCounts>();  // of the HTTP port
  // The memory that the allocator holds, by the allocator's names; may be null.
  std::function<std::vector<std::pair<std::string, int64_t>>()> allocator_bytes;
};

}  // namespace sonde
