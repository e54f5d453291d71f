// The line of all who write rows: writes that have come while others were being committed are the next
// commit.
//
// A commit waits for the disk.  Where each write waits by itself, on a thread of its own, that thread is woken,
// sleeps until the disk is done and is woken again, and all that was made of the write is in memory until then.
// Here a few threads make changes of one write after the other, in the same memory, and keep the engine's edits
// only (docs/decisions/0015, 0017).  A write that would keep the others waiting goes alone, by a worker
// (WhyAlone); a write for which there is no room, or no time left, is refused.
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
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "catalog/catalog.h"
#include "table/row_writes.h"
#include "table/tables.h"
#include "work/waiting_line.h"
#include "work/worker_pool.h"

namespace sonde {

// Why a write is not committed together with others.
enum class WhyAlone : uint8_t {
  kNot,         // it is
  kLarge,       // it takes long to read, or much memory
  kNotPlain,    // its message has to be read by protobuf
  kToken,       // the engine reads its rows before it writes them
  kLogged,      // the log wants the changes of a row one by one, and so all rows to stay in memory
  kOtherTable,  // the commit is of another table or view: RocksDB syncs what several threads write for all
  kRowWaits,    // somebody has the turn of a row, or its lock; or the row has to settle before it can grow
  kRefused,     // its commit was refused, perhaps for another write of it
  kInterrupted  // nobody waits for it any more, and it is told so
};

// A request of one row or many.  Its functions are called by one thread at a time, in their order.
class PendingWrite {
 public:
  struct Target {
    TableSchemaRef schema;
    AuthorizedViewRef view;  // null: the whole table
  };
  // Lent by the line to one write after the other.
  struct Memory {
    virtual ~Memory() = default;
  };

  PendingWrite(absl::Time deadline, size_t bytes) : deadline_(deadline), bytes_(bytes) {}
  virtual ~PendingWrite() = default;

  absl::Time deadline() const { return deadline_; }
  // Of the request, about.
  size_t bytes() const { return bytes_; }
  // Known once Open or ReadAlone has answered kNot or OK.
  const Target& target() const { return target_; }

  // Looks what the write is about.  Anything but kNot: it goes alone, also to be told what is wrong with it.
  virtual WhyAlone Open() = 0;
  // The rows.  They view `memory`, in which the rows of the write before were, or what this keeps; their keys
  // view what this keeps.  `memory`: null at first, and made by a write that wants some.  nullopt: it goes
  // alone.
  virtual std::optional<absl::Span<const RowMutations>> ReadTogether(std::unique_ptr<Memory>* memory) = 0;
  // The rows, with all that ReadTogether gives and more; they stay until Done.  An error is the answer.
  virtual absl::StatusOr<absl::Span<const RowMutations>> ReadAlone() = 0;
  // Not OK: nobody waits for the write any more, and nothing is written.  Asked by any thread.
  virtual absl::Status Interrupted() const = 0;
  // Once, and last: the status of each row that was read, or why none was written.
  virtual void Done(absl::StatusOr<std::vector<absl::Status>> statuses) = 0;

 protected:
  Target target_;

 private:
  const absl::Time deadline_;
  const size_t bytes_;
};

class CommitLine {
 public:
  struct Options {
    int commits_max = 1;  // that are under way at a time, if there is much
    WaitLimits limits = {};
    // Calls what tells many writes that they are done; null: nothing is done around it.
    std::function<void(absl::FunctionRef<void()> tell)> tell_together = nullptr;
  };

  // `tables` and `workers` must outlive this.
  CommitLine(Tables* tables, WorkerPool* workers, Options options);
  // Finishes what was added, or leaves it to `workers`.
  ~CommitLine();
  CommitLine(const CommitLine&) = delete;
  CommitLine& operator=(const CommitLine&) = delete;

  // Waits for nothing.  The write is told (PendingWrite::Done) what Tables::MutateRows says; or UNAVAILABLE
  // or DEADLINE_EXCEEDED, as WorkerPool says.
  void Add(std::unique_ptr<PendingWrite> write);
  // For a write that is known to go alone; `why` is not kNot.
  void AddAlone(std::unique_ptr<PendingWrite> write, WhyAlone why);
  // Commits it alone, here and now.
  static void Commit(Tables* tables, std::unique_ptr<PendingWrite> write);

  // How many went alone, by reason, since the start.
  uint64_t CountAlone(WhyAlone why) const { return alone_[static_cast<size_t>(why)].load(); }

 private:
  // A write of a commit.
  struct Member {
    std::unique_ptr<PendingWrite> write;
    absl::StatusOr<std::vector<absl::Status>> statuses = std::vector<absl::Status>();
    bool is_done = false;
  };
  using Group = std::vector<Member>;

  // Rows of a write that was committed but for these.
  struct Rest {
    std::vector<size_t> rows;
    std::vector<absl::Status> statuses;  // of all rows; those of `rows` do not count
  };
  // Whether a thread should begin a commit.
  bool MayCommit() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  // What waits, up to some; those whose turn comes too late are members that are done.
  Group Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Commit(Group* group);
  // Of one table and view.
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
