#include "sql/view/state/frozen_shares.h"

#include <utility>

#include "base/varint.h"
#include "sql/plan/try.h"
#include "sql/view/state/state_keys.h"

namespace sonde::sql {
namespace {

constexpr char kShareFormat = 1;

std::string EncodeShare(const FrozenShare& share) {
  std::string bytes(1, kShareFormat);
  PutVarint(&bytes, static_cast<uint64_t>(share.before_micros));
  for (const Contribution& contribution : share.contributions) {
    PutBytes(&bytes, contribution.group.row_key);
    PutVarint(&bytes, static_cast<uint64_t>(contribution.group.micros));
    PutBytes(&bytes, contribution.state);
  }
  return bytes;
}

bool DecodeShare(std::string_view bytes, FrozenShare* share) {
  uint64_t before = 0;
  if (bytes.empty() || bytes[0] != kShareFormat) return false;
  bytes.remove_prefix(1);
  if (!GetVarint(&bytes, &before) || before > INT64_MAX) return false;
  share->before_micros = static_cast<int64_t>(before);
  while (!bytes.empty()) {
    std::string_view row_key;
    std::string_view state;
    uint64_t micros = 0;
    if (!GetBytes(&bytes, &row_key) || !GetVarint(&bytes, &micros) || micros > INT64_MAX ||
        !GetBytes(&bytes, &state)) {
      return false;
    }
    share->contributions.push_back(
        {{std::string(row_key), static_cast<int64_t>(micros)}, std::string(state)});
  }
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FrozenShares>> FrozenShares::Create(StateRows* rows,
                                                                   const ViewDefinition& definition) {
  SONDE_TRY_SET(std::unique_ptr<GroupMerger> merger, GroupMerger::Create(definition));
  return std::unique_ptr<FrozenShares>(new FrozenShares(rows, std::move(merger)));
}

absl::StatusOr<FrozenByRow> FrozenShares::Read(absl::Span<const std::string> keys) const {
  std::vector<RowRange> ranges;
  for (const std::string& key : keys) ranges.push_back(RowRange::Single(FrozenShareKey(key)));
  FrozenByRow shares;
  SONDE_TRY(rows_->Scan(NormalizeRanges(std::move(ranges)),
                        [&](std::string_view key, std::string_view value) -> absl::StatusOr<bool> {
                          if (DecodeShare(value, &shares[std::string(SourceOfStateKey(key))])) return true;
                          return absl::DataLossError(
                              "The frozen share of a row is damaged in a view's state");
                        }));
  return shares;
}

absl::StatusOr<bool> FrozenShares::Merge(const FrozenShare& older, std::vector<Contribution>* contributions) {
  bool go_together = true;
  std::vector<Contribution> merged;
  auto newer = contributions->begin();
  for (const Contribution& frozen : older.contributions) {
    for (; newer != contributions->end() && newer->group < frozen.group; ++newer)
      merged.push_back(std::move(*newer));
    Contribution& both = merged.emplace_back(frozen);
    if (newer == contributions->end() || newer->group != frozen.group) continue;
    // The newer cells first: of an index, the first counts.
    merger_->Clear();
    SONDE_TRY(merger_->Add(newer->state));
    const absl::Status status = merger_->Add(frozen.state);
    if (absl::IsDataLoss(status)) return status;
    go_together &= status.ok();
    both.state = status.ok() ? merger_->Save() : std::move(newer->state);
    ++newer;
  }
  for (; newer != contributions->end(); ++newer) merged.push_back(std::move(*newer));
  *contributions = std::move(merged);
  return go_together;
}

void FrozenShares::Put(std::string_view key, const FrozenShare& share) {
  rows_->Put(FrozenShareKey(key), EncodeShare(share));
}

void FrozenShares::Delete(std::string_view key) { rows_->Delete(FrozenShareKey(key)); }

absl::StatusOr<std::vector<std::string>> ListFrozen(const StateRows& rows, const RowRange& source_keys,
                                                    size_t rows_max) {
  std::vector<std::string> keys;
  SONDE_TRY(rows.Scan({FrozenShareKeys(source_keys)}, [&](std::string_view key, std::string_view) {
    keys.emplace_back(SourceOfStateKey(key));
    return keys.size() < rows_max;
  }));
  return keys;
}

}  // namespace sonde::sql
