// Small durable records, for the catalog.  Several servers may share them: each record has a version, so that
// a server that writes by what it read earlier finds out that another one came between.
//
// Threads: all functions may be called at once.  Errors: those of row_store.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sonde {

struct Record {
  std::string key;
  std::string value;
  int64_t version = 0;  // positive; another one after each write of the key, while the store is open

  bool operator==(const Record&) const = default;
};

struct RecordChange {
  std::string key;
  std::optional<std::string> value;                        // nullopt: deleted
  std::optional<int64_t> expected_version = std::nullopt;  // of the record until then; 0: it is not there
};

class RecordStore {
 public:
  // All changes or none, and durably.  ABORTED: a record has not the expected version, and nothing is written.
  virtual absl::Status WriteRecords(const std::vector<RecordChange>& changes,
                                    absl::Time deadline = absl::InfiniteFuture()) = 0;
  // Those whose keys begin with `prefix`, by the bytes of their keys, ascending.
  virtual absl::StatusOr<std::vector<Record>> ReadRecords(std::string_view prefix,
                                                          absl::Time deadline = absl::InfiniteFuture()) = 0;
  // Greater than at any time before the last write: who has read all records need not read them again while
  // this stays.
  virtual absl::StatusOr<int64_t> RecordsVersion(absl::Time deadline = absl::InfiniteFuture()) = 0;

 protected:
  ~RecordStore() = default;
};

}  // namespace sonde
