// Who makes a call, and what else the caller may do, as the door (door.h) has noted it at the call.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "access/access_control.h"
#include "access/rules.h"
#include "rpc/call.h"

namespace sonde {

// The caller of a call, and what else the caller may do.
//
// Threads: all functions may be called at once.
class CallAccess : public rpc::CallNote {
 public:
  virtual const Principal& principal() const = 0;
  virtual bool IsAllowed(Permission permission, std::string_view resource) const = 0;
  // PERMISSION_DENIED; the audit log has it.
  virtual absl::Status Check(Permission permission, std::string_view resource) const = 0;
  // Counts a write of a call that was let in as a read.  RESOURCE_EXHAUSTED: the caller's rate of writes is reached.
  virtual absl::Status CountWrite() const = 0;

 protected:
  ~CallAccess() = default;
};

// Null: authentication is off, and everybody may do everything.
inline const CallAccess* AccessOf(const rpc::Call& call) {
  return static_cast<const CallAccess*>(call.note());  // nobody else notes anything
}

// Checks whether the caller may; OK where authentication is off.
inline absl::Status CheckAccess(const rpc::Call& call, Permission permission, std::string_view resource) {
  const CallAccess* const access = AccessOf(call);
  return access == nullptr ? absl::OkStatus() : access->Check(permission, resource);
}

// Checks whether the caller may read a table or view by SQL.
inline absl::Status CheckMayRead(const rpc::Call& call, std::string_view resource) {
  return CheckAccess(call, PermissionToReadRows(resource), resource);
}

// Checks whether the caller may write to a table by INSERT, or make tables in an instance by it.
inline absl::Status CheckMayInsert(const rpc::Call& call, std::string_view resource) {
  return CheckAccess(call, PermissionToInsert(resource), resource);
}

// Counts a write of a call that was let in as a read.
inline absl::Status CountWrite(const rpc::Call& call) {
  const CallAccess* const access = AccessOf(call);
  return access == nullptr ? absl::OkStatus() : access->CountWrite();
}

}  // namespace sonde
