// A change of a row that depends on what the row has.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/hbase/row_edit.h"
#include "engine/hbase/stored_row.h"
#include "hbase/client.h"

namespace sonde {

enum class Made : uint8_t {
  kEdit,     // it is to be committed
  kNothing,  // the row stays as it is
  kStale,    // the row has changed since it was read
};

using GuardedRead = std::function<absl::StatusOr<StoredRow>()>;
using GuardedMake = std::function<absl::StatusOr<Made>(const StoredRow&, RowEdit*)>;

// Reads the row, has an edit made of it, and commits that, if nobody has changed the row meanwhile; else it begins anew.  `make` may
// run several times.
//  UNAVAILABLE        others changed the row all the time; nothing was applied
//  DEADLINE_EXCEEDED  nothing was applied
//  others             of `read`, `make` and hbase::Rows::ApplyGuarded
absl::Status CommitGuarded(hbase::Client* client, const hbase::TableName& table, std::string_view row_key,
                           const GuardedRead& read, const GuardedMake& make, absl::Time deadline,
                           std::atomic<uint64_t>* conflicts);

}  // namespace sonde
