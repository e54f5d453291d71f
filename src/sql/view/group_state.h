// The partial state of a group: what some of its rows come to, as bytes.  Two states of a group are merged into that of
// all their rows, in any order and any parts.
//
// Format (docs/formats/view-state.md).  Of GROUP BY: for each aggregate its state (Aggregator::Save), after its length.
//   Of ORDER BY: each value column (aggregate/datum_bytes.h).
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/view/definition.h"
#include "sql/view/view_row.h"

namespace sonde::sql {

void AppendStatePart(std::string_view part, std::string* state);
void AppendStateValue(const Type& type, const Datum& value, std::string* state);

// Merges the states of one group after the other.
//
//   merger->Clear();
//   for (...) status = merger->Add(state);
//   cells = merger->Cells(group);
class GroupMerger {
 public:
  // `definition` must outlive this.
  static absl::StatusOr<std::unique_ptr<GroupMerger>> Create(const ViewDefinition& definition);
  virtual ~GroupMerger() = default;

  // Begins a group.
  virtual void Clear() = 0;
  // DATA_LOSS: the bytes are no state.  Other errors: those of the aggregates, such as sketches that do not go together.
  virtual absl::Status Add(std::string_view state) = 0;
  // The state of all that was added since Clear.
  virtual std::string Save() = 0;
  // The cells of the group; nothing: it has no row in the view, as all its values are NULL.  Errors: those of the values.
  virtual absl::StatusOr<std::optional<std::vector<ViewCell>>> Cells(const GroupId& group) = 0;
};

}  // namespace sonde::sql
