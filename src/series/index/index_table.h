// The rows of the index in its table, which any client can read.  docs/formats/series-index.md has the layout and the order of
// writing; index_writer.h writes it.
//
// Threads: the functions may be called at once.
// Errors: those of the tables; DATA_LOSS: a cell that the index never writes, or that is damaged.  No table is an empty one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/index/entity_block.h"
#include "series/index/position_set.h"
#include "series/known/indexed_series.h"

namespace sonde::series {

constexpr char kListColumn[] = "list";
constexpr char kHeaderColumn[] = "#";
constexpr char kLabelColumnPrefix = '=';
constexpr char kDeletedColumn[] = "deleted";
constexpr char kSealedColumnPrefix[] = "b.";
// A block is closed once the texts of its entities have so many bytes, so that its cells stay small.
constexpr size_t kBlockTextBytesMax = 8 << 20;

// Entities that are in no sealed block yet: those of a block from `first` on.
struct IndexTail {
  std::string block;
  size_t first = 0;
  std::vector<std::string> texts;
};
std::string TailKey(std::string_view series, std::string_view block, size_t first);
std::string EncodeTexts(const std::vector<std::string>& texts);
// False: these are not bytes of EncodeTexts.
[[nodiscard]] bool DecodeTexts(std::string_view bytes, std::vector<std::string>* texts);

// What the index has of a series.  Of a block that is sealed and has tails, some positions may be in both.
struct IndexDirectory {
  bool is_whole = false;     // it has every entity, day and field of the series
  bool is_given_up = false;  // writers pass it over
  bool has_deleted = false;  // points were deleted by matchers, so that entities may have none left
  std::map<std::string, size_t> sealed;  // the positions of a sealed block, by its name
  std::vector<IndexTail> tails;          // by block and first position

  bool IsEmpty() const { return !is_given_up && sealed.empty() && tails.empty(); }
};
// Whatever is written meanwhile, each entity that was there when this began is in what it gives.
absl::StatusOr<IndexDirectory> ReadDirectory(std::string_view series, TableAccess* tables,
                                             const std::function<absl::Status()>& interrupted = nullptr);
// The directory, and sets of positions by block, read at once.
struct IndexQuestion {
  std::optional<std::pair<int64_t, int64_t>> days;  // the first and the last one
  std::vector<std::string> fields;
};
struct IndexState {
  using Sets = std::map<std::string, PositionSet>;
  IndexDirectory directory;
  Sets of_days;                 // with points of one of the days
  std::vector<Sets> of_fields;  // that ever had this field
};
absl::StatusOr<IndexState> ReadIndex(std::string_view series, const IndexQuestion& question,
                                     TableAccess* tables, const std::function<absl::Status()>& interrupted);
// The first and the last day that the index has points of; nothing: of none.
absl::StatusOr<std::optional<std::pair<int64_t, int64_t>>> ReadDaysOf(std::string_view series,
                                                                      TableAccess* tables);
// Before points of the series are deleted.
absl::Status NoteDeleted(std::string_view series, int64_t timestamp_micros, TableAccess* tables);
// The cell of a sealed block in the directory.
std::string EncodeSealed(size_t count);

std::string BlockKey(std::string_view series, std::string_view block);
RowWrite BlockRow(std::string_view series, std::string_view name, const EntityBlock& block,
                  int64_t timestamp_micros);
// With at least the entities that the directory told of.
absl::StatusOr<std::shared_ptr<const EntityBlock>> ReadBlock(std::string_view series, std::string_view block,
                                                             TableAccess* tables);

// Sets of the entities of a series that have something in common, by block: those with points of a day (UTC, days since
// 1970), those with a field.
std::string DaySetKey(std::string_view series, int64_t day);
std::string FieldSetKey(std::string_view series, std::string_view field);
std::string SetRowKey(std::string_view set_key, std::string_view block);
struct IndexSetRow {
  std::string row_key;
  std::string block;
  PositionSet positions;  // the union of all cells
  std::vector<std::string> columns;
};
// The rows of the sets from `first` to `last`, both included; `take` gets each.
absl::Status ReadSetRows(const std::string& first, const std::string& last, TableAccess* tables,
                         const std::function<void(IndexSetRow&& row)>& take);
// Writes all of the rows, in pieces.  An error of one row is an error.
absl::Status WriteIndexRows(const std::vector<RowWrite>& rows, TableAccess* tables);

}  // namespace sonde::series
