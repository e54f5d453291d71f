// What rows of a source gave to a view by cells that have expired, of views that outlive their source.
//
// The share of a row is divided by a time: what its cells from before gave is frozen here, and what those after it give is computed
// from the row as it is.  The share of a row is one value of the state, so that the time moves in one step with what it divides, and moving it
// twice does no harm.  The sum of both does not change when the time moves.
//
// Format (docs/formats/view-state.md): "f" source key: 1 byte of format; the time; for each group, ascending, its row key (bytes), its time, and the
//   merged state (bytes).
// Threads: not for several threads, but for Read, which may be called at once with everything but Put and Commit.
// Errors: those of StateRows; DATA_LOSS: the state is damaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/row_range.h"
#include "sql/view/definition.h"
#include "sql/view/group_state.h"
#include "sql/view/state/state_rows.h"
#include "sql/view/view_row.h"

namespace sonde::sql {

struct FrozenShare {
  int64_t before_micros = 0;                // cells from before this time are in it, and no others
  std::vector<Contribution> contributions;  // by group, each once
};
// By the key of the row of the source; rows without a share are not there.
using FrozenByRow = std::map<std::string, FrozenShare, std::less<>>;

class FrozenShares {
 public:
  // `rows` and `definition` must outlive this.
  static absl::StatusOr<std::unique_ptr<FrozenShares>> Create(StateRows* rows,
                                                              const ViewDefinition& definition);

  absl::StatusOr<FrozenByRow> Read(absl::Span<const std::string> keys) const;

  // Adds what the same row gave by cells that are older than those of `contributions`.  False: the states of a group do not go
  // together, and those of the newer cells stay alone.
  absl::StatusOr<bool> Merge(const FrozenShare& older, std::vector<Contribution>* contributions);

  // Waits for Commit.
  void Put(std::string_view key, const FrozenShare& share);
  void Delete(std::string_view key);
  size_t waiting_bytes() const { return rows_->waiting_bytes(); }
  absl::Status Commit() { return rows_->Commit(); }

 private:
  FrozenShares(StateRows* rows, std::unique_ptr<GroupMerger> merger)
      : rows_(rows), merger_(std::move(merger)) {}

  StateRows* const rows_;
  const std::unique_ptr<GroupMerger> merger_;
};

// The first keys of a range of the source, ascending, at most `rows_max`, that have a frozen share.
absl::StatusOr<std::vector<std::string>> ListFrozen(const StateRows& rows, const RowRange& source_keys,
                                                    size_t rows_max);

}  // namespace sonde::sql
