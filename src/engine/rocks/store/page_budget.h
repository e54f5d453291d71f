// The budget of open pages.  Pages in readers' hands are charged to the block cache, as write buffers are, so
// that blocks make room for them; and they have a limit of their own.
//
// Threads: all functions may be called at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/cache.h"
#include "rocksdb/write_buffer_manager.h"

namespace sonde {

class PageBudget {
 public:
  // A reader's share, given back when this ends.  The budget must outlive it.
  class Loan {
   public:
    Loan() = default;
    Loan(Loan&& other) noexcept : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Loan& operator=(Loan&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Loan() {
      if (budget_ != nullptr) budget_->Return(bytes_);
    }

   private:
    friend class PageBudget;
    Loan(PageBudget* budget, size_t bytes) : budget_(budget), bytes_(bytes) {}
    PageBudget* budget_ = nullptr;
    size_t bytes_ = 0;
  };

  // `cache` may be null: nothing is charged then.
  PageBudget(size_t bytes_max, std::shared_ptr<rocksdb::Cache> cache)
      : bytes_max_(bytes_max),
        charge_step_(std::clamp<size_t>(bytes_max / 16, 1, kChargeStepMax)),
        charges_(/*buffer_size=*/0, std::move(cache)) {}

  // UNAVAILABLE: all of it is lent.  A single reader gets its page whatever its size.
  absl::Status CheckRoom() const;
  Loan Lend(size_t bytes);

  size_t lent_bytes() const { return lent_bytes_; }

 private:
  // The charge follows the loans in steps, so that a point read need not change it.  It is at least the
  // loans, and at most two steps more.
  static constexpr size_t kChargeStepMax = 2 << 20;

  void Return(size_t bytes);
  void Charge();

  const size_t bytes_max_;
  const size_t charge_step_;
  std::atomic<size_t> lent_bytes_ = 0;
  std::atomic<size_t> charged_bytes_ = 0;  // changed only with mutex_ held
  absl::Mutex mutex_;
  // The class is made for write buffers, but charges a cache for anything.
  rocksdb::WriteBufferManager charges_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
