// Points of many series, as protocols bring them, into the tables: a request's worth at a time.
//
// Points of declared series go through PointWriter; those of open series (declarations.h) are gathered as
// rows of their one table, so that a request of many series is one commit.  The same point written twice, or
// later, or in another order is the same cell.  What is new of open series is in their index before their rows are
// written (series/index/write/index_writer.h).
//
// Not for several threads; each request has a batch of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "series/index/write/entity_use.h"
#include "series/index/write/index_writer.h"
#include "series/input/line_protocol.h"
#include "series/known/declarations.h"
#include "series/write/rollup_refresher.h"

namespace sonde::series {

struct IngestPoint {
  std::string_view series;
  // Names the series and its labels: points with the same text have the same of both.  Good until the flush.
  std::string_view identity;
  const std::vector<std::pair<std::string_view, std::string_view>>* labels = nullptr;
  const std::vector<LineField>* fields = nullptr;
  int64_t time_micros = 0;
};

struct IngestSettings {
  // Otherwise points of series that nobody declared are refused.
  bool takes_undeclared = true;
  // The limits of a batch: cells and series that points name, each of about 128 bytes; and bytes of their
  // values.
  size_t cells_max = 100'000;
  size_t value_bytes_max = 16 << 20;
};

class IngestBatch {
 public:
  // All must outlive this.  `refresher`: as PointWriter's.  `index`: of open series, where null is none, and as PointWriter's.
  IngestBatch(Declarations* declarations, TableAccess* tables, IngestSettings settings,
              RollupRefresher* refresher = nullptr, IndexWriter* index = nullptr);
  ~IngestBatch();

  // INVALID_ARGUMENT (FAILED_PRECONDITION for a series that is not declared, RESOURCE_EXHAUSTED for one too
  // many): the point is refused, and nothing of it is kept, neither a series nor a label or field that it
  // would have been the first with.  Other errors are the store's, and end the batch.
  absl::Status Add(const IngestPoint& point);
  // Writes what is gathered; each row is atomic, and an acknowledged point is durable as the store is told.
  absl::Status Flush();
  bool IsFull() const {
    return cells_ >= settings_.cells_max || value_bytes_ >= settings_.value_bytes_max ||
           targets_.size() >= settings_.cells_max;
  }

  int64_t points() const { return points_; }  // taken

 private:
  struct Declared;  // a declared series and its writer
  // Points of one identity.
  struct Target {
    Declared* declared = nullptr;   // null: open
    std::vector<std::string> tags;  // of a declared series, in its order
    absl::Status problem;           // not OK: no point of this identity is taken
    KnownSeriesRef open;
    std::string key_prefix;   // of an open series: all of the key before the bucket
    Target* first = nullptr;  // of an open series, with this prefix
    size_t use = 0;           // of the first one: its place in uses_
    int64_t bucket_start_micros = -1;
    size_t row = 0;
  };

  // No further point of this identity is looked at.
  static absl::Status Refuse(absl::Status problem, Target* target);
  absl::Status MakeTarget(const IngestPoint& point, Target* target);
  absl::Status MakeDeclaredTarget(const IngestPoint& point, const KnownSeriesRef& series, Target* target);
  // `series`: null when nothing has come of it yet.
  absl::Status MakeOpenTarget(const IngestPoint& point, const KnownSeriesRef& series, Target* target);
  // Lets the series be known with all labels and fields of the point; `names`: of its labels.
  absl::Status Open(const IngestPoint& point, const KnownSeriesRef& series,
                    const std::vector<std::string_view>& names, Target* target);
  absl::Status AddDeclared(const IngestPoint& point, Target* target);
  absl::Status AddOpen(const IngestPoint& point, Target* target);
  // The row of the point's bucket.
  void FindRow(int64_t bucket_start_micros, Target* target);
  // The entity of this target, which is the first with its labels, for the index.
  void AddUse(Target* target);
  const KnownSeriesRef* SeriesOfUses(const KnownSeriesRef& series);
  void NoteDay(int64_t bucket_start_micros, const Target& target);
  // The fields of the point at hand, for the index.
  void NoteFields(const IngestPoint& point, const Target& target);
  absl::Status WriteOpen();
  // The fields of the point, all known and of their type.
  absl::Status FindFields(const IngestPoint& point, Target* target);
  // The same, where the open series does not have all of them yet.
  absl::Status AddFields(const IngestPoint& point, Target* target);

  Declarations* const declarations_;
  TableAccess* const tables_;
  const IngestSettings settings_;
  RollupRefresher* const refresher_;
  IndexWriter* const index_;  // may be null
  absl::flat_hash_map<std::string_view, std::unique_ptr<Target>> targets_;
  KnownSeriesRef found_;  // of the last identity that was new; null: of none yet, or nothing has come of it
  absl::flat_hash_map<std::string, std::unique_ptr<Declared>> declared_;
  std::vector<RowWrite> rows_;  // of open series
  // Identities with the same labels, such as those in another order, share the rows of the one that came
  // first.
  absl::flat_hash_map<std::string_view, Target*> first_of_prefix_;
  // What the rows have, for the index: entities in the order in which they came, and their series.
  std::vector<EntityUse> uses_;
  absl::flat_hash_map<const KnownSeries*, std::unique_ptr<const KnownSeriesRef>> series_of_uses_;
  absl::flat_hash_map<std::pair<const Target*, int64_t>, size_t> row_of_bucket_;  // by first and start
  int64_t bucket_text_of_ = -1;  // the start that bucket_text_ says, as all keys of open series do
  std::string bucket_text_;
  std::vector<size_t> field_places_;  // of the point at hand; those of the last one are tried first
  std::vector<std::string_view> field_texts_;
  size_t cells_ = 0;
  size_t value_bytes_ = 0;
  int64_t points_ = 0;
};

}  // namespace sonde::series
