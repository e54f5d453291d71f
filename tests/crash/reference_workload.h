// A fixed course of writes that touches everything an engine does, and what must be there after it was cut
// off at any moment.
//
// Table 1 is the crash ledger's (whole rows in two families, sums, change log), and is copied; table 2 is
// dropped; of table 3 a range and a family are dropped; in table 4 threads count in one row, by
// read-modify-writes and by adds; of table 5 a rule keeps the newest versions of each cell.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "crash_ledger.h"
#include "engine/engine.h"

namespace sonde {

constexpr TableId kVersionsTable = 5;
constexpr int kVersionsKept = 2;

// What the workload needs of an engine that is not part of Engine.
struct WorkloadHooks {
  // Makes the engine move its data to where it rests (flush, compact, settle).
  std::function<absl::Status(Engine*)> rest;
  // From now on the engine may forget all but the newest kVersionsKept cells of a column of kVersionsTable;
  // visits its pages for that.
  std::function<absl::Status(Engine*)> forget;
  // Makes a copy of one table, as RocksEngine::Checkpoint.
  std::function<absl::Status(Engine*, TableId, const std::string& directory)> checkpoint;
  // Copies are made in here, and opened.
  std::string copies_dir;
  std::function<absl::StatusOr<std::unique_ptr<Engine>>(const std::string& directory)> open_copy;
};

class ReferenceWorkload {
 public:
  ReferenceWorkload(uint64_t seed, WorkloadHooks hooks) : hooks_(std::move(hooks)), seed_(seed) {}

  // Everything once; returns at the first error.  May be called again, after Verify.
  absl::Status Run(Engine* engine);

  // INTERNAL: what is there is not what was acknowledged, or something in between.  Others: an engine's
  // error.
  absl::Status Verify(Engine* engine);

  uint64_t acknowledged_count() const { return ledger_.acknowledged_count() + others_acknowledged_; }
  uint64_t copies_verified_count() const { return copies_verified_count_; }

 private:
  absl::Status WriteLedger(Engine* engine, int batches_count);
  absl::Status DropATable(Engine* engine);
  absl::Status DropARange(Engine* engine);
  absl::Status Count(Engine* engine);
  absl::Status WriteVersions(Engine* engine, int count);
  absl::Status Forget(Engine* engine);
  absl::Status Copy(Engine* engine);
  absl::Status VerifyDropped(Engine* engine);
  absl::Status VerifyRange(Engine* engine);
  absl::Status VerifyCount(Engine* engine);
  absl::Status VerifyVersions(Engine* engine);
  absl::Status VerifyCopies(Engine* engine);

  const WorkloadHooks hooks_;
  const uint64_t seed_;
  CrashLedger ledger_;
  uint64_t runs_count_ = 0;
  uint64_t others_acknowledged_ = 0;
  uint64_t copies_verified_count_ = 0;

  // What each row of table 3 may hold: a value, or "" for none.
  std::map<std::string, std::set<std::string>> range_;
  bool family_dropped_ = false, family_may_be_dropped_ = false;
  std::set<TableId> dropped_;
  int64_t counted_ = 0, may_be_counted_ = 0;  // increments acknowledged; and those whose end is not known
  int64_t added_ = 0, may_be_added_ = 0;

  // The versions of each row of table 5, ascending; and the one whose end is not known, if any.
  struct Versions {
    std::vector<int64_t> acknowledged;
    std::optional<int64_t> may_be;
    int64_t last = 0;  // tried; no version is written twice
  };
  std::map<std::string, Versions> versions_;

  struct OneCopy {
    std::string directory;
    CrashLedger ledger;  // as of when the copy was asked for
    bool acknowledged = false;
  };
  std::vector<OneCopy> copies_;  // not looked at yet
};

}  // namespace sonde
