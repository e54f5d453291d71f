// How RocksEngine changes rows.
#include <algorithm>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/bytes.h"
#include "engine/engine_errors.h"
#include "engine/rocks/rocks_engine.h"
#include "engine/rocks/row_commit.h"
#include "engine/rocks/scan/whole_row.h"

namespace sonde {
namespace {

void AppendStripes(const RowLocks& locks, TableId table, absl::Span<const RowChange> changes,
                   BatchRowLocks::Stripes* stripes) {
  for (const RowChange& change : changes) stripes->push_back(locks.StripeOf(table, change.row_key));
}

}  // namespace

absl::StatusOr<bool> RocksEngine::HasWhatGuardForbids(TableId table, const RowChange& change) const {
  const RowGuard& guard = *change.guard;
  ReadHints hints;
  hints.families = guard.families;
  hints.columns = {{std::string(guard.qualifier), Successor(guard.qualifier)}};
  WholeRow row(options_.large_room);
  if (absl::Status status = row.Read(store_.get(), table, change.row_key, hints); !status.ok()) return status;
  for (const RowFamily& family : row.families()) {
    for (const CellView& cell : family.cells) {
      if (cell.qualifier == guard.qualifier && cell.timestamp_micros > guard.newest_old_micros) return true;
    }
  }
  return false;
}

absl::Status RocksEngine::Apply(TableId table, RowSource* rows, const WriteOptions& options) {
  if (absl::Status status = CheckCall(table, options.deadline); !status.ok()) return status;
  if (!options.may_wait) return ApplyTogether(table, rows);
  size_t first = 0;  // change of the part
  while (const std::optional<absl::Span<const RowChange>> changes = rows->Next()) {
    std::vector<bool> is_refused(changes->size());
    const auto refuse = [&](size_t index, const absl::Status& why) {
      if (is_refused[index]) return;
      is_refused[index] = true;
      rows->OnRefused(first + index, why);
    };
    const absl::Status status = ApplyPart(table, *changes, refuse);
    for (size_t i = 0; i < changes->size() && !status.ok(); ++i) refuse(i, status);
    first += changes->size();
  }
  return absl::OkStatus();
}

absl::Status RocksEngine::ApplyPart(
    TableId table, absl::Span<const RowChange> changes,
    const std::function<void(size_t index, const absl::Status& why)>& refuse) {
  const bool adds_cells = std::any_of(changes.begin(), changes.end(), AddsCells);
  for (size_t i = 0; i < changes.size() && adds_cells && store_->long_rows().AnyFull(); ++i) {
    if (absl::Status status = store_->AwaitLongRow(table, changes[i].row_key); !status.ok()) return status;
  }
  RowCommit commit(store_.get(), records_.shapes(), disk_guard_.get(), table);
  // The log tells in which order the changes of a row were applied, so they are applied one by one.
  bool is_logged = false;
  bool is_guarded = false;
  for (const RowChange& change : changes) {
    is_logged |= IsLogged(change);
    is_guarded |= IsGuarded(change);
  }
  BatchRowLocks::Stripes stripes;
  stripes.reserve(changes.size());
  if (!is_guarded) {
    // A part may have a hundred thousand changes: each stays in the processor's cache until it is done with.
    constexpr size_t kChangesAtOnce = 64;
    for (size_t i = 0; i < changes.size(); i += kChangesAtOnce) {
      const absl::Span<const RowChange> some = changes.subspan(i, kChangesAtOnce);
      if (absl::Status status = commit.Add(some); !status.ok()) return status;
      AppendStripes(row_locks_, table, some, &stripes);
    }
    const BatchRowLocks locks(&row_locks_, std::move(stripes), /*alone=*/is_logged);
    return commit.Commit(log_.get(), is_logged ? changes : absl::Span<const RowChange>());
  }
  AppendStripes(row_locks_, table, changes, &stripes);
  const BatchRowLocks locks(&row_locks_, std::move(stripes), /*alone=*/true);
  std::vector<RowChange> left;
  for (size_t i = 0; i < changes.size(); ++i) {
    const absl::StatusOr<bool> is_refused =
        changes[i].guard.has_value() ? HasWhatGuardForbids(table, changes[i]) : false;
    if (!is_refused.ok()) {
      refuse(i, is_refused.status());
    } else if (*is_refused) {
      refuse(i, GuardRefused(changes[i].row_key));
    } else {
      left.push_back(changes[i]);
    }
  }
  if (absl::Status status = commit.Add(left); !status.ok()) return status;
  return commit.Commit(log_.get(), is_logged ? absl::MakeConstSpan(left) : absl::Span<const RowChange>());
}

absl::Status RocksEngine::ApplyTogether(TableId table, RowSource* rows) {
  RowCommit commit(store_.get(), records_.shapes(), disk_guard_.get(), table);
  BatchRowLocks::Stripes stripes;
  TakenStripes taken(&row_locks_);
  absl::flat_hash_set<std::string_view> refused;  // row keys
  const auto must_wait = [&](const RowChange& change, size_t stripe) {
    const LongRows& long_rows = store_->long_rows();
    return taken.IsTaken(stripe) || IsLogged(change) || IsGuarded(change) ||
           (long_rows.AnyFull() && long_rows.IsFull(table, change.row_key)) ||
           (!refused.empty() && refused.contains(change.row_key));
  };
  std::vector<RowChange> left;
  size_t index = 0;
  while (const std::optional<absl::Span<const RowChange>> changes = rows->Next()) {
    bool is_whole = true;  // no change of the part is refused; else those that are not are in `left`
    for (size_t i = 0; i < changes->size(); ++i) {
      const RowChange& change = (*changes)[i];
      const size_t stripe = row_locks_.StripeOf(table, change.row_key);
      if (!must_wait(change, stripe)) {
        stripes.push_back(stripe);
        if (!is_whole) left.push_back(change);
        continue;
      }
      if (std::exchange(is_whole, false)) left.assign(changes->begin(), changes->begin() + i);
      refused.insert(change.row_key);
      rows->OnRefused(index + i, absl::AbortedError("The row would keep others waiting"));
    }
    if (absl::Status status = commit.Add(is_whole ? *changes : absl::MakeConstSpan(left)); !status.ok())
      return status;
    index += changes->size();
  }
  const BatchRowLocks locks(&row_locks_, std::move(stripes), /*alone=*/false);
  return commit.Commit(nullptr, {});
}

absl::Status RocksEngine::Update(TableId table, std::string_view row_key, const ReadHints& hints,
                                 const Decide& decide, const WriteOptions& options) {
  if (absl::Status status = CheckCall(table, options.deadline); !status.ok()) return status;
  // The decision is not known yet.  If it only deletes, it needs no room.
  const absl::Status row_has_room = store_->AwaitLongRow(table, row_key);
  RowCommit commit(store_.get(), records_.shapes(), disk_guard_.get(), table);
  const BatchRowLocks lock(&row_locks_, {row_locks_.StripeOf(table, row_key)}, /*alone=*/true);
  WholeRow row(options_.large_room);
  if (absl::Status status = row.Read(store_.get(), table, row_key, hints); !status.ok()) return status;
  absl::StatusOr<std::optional<RowDelta>> delta = decide(row.families());
  if (!delta.ok()) return delta.status();
  if (!delta->has_value()) return absl::OkStatus();
  const RowChange change{row_key, *std::move(*delta)};
  if (AddsCells(change) && !row_has_room.ok()) return row_has_room;
  if (absl::Status status = commit.Add({&change, 1}); !status.ok()) return status;
  return commit.Commit(log_.get(),
                       IsLogged(change) ? absl::MakeConstSpan(&change, 1) : absl::Span<const RowChange>());
}

}  // namespace sonde
