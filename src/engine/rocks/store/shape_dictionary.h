// The row shapes of all tables, learned from writes and kept for good.
//
// A list of qualifiers that is seen kSightingsToLearn times becomes a shape: its record is durable before the
// first fragment names it.  Bounds: kShapesPerTableMax a table, kShapesMax in all, kShapeBytesMax each.  A
// list beyond these is written with its names.
//
// Threads: all functions may be called at once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "cellblock/shapes.h"
#include "model/cell.h"

namespace sonde {

class ShapeDictionary {
 public:
  static constexpr ShapeId kShapesMax = 65'536;
  static constexpr size_t kShapesPerTableMax = 4'096;
  static constexpr size_t kShapeColumnsMax = 1'024;
  static constexpr size_t kShapeBytesMax = 32 * 1024;
  static constexpr uint32_t kSightingsToLearn = 4;

  // Makes a record durable.  Returns false if it could not.
  using Persist = std::function<bool(ShapeId id, const std::string& record)>;
  explicit ShapeDictionary(Persist persist);
  ~ShapeDictionary();

  // Takes in a record that an earlier run wrote.  DATA_LOSS: it is no such record.
  absl::Status Load(ShapeId id, std::string_view record);

  const Shape* Get(ShapeId id) const {
    return id < kShapesMax ? by_id_[id].load(std::memory_order_acquire) : nullptr;
  }
  bool Find(TableId table, absl::Span<const std::string_view> qualifiers, ShapeId* id) const;
  // As Find, and learns lists that it sees often.
  bool FindOrLearn(TableId table, absl::Span<const std::string_view> qualifiers, ShapeId* id);

 private:
  struct Entry {
    TableId table;
    ShapeId id;
  };

  bool FindLocked(TableId table, uint64_t hash, absl::Span<const std::string_view> qualifiers,
                  ShapeId* id) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  bool Learn(TableId table, uint64_t hash, absl::Span<const std::string_view> qualifiers, ShapeId* id);
  void Publish(TableId table, ShapeId id, uint64_t hash, std::unique_ptr<const Shape> shape)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Persist persist_;
  std::vector<std::atomic<const Shape*>> by_id_;

  mutable absl::Mutex mutex_;
  absl::flat_hash_map<uint64_t, std::vector<Entry>> by_hash_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<TableId, size_t> per_table_ ABSL_GUARDED_BY(mutex_);
  ShapeId next_id_ ABSL_GUARDED_BY(mutex_) = 0;

  // How often lists that are not shapes yet were seen.  It is approximate: by hash, and newcomers take over
  // old places.
  struct Sighting {
    uint64_t hash = 0;
    uint32_t count = 0;
  };
  static constexpr size_t kSightings = 4096;
  absl::Mutex sightings_mutex_;
  std::array<Sighting, kSightings> sightings_ ABSL_GUARDED_BY(sightings_mutex_){};
  absl::Mutex learn_mutex_;  // held while a record is made durable
};

// The shapes of one table, for reading and writing.  Threads: as ShapeDictionary.
class TableShapes final : public ShapeSource {
 public:
  TableShapes(const ShapeDictionary* dictionary, TableId table) : dictionary_(dictionary), table_(table) {}
  const Shape* Get(ShapeId id) const override { return dictionary_->Get(id); }
  bool Find(absl::Span<const std::string_view> qualifiers, ShapeId* id) const override {
    return dictionary_->Find(table_, qualifiers, id);
  }

 private:
  const ShapeDictionary* dictionary_;
  TableId table_;
};

// The shapes of one table, for writing one batch.  It remembers the last shape, which most rows of a batch
// share.  Not for several threads.
class LearningTableShapes final : public ShapeSource {
 public:
  LearningTableShapes(ShapeDictionary* dictionary, TableId table) : dictionary_(dictionary), table_(table) {}
  const Shape* Get(ShapeId id) const override { return dictionary_->Get(id); }
  bool Find(absl::Span<const std::string_view> qualifiers, ShapeId* id) const override;

 private:
  ShapeDictionary* dictionary_;
  TableId table_;
  mutable const Shape* last_ = nullptr;
  mutable ShapeId last_id_ = 0;
};

}  // namespace sonde
