// A fixed course of writes that touches everything an engine does, and what must be there after it was cut
// off at any moment.
//
// Table 1 is the crash ledger's (whole rows in two families, sums, change log); table 2 is dropped; of table
// 3 a range and a family are dropped; in table 4 threads count in one row, by read-modify-writes and by adds.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "crash_ledger.h"
#include "engine/engine.h"

namespace sonde {

class ReferenceWorkload {
 public:
  // `rest` makes the engine move its data to where it rests (flush, compact, settle).
  ReferenceWorkload(uint64_t seed, std::function<absl::Status(Engine*)> rest)
      : rest_(std::move(rest)), seed_(seed) {}

  // Everything once; returns at the first error.  May be called again, after Verify.
  absl::Status Run(Engine* engine);

  // INTERNAL: what is there is not what was acknowledged, or something in between.  Others: an engine's
  // error.
  absl::Status Verify(Engine* engine);

  uint64_t acknowledged_count() const { return ledger_.acknowledged_count() + others_acknowledged_; }

 private:
  absl::Status WriteLedger(Engine* engine, int batches_count);
  absl::Status DropATable(Engine* engine);
  absl::Status DropARange(Engine* engine);
  absl::Status Count(Engine* engine);
  absl::Status VerifyDropped(Engine* engine);
  absl::Status VerifyRange(Engine* engine);
  absl::Status VerifyCount(Engine* engine);

  const std::function<absl::Status(Engine*)> rest_;
  const uint64_t seed_;
  CrashLedger ledger_;
  uint64_t runs_count_ = 0;
  uint64_t others_acknowledged_ = 0;

  // What each row of table 3 may hold: a value, or "" for none.
  std::map<std::string, std::set<std::string>> range_;
  bool family_dropped_ = false, family_may_be_dropped_ = false;
  std::set<TableId> dropped_;
  int64_t counted_ = 0, may_be_counted_ = 0;  // increments acknowledged; and those whose end is not known
  int64_t added_ = 0, may_be_added_ = 0;
};

}  // namespace sonde
