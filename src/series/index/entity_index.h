// Which entities of an open series conditions on labels let through, answered from the index without reading points.
//
// Sealed blocks, and the parts of blocks that are not sealed yet, are kept in memory as they were decoded; what the tables
// say of them is read at each question (one scan of a few rows), so that an answer has every entity whose registration was
// acknowledged before the question, by whichever server.
//
// An entity may be in an answer twice, and entities may be in it whose points were never acknowledged.
//
// Threads: all functions may be called at once.
// Errors: those of the tables and of `interrupted`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "model/table_access.h"
#include "promql/syntax/matcher.h"
#include "series/index/entity_block.h"
#include "series/index/index_table.h"
#include "series/index/position_set.h"
#include "series/known/known_series.h"

namespace sonde::series {

struct EntityQuestion {
  std::vector<promql::Matcher> matchers;  // of labels
  int64_t from_micros = 0;  // entities with points of the days of [from, to); of long times, all are given
  int64_t to_micros = 0;
  std::vector<std::string> fields;  // entities that ever had one of these; empty: whichever they had
  std::function<absl::Status()> interrupted;
};

struct EntityAnswer {
  struct Part {
    std::shared_ptr<const EntityBlock> block;
    PositionSet positions;
    std::vector<PositionSet> of_fields;  // those among them that ever had this field of the question
  };
  std::vector<Part> parts;
  size_t count = 0;          // of positions
  size_t total = 0;          // of entities of the series
  bool has_deleted = false;  // points of the series were deleted: some of the entities may have none left
};

// How many entities and values a series has.
struct Cardinality {
  struct Label {
    std::string name;
    size_t values = 0;                                       // distinct ones
    size_t entities = 0;                                     // that have the label
    size_t value_bytes = 0;                                  // of the distinct values
    std::vector<std::pair<std::string, size_t>> top_values;  // those of the most entities, with their count
  };
  size_t entities = 0;
  std::vector<Label> labels;  // by name
};

struct EntityIndexCounts {
  uint64_t answered = 0;    // questions
  uint64_t unanswered = 0;  // by Select: the series itself was to be asked
  uint64_t held_bytes = 0;
};

class EntityIndex {
 public:
  static constexpr size_t kCacheBytes = size_t{64} << 20;
  // A longer time is answered without looking at days.
  static constexpr int64_t kDaysMax = 62;

  explicit EntityIndex(size_t cache_bytes_max = kCacheBytes) : cache_bytes_max_(cache_bytes_max) {}

  // Nothing: the index has not all of the series, or is damaged, and the series itself must be asked.
  absl::StatusOr<std::optional<EntityAnswer>> Select(const KnownSeries& series,
                                                     const EntityQuestion& question, TableAccess* tables);
  // The first and the last day (since 1970) that the index has points of, as they were up to kDaysKept ago; nothing: of none.
  static constexpr absl::Duration kDaysKept = absl::Minutes(1);
  using Days = std::optional<std::pair<int64_t, int64_t>>;
  absl::StatusOr<Days> DaysOf(const std::string& series, TableAccess* tables);
  // Of all time.  `top_max`: of values of a label.  Nothing: as Select.
  absl::StatusOr<std::optional<Cardinality>> Count(const KnownSeries& series, size_t top_max,
                                                   TableAccess* tables);
  EntityIndexCounts counts() const;

 private:
  absl::StatusOr<std::optional<EntityAnswer>> Answer(const KnownSeries& series,
                                                     const EntityQuestion& question, TableAccess* tables);
  struct Held {
    std::string key;
    std::shared_ptr<const EntityBlock> block;
    size_t bytes = 0;
  };
  struct NamedBlock {
    std::string name;
    std::shared_ptr<const EntityBlock> block;
  };

  // The blocks and parts of blocks that the directory tells of.
  absl::StatusOr<std::vector<NamedBlock>> FindBlocks(const KnownSeries& series,
                                                     const IndexDirectory& directory, TableAccess* tables);
  std::shared_ptr<const EntityBlock> FindHeld(const std::string& key);
  void Hold(const std::string& key, std::shared_ptr<const EntityBlock> block);

  struct KnownDays {
    absl::Time read;
    Days days;
  };
  static constexpr size_t kDaysKnownMax = 10'000;

  const size_t cache_bytes_max_;
  std::atomic<uint64_t> answered_ = 0;
  std::atomic<uint64_t> unanswered_ = 0;
  mutable absl::Mutex mutex_;
  std::list<Held> held_ ABSL_GUARDED_BY(mutex_);  // the one that was used last comes first
  absl::flat_hash_map<std::string, std::list<Held>::iterator> place_of_ ABSL_GUARDED_BY(mutex_);
  size_t held_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, KnownDays> days_ ABSL_GUARDED_BY(mutex_);  // by series
};

// The texts of entities, as keys have them, sorted, each once.
std::vector<std::string> TextsOf(const EntityAnswer::Part& part);
std::vector<std::string> TextsOf(const EntityAnswer& answer);

}  // namespace sonde::series
