// Assembles whole rows from an engine's pieces, as a reader of the API sees them: families by name, and
// without the cells that garbage collection has forgotten, whether or not they are still stored.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "engine/engine.h"
#include "filter/filter_cell.h"
#include "gc/gc_rule_evaluator.h"
#include "model/cell.h"
#include "model/limits.h"

namespace sonde {

// Returns the ids of a table's families, in the order of its schema.
std::vector<FamilyId> FamilyIds(const TableSchema& schema);

// The cells of a table that are visible at one instant: those that the rules keep and that an authorized view
// shows.  A cell's family is its index in the schema's list.  Threads: const functions may be called by
// several at once.
class VisibleCells {
 public:
  // `view`: null for the whole table.  This does not look at the view's rows.
  VisibleCells(TableSchemaRef schema, int64_t now_micros, AuthorizedViewRef view = nullptr);

  // Returns the index of a family in the schema; nullopt: the schema does not have it, as it was dropped.
  std::optional<uint32_t> FamilyIndex(FamilyId family) const;
  // Appends the visible cells of one family of one row.  Consumes `cells`.  They may be a piece of the
  // family; `seen_before` is then how many newer cells of the piece's first column are visible.
  void Append(uint32_t family_index, std::vector<CellView>* cells, int64_t seen_before,
              std::vector<FilterCell>* out) const;

  const TableSchemaRef& schema() const { return schema_; }
  const AuthorizedViewRef& view() const { return view_; }
  const std::vector<GcRuleEvaluator>& rules() const { return rules_; }

 private:
  TableSchemaRef schema_;
  AuthorizedViewRef view_;
  std::vector<GcRuleEvaluator> rules_;  // by family index
};

// Asks for the room of a row that is put together, before the row takes more memory.  `bytes` is the whole
// room, not the increase.  0 gives the room back, and must not fail.
// Assembles rows.  Not for several threads.
using TakeRowRoom = std::function<absl::Status(size_t bytes)>;

class RowAssembler {
 public:
  // A row of up to this size is put together without asking for room.
  static constexpr size_t kRowUncountedBytes = 64 << 10;

  // `stream` may go in either direction; `take_room` may be null; `whole_bytes_max` is for tests.
  RowAssembler(std::unique_ptr<RowStream> stream, const VisibleCells* visible,
               TakeRowRoom take_room = nullptr, size_t whole_bytes_max = kRowWholeBytesMax)
      : stream_(std::move(stream)),
        visible_(visible),
        take_room_(std::move(take_room)),
        whole_bytes_max_(whole_bytes_max) {}
  ~RowAssembler() { GiveRoomBack(); }
  RowAssembler(const RowAssembler&) = delete;
  RowAssembler& operator=(const RowAssembler&) = delete;

  // Gives the next row.  Returns false at the end.  The row may have no cells left.  Views hold until the
  // next call. FAILED_PRECONDITION: the row has more than `whole_bytes_max`.  Other errors: those of
  // take_room and the stream.
  absl::StatusOr<bool> Next(std::string* row_key, std::vector<FilterCell>* cells);

  // Gives the next part of a row, as the engine has it, so that a long row need not be in memory.  The last
  // part may have no cells.  For streams whose families come in the order of the schema; not to be mixed with
  // Next.
  absl::StatusOr<bool> NextPart(std::string* row_key, std::vector<FilterCell>* cells, bool* is_last);

  // After an error: whether it came within the row whose key was given out, and not before the next row.
  bool in_row() const { return in_row_; }

 private:
  // A column that goes on in the next part.
  struct Column {
    uint32_t family = 0;
    std::string qualifier;
    int64_t seen = 0;
  };

  absl::Status MakeRoom(std::string_view row_key, size_t copied_bytes);
  void GiveRoomBack();
  // Returns the bytes of the cells, if they are copied.
  size_t Take(RowPiece* piece, bool copy, std::vector<FilterCell>* cells);
  int64_t SeenBefore(uint32_t family, std::string_view qualifier, const std::vector<FilterCell>& cells) const;
  void RememberColumn(const std::vector<FilterCell>& cells);

  std::unique_ptr<RowStream> stream_;
  const VisibleCells* visible_;
  const TakeRowRoom take_room_;
  const size_t whole_bytes_max_;
  size_t room_bytes_ = 0;  // room that was taken
  RowPiece piece_;
  bool pending_ = false;  // piece_ is the next row's first piece
  std::vector<std::unique_ptr<std::string>> copies_;
  bool in_row_ = false;  // more of the row may follow
  std::string row_key_;  // if in_row_: its key
  Column column_;        // if in_row_: its last column
};

// Assembles the row that RowStore::Update gives to its decision.
void AssembleRow(const std::vector<RowFamily>& row, const VisibleCells& visible,
                 std::vector<FilterCell>* cells);

}  // namespace sonde
