// An engine that notes its commits, for tests of code that commits.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "engine/forwarding_engine.h"

namespace sonde {

// Notes each Apply as "together" (no change may wait) or "alone", with the row keys.  The first Apply waits
// until it may go on.  The row "full" would keep others waiting, and waits itself until it may go on.
class NotingEngine : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;
  using RowStore::Apply;

  absl::Status Apply(TableId table, RowSource* rows, const WriteOptions& options) override {
    Commit commit(rows, options.may_wait);
    absl::Status status;
    if (is_busy || refuses_adds) {
      while (commit.Next().has_value()) continue;
      if (is_busy) status = absl::UnavailableError("busy");
      if (refuses_adds && commit.adds) status = absl::ResourceExhaustedError("full");
    } else {
      status = engine_->Apply(table, &commit, options);
    }
    bool is_first = false;
    {
      const absl::MutexLock lock(&mutex_);
      is_first = commits_.empty();
      if (commit.row_keys.size() > 1) commits_.push_back(commit.row_keys);
    }
    if (is_first) {
      first_began.Notify();
      first_may_go_on.WaitForNotification();
    }
    if (options.may_wait && commit.row_keys.size() == 2 && commit.row_keys[1] == "full")
      full_may_go_on.WaitForNotification();
    return status;
  }

  std::vector<std::vector<std::string>> commits() {
    const absl::MutexLock lock(&mutex_);
    return commits_;
  }

  // No commit is made any more.  To be set while none is under way.
  std::atomic<bool> is_busy = false;
  std::atomic<bool> refuses_adds = false;
  absl::Notification first_began, first_may_go_on, full_may_go_on;

 private:
  // The rows on their way to the engine, without those that would keep others waiting.
  class Commit final : public RowSource {
   public:
    Commit(RowSource* rows, bool may_wait)
        : row_keys{may_wait ? "alone" : "together"}, rows_(rows), may_wait_(may_wait) {}
    ~Commit() = default;
    std::optional<absl::Span<const RowChange>> Next() override {
      const std::optional<absl::Span<const RowChange>> part = rows_->Next();
      if (!part.has_value()) return part;
      left_.clear();
      for (const RowChange& change : *part) {
        const size_t number = count_++;
        if (!may_wait_ && change.row_key == "full") {
          rows_->OnRefused(number, absl::AbortedError("a row is full"));
          continue;
        }
        numbers_.push_back(number);
        row_keys.emplace_back(change.row_key);
        for (const FamilyDelta& family : change.delta.families) adds |= !family.puts.empty();
        left_.push_back(change);
      }
      return left_;
    }
    void OnRefused(size_t index, const absl::Status& why) override { rows_->OnRefused(numbers_[index], why); }

    std::vector<std::string> row_keys;  // the row keys, behind "together" or "alone"
    bool adds = false;                  // a change adds cells

   private:
    RowSource* const rows_;
    const bool may_wait_;
    std::vector<RowChange> left_;
    std::vector<size_t> numbers_;  // by change that was left: its number
    size_t count_ = 0;
  };

  absl::Mutex mutex_;
  std::vector<std::vector<std::string>> commits_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
