// Rows of writes on their way to the engine: each row is checked, gets its token and the record of its change,
// and becomes a delta in normal form; and what the engine says of the changes becomes a status a row.
//
// Belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/row_store.h"
#include "model/authorized_view.h"
#include "model/mutation.h"
#include "model/table_schema.h"
#include "table/access_observer.h"
#include "table/idempotency.h"

namespace sonde {

struct RowMutations {
  std::string_view row_key;
  absl::Span<const Mutation> mutations;
  std::optional<Idempotency> idempotency;  // applied once a token
};

// The number of bytes that the mutations carry.
uint64_t BytesOf(absl::Span<const Mutation> mutations);
bool WantsServerTime(const RowMutations& row);

// Gives the deltas of a table whose changes are logged their records, and holds these until the engine has
// them.
class ChangeLogger {
 public:
  // `schema` must outlive this.
  ChangeLogger(const TableSchema& schema, int64_t now_micros) : schema_(schema), now_micros_(now_micros) {}

  void Log(std::string_view row_key, absl::Span<const Mutation> mutations, RowDelta* delta);
  void Clear() { records_.clear(); }

 private:
  const TableSchema& schema_;
  const int64_t now_micros_;
  std::vector<std::vector<std::string>> records_;
};

class RowWrites final : public RowSource {
 public:
  // The rows of the next write; nullopt: there is none.  The rows before, and all that they view but for
  // their keys, may be gone from here on.
  using NextRows = std::function<std::optional<absl::Span<const RowMutations>>()>;

  struct Options {
    const AuthorizedView* view = nullptr;  // null: the whole table
    int64_t now_micros = 0;                // the server's time, for cells that ask for it
    AccessObserver* observer = nullptr;    // null: nobody watches
    // All writes are one part, so that the rows of each have to stay until the engine has applied them.
    bool one_part = false;
    // Null: every row does.  A row that does not go along is ABORTED.
    std::function<bool(const RowMutations& row)> goes_along = nullptr;
    // Asked for each row with a token, and when a write has been read; an error is the status of all of the
    // write's rows, and none of them becomes a change.  Null: nobody interrupts.
    std::function<absl::Status()> interrupted = nullptr;
    // Asked, by Prepare, of a row with a token that cannot become a change: if the row has the token it has had
    // the change, whatever the table is like by now.  Null: no row has a token.
    std::function<absl::StatusOr<bool>(const RowMutations& row)> has_token = nullptr;
  };
  // `schema`, the view and the observer must outlive this.
  RowWrites(const TableSchema& schema, Options options, NextRows next);
  ~RowWrites();

  // Prepares the first part, where the engine may be asked still; at most once, and before Next.
  void PrepareFirst();
  std::optional<absl::Span<const RowChange>> Next() override;
  void OnRefused(size_t index, const absl::Status& why) override;

  // Whether `next` has said that there is no other write.
  bool has_ended() const { return has_ended_; }
  // Once, after the engine's Apply answered `applied`: the statuses of the rows of each write that was
  // pulled.  Tells the observer.
  std::vector<std::vector<absl::Status>> Finish(const absl::Status& applied);

 private:
  struct Write {
    std::vector<absl::Status> statuses;  // of the rows; OK: it became a change, or repeats one
    std::vector<size_t> row_of_change;
    std::vector<std::pair<size_t, size_t>> repeats;  // a row, and the row before with the same token
    size_t first_change = 0;                         // its number
    std::vector<AccessedRow> accessed;               // the rows, if somebody watches
    std::vector<uint32_t> cells;                     // of each
  };
  // The status of a row that does not become a change; OK: *change is its change.
  absl::Status Prepare(const RowMutations& row, RowChange* change);
  // Makes the rows changes.  Not OK: the write as a whole is refused.
  absl::Status Prepare(absl::Span<const RowMutations> rows, Write* write);
  // Whether the row's token decides, now that the row cannot become a change.
  bool MayHaveHadIt(const RowMutations& row) const;
  // Makes the rows of the next write changes, behind those of the part.  False: there is no other write.
  bool PrepareNext();
  // The same of the next part.
  bool PreparePart();
  absl::Status CheckInterrupted() const {
    return options_.interrupted ? options_.interrupted() : absl::OkStatus();
  }
  void NoteAccess(absl::Span<const RowMutations> rows, Write* write) const;
  void TellAccess(Write* write) const;

  const TableSchema& schema_;
  const Options options_;
  const NextRows next_;
  bool has_ended_ = false;
  bool is_prepared_ = false;  // the part that Next gives
  const AccessTimer timer_;
  ChangeLogger logger_;
  std::vector<Write> writes_;
  std::vector<RowChange> changes_;                        // of the part that came last, and room for more
  size_t part_changes_ = 0;                               // how many that are
  size_t changes_count_ = 0;                              // of all writes
  std::vector<std::pair<size_t, absl::Status>> refused_;  // by number of the change
};

}  // namespace sonde
