#include "series/query/divided_fold.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "model/row_range.h"

namespace sonde::series {
namespace {

// Parts that each thread may be ahead; a part that is done waits until those before it are taken.
constexpr size_t kPartsAhead = 4;

}  // namespace

std::unique_ptr<DividedFold::Reader> DividedFold::TakeReader() {
  {
    const absl::MutexLock lock(&mutex_);
    if (!readers_.empty()) {
      std::unique_ptr<Reader> reader = std::move(readers_.back());
      readers_.pop_back();
      return reader;
    }
  }
  auto reader = std::make_unique<Reader>();
  reader->interrupted = [this, of = reader.get()]() -> absl::Status {
    if (of->all->IsInVain(of->part)) return absl::CancelledError("nobody takes this part");
    return query_.interrupted ? query_.interrupted() : absl::OkStatus();
  };
  reader->scan = scan_->Fork(reader->interrupted);
  reader->fold = make_fold_(reader->interrupted);
  return reader;
}

void DividedFold::GiveBack(std::unique_ptr<Reader> reader) {
  reader->fold->Clear();
  const absl::MutexLock lock(&mutex_);
  readers_.push_back(std::move(reader));
}

absl::Status DividedFold::FoldPart(const std::vector<RowRange>& ranges, Reader* reader) const {
  const auto add = [fold = reader->fold.get()](const rows::Batch& batch) -> absl::StatusOr<bool> {
    if (absl::Status added = fold->Add(batch); !added.ok()) return added;
    return true;
  };
  return reader->scan->ReadRanges(ranges, order_, add);
}

absl::StatusOr<size_t> DividedFold::FoldParts(const std::vector<std::vector<RowRange>>& parts,
                                              const TakePart& take) {
  std::vector<std::unique_ptr<Reader>> done(parts.size());
  const auto fold = [&](const PartsInOrder& all, size_t part) {
    done[part] = TakeReader();
    done[part]->all = &all;
    done[part]->part = part;
    return FoldPart(parts[part], done[part].get());
  };
  IdleWorkers* const workers = query_.idle_workers;
  PartsInOrder all(workers, parts.size(), kPartsAhead * (1 + workers->helpers()), fold);
  for (size_t taken = 0;; ++taken) {
    const absl::StatusOr<std::optional<size_t>> part = all.Next();
    if (!part.ok() || !part->has_value()) return taken;
    std::unique_ptr<Reader> reader = std::move(done[**part]);
    scan_->TakeStats(reader->scan.get());
    const absl::StatusOr<bool> goes_on = take(reader->fold.get());
    GiveBack(std::move(reader));
    if (!goes_on.ok()) return goes_on.status();
    is_enough_ = !*goes_on;
    if (is_enough_) return taken + 1;
  }
}

absl::StatusOr<std::vector<RowRange>> DividedFold::Fold(const TakePart& take) {
  std::vector<RowRange> left = NormalizeRanges(scan_->ranges());
  while (!left.empty()) {
    absl::StatusOr<DividedRanges> divided = scan_->Divide(left);
    // An error is the reader's, who meets it.
    if (!divided.ok() || divided->parts.size() < 2) return left;
    const absl::StatusOr<size_t> taken = FoldParts(divided->parts, take);
    if (!taken.ok()) return taken.status();
    if (is_enough_) return std::vector<RowRange>();
    left.clear();
    for (size_t part = *taken; part < divided->parts.size(); ++part) {
      std::ranges::move(divided->parts[part], std::back_inserter(left));
    }
    std::ranges::move(divided->rest, std::back_inserter(left));
    if (*taken < divided->parts.size()) return left;
  }
  scan_->NoteDivided();
  return left;
}

}  // namespace sonde::series
