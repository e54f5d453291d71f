// The audit log: who was let in or refused, and who changed what.
//
// A line is a JSON object: time, event, principal, proof, address, method, resource, permission, status, request, trace, cause; fields
// that are empty are left out.  Nothing of a secret is in it, and nothing of the data: no values, no keys of rows.
//
// AuditRules say which calls the log covers beside refusals and changes, and whether such a call may go on without its line.
//
// Failed authentications are limited to kFailuresPerSecond lines a second an address; the next line of that address says how many
// were left out.  The addresses that are remembered are bounded, too.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sonde {

struct AuditRules {
  // A call that the log covers is refused while its line cannot be written.  The line is written before the call is let in.
  bool is_required = false;
  bool data_reads = false;   // calls that read rows are covered
  bool data_writes = false;  // calls that write rows are covered

  // Whether an access to data that needs this permission is covered ("bigtable.tables.readRows").
  bool CoverAccess(std::string_view permission) const {
    return (data_reads && permission.ends_with(".readRows")) ||
           (data_writes && permission.ends_with(".mutateRows"));
  }
};

struct AuditEvent {
  enum class Kind : uint8_t {
    kUnauthenticated,  // nobody was proven
    kDenied,           // a permission is missing
    kBegun,            // a call that the log covers was let in
    kEnded,            // a call that the log covers has ended, with `status`
    kChanged,  // the server uses another key, token, role or certificate than before; `resource` names it
  };

  Kind kind = Kind::kDenied;
  absl::Time time;
  std::string_view principal = {};
  std::string_view proof = {};    // "key", "token", "certificate", "session"
  std::string_view address = {};  // "127.0.0.1:40000"
  std::string_view method = {};   // "google.bigtable.v2.Bigtable/ReadRows", "GET /metrics"
  std::string_view resource = {};
  std::string_view permission = {};
  absl::StatusCode status = absl::StatusCode::kOk;
  std::string_view request = {};  // the id and the trace of the call (work/request_tag.h)
  std::string_view trace = {};
  std::string_view cause = {};
};

// Threads: all functions may be called at once.
class AuditLog {
 public:
  static constexpr int kFailuresPerSecond = 10;
  static constexpr size_t kAddressesMax = 10'000;
  // A text of a field is cut after so many bytes.
  static constexpr size_t kTextBytesMax = 1024;

  // Appends to the file, which only its owner may read.  FAILED_PRECONDITION: the file cannot be opened, or others may read it.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& path, AuditRules rules = {});
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // Opens the file of the same name again, after it was moved away.  Keeps the old one when that fails.
  absl::Status Reopen();

  // Returns once the line is with the system.  UNAVAILABLE: it could not be written; a failed authentication that is left out is OK.
  absl::Status Write(const AuditEvent& event);

  // Writes the kBegun line of a call that is about to be let in.  UNAVAILABLE, for the caller: the rules ask for the line, and it cannot
  // be written.  OK: the call may go on; a line that was lost without being asked for is counted, as by Write.
  absl::Status Begin(AuditEvent event);

  const AuditRules& rules() const { return rules_; }

  struct Counts {
    int64_t unauthenticated = 0;  // also those that got no line
    int64_t denied = 0;
    int64_t lost_lines = 0;  // could not be written
  };
  Counts counts() const;

 private:
  AuditLog(std::string path, AuditRules rules, int file)
      : path_(std::move(path)), rules_(rules), file_(file) {}
  static absl::StatusOr<int> OpenFile(const std::string& path);
  // Whether the failure gets a line; `*left_out` are those before it that got none.
  bool TakeFailure(std::string_view address, absl::Time now, int64_t* left_out)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  struct Failures {
    int64_t second = 0;
    int lines = 0;
    int64_t left_out = 0;
  };

  const std::string path_;
  const AuditRules rules_;
  mutable absl::Mutex mutex_;
  int file_ ABSL_GUARDED_BY(mutex_);
  bool is_torn_ ABSL_GUARDED_BY(mutex_) = false;  // the file may end within a line
  absl::flat_hash_map<std::string, Failures> failures_
      ABSL_GUARDED_BY(mutex_);  // by address without its port
  Counts counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
