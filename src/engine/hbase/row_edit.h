// A change of a row as HBase takes it: markers, and puts that none of these markers covers.
//
// HBase's markers hide what was put before them and what is put with them.  So a delete is a marker only where the change puts
// nothing into the column; elsewhere it is a marker for each cell that is there, which must be read first.  Such a change is guarded
// by the row's version.
//
// Pure: no state, no clock.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/hbase/stored_row.h"
#include "hbase/wire/change_messages.h"
#include "model/mutation.h"

namespace sonde {

// What must be known of a row before a change of it can be written down.
struct EditNeeds {
  bool is_guarded = false;  // it must be read, for its cells or for its newest record in the change log
  StoredChoice choice;      // which cells; none: the row's version is enough
};

// UNIMPLEMENTED: the delta wants what is not built here: deletes or adds in an expiring family.
absl::StatusOr<EditNeeds> NeedsOf(const RowDelta& delta);

// HBase's change, with the bytes that it views.  Values are the delta's.
struct RowEdit {
  RowEdit() = default;
  RowEdit(RowEdit&&) = default;
  RowEdit& operator=(RowEdit&&) = default;

  hbase::RowChange change;
  std::deque<std::string> bytes;
  std::function<absl::Duration()> time_to_send = nullptr;  // as in hbase::GuardedChange

  bool is_empty() const { return change.markers.empty() && change.puts.empty(); }
};

// `row` has the cells that NeedsOf asked for.  The record of the change is left to LoggedCommit (log/hbase_log.h).  DATA_LOSS: a sketch in the row is damaged.
absl::Status MakeEdit(std::string_view row_key, const RowDelta& delta, const StoredRow& row, RowEdit* edit);

// Deletes all cells of a row.
void MakeRowDelete(std::string_view row_key, CellStorage storage, RowEdit* edit);

// Deletes all cells of the column that the row has by themselves, and of no other one.
void MarkColumn(FamilyId family, std::string_view qualifier, RowEdit* edit);
// Deletes all cells of a family of HBase's.
void MarkFamily(std::string_view family, RowEdit* edit);

// Whether the change deletes a cell that was there before it.
bool Deletes(const FamilyDelta& family, const CellView& cell);

}  // namespace sonde
