// EndCall counts a call that has ended, and notes it among the slow calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "metrics/request_metrics.h"
#include "rpc/call.h"

namespace sonde {

// What a call has cost, as far as its handler knows.
struct CallCost {
  std::string_view filter = {};  // the shape of the request's filter (filter_shape.h)
  int64_t rows_seen = 0;
  int64_t rows = 0;
  int64_t cells_seen = 0;
  int64_t cells = 0;
};

// `call` is not over.  `method`: "ReadRows".
void EndCall(const rpc::Call& call, std::string_view method, const absl::Status& status, absl::Time came,
             const CallCost& cost, RequestMetrics* metrics);

// The parts of the routing header that clients send (x-goog-request-params): which resource and app profile a call is for.
struct RoutedTo {
  std::string resource;
  std::string app_profile;
};
RoutedTo ParseRouting(std::string_view header);

}  // namespace sonde
