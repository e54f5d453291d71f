// Keeps the index of series in step with their points: before a point is written, its entity, its day and, of an open series, its
// fields are in the index.
//
// So a reader that looks into the index finds each acknowledged point by each of its labels, whenever a process died.  A
// point whose request was not acknowledged may leave an entity, a day or a field without it.
//
// An entity gets the next position in a block of this writer's; blocks have names that no other writer has, so that several
// servers write one index without asking each other.  Where they register the same entity, it is there twice, which readers
// do not mind.  A declared series (known/indexed_series.h) always has several writers: loads and servers.  An entity that is known already
// costs a look into memory, without a lock that writers hold while they write.
//
// Requests that bring something new wait for each other: one of them writes for all that wait, as one request.
//
// Threads: all functions may be called at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/index/write/entity_hash.h"
#include "series/index/write/entity_use.h"
#include "series/index/write/index_upkeep.h"
#include "series/index/write/known_entities.h"
#include "series/known/known_series.h"

namespace sonde::series {

struct IndexWriterSettings {
  // Of the memory that knows entities; what is over it is forgotten, and read again when its points come.
  size_t known_bytes_max = size_t{128} << 20;
  // Several servers write the same store: then nobody goes on with a block of another one.
  bool is_shared = false;
};

struct IndexWriterCounts {
  uint64_t registered = 0;  // entities that were new to the index
  uint64_t commits = 0;     // requests of rows of the index that went before points
  uint64_t known_bytes = 0;
};

class IndexWriter {
 public:
  // Both must outlive this.
  IndexWriter(TableAccess* tables, const Clock* clock, IndexWriterSettings settings = {});
  ~IndexWriter();

  // By this the writer knows an entity; it is made soonest while the text is at hand.
  EntityHash HashOf(std::string_view text) const { return hasher_.Of(text); }

  // Returns when the index has all of these, as durable as the store makes it.  Errors: those of the tables; the points
  // must not be written then.
  absl::Status Register(absl::Span<const EntityUse> uses);

  // Work in the background, for one thread (index_upkeep.h).
  absl::Status KeepUp() { return upkeep_.KeepUp(); }
  // The same before this writer ends, so that it leaves no tails of declared series, which nobody else seals.
  absl::Status FinishUp() { return upkeep_.KeepUp(/*is_end=*/true); }

  // Of a series.  One with more is not indexed any more: scans answer.
  size_t entities_max() const { return settings_.known_bytes_max / kKnownEntityBytes; }

  IndexWriterCounts counts() const;

 private:
  struct Request;
  struct Staged;

  // The uses that the index does not have yet, as far as is known.
  std::vector<const EntityUse*> FindNew(absl::Span<const EntityUse> uses) ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  absl::Status Process(const std::vector<Request*>& requests) ABSL_EXCLUSIVE_LOCKS_REQUIRED(registering_);
  absl::Status StageAll(const std::vector<Request*>& requests, Staged* staged)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(registering_);
  absl::Status Stage(const EntityUse& use, Staged* staged) ABSL_EXCLUSIVE_LOCKS_REQUIRED(registering_);
  // Adds to `staged` that the entity at `place` is to be in a set that is not known to have it.
  absl::Status StageSets(const EntityUse& use, uint32_t place, Staged* staged)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(registering_);
  // Null: nothing of the series is known.
  KnownEntities* Find(const std::string& series) ABSL_EXCLUSIVE_LOCKS_REQUIRED(registering_);
  absl::StatusOr<KnownEntities*> FindOrLoad(const KnownSeriesRef& series)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(registering_);
  absl::StatusOr<BlockSets> LoadSets(const KnownEntities& known, const std::string& set_key);
  absl::Status Commit(const Staged& staged) ABSL_EXCLUSIVE_LOCKS_REQUIRED(registering_);
  void Take(Staged* staged) ABSL_EXCLUSIVE_LOCKS_REQUIRED(registering_);
  void ForgetAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(registering_);
  // The series that `staged` is about; its pointers to them are void then.
  void Forget(const Staged& staged) ABSL_EXCLUSIVE_LOCKS_REQUIRED(registering_);
  // Keeps to known_bytes_max, by series that `staged` is not about.
  void ForgetSome(const Staged& staged) ABSL_EXCLUSIVE_LOCKS_REQUIRED(registering_);
  // The name of a block that nobody has.
  std::string NewBlock() ABSL_EXCLUSIVE_LOCKS_REQUIRED(registering_);
  std::string NewColumn();
  int64_t Now() const;

  TableAccess* const tables_;
  const Clock* const clock_;
  const IndexWriterSettings settings_;
  const EntityHasher hasher_;
  const std::string writer_;  // a name that no other one has
  std::atomic<uint64_t> next_column_ = 0;

  absl::Mutex queue_mutex_;
  std::vector<Request*> queue_ ABSL_GUARDED_BY(queue_mutex_);

  // Held by the one that registers for all.  Nobody else changes what mutex_ guards; it holds both to do so.
  absl::Mutex registering_;
  bool has_table_ ABSL_GUARDED_BY(registering_) = false;
  int64_t last_block_micros_ ABSL_GUARDED_BY(registering_) = 0;
  // Series whose blocks are not gone on with: a write of this process may have failed, and come to be all the same.
  absl::flat_hash_set<std::string> loaded_before_ ABSL_GUARDED_BY(registering_);
  // Atomic for counts().
  std::atomic<size_t> known_bytes_ = 0;

  absl::Mutex mutex_ ABSL_ACQUIRED_AFTER(registering_);
  absl::flat_hash_map<std::string, std::unique_ptr<KnownEntities>> known_
      ABSL_GUARDED_BY(mutex_);  // by series

  IndexUpkeep upkeep_;
  std::atomic<uint64_t> registered_ = 0;
  std::atomic<uint64_t> commits_ = 0;
};

}  // namespace sonde::series
