#include "audit/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/bytes.h"
#include "base/format.h"

namespace sonde {
namespace {

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;

std::string_view NameOf(AuditEvent::Kind kind) {
  switch (kind) {
    case AuditEvent::Kind::kUnauthenticated:
      return "unauthenticated";
    case AuditEvent::Kind::kDenied:
      return "denied";
    case AuditEvent::Kind::kBegun:
      return "begun";
    case AuditEvent::Kind::kEnded:
      return "ended";
    case AuditEvent::Kind::kChanged:
      return "changed";
  }
  return "unknown";
}

// "127.0.0.1" of "127.0.0.1:40000"; "[::1]" of "[::1]:40000".
std::string_view HostOf(std::string_view address) {
  if (address.ends_with(']')) return address;
  const size_t colon = address.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (address.find(':') == colon || address.starts_with('['));
  return has_port ? address.substr(0, colon) : address;
}

void AppendField(std::string_view name, std::string_view value, std::string* line) {
  if (value.empty()) return;
  if (line->size() > 1) line->push_back(',');
  fmt::format_to(std::back_inserter(*line), "\"{}\":\"", name);
  // Printable leaves printable ASCII only, of which two characters need an escape.
  for (const char c : Printable(value, AuditLog::kTextBytesMax)) {
    if (c == '"' || c == '\\') line->push_back('\\');
    line->push_back(c);
  }
  line->push_back('"');
}

std::string LineOf(const AuditEvent& event, int64_t left_out) {
  std::string line = "{";
  AppendField("time", absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", event.time, absl::UTCTimeZone()), &line);
  AppendField("event", NameOf(event.kind), &line);
  AppendField("principal", event.principal, &line);
  AppendField("proof", event.proof, &line);
  AppendField("address", event.address, &line);
  AppendField("method", event.method, &line);
  AppendField("resource", event.resource, &line);
  AppendField("permission", event.permission, &line);
  // A call that has begun has no status yet.
  if (event.kind != AuditEvent::Kind::kBegun)
    AppendField("status", absl::StatusCodeToString(event.status), &line);
  AppendField("request", event.request, &line);
  AppendField("trace", event.trace, &line);
  AppendField("cause", event.cause, &line);
  if (left_out > 0) fmt::format_to(std::back_inserter(line), ",\"left_out\":{}", left_out);
  line += "}\n";
  return line;
}

// Leaves in `*rest` what was not written.
absl::Status WriteAll(int file, std::string_view* rest) {
  while (!rest->empty()) {
    const ssize_t written = write(file, rest->data(), rest->size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return absl::UnavailableError(
          fmt::format("A line of the audit log cannot be written: {}", std::strerror(errno)));
    }
    rest->remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& path, AuditRules rules) {
  const absl::StatusOr<int> file = OpenFile(path);
  if (!file.ok()) return file.status();
  return std::unique_ptr<AuditLog>(new AuditLog(path, rules, *file));
}

AuditLog::~AuditLog() {
  const absl::MutexLock lock(&mutex_);
  close(file_);
}

absl::StatusOr<int> AuditLog::OpenFile(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly);
  if (file < 0) {
    return absl::FailedPreconditionError(
        fmt::format("The audit log {} cannot be opened: {}", path, std::strerror(errno)));
  }
  struct stat facts{};
  const bool is_known = fstat(file, &facts) == 0;
  if (!is_known || !S_ISREG(facts.st_mode) || (facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    close(file);
    return absl::FailedPreconditionError(fmt::format(
        "The audit log {} must be a file of mode 0600, but its mode is {:04o}", path, facts.st_mode & 07777));
  }
  return file;
}

absl::Status AuditLog::Reopen() {
  const absl::StatusOr<int> file = OpenFile(path_);
  if (!file.ok()) return file.status();
  const absl::MutexLock lock(&mutex_);
  close(std::exchange(file_, *file));
  is_torn_ = false;
  return absl::OkStatus();
}

bool AuditLog::TakeFailure(std::string_view address, absl::Time now, int64_t* left_out) {
  const int64_t second = absl::ToUnixSeconds(now);
  const std::string host(HostOf(address));
  if (failures_.size() >= kAddressesMax && !failures_.contains(host)) failures_.clear();
  Failures& failures = failures_[host];
  if (failures.second != second) {
    failures.second = second;
    failures.lines = 0;
  }
  if (failures.lines >= kFailuresPerSecond) {
    ++failures.left_out;
    return false;
  }
  ++failures.lines;
  *left_out = std::exchange(failures.left_out, 0);
  return true;
}

absl::Status AuditLog::Write(const AuditEvent& event) {
  const absl::MutexLock lock(&mutex_);
  int64_t left_out = 0;
  if (event.kind == AuditEvent::Kind::kUnauthenticated) ++counts_.unauthenticated;
  if (event.kind == AuditEvent::Kind::kDenied) ++counts_.denied;
  if (event.kind == AuditEvent::Kind::kUnauthenticated &&
      !TakeFailure(event.address, event.time, &left_out)) {
    return absl::OkStatus();
  }
  // A disk that was full may have taken the beginning of a line.
  const std::string line = (is_torn_ ? "\n" : "") + LineOf(event, left_out);
  std::string_view rest = line;
  absl::Status status = WriteAll(file_, &rest);
  if (rest.size() < line.size()) is_torn_ = !rest.empty();
  if (!status.ok()) ++counts_.lost_lines;
  return status;
}

absl::Status AuditLog::Begin(AuditEvent event) {
  event.kind = AuditEvent::Kind::kBegun;
  const absl::Status status = Write(event);
  if (status.ok() || !rules_.is_required) return absl::OkStatus();
  return absl::UnavailableError(
      fmt::format("{}; the server's setting `audit: required` refuses the call without it",
                  std::string(status.message())));
}

AuditLog::Counts AuditLog::counts() const {
  const absl::MutexLock lock(&mutex_);
  return counts_;
}

}  // namespace sonde
