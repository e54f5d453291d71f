// Computes what rows of the source give to a view, from the rows as they are.
//
// A definition looks at one row at a time, but for its GROUP BY: so what a row gives depends on this row alone.
//
// A row is left out (it gives nothing) if an expression fails for it, or if it is too large to be looked at: it takes more than
// kRowMemoryBytes, or gives to more than kContributionsMax groups.  What
// a row gives to a group without a row key (a part of it is NULL, or it is too long) or with a time that cells
// cannot have is left out, too.
// Threads: not for several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "sql/view/definition.h"
#include "sql/view/view_row.h"
#include "table/tables.h"

namespace sonde::sql {

inline constexpr size_t kContributionsMax = 100'000;
inline constexpr size_t kContributionBytesMax = size_t{64} << 20;
inline constexpr int64_t kRowMemoryBytes = int64_t{256} << 20;

class ContributionReader {
 public:
  // `tables` must outlive this.
  ContributionReader(Tables* tables, std::shared_ptr<const ViewDefinition> definition)
      : tables_(tables), definition_(std::move(definition)) {}

  // The rows of the first of these keys, which ascend, each once: one a key, at least one, and no more when the rows before give
  // kContributionsMax contributions or kContributionBytesMax.  Errors: those of the engine.
  absl::StatusOr<std::vector<SourceRow>> Read(absl::Span<const std::string> keys);

  // How often rows were left out because of an error or a limit.
  uint64_t rows_left_out() const { return rows_left_out_; }

 private:
  // Returns how many rows were read, from the first on.
  absl::StatusOr<size_t> ReadInto(absl::Span<const std::string> keys, absl::Span<SourceRow> rows);

  Tables* const tables_;
  const std::shared_ptr<const ViewDefinition> definition_;
  uint64_t rows_left_out_ = 0;
};

}  // namespace sonde::sql
