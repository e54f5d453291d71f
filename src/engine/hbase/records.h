// The records of a store, in one row of HBase, so that a write of several is one commit.
//
// The row is as a row of cells (stored_cells.h), all at time 0:
//   family 1, qualifier KEY   a record: its version, 8 bytes big-endian, which is the number of the write that wrote it; its value
//   family 2                  how often records were written, 8 bytes big-endian
// Writes are guarded by the row's version.  A row beside it takes what CheckWrites writes.
//
// Threads: all functions may be called at once.  Errors: those of row_store.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/record_store.h"
#include "hbase/client.h"

namespace sonde {

class HBaseRecords {
 public:
  // `client` and `conflicts` must outlive it.
  HBaseRecords(hbase::Client* client, hbase::TableName table, std::atomic<uint64_t>* conflicts)
      : client_(client), table_(std::move(table)), conflicts_(conflicts) {}

  absl::Status Write(const std::vector<RecordChange>& changes, absl::Time deadline);
  absl::StatusOr<std::vector<Record>> Read(std::string_view prefix, absl::Time deadline);
  absl::StatusOr<int64_t> Version(absl::Time deadline);
  // Writes something that nobody reads.
  absl::Status CheckWrites(absl::Time deadline);

 private:
  hbase::Client* const client_;
  const hbase::TableName table_;
  std::atomic<uint64_t>* const conflicts_;  // writes that began anew
};

}  // namespace sonde
