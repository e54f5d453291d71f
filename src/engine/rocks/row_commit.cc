#include "engine/rocks/row_commit.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "cellblock/fragment.h"
#include "engine/rocks/store/fragment_merge.h"
#include "engine/rocks/store/key.h"

namespace sonde {
namespace {

// The bytes that a thread keeps for its next write.  A value may have a hundred times as many, and there are
// many threads.
constexpr size_t kScratchBytesMax = 1 << 20;

// A string that grows by itself may take twice its size, and half of that while it moves.
void ReserveForLarge(const FamilyDelta& delta, std::string* value) {
  size_t bytes = 0;
  for (const auto& put : delta.puts) bytes += put.qualifier.size() + put.value.size();
  if (bytes >= kScratchBytesMax) value->reserve(bytes + bytes / 16);
}

}  // namespace

bool AddsCells(const RowChange& change) {
  const std::vector<FamilyDelta>& families = change.delta.families;
  return std::any_of(families.begin(), families.end(),
                     [](const FamilyDelta& family) { return !family.puts.empty() || !family.adds.empty(); });
}

void RowCommit::Append(const RowChange& change) {
  static thread_local std::string key, value;  // scratch: this runs for every row of every write
  key.clear();
  AppendRowPrefix(table_, change.row_key, &key);
  const size_t prefix_bytes = key.size();
  const std::vector<FamilyDelta>& families = change.delta.families;
  DCHECK(std::adjacent_find(families.begin(), families.end(), [](const FamilyDelta& a, const FamilyDelta& b) {
           return a.family >= b.family;
         }) == families.end());
  for (const FamilyDelta& delta : families) {
    key.resize(prefix_bytes);
    AppendFamily(delta.family, &key);
    value.clear();
    ReserveForLarge(delta, &value);
    EncodeFragment(delta, shapes_, &value);
    batch_.Merge(head_.get(), key, value);
    load_.cells += delta.puts.size() + delta.adds.size();
    load_.deletes += delta.deletes.size() + (delta.delete_all ? 1 : 0);
    if (value.size() >= kFragmentApartBytesMin) long_fragments_.emplace_back(change.row_key, value.size());
  }
  if (value.capacity() > kScratchBytesMax) std::string().swap(value);
}

// The disk is asked twice: here, before shapes are learned, and in Commit, when it is known how much there is.
absl::Status RowCommit::Add(absl::Span<const RowChange> changes) {
  if (std::any_of(changes.begin(), changes.end(), AddsCells)) {
    if (absl::Status status = disk_->AdmitWrite(); !status.ok()) return status;
    adds_cells_ = true;
  }
  for (const RowChange& change : changes) Append(change);
  return absl::OkStatus();
}

absl::Status RowCommit::Commit(ChangeLog* log, absl::Span<const RowChange> logged) {
  load_.bytes = batch_.GetDataSize();
  if (adds_cells_) {
    if (absl::Status status = disk_->AdmitWrite(load_.bytes); !status.ok()) return status;
  }
  head_.Add(load_, table_, long_fragments_);
  ChangeLog::Commit commit(log);
  if (!logged.empty()) {
    if (absl::Status status = commit.Add(table_, logged, &batch_); !status.ok()) return status;
  }
  return store_->Write(&batch_, "Writing rows",
                       adds_cells_ ? CellStore::WhenHeld::kRefuse : CellStore::WhenHeld::kRefuseWhenStopped);
}

}  // namespace sonde
