// EndCall counts a call that has ended, and notes it among the slow calls.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "metrics/request_metrics.h"
#include "rpc/call.h"

namespace sonde {

struct EndedCall {
  std::string_view method;  // "ReadRows"
  absl::StatusCode code = absl::StatusCode::kOk;
  absl::Time came;
  std::string_view filter = {};  // the shape of the request's filter (filter_shape.h)
  CallCost cost = {};
};

// `call` is not over.
void EndCall(const rpc::Call& call, const EndedCall& ended, RequestMetrics* metrics);

// The parts of the routing header that clients send (x-goog-request-params): which resource and app profile a call is for.
struct RoutedTo {
  std::string resource;
  std::string app_profile;
};
RoutedTo ParseRouting(std::string_view header);

}  // namespace sonde
