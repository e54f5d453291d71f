// Roll-ups, kept in step with the points: right for late and repeated points, and after a crash.
//
// A roll-up row holds aggregates of one series over one piece of time.  It is never added to: whenever points
// of a piece were written, the piece is read again and its row computed anew.  So what order points come in,
// and how often, makes no difference; and since a cell's timestamp is the time when its read began and
// readers take the newest, of two writers that refresh one piece at once the one that has seen more is the
// one that counts.  Where the row has a later time already, since the clock was set back, it is the
// millisecond after that.
//
// In case the writer dies in between, a mark says which pieces are to be refreshed.  Marks are rows of table
// kMarksTable (family "s"), key SERIES#TABLE#ROW-KEY, a column for each writer.  They are written before the
// points of their piece, and deleted after the piece is refreshed.  So after a death at any moment, a roll-up
// row is right or has a mark.  The next writer of the series refreshes what has marks before it writes; so
// does `sonde series rebuild --stale`.
//
// With a max_age, the series' own tables keep points for the widest piece of a roll-up and some slack longer
// (SeriesSchema::kept_longer_micros).  So all points of a piece are there when one comes late that is not
// older than max_age itself.  A piece that begins before what a table really has (table_rules.h) is left as
// it is: a part of its points is forgotten already, and the row has outlived them.  Where families are kept
// for different times, that is so of the columns of their fields.
//
// A field of which a piece has no point any more, since somebody has deleted them, has no aggregates then.
//
// Pieces are computed by the declaration that is stored when they are read, which may be a later one than the
// writer's: it knows all tables that have points of the piece.  A roll-up that the stored declaration does
// not have, or whose table somebody has dropped, is passed over, and its marks go.
//
// Not for several threads; several writers may keep the same series.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/key/key_codec.h"
#include "series/schema/schema.h"

namespace sonde::series {

class KeptPoints;

class RollupKeeper {
 public:
  // By rollup: the starts of pieces of each series.
  using Pieces = std::vector<std::map<std::vector<std::string>, std::set<int64_t>>>;
  // Pieces that have the marks of one writer.
  struct Marked {
    std::string writer_id;
    Pieces pieces;
    size_t count = 0;
  };

  // `schema`, `tables` and `clock` must outlive this.
  RollupKeeper(const SeriesSchema& schema, TableAccess* tables, const Clock* clock);
  ~RollupKeeper();

  // INVALID_ARGUMENT: a point of this series and time can't be written, since a row or a mark of its piece
  // would have a key that KeyCodec::Encode refuses or that is longer than kRowKeyBytesMax.
  absl::Status Check(absl::Span<const std::string_view> tags, int64_t time_micros);
  // A point of this series and time, which Check takes, is to be written.
  void Touch(absl::Span<const std::string_view> tags, int64_t time_micros);
  // Forgets what was touched since the last BeforeWrite: it will not be written.
  void Forget();

  // Before the points are written: marks the pieces that were touched and have no mark yet.  The first call
  // of this or of Refresh refreshes what other writers have left behind.
  absl::Status BeforeWrite();
  // Whether Refresh should not be put off any longer.
  bool IsFull() const;
  // After the points are written: computes the pieces anew, and takes the marks away.
  absl::Status Refresh();

  // Instead of Refresh: what it would refresh, which somebody else promises to.
  Marked TakeMarked();
  // Refresh of what was taken from keepers of the same schema: of a piece that several have, once.
  absl::Status RefreshTaken(const std::vector<Marked>& taken);
  // Do not look for marks that others have left behind.
  void LeaveOthers() { has_recovered_ = true; }

  // Refreshes every piece of the series that has a mark; marks of writers that may be alive stay.
  absl::Status RefreshStale();

  int64_t pieces_refreshed() const { return pieces_refreshed_; }
  int64_t pieces_too_old() const { return pieces_too_old_; }

 private:
  using Tags = std::vector<std::string>;
  struct Rollup;

  absl::Status Recover();
  absl::Status WriteMarks(const Pieces& pieces, const std::string& writer_id, bool is_deleted);
  absl::Status RefreshPieces(const Pieces& pieces);
  // The declaration that is stored now; nothing where it is the writer's, or the writer's has no text.
  absl::StatusOr<std::optional<SeriesSchema>> FindChangedDeclaration();
  // The roll-up of `series` that has the same table and rows; null: it has none.
  static std::unique_ptr<Rollup> FindSame(const SeriesSchema& series, const Rollup& rollup);
  // The newest timestamps of rows that are there already, by row key.
  using Stamps = absl::flat_hash_map<std::string, int64_t>;
  absl::StatusOr<Stamps> ReadStamps(const Rollup& rollup, const Pieces::value_type& pieces);
  absl::Status RefreshRollup(const Rollup& rollup, const KeptPoints& kept, const Stamps& stamps,
                             const Pieces::value_type& pieces);
  absl::Status RefreshSeries(const Rollup& rollup, const KeptPoints& kept, const Stamps& stamps,
                             const Tags& tags, const std::set<int64_t>& starts, std::vector<RowWrite>* rows);
  // Adds the deletion of the aggregates of `fields` (places in rollup.fields) that are older than `end_micros`.
  static void AddEmptied(const Rollup& rollup, const std::vector<size_t>& fields, int64_t end_micros,
                         RowWrite* row);
  absl::Status WriteRows(const std::string& table, std::vector<RowWrite>* rows, bool is_last);
  std::string MarkKey(const std::string& table, std::string_view row_key) const;

  const SeriesSchema& schema_;
  TableAccess* tables_;
  const Clock* clock_;
  std::vector<std::unique_ptr<Rollup>> rollups_;
  bool has_recovered_ = false;
  Tags checked_tags_;  // of the last Check
  std::string key_;

  Pieces touched_;  // since the last BeforeWrite
  Marked marked_;   // to be refreshed
  int64_t oldest_mark_micros_ = 0;

  int64_t pieces_refreshed_ = 0;
  int64_t pieces_too_old_ = 0;
};

}  // namespace sonde::series
