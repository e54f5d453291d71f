// Makes changes for the engine from rows of writes: each row is checked, gets its token and its log record,
// and becomes a delta in normal form.  The engine's answers become a status a row.
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
  std::optional<Idempotency> idempotency;  // null: no token
};

// The number of bytes that the mutations carry.
uint64_t BytesOf(absl::Span<const Mutation> mutations);
bool WantsServerTime(const RowMutations& row);

// Makes the log records of a logged table's deltas, and holds them until the engine has them.
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
  // Returns the rows of the next write; nullopt: there is none.  The rows before, and all that they view but
  // for their keys, may be gone from here on.
  using NextRows = std::function<std::optional<absl::Span<const RowMutations>>()>;

  struct Options {
    const AuthorizedView* view = nullptr;  // null: the whole table
    int64_t now_micros = 0;                // the server's time, for cells that ask for it
    AccessObserver* observer = nullptr;    // null: nobody watches
    // All writes are one part, so the rows of each have to stay until the engine has applied them.
    bool one_part = false;
    // Whether a row goes along with the others; if not, it is ABORTED.  Null: every row does.
    std::function<bool(const RowMutations& row)> goes_along = nullptr;
    // Asked for each row with a token, and when a write has been read.  An error is the status of all rows of
    // the write, and none of them becomes a change.  Null: nobody interrupts.
    std::function<absl::Status()> interrupted = nullptr;
    // Whether the row of a token has it.  Prepare asks if a row with a token cannot become a change: a row
    // that has the token had the change, whatever the table is like by now.  Null: no row has a token.
    std::function<absl::StatusOr<bool>(const RowMutations& row)> has_token = nullptr;
  };
  // `schema`, the view and the observer must outlive this.
  RowWrites(const TableSchema& schema, Options options, NextRows next);
  ~RowWrites();

  // Prepares the first part, at a time when the engine may still be asked.  At most once, and before Next.
  void PrepareFirst();
  std::optional<absl::Span<const RowChange>> Next() override;
  void OnRefused(size_t index, const absl::Status& why) override;

  // Whether `next` has said that there is no other write.
  bool has_ended() const { return has_ended_; }
  // To be called once, after the engine's Apply has returned `applied`.  Returns, for each write that was
  // pulled, the statuses of its rows.  Tells the observer.
  std::vector<std::vector<absl::Status>> Finish(const absl::Status& applied);

 private:
  struct Write {
    std::vector<absl::Status> statuses;  // by row; OK: it became a change, or repeats one
    std::vector<size_t> row_of_change;
    std::vector<std::pair<size_t, size_t>> repeats;  // a row, and an earlier row with the same token
    size_t first_change = 0;                         // the number of its first change
    std::vector<AccessedRow> accessed;               // the rows, if somebody watches
    std::vector<uint32_t> cells;                     // cells of each row
  };
  // Returns OK if the row becomes the change *change, and otherwise the row's status.
  absl::Status Prepare(const RowMutations& row, RowChange* change);
  // Makes changes of the rows.  An error refuses the whole write.
  absl::Status Prepare(absl::Span<const RowMutations> rows, Write* write);
  // Whether the row's token decides its status, now that the row cannot become a change.
  bool MayHaveHadIt(const RowMutations& row) const;
  // Makes changes of the next write's rows, behind those of the part.  Returns false if there is no other
  // write.
  bool PrepareNext();
  // Makes changes of the next part.  Returns false if there is none.
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
  bool is_prepared_ = false;  // the part that Next will give is prepared
  const AccessTimer timer_;
  ChangeLogger logger_;
  std::vector<Write> writes_;
  std::vector<RowChange> changes_;                        // changes of the last part, and room for more
  size_t part_changes_ = 0;                               // how many of changes_ are the last part's
  size_t changes_count_ = 0;                              // changes of all writes
  std::vector<std::pair<size_t, absl::Status>> refused_;  // by number of the change
};

}  // namespace sonde
