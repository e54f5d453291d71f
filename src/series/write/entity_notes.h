// The entities and days of points that are about to be written, for the index of their series (`index: yes`).
//
// Whoever writes points registers what is noted of them before the first of them is written, in whichever table: so each point that a
// reader finds is in the index.
//
// Not for several threads.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/index/write/index_writer.h"
#include "series/key/key_codec.h"
#include "series/known/indexed_series.h"

namespace sonde::series {

class EntityNotes {
 public:
  // Of the memory that a writer of its own knows entities with.
  static constexpr size_t kKnownBytesMax = size_t{1} << 30;

  // All must outlive this.  `index`: null: a writer of its own is made, which reads what the index has of the series first, and leaves
  // the index tidy when it ends: for one that writes much, such as a load.
  EntityNotes(const SeriesSchema& schema, TableAccess* tables, const Clock* clock, IndexWriter* index);
  ~EntityNotes();

  // A point of these tags, written with `codec` (that of a version of the declaration).
  void Note(absl::Span<const std::string_view> tags, int64_t time_micros, const KeyCodec& codec);
  // Returns when the index has all that was noted.  Errors: those of the tables; the points must not be written then.
  absl::Status Register();
  void Clear();

 private:
  void AddDay(size_t use, int64_t time_micros);

  const KnownSeriesRef view_;
  const EntityTexts entity_texts_;
  std::unique_ptr<IndexWriter> own_;
  IndexWriter* const index_;

  std::deque<std::string> texts_;  // of uses_, which view them
  std::vector<EntityUse> uses_;
  absl::flat_hash_map<EntityHash, size_t> use_of_;
  // Points mostly come series by series.
  std::vector<std::string> last_tags_;
  size_t last_use_ = 0;
  std::string text_;
};

}  // namespace sonde::series
