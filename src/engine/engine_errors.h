// The statuses that all engines answer alike.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/record_store.h"

namespace sonde {

// DEADLINE_EXCEEDED: the deadline has passed.
absl::Status CheckDeadline(absl::Time deadline);

// ALREADY_EXISTS: the row has the cell that its change was guarded against.
absl::Status GuardRefused(std::string_view row_key);

// ABORTED: the record has `version` (0: it does not exist), which is not the expected one.
absl::Status RecordWasChanged(const RecordChange& change, int64_t version);

// INVALID_ARGUMENT: it is no name of a snapshot (snapshots.h).
absl::Status CheckSnapshotName(std::string_view name);
absl::Status HasSnapshot(std::string_view name);  // ALREADY_EXISTS
absl::Status NoSnapshot(std::string_view name);   // NOT_FOUND

}  // namespace sonde
