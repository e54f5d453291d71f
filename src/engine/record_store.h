// Small durable records, for the catalog.  Several servers may share them.  Each record has a version, so
// that a server notices if another one has changed a record since it read it.
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
  std::optional<int64_t> expected_version = std::nullopt;  // the record's version until then; 0: it does not
                                                           // exist
};

class RecordStore {
 public:
  // Applies all changes or none, durably.  ABORTED: a record does not have the expected version; nothing is
  // written.
  virtual absl::Status WriteRecords(const std::vector<RecordChange>& changes,
                                    absl::Time deadline = absl::InfiniteFuture()) = 0;
  // Returns the records whose keys begin with `prefix`, ascending by the bytes of their keys.
  virtual absl::StatusOr<std::vector<Record>> ReadRecords(std::string_view prefix,
                                                          absl::Time deadline = absl::InfiniteFuture()) = 0;
  // A number that every write makes greater.  While it stays, a caller that has read all records need not
  // read them again.
  virtual absl::StatusOr<int64_t> RecordsVersion(absl::Time deadline = absl::InfiniteFuture()) = 0;

 protected:
  ~RecordStore() = default;
};

}  // namespace sonde
