// EndCall counts a call that has ended, with who asked, and notes it among the slow calls and the failed ones.
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
  absl::Status status = {};
  absl::Time came;
  std::string_view filter = {};  // the shape of the request's filter (filter_shape.h)
  CallCost cost = {};
};

// `call` is not over.
void EndCall(const rpc::Call& call, const EndedCall& ended, RequestMetrics* metrics);

// Notes a call among the failed ones, if `status` is a failure.  `principal`: as policies name it; empty: nobody was asked.
void NoteFailure(const rpc::Call& call, std::string_view method, const absl::Status& status,
                 std::string principal, RequestMetrics* metrics);

// The parts of the routing header that clients send (x-goog-request-params): which resource and app profile a call is for.
struct RoutedTo {
  std::string resource;
  std::string app_profile;
};
RoutedTo ParseRouting(std::string_view header);

}  // namespace sonde
