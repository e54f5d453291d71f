// Changes of rows as one call (HBase's Multi), and what came of each.
//
// Pure: no state but the message, no clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hbase/wire/cell_block.h"
#include "hbase/wire/failure.h"

namespace sonde::hbase {

namespace pb {
class MultiRequest;
class RegionAction;
}  // namespace pb

// A change is made only if the row has this cell as its newest of the column.
struct Guard {
  std::string family;
  std::string qualifier;
  std::string value;  // empty: the row has no such cell, or an empty one
};

// A change of one row, which is made as a whole or not at all.  Markers do not hide puts of other changes that come later
// (NEW_VERSION_BEHAVIOR), but they do hide puts of the same change: no marker may cover a put.
struct RowChange {
  std::string row;
  std::vector<Cell> markers;  // of types other than kPut; their `row` does not count
  std::vector<Cell> puts;     // of type kPut; their `row` does not count
  std::optional<Guard> guard = std::nullopt;

  // About, as bytes of the call.
  size_t Bytes() const;
  // The largest of its cells that are put, about as HBase counts it.
  size_t LargestCellBytes() const;
};

// What came of a change.
struct ChangeOutcome {
  std::optional<Failure> failure = std::nullopt;
  bool guard_held = true;  // without a failure: false, nothing was changed
};

// Changes for regions of one server.
class ChangesMessage {
 public:
  // `sync`: an answer comes when the copies have synced the changes to their disks, and not when they have them in memory.
  explicit ChangesMessage(bool sync);
  ~ChangesMessage();

  // Adds changes of rows of one region, each with a marker or a put.  No row may come twice in a message: there is no order in it.
  void Add(std::string_view region, absl::Span<const RowChange* const> changes);

  size_t count() const { return places_.size(); }
  std::string Message() const;
  const std::string& cells() const { return cells_; }

  // The outcomes that an answer tells, in the order in which the changes were added.  DATA_LOSS: the message is not an answer to this.
  absl::StatusOr<std::vector<ChangeOutcome>> ParseOutcomes(std::string_view message) const;

 private:
  struct Place {
    int region_action = 0;
    int action = 0;
    bool is_guarded = false;
  };
  void AddPut(const RowChange& change, pb::RegionAction* action);
  Place AddWhole(std::string_view region, const RowChange& change);

  const bool sync_;
  const std::unique_ptr<pb::MultiRequest> request_;
  std::string cells_;
  std::vector<Place> places_;  // of the changes
};

}  // namespace sonde::hbase
