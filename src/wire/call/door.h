// The one door of the gRPC port.  Every call passes it, whatever its handler:
//
// 1. The caller is authenticated when the length of the message is known, before the message is read; calls of unknown methods, too.
//    UNAUTHENTICATED: nobody is proven.
// 2. The caller's limits are asked (access/rates), before the message is read.  RESOURCE_EXHAUSTED: one is reached.
// 3. The permissions of the method (access/rules.h) are decided on the resources that the request names, before the handler sees the
//    request.  PERMISSION_DENIED, with the same bytes whether or not a resource exists.  INVALID_ARGUMENT: a name is no name.
// 4. The audit log gets a line of each call that changes the administration, and of those that its rules cover (audit/audit_log.h).
//    UNAVAILABLE: the rules require the line, and it cannot be written.
// 5. A call that lasts is asked again every kAskAgainAfter, and when its proof ends.  It ends with the same errors.
//
// Who calls is noted with the call, never with the connection.  Without a door, calls are as they were.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "access/access_control.h"
#include "audit/audit_log.h"
#include "base/clock.h"
#include "metrics/request_metrics.h"
#include "rpc/call.h"
#include "wire/call/call_access.h"

namespace sonde {

struct DoorOptions {
  AccessControl* access = nullptr;
  AuditLog* audit = nullptr;  // null: nothing is written
  RequestMetrics* metrics = nullptr;
  const Clock* clock = nullptr;
};

// Nothing is owned.
//
// Threads: Guard is called before the router is used; the calls' threads do the rest.
class CallDoor {
 public:
  static constexpr absl::Duration kAskAgainAfter = absl::Seconds(60);

  explicit CallDoor(const DoorOptions& options) : options_(options) {}

  // Puts the door before all methods of `router`, which must not outlive it.
  void Guard(rpc::Router* router);

  // --- For the calls of the door.
  const DoorOptions& options() const { return options_; }
  absl::Time Now() const;
  void Write(const AuditEvent& event) const;

 private:
  const DoorOptions options_;
};

}  // namespace sonde
