// What pages and metrics tell of the server as a whole.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "keyviz/key_visualizer.h"
#include "metrics/request_metrics.h"
#include "table/tables.h"

namespace sonde {

// Nothing is owned.
struct ServerFacts {
  std::string version;
  int64_t started_seconds = 0;  // since 1970
  std::string grpc_address;     // what clients connect to
  std::string data_dir;
  uint64_t memory_bytes = 0;  // the budget
  Tables* tables = nullptr;
  KeyVisualizer* key_visualizer = nullptr;  // null when nobody watches
  const RequestMetrics* requests = nullptr;
  // How full the limits on requests under way are, 0 to 1.
  std::function<double()> read_load;
  std::function<double()> write_load;
};

}  // namespace sonde
