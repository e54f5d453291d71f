// What the crash test writes, and what must be there after a crash.
//
// A batch is a function of its sequence number, so that writer and verifier need to share nothing else: a few
// whole rows, each replaced by cells in two families that all tell the sequence number, and one added to the
// sum of the batch's thread.  A row belongs to one thread, whose sequence numbers ascend.  Each change leaves
// a record in the change log that tells its row and sequence number.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "engine/engine.h"
#include "observed_rows.h"

namespace sonde {

constexpr TableId kCrashTable = 1;
constexpr int kCrashThreads = 3;

// A writer also makes tables and drops them: this bit and the table's id say that the drop was acknowledged.
constexpr uint64_t kCrashDropped = uint64_t{1} << 63;

// A writer also writes kCrashRangeRows rows of a number of its own into a table and drops those in
// [kCrashRangeStart, kCrashRangeEnd): this bit and the number say that both were acknowledged.
constexpr uint64_t kCrashRangeDropped = uint64_t{1} << 61;
constexpr TableId kCrashRangeTable = 2;
constexpr int kCrashRangeRows = 10, kCrashRangeStart = 2, kCrashRangeEnd = 7;
std::string CrashRangeRowKey(uint64_t number, int row);

// The views of the changes point into `backing`.
struct CrashBatch {
  std::deque<std::string> backing;
  std::vector<RowChange> changes;  // the last one adds to the sum
};

constexpr int ThreadOfSequence(uint64_t sequence) { return static_cast<int>(sequence % kCrashThreads); }
CrashBatch MakeCrashBatch(uint64_t sequence);

class CrashLedger {
 public:
  // A writer was started: each of its threads may leave one batch that is there without an acknowledgement.
  void WriterStarted() { ++writers_count_; }
  void Acknowledged(uint64_t sequence);  // or kCrashDropped, kCrashRangeDropped; a phase is passed over

  // INTERNAL unless every acknowledged row is there, whole, in that state or a later one, and nothing else
  // is. What was seen once must be there ever after.
  absl::Status Verify(Engine* engine);

  uint64_t acknowledged_count() const { return acknowledged_count_; }
  size_t rows_count() const { return rows_.size(); }

 private:
  absl::Status VerifyRow(const ObservedRow& row);
  absl::Status VerifyRanges(Engine* engine) const;
  absl::Status VerifySum(const ObservedRow& row);
  // Of the rows that are there: the log's last record of each is of its state, and a sum has a record for
  // every one that was added.
  absl::Status VerifyLog(Engine* engine) const;

  struct Sum {
    int64_t seen = 0;          // by the last Verify
    int64_t acknowledged = 0;  // since
  };

  std::map<std::string, uint64_t> rows_;  // the least sequence number that each may have
  std::map<std::string, Sum> sums_;       // by row key
  std::set<TableId> dropped_;
  std::set<uint64_t> ranges_dropped_;
  int64_t writers_count_ = 0;  // since the last Verify
  uint64_t acknowledged_count_ = 0;
};

}  // namespace sonde
