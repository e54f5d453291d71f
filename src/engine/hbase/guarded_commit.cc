#include "engine/hbase/guarded_commit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "base/bytes.h"
#include "base/random.h"

namespace sonde {
namespace {

constexpr int kTriesMax = 200;
constexpr absl::Duration kPauseMin = absl::Milliseconds(1);
constexpr absl::Duration kPauseMax = absl::Milliseconds(64);

}  // namespace

absl::Status CommitGuarded(hbase::Client* client, const hbase::TableName& table, std::string_view row_key,
                           const GuardedRead& read, const GuardedMake& make, absl::Time deadline,
                           std::atomic<uint64_t>* conflicts) {
  SystemRandom random;
  absl::Duration pause = kPauseMin;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    const absl::StatusOr<StoredRow> row = read();
    if (!row.ok()) return row.status();
    RowEdit edit;
    const absl::StatusOr<Made> made = make(*row, &edit);
    if (!made.ok()) return made.status();
    if (*made == Made::kNothing || (*made == Made::kEdit && edit.is_empty())) return absl::OkStatus();
    if (*made == Made::kEdit) {
      const absl::StatusOr<bool> applied =
          client->rows()->ApplyGuarded(table, {kVersionFamily, kVersionQualifier},
                                       {std::move(edit.change), row->version(), edit.time_to_send}, deadline);
      if (!applied.ok()) return applied.status();
      if (*applied) return absl::OkStatus();
    }
    conflicts->fetch_add(1, std::memory_order_relaxed);
    if (absl::Now() >= deadline) {
      return absl::DeadlineExceededError(fmt::format(
          "The deadline passed while others changed row '{}'; nothing was applied", Printable(row_key)));
    }
    absl::SleepFor(pause * random.UniformReal());
    pause = std::min(pause * 2, kPauseMax);
  }
  return absl::UnavailableError(
      fmt::format("Row '{}' was changed by others {} times before it could be changed; nothing was applied",
                  Printable(row_key), kTriesMax));
}

}  // namespace sonde
