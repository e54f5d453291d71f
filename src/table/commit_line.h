// The line of all writers of rows: writes that come while others are being committed make the next commit.
//
// A commit waits for the disk.  If each write waited by itself, on a thread of its own, that thread would be
// woken, would sleep until the disk is done, and would be woken again; and all that was made of the write
// would be in memory until then.  Here a few threads make changes of one write after the other, in the same
// memory, and keep only the engine's edits (docs/decisions/0015, 0017).  A write that would keep the others
// waiting goes alone, by a worker (WhyAlone).  A write for which there is no room, or no time left, is
// refused.
//
// Threads: all functions may be called at once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "catalog/catalog.h"
#include "table/row_writes.h"
#include "table/tables.h"
#include "work/waiting_line.h"
#include "work/worker_pool.h"

namespace sonde {

// The reason why a write is not committed together with others.
enum class WhyAlone : uint8_t {
  kNot,         // it is committed together
  kLarge,       // it takes long to read, or much memory
  kNotPlain,    // its message has to be read by protobuf
  kToken,       // the engine reads its rows before it writes them
  kOtherTable,  // the commit is of another table or view: RocksDB's syncs serve several threads' writes
  kRowWaits,    // somebody has the turn of a row, or its lock; or the row must settle before it can grow
  kRefused,     // its commit was refused, perhaps because of another write
  kInterrupted  // nobody waits for it any more, and it is told so
};

// A request to write one row or many.  Its functions are called by one thread at a time, in their order.
class PendingWrite {
 public:
  struct Target {
    TableSchemaRef schema;
    AuthorizedViewRef view;  // null: the whole table
  };
  // Memory that the line lends to one write after the other.
  struct Memory {
    virtual ~Memory() = default;
  };

  PendingWrite(absl::Time deadline, size_t bytes, Priority priority = Priority::kHigh)
      : deadline_(deadline), bytes_(bytes), priority_(priority) {}
  virtual ~PendingWrite() = default;

  absl::Time deadline() const { return deadline_; }
  Priority priority() const { return priority_; }
  // About the size of the request.
  size_t bytes() const { return bytes_; }
  // Until when the write has waited for its turn; the past: it has not had its turn.
  absl::Time begun() const { return begun_; }
  // The line says so when the write's turn comes.  Only the first counts.
  void Begin() {
    if (begun_ == absl::InfinitePast()) begun_ = absl::Now();
  }
  // Known once Open has answered kNot, or ReadAlone OK.
  const Target& target() const { return target_; }

  // Finds the write's target.  With any answer but kNot the write goes alone, also if it must be told what is
  // wrong with it.
  virtual WhyAlone Open() = 0;
  // Returns the rows.  They view this write, or `memory`, which held the rows of the write before.  Their
  // keys view this write, and if the target is logged, so do the rows, until Done.  `memory` is null at first; a write that needs
  // memory makes it.  nullopt: the write goes alone.
  virtual std::optional<absl::Span<const RowMutations>> ReadTogether(std::unique_ptr<Memory>* memory) = 0;
  // Returns the rows.  It reads all rows that ReadTogether reads, and others.  They stay until Done.  An
  // error is the write's answer.
  virtual absl::StatusOr<absl::Span<const RowMutations>> ReadAlone() = 0;
  // Returns an error once nobody waits for the write any more; nothing is written then.  Called by any
  // thread.
  virtual absl::Status Interrupted() const = 0;
  // Called once, and last: with the status of each row that was read, or with the reason why none was
  // written.
  virtual void Done(absl::StatusOr<std::vector<absl::Status>> statuses) = 0;

 protected:
  Target target_;

 private:
  const absl::Time deadline_;
  const size_t bytes_;
  const Priority priority_;
  absl::Time begun_ = absl::InfinitePast();
};

class CommitLine {
 public:
  struct Options {
    int commits_max = 1;  // commits that may be under way at a time, if there is much to write
    WaitLimits limits = {};
    // Calls `tell`, which tells many writes that they are done; null: `tell` is called directly.
    std::function<void(absl::FunctionRef<void()> tell)> tell_together = nullptr;
  };

  // `tables` and `workers` must outlive this.
  CommitLine(Tables* tables, WorkerPool* workers, Options options);
  // Finishes all writes that were added, or leaves them to `workers`.
  ~CommitLine();
  CommitLine(const CommitLine&) = delete;
  CommitLine& operator=(const CommitLine&) = delete;

  // Adds a write, without waiting.  Its Done gets the statuses of Tables::MutateRows; or UNAVAILABLE or
  // DEADLINE_EXCEEDED, as for WorkerPool::Submit.
  void Add(std::unique_ptr<PendingWrite> write);
  // Adds a write that is known to go alone; `why` must not be kNot.
  void AddAlone(std::unique_ptr<PendingWrite> write, WhyAlone why);
  // Commits a write alone, on the calling thread.
  static void Commit(Tables* tables, std::unique_ptr<PendingWrite> write);

  // How many writes went alone for this reason, since the start.
  uint64_t CountAlone(WhyAlone why) const { return alone_[static_cast<size_t>(why)].load(); }

 private:
  // A write of a commit.
  struct Member {
    std::unique_ptr<PendingWrite> write;
    absl::StatusOr<std::vector<absl::Status>> statuses = std::vector<absl::Status>();
    bool is_done = false;
  };
  using Group = std::vector<Member>;

  // The rows of a committed write that are still to be written.
  struct Rest {
    std::vector<size_t> rows;
    std::vector<absl::Status> statuses;  // of all rows; those of `rows` do not count
  };
  // Whether a thread should begin a commit.
  bool MayCommit() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  // Takes waiting writes, up to a limit.  Writes whose turn comes too late are members that are done.
  Group Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Commit(Group* group);
  // Commits members of one table and view.
  void CommitTogether(absl::Span<Member* const> members);
  void CommitRest(std::unique_ptr<PendingWrite> write, Rest rest);
  void Tell(Group group);
  void CountAlone(WhyAlone why, size_t writes) { alone_[static_cast<size_t>(why)] += writes; }

  Tables* const tables_;
  WorkerPool* const workers_;
  const Options options_;
  std::array<std::atomic<uint64_t>, static_cast<size_t>(WhyAlone::kInterrupted) + 1> alone_{};
  absl::Mutex mutex_;
  absl::CondVar wake_;
  WaitingLine<std::unique_ptr<PendingWrite>> line_ ABSL_GUARDED_BY(mutex_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int committing_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace sonde
