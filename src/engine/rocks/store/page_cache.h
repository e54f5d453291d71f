// Opened pages that are kept for the next reader: opening a page costs as much as dozens of point reads of
// it.
//
// A page has one reader at a time, so a reader takes it out and gives it back.  A second reader that comes
// meanwhile opens the page once more, and both copies are kept.  Bounded in bytes; the page that was used
// longest ago goes first.  Pages are found by their checksum, so a page that settling has replaced is not
// found under its key.
//
// Threads: all functions may be called at once.  A large cache is divided into shards, by checksum, each with
// a lock and a part of the bytes, so that readers of different pages seldom meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "cellblock/page_reader.h"
#include "engine/rocks/store/page_budget.h"

namespace sonde {

struct OpenPage {
  std::string bytes;
  std::unique_ptr<PageReader> reader;  // views `bytes`
  PageBudget::Loan loan;               // while a reader has the page

  // DATA_LOSS: as PageReader::Open.
  static absl::StatusOr<std::unique_ptr<OpenPage>> Open(std::string bytes);
  uint64_t Checksum() const { return ChecksumOfPage(bytes); }
  // About how many bytes it takes, decoded data included.
  size_t MemoryBytes() const;
};

class PageCache {
 public:
  explicit PageCache(size_t bytes_max);

  // Returns null if the page is not there.
  std::unique_ptr<OpenPage> Take(uint64_t checksum);
  void Give(std::unique_ptr<OpenPage> page);

  size_t Bytes() const;
  size_t bytes_max() const { return shard_bytes_max_ * shards_.size(); }

 private:
  class Shard {
   public:
    std::unique_ptr<OpenPage> Take(uint64_t checksum);
    void Give(std::unique_ptr<OpenPage> page, size_t bytes_max);
    size_t Bytes() const;

   private:
    struct Kept {
      uint64_t checksum = 0;
      size_t bytes = 0;
      std::unique_ptr<OpenPage> page;
    };
    using Order = std::list<Kept>;  // the page that was used last is in front
    // Forgets it, but leaves it in order_.
    void Forget(Order::iterator kept) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

    mutable absl::Mutex mutex_;
    size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
    Order order_ ABSL_GUARDED_BY(mutex_);
    absl::flat_hash_map<uint64_t, std::vector<Order::iterator>> by_checksum_ ABSL_GUARDED_BY(mutex_);
  };

  Shard& ShardOf(uint64_t checksum) { return shards_[checksum % shards_.size()]; }

  std::vector<Shard> shards_;
  const size_t shard_bytes_max_;
};

}  // namespace sonde
