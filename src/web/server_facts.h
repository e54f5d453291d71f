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
  // A materialized view, as its keeper tells of it.
  struct KeptView {
    std::string name;
    double lag_seconds = 0;      // behind its table; 0 also: it has not begun
    bool is_populating = false;  // rows that were there are computed
    uint64_t rows = 0;           // that were computed since the server's start
    uint64_t left_out = 0;       // rows of the table and of the view
    std::string finding;         // in words, that it cannot keep up; empty: it can
    std::string error;           // of the last attempt to keep it; empty: it has not failed
  };
  std::function<std::vector<KeptView>()> kept_views;  // may be null
  std::function<uint64_t()> new_series;  // entities of open series, since the server's start; may be null
  std::shared_ptr<HttpCounts> http_counts = std::make_shared<HttpCounts>();  // of the HTTP port
  // The memory that the allocator holds, by the allocator's names; may be null.
  std::function<std::vector<std::pair<std::string, int64_t>>()> allocator_bytes;
};

}  // namespace sonde
