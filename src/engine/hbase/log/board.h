// A row of the catalog's table by which the servers of a store know of each other.
//
// Each column is a name, and its value is what one server says under this name.  A value never comes back once it was replaced, so that
// a server that replaces what it has seen knows that nobody came between.  A server that says the same for long is gone: how long it has
// said so is measured by who looks, so that no two clocks are compared.
//
// Threads: all functions may be called at once.  They wait for the network, but for entries().
// Errors: those of hbase::Rows.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "hbase/client.h"

namespace sonde {

class Board {
 public:
  struct Entry {
    std::string value;
    // For how long, at least, nobody had replaced the value when the row was last read.
    std::chrono::steady_clock::duration unchanged{};
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  // `client` must outlive it.
  Board(hbase::Client* client, hbase::TableName table, std::string row)
      : client_(client), table_(std::move(table)), row_(std::move(row)) {}

  // Reads the row.
  absl::StatusOr<Entries> Look(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  // Puts a value in the place of `seen` (empty: there is none).  False: there is another one.  UNKNOWN: nobody knows whether it was put.
  absl::StatusOr<bool> Replace(std::string_view name, std::string_view seen, std::string_view value,
                               absl::Time deadline);
  // Removes a value.  As Replace.
  absl::StatusOr<bool> Remove(std::string_view name, std::string_view seen, absl::Time deadline) {
    return Replace(name, seen, {}, deadline);
  }

 private:
  struct Seen {
    std::string value;
    std::chrono::steady_clock::time_point since;
  };
  absl::StatusOr<hbase::RowCells> Get(absl::Time deadline);

  hbase::Client* const client_;
  const hbase::TableName table_;
  const std::string row_;
  absl::Mutex mutex_;
  std::map<std::string, Seen, std::less<>> seen_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
