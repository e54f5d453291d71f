// The lease by which one server keeps the views of a store that several servers share (engine/leases.h), and the engine through which it
// writes them.
//
// A thread holds the lease again and again.  Writes end with what the lease has left, so that none is made after another server has begun
// to keep the views.  A store of one server needs no lease: then IsHeld is always true.
//
// Threads: all functions may be called at once.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/steady_cond_var.h"
#include "engine/forwarding_engine.h"

namespace sonde::sql {

class KeptLease {
 public:
  // `engine` must outlive it.
  KeptLease(Engine* engine, std::string name, absl::Duration renew_every);
  // Gives the lease back: the changes that it was for have ended.
  ~KeptLease();
  KeptLease(const KeptLease&) = delete;
  KeptLease& operator=(const KeptLease&) = delete;

  // For how long from now; zero: not at all.
  absl::Duration TimeLeft() const ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsHeld() const { return TimeLeft() > absl::ZeroDuration(); }
  // Which holding this is: another number when the lease was lost meanwhile, so that others may have written.
  uint64_t holding() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Writes are UNAVAILABLE when the lease is not held; nothing was applied.  Reads pass.
  Engine* engine() { return &fenced_; }

 private:
  class Fenced final : public ForwardingEngine {
   public:
    Fenced(Engine* engine, const KeptLease* lease) : ForwardingEngine(engine), lease_(lease) {}
    using RowStore::Apply;
    absl::Status Apply(TableId table, RowSource* rows, const WriteOptions& options) override;
    absl::Status Update(TableId table, std::string_view row_key, const ReadHints& hints, const Decide& decide,
                        const WriteOptions& options) override;
    absl::Status DropRange(TableId table, const RowRange& range, absl::Time deadline) override;

   private:
    // Makes a deadline end with the lease.
    absl::Status End(absl::Time* deadline) const;
    const KeptLease* const lease_;
  };

  void Run();

  Leases* const leases_;  // null: none is needed, or there can be none
  const bool is_needed_;
  const std::string name_;
  const absl::Duration renew_every_;
  Fenced fenced_;
  mutable absl::Mutex mutex_;
  SteadyCondVar stops_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point held_until_ ABSL_GUARDED_BY(mutex_);
  uint64_t holding_ ABSL_GUARDED_BY(mutex_) = 0;
  std::thread thread_;  // last, as it uses the others
};

}  // namespace sonde::sql
