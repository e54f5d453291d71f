#include "engine/engine_errors.h"

#include <fmt/format.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/time/clock.h"
#include "base/bytes.h"

namespace sonde {
namespace {

constexpr size_t kSnapshotNameBytesMax = 128;

bool IsOfName(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_'; }

}  // namespace

absl::Status CheckDeadline(absl::Time deadline) {
  if (deadline == absl::InfiniteFuture() || absl::Now() < deadline) return absl::OkStatus();
  return absl::DeadlineExceededError("The deadline has passed; nothing was done");
}

absl::Status GuardRefused(std::string_view row_key) {
  return absl::AlreadyExistsError(
      fmt::format("Row '{}' has what the change must not find; nothing was changed", Printable(row_key)));
}

absl::Status RecordWasChanged(const RecordChange& change, int64_t version) {
  return absl::AbortedError(
      fmt::format("Record '{}' has version {} and not {}: another server changed it; nothing was written",
                  Printable(change.key), version, change.expected_version.value_or(0)));
}

absl::Status CheckSnapshotName(std::string_view name) {
  if (!name.empty() && name.size() <= kSnapshotNameBytesMax &&
      std::all_of(name.begin(), name.end(), IsOfName)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("A snapshot's name has 1 to {} letters, digits, '-' and '_': '{}'", kSnapshotNameBytesMax,
                  Printable(name)));
}

absl::Status HasSnapshot(std::string_view name) {
  return absl::AlreadyExistsError(fmt::format("There is a snapshot '{}' already", name));
}

absl::Status NoSnapshot(std::string_view name) {
  return absl::NotFoundError(fmt::format("There is no snapshot '{}'", Printable(name)));
}

}  // namespace sonde
