// Computes what rows of the source give to a view, from the rows as they are.
//
// A definition looks at one row at a time, but for its GROUP BY: so what a row gives depends on this row alone.
//
// A row is left out (it gives nothing) if an expression fails for it, or if it is too large to be looked at: it takes more than
// kRowMemoryBytes, or gives to more than kContributionsMax groups.  What
// a row gives to a group without a row key (a part of it is NULL, or it is too long) or with a time that cells
// cannot have is left out, too.
// Threads: not for several threads.  It has helpers of its own, if there are any, while Read reads; then up to kPartsAhead pieces
//   of kPartKeys rows more are in memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/mutation.h"
#include "sql/view/definition.h"
#include "sql/view/view_row.h"
#include "table/tables.h"
#include "work/idle_workers.h"

namespace sonde::sql {

inline constexpr size_t kContributionsMax = 100'000;
inline constexpr size_t kContributionBytesMax = size_t{64} << 20;
inline constexpr int64_t kRowMemoryBytes = int64_t{256} << 20;

// Which cells of a row count, by the key of the row.
using TimesOfRow = std::function<TimeRange(std::string_view row_key)>;

class ContributionReader {
 public:
  // `tables` and `idle_workers` must outlive this.  `idle_workers`: null: nobody helps.
  ContributionReader(Tables* tables, std::shared_ptr<const ViewDefinition> definition,
                     IdleWorkers* idle_workers = nullptr)
      : tables_(tables), definition_(std::move(definition)), idle_workers_(idle_workers) {}

  // The rows of the first of these keys, which ascend, each once: one a key, at least one, and no more when the rows before give
  // kContributionsMax contributions or kContributionBytesMax.  Errors: those of the engine.
  // `times`: for definitions that unpack, which threads may ask at once; unset: all cells count.
  absl::StatusOr<std::vector<SourceRow>> Read(absl::Span<const std::string> keys,
                                              const TimesOfRow& times = {});

  // How often rows were left out because of an error or a limit.
  uint64_t rows_left_out() const { return rows_left_out_; }

 private:
  static constexpr size_t kPartKeys = 128;
  static constexpr size_t kPartsAhead = 2;

  // Read, by the calling thread.
  absl::StatusOr<std::vector<SourceRow>> ReadPart(absl::Span<const std::string> keys,
                                                  const TimesOfRow& times);
  // Returns how many rows were read, from the first on.
  absl::StatusOr<size_t> ReadInto(absl::Span<const std::string> keys, const TimesOfRow& times,
                                  absl::Span<SourceRow> rows);

  Tables* const tables_;
  const std::shared_ptr<const ViewDefinition> definition_;
  IdleWorkers* const idle_workers_;
  std::atomic<uint64_t> rows_left_out_ = 0;
};

}  // namespace sonde::sql
