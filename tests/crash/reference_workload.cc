#include "reference_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "apply_in_parts.h"
#include "base/varint.h"
#include "observed_rows.h"

namespace sonde {
namespace {

constexpr TableId kRangeTable = 3;
constexpr TableId kCountTable = 4;
constexpr TableId kFirstDroppedTable = 100;
constexpr FamilyId kKept = 1, kDropped = 2, kSum = 3;
constexpr int kRows = 10;
constexpr int kThreads = 2;
constexpr int kVersionsWritten = 3 * kVersionsKept + 1;  // at a time: most of them are forgotten
constexpr int kIncrements = 6;                           // a thread
constexpr char kHotRow[] = "hot";
// Family 2 of table 3 is dropped once, as in use: its id is never used again.

std::string RowKey(int row) { return fmt::format("r{}", row); }

absl::Status Wrong(const std::string& what) { return absl::InternalError(what); }

RowDelta PutCell(FamilyId family, std::string_view value) {
  RowDelta delta;
  delta.families.push_back({.family = family, .puts = {{"q", 0, value}}});
  return delta;
}

std::string VersionValue(int64_t version) { return fmt::format("version {}", version); }

// The number in the row's only cell of the family; 0 without one.
int64_t NumberIn(const ObservedRow& row, FamilyId family) {
  const auto cells = row.families.find(family);
  if (cells == row.families.end() || cells->second.empty()) return 0;
  std::string_view bytes = cells->second[0].value;
  uint64_t bits = 0;
  return GetFixed64(&bytes, &bits) ? static_cast<int64_t>(bits) : -1;
}

}  // namespace

absl::Status ReferenceWorkload::Run(Engine* engine) {
  ++runs_count_;
  for (const TableId table : {kCrashTable, kRangeTable, kCountTable, kVersionsTable}) {
    if (absl::Status status = engine->CreateTable({.id = table}); !status.ok()) return status;
  }
  ledger_.WriterStarted();
  if (absl::Status status = WriteLedger(engine, 12); !status.ok()) return status;
  if (absl::Status status = DropARange(engine); !status.ok()) return status;
  if (absl::Status status = WriteVersions(engine, kVersionsWritten); !status.ok()) return status;
  if (absl::Status status = hooks_.rest(engine); !status.ok()) return status;
  if (absl::Status status = Forget(engine); !status.ok()) return status;
  if (absl::Status status = Count(engine); !status.ok()) return status;
  if (absl::Status status = DropATable(engine); !status.ok()) return status;
  if (absl::Status status = WriteLedger(engine, 12); !status.ok()) return status;
  if (absl::Status status = WriteVersions(engine, 1); !status.ok()) return status;
  if (absl::Status status = hooks_.rest(engine); !status.ok()) return status;
  if (absl::Status status = WriteLedger(engine, 6); !status.ok()) return status;
  // What was written last is in the log only.
  if (absl::Status status = Copy(engine); !status.ok()) return status;
  return WriteLedger(engine, 2);
}

absl::Status ReferenceWorkload::WriteLedger(Engine* engine, int batches_count) {
  // Of one thread: its sequence numbers are of one remainder.
  for (int i = 0; i < batches_count; ++i) {
    const uint64_t sequence = (seed_ % 1'000'000 + 1) * 1'000'000'000ull * kCrashThreads +
                              (runs_count_ * 1000 + ledger_.acknowledged_count() + 1) * kCrashThreads;
    const CrashBatch batch = MakeCrashBatch(sequence);
    absl::Span<const RowChange> changes = batch.changes;
    if (i % 5 == 4) {
      const RowChange& first = changes.front();
      absl::Status status =
          engine->Update(kCrashTable, first.row_key, {},
                         [&](const std::vector<RowFamily>&) -> absl::StatusOr<std::optional<RowDelta>> {
                           return first.delta;
                         });
      if (!status.ok()) return status;
      changes.remove_prefix(1);
    }
    if (absl::Status status = engine->Apply(kCrashTable, changes); !status.ok()) return status;
    ledger_.Acknowledged(sequence);
  }
  return absl::OkStatus();
}

absl::Status ReferenceWorkload::DropATable(Engine* engine) {
  const TableId table = kFirstDroppedTable + static_cast<TableId>(runs_count_);
  if (absl::Status status = engine->CreateTable({.id = table}); !status.ok()) return status;
  for (int row = 0; row < kRows; ++row) {
    const std::string key = RowKey(row);
    if (absl::Status status = engine->Apply(table, {{key, PutCell(kKept, "x")}}); !status.ok()) return status;
  }
  if (absl::Status status = engine->DropTable(table); !status.ok()) return status;
  dropped_.insert(table);
  ++others_acknowledged_;
  return absl::OkStatus();
}

absl::Status ReferenceWorkload::DropARange(Engine* engine) {
  const auto apply = [&](int row, const std::string& value) -> absl::Status {
    const std::string key = RowKey(row);
    std::set<std::string>& may_be = range_.try_emplace(key, std::set<std::string>{""}).first->second;
    may_be.insert(value);
    RowDelta delta;
    if (value.empty()) {
      delta.families.push_back({.family = kKept, .delete_all = true});
    } else {
      delta = PutCell(kKept, value);
    }
    // A row that was deleted must not come back: so the delete is of all that is older, and the put is one
    // cell.
    if (absl::Status status = engine->Apply(kRangeTable, {{key, delta}}); !status.ok()) return status;
    may_be = {value};
    ++others_acknowledged_;
    return absl::OkStatus();
  };
  const std::string value = fmt::format("run {}", runs_count_);
  for (int row = 0; row < kRows; ++row) {
    if (absl::Status status = apply(row, value); !status.ok()) return status;
  }
  for (const int row : {1, 8}) {
    if (absl::Status status = apply(row, ""); !status.ok()) return status;
  }
  for (int row = 3; row < 6; ++row) range_[RowKey(row)].insert("");
  if (absl::Status status = engine->DropRange(kRangeTable, {RowKey(3), RowKey(6)}); !status.ok())
    return status;
  for (int row = 3; row < 6; ++row) range_[RowKey(row)] = {""};
  if (family_dropped_) return absl::OkStatus();
  const std::string key = RowKey(0);
  if (absl::Status status = engine->Apply(kRangeTable, {{key, PutCell(kDropped, "y")}}); !status.ok())
    return status;
  family_may_be_dropped_ = true;
  if (absl::Status status = engine->DropFamily(kRangeTable, kDropped); !status.ok()) return status;
  family_dropped_ = true;
  ++others_acknowledged_;
  return absl::OkStatus();
}

absl::Status ReferenceWorkload::Count(Engine* engine) {
  absl::Mutex mutex;
  absl::Status result;
  const auto count = [&] {
    for (int i = 0; i < kIncrements; ++i) {
      const absl::Status updated =
          engine->Update(kCountTable, kHotRow, {},
                         [&](const std::vector<RowFamily>& row) -> absl::StatusOr<std::optional<RowDelta>> {
                           int64_t number = 0;
                           for (const RowFamily& family : row) {
                             std::string_view bytes =
                                 family.family == kKept && !family.cells.empty() ? family.cells[0].value : "";
                             uint64_t bits = 0;
                             if (GetFixed64(&bytes, &bits)) number = static_cast<int64_t>(bits);
                           }
                           std::this_thread::yield();
                           static thread_local std::string value;  // outlives Update
                           value.clear();
                           PutFixed64(&value, static_cast<uint64_t>(number + 1));
                           return PutCell(kKept, value);
                         });
      RowDelta add;
      add.families.push_back({.family = kSum, .aggregate = AggregateKind::kSum, .adds = {{"n", 0, 1}}});
      const absl::Status added = engine->Apply(kCountTable, {{kHotRow, add}});
      const absl::MutexLock lock(&mutex);
      updated.ok() ? ++counted_ : ++may_be_counted_;
      added.ok() ? ++added_ : ++may_be_added_;
      others_acknowledged_ += updated.ok() + added.ok();
      result.Update(updated);
      result.Update(added);
      if (!result.ok()) return;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(count);
  for (std::thread& thread : threads) thread.join();
  return result;
}

// One cell more in a column of each row, all in one commit; their timestamps ascend from life to life.
absl::Status ReferenceWorkload::WriteVersions(Engine* engine, int count) {
  for (; count > 0; --count) {
    std::vector<std::string> row_keys, values;
    std::vector<RowChange> changes;
    row_keys.reserve(kRows);
    values.reserve(kRows);
    for (int row = 0; row < kRows; ++row) {
      const std::string& row_key = row_keys.emplace_back(RowKey(row));
      Versions& versions = versions_[row_key];
      versions.may_be = ++versions.last;
      const std::string& value = values.emplace_back(VersionValue(versions.last));
      RowDelta& delta = changes.emplace_back(RowChange{.row_key = row_key}).delta;
      delta.families.push_back({.family = kKept, .puts = {{"q", 1000 * versions.last, value}}});
    }
    // In parts every other time.
    absl::Status status = count % 2 == 0 ? engine->Apply(kVersionsTable, changes)
                                         : ApplyInParts(engine, kVersionsTable, changes,
                                                        [](size_t left) { return (left + 1) / 2; });
    if (!status.ok()) return status;
    for (auto& [row_key, versions] : versions_) {
      versions.acknowledged.push_back(*versions.may_be);
      versions.may_be.reset();
    }
    ++others_acknowledged_;
  }
  return absl::OkStatus();
}

// All has settled before, and of each row most is forgotten: so visiting the pages must give that back.
absl::Status ReferenceWorkload::Forget(Engine* engine) {
  const auto count_cells = [&]() -> absl::StatusOr<size_t> {
    const auto rows = ScanRows(engine, kVersionsTable, {RowRange::All()});
    if (!rows.ok()) return rows.status();
    size_t count = 0;
    for (const ObservedRow& row : *rows) count += row.families.begin()->second.size();
    return count;
  };
  const absl::StatusOr<size_t> before = count_cells();
  if (!before.ok()) return before.status();
  if (absl::Status status = hooks_.forget(engine); !status.ok()) return status;
  const absl::StatusOr<size_t> after = count_cells();
  if (!after.ok()) return after.status();
  if (*after * 2 > *before)
    return Wrong(fmt::format("of {} versions {} are left after all pages were visited", *before, *after));
  return VerifyVersions(engine);
}

absl::Status ReferenceWorkload::Copy(Engine* engine) {
  OneCopy& copy = copies_.emplace_back(
      OneCopy{.directory = fmt::format("{}/copy{}", hooks_.copies_dir, runs_count_), .ledger = ledger_});
  if (absl::Status status = hooks_.checkpoint(engine, kCrashTable, copy.directory); !status.ok())
    return status;
  copy.acknowledged = true;
  ++others_acknowledged_;
  return absl::OkStatus();
}

absl::Status ReferenceWorkload::Verify(Engine* engine) {
  for (const auto verify :
       {&ReferenceWorkload::VerifyDropped, &ReferenceWorkload::VerifyRange, &ReferenceWorkload::VerifyCount,
        &ReferenceWorkload::VerifyVersions, &ReferenceWorkload::VerifyCopies}) {
    if (absl::Status status = (this->*verify)(engine); !status.ok()) return status;
  }
  return ledger_.Verify(engine);
}

absl::Status ReferenceWorkload::VerifyDropped(Engine* engine) {
  for (const TableId table : dropped_) {
    const auto rows = ScanRows(engine, table, {RowRange::All()});
    if (!absl::IsNotFound(rows.status()))
      return Wrong(fmt::format("table {} was dropped, and is there", table));
  }
  return absl::OkStatus();
}

absl::Status ReferenceWorkload::VerifyRange(Engine* engine) {
  const auto rows = ScanRows(engine, kRangeTable, {RowRange::All()});
  if (absl::IsNotFound(rows.status()) && range_.empty()) return absl::OkStatus();
  if (!rows.ok()) return rows.status();
  std::map<std::string, std::string> found;
  for (const ObservedRow& row : *rows) {
    if (row.families.contains(kDropped) && family_dropped_)
      return Wrong("a dropped family is there: " + Describe(row));
    const auto cells = row.families.find(kKept);
    if (cells != row.families.end()) found[row.row_key] = cells->second[0].value;
  }
  for (auto& [key, may_be] : range_) {
    if (!may_be.contains(found[key])) {
      return Wrong(fmt::format("row {} of the range is '{}', not one of the {} that it may be", key,
                               found[key], may_be.size()));
    }
    may_be = {found[key]};  // what was seen stays
  }
  for (const auto& [key, value] : found) {
    if (!range_.contains(key)) return Wrong(fmt::format("row {} was never written", key));
  }
  return absl::OkStatus();
}

absl::Status ReferenceWorkload::VerifyCount(Engine* engine) {
  const auto rows = ScanRows(engine, kCountTable, {RowRange::All()});
  if (absl::IsNotFound(rows.status()) && counted_ + added_ == 0) return absl::OkStatus();
  if (!rows.ok()) return rows.status();
  const int64_t counted = rows->empty() ? 0 : NumberIn(rows->front(), kKept);
  const int64_t added = rows->empty() ? 0 : NumberIn(rows->front(), kSum);
  if (counted < counted_ || counted > counted_ + may_be_counted_) {
    return Wrong(fmt::format("{} read-modify-writes, should be {} and {} at most", counted, counted_,
                             may_be_counted_));
  }
  if (added < added_ || added > added_ + may_be_added_) {
    return Wrong(fmt::format("{} adds, should be {} and {} at most", added, added_, may_be_added_));
  }
  counted_ = counted;
  added_ = added;
  may_be_counted_ = may_be_added_ = 0;
  return absl::OkStatus();
}

// The newest versions must be there; older ones may be; others may not.
absl::Status ReferenceWorkload::VerifyVersions(Engine* engine) {
  const auto rows = ScanRows(engine, kVersionsTable, {RowRange::All()});
  if (absl::IsNotFound(rows.status()) && versions_.empty()) return absl::OkStatus();
  if (!rows.ok()) return rows.status();
  std::map<std::string, std::set<int64_t>> found;
  for (const ObservedRow& row : *rows) {
    for (const ObservedCell& cell : row.families.begin()->second) {
      const int64_t version = cell.timestamp_micros / 1000;
      if (cell.value != VersionValue(version)) return Wrong("a version is of another time: " + Describe(row));
      found[row.row_key].insert(version);
    }
  }
  for (auto& [row_key, versions] : versions_) {
    std::set<int64_t>& seen = found[row_key];
    if (versions.may_be.has_value() && seen.contains(*versions.may_be)) {
      versions.acknowledged.push_back(*versions.may_be);
    }
    versions.may_be.reset();  // what was seen stays, and what was not never comes
    std::vector<int64_t>& all = versions.acknowledged;
    for (size_t i = all.size() - std::min<size_t>(all.size(), kVersionsKept); i < all.size(); ++i) {
      if (!seen.contains(all[i]))
        return Wrong(
            fmt::format("version {} of row {} is lost, the last is {}", all[i], row_key, all.back()));
    }
    for (const int64_t version : seen) {
      if (std::find(all.begin(), all.end(), version) == all.end())
        return Wrong(fmt::format("version {} of row {} was never written", version, row_key));
    }
  }
  return absl::OkStatus();
}

// A copy gets its name when it is whole: so one that has its name is, acknowledged or not.
absl::Status ReferenceWorkload::VerifyCopies(Engine*) {
  for (OneCopy& copy : copies_) {
    if (!copy.acknowledged && !std::filesystem::exists(copy.directory)) continue;
    const auto engine = hooks_.open_copy(copy.directory);
    if (!engine.ok()) return Wrong("a copy cannot be opened: " + engine.status().ToString());
    if (absl::Status status = copy.ledger.Verify(engine->get()); !status.ok())
      return Wrong("a copy is wrong: " + status.ToString());
    ++copies_verified_count_;
  }
  copies_.clear();
  return absl::OkStatus();
}

}  // namespace sonde
