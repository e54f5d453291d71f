// From an engine's pieces to whole rows as a reader of the API sees them: families by name, and without the
// cells that garbage collection has forgotten, whether or not they are still stored.
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

// The ids of a table's families, in the order of its schema.
std::vector<FamilyId> FamilyIds(const TableSchema& schema);

// What of a table's cells is to be seen at one instant, by rule and, through an authorized view, by column. A
// cell's family is its index in the schema's list.
class VisibleCells {
 public:
  // `view`: null for the whole table.  Its rows are not looked at here.
  VisibleCells(TableSchemaRef schema, int64_t now_micros, AuthorizedViewRef view = nullptr);

  // Index of a family in the schema; nullopt when the schema does not have it (it was dropped).
  std::optional<uint32_t> FamilyIndex(FamilyId family) const;
  // Appends the cells of one family of one row that are seen.  `cells`, which is used up, may be a piece of
  // the family: then so many newer cells of its first column are seen before it.
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

// Asked for room for a row that is put together, all in all, before it takes more; 0 gives it back, and is no
// error.
using TakeRowRoom = std::function<absl::Status(size_t bytes)>;

class RowAssembler {
 public:
  // A row of so many bytes is put together without asking for room.
  static constexpr size_t kRowUncountedBytes = 64 << 10;

  // `stream` in either direction; `take_room` may be null; `whole_bytes_max` is for tests.
  RowAssembler(std::unique_ptr<RowStream> stream, const VisibleCells* visible,
               TakeRowRoom take_room = nullptr, size_t whole_bytes_max = kRowWholeBytesMax)
      : stream_(std::move(stream)),
        visible_(visible),
        take_room_(std::move(take_room)),
        whole_bytes_max_(whole_bytes_max) {}
  ~RowAssembler() { GiveRoomBack(); }
  RowAssembler(const RowAssembler&) = delete;
  RowAssembler& operator=(const RowAssembler&) = delete;

  // False at the end.  The row may have no cells left.  Views hold until the next call.  FAILED_PRECONDITION:
  // it has more than `whole_bytes_max`; or what take_room says.
  absl::StatusOr<bool> Next(std::string* row_key, std::vector<FilterCell>* cells);

  // The same of the next part of a row, as the engine has it: a long row need not be in memory.  The last one
  // may have no cells.  For streams whose families come in the order of the schema; instead of Next.
  absl::StatusOr<bool> NextPart(std::string* row_key, std::vector<FilterCell>* cells, bool* is_last);

  // After an error: whether it came within the row whose key was given out, and not before the next one.
  bool in_row() const { return in_row_; }

 private:
  // Of a column that goes on in the next part.
  struct Column {
    uint32_t family = 0;
    std::string qualifier;
    int64_t seen = 0;
  };

  absl::Status MakeRoom(std::string_view row_key, size_t copied_bytes);
  void GiveRoomBack();
  // Returns their bytes, if they are copied.
  size_t Take(RowPiece* piece, bool copy, std::vector<FilterCell>* cells);
  int64_t SeenBefore(uint32_t family, std::string_view qualifier, const std::vector<FilterCell>& cells) const;
  void RememberColumn(const std::vector<FilterCell>& cells);

  std::unique_ptr<RowStream> stream_;
  const VisibleCells* visible_;
  const TakeRowRoom take_room_;
  const size_t whole_bytes_max_;
  size_t room_bytes_ = 0;  // that were taken
  RowPiece piece_;
  bool pending_ = false;  // piece_ is the next row's first
  std::vector<std::unique_ptr<std::string>> copies_;
  bool in_row_ = false;  // more of it may follow
  std::string row_key_;  // then
  Column column_;        // likewise: the last one
};

// The same for the row that Engine::Update hands to its decision.
void AssembleRow(const std::vector<RowFamily>& row, const VisibleCells& visible,
                 std::vector<FilterCell>* cells);

}  // namespace sonde
