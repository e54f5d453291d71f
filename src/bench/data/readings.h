// The readings of the benchmarks' data, in the order in which they arrive.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "bench/data/data_model.h"
#include "bench/data/series_data.h"

namespace sonde::bench {

// A value of a field, as decimal text.
struct ReadingCell {
  int field = 0;  // of its group
  uint8_t size = 0;
  std::array<char, 27> text{};  // the longest is a double with all its digits

  std::string_view value() const { return {text.data(), size}; }
};

// The values that an entity reports of one group of fields at one time.
struct Reading {
  int group = 0;
  int64_t micros = 0;
  std::vector<ReadingCell> cells;  // fields ascending; at least one
};

// One entity, step by step.
class Entity {
 public:
  virtual ~Entity() = default;
  // Replaces *readings by what it sends at the next step, which may be nothing.
  virtual void Next(std::vector<Reading>* readings) = 0;
};

// `model` is that of the shape, and outlives the entity.
std::unique_ptr<Entity> MakeEntity(const DataShape& shape, const DataModel& model, int entity);

// The entities [begin, end): all of them at step 0, then all of them at step 1, and so on.  Not for several
// threads.
class Readings {
 public:
  // At least one entity.
  Readings(const DataShape& shape, int entity_begin, int entity_end);

  // Goes on to the next entity that sends anything before step `end`; false: there is none.
  bool Next(int64_t end);
  // The entity of the last Next.
  int entity() const { return begin_ + static_cast<int>(next_) - 1; }
  const std::vector<Reading>& readings() const { return readings_; }

  // Leaves out what is sent before step `step`.
  void SkipTo(int64_t step);
  // Steps that all entities have made.
  int64_t steps_done() const { return next_ == entities_.size() ? step_ + 1 : step_; }

 private:
  const int begin_;
  const DataModel model_;
  std::vector<std::unique_ptr<Entity>> entities_;
  int64_t step_ = 0;
  size_t next_ = 0;
  std::vector<Reading> readings_;
};

}  // namespace sonde::bench
