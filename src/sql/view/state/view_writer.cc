#include "sql/view/state/view_writer.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "sql/plan/try.h"
#include "sql/view/state/state_keys.h"

namespace sonde::sql {
namespace {

constexpr size_t kStateCommitBytes = 1 << 20;

std::vector<GroupId> GroupsOf(const SourceRow& row) {
  std::vector<GroupId> groups;
  for (const Contribution& contribution : row.contributions) groups.push_back(contribution.group);
  return groups;
}

std::vector<GroupId> UnionOf(const std::vector<GroupId>& a, const std::vector<GroupId>& b) {
  std::vector<GroupId> both;
  std::ranges::set_union(a, b, std::back_inserter(both));
  return both;
}

}  // namespace

ViewWriter::ViewWriter(Engine* engine, std::shared_ptr<const ViewDefinition> definition,
                       TableSchemaRef storage, TableSchemaRef workings, TreeShape shape)
    : definition_(std::move(definition)),
      shape_(shape),
      state_(engine, std::move(workings)),
      table_(engine, definition_.get(), std::move(storage)) {}

absl::StatusOr<std::unique_ptr<ViewWriter>> ViewWriter::Create(
    Engine* engine, std::shared_ptr<const ViewDefinition> definition, TableSchemaRef storage,
    TableSchemaRef workings, TreeShape shape) {
  std::unique_ptr<ViewWriter> writer(
      new ViewWriter(engine, std::move(definition), std::move(storage), std::move(workings), shape));
  SONDE_TRY_SET(writer->merger_, GroupMerger::Create(*writer->definition_));
  return writer;
}

absl::Status ViewWriter::Replace(absl::Span<const SourceRow> rows) {
  state_.Clear();
  SONDE_TRY_SET(const std::vector<std::vector<GroupId>> old_groups, ReadOldGroups(rows));
  ChangedGroups changed;
  SONDE_TRY(WriteContributions(rows, old_groups, &changed));
  SONDE_TRY(Show(&changed));
  return ForgetOldGroups(rows, old_groups);
}

absl::StatusOr<std::vector<std::vector<GroupId>>> ViewWriter::ReadOldGroups(
    absl::Span<const SourceRow> rows) const {
  std::vector<std::vector<GroupId>> groups(rows.size());
  std::vector<RowRange> ranges;
  for (const SourceRow& row : rows) ranges.push_back(RowRange::Single(SourceStateKey(row.key)));
  SONDE_TRY(state_.Scan(NormalizeRanges(std::move(ranges)),
                        [&](std::string_view key, std::string_view value) -> absl::StatusOr<bool> {
                          const auto row =
                              std::ranges::lower_bound(rows, SourceOfStateKey(key), {}, &SourceRow::key);
                          CHECK(row != rows.end() && row->key == SourceOfStateKey(key));
                          if (DecodeGroups(value, &groups[static_cast<size_t>(row - rows.begin())]))
                            return true;
                          return absl::DataLossError("The groups of a row are damaged in a view's state");
                        }));
  return groups;
}

absl::Status ViewWriter::WriteContributions(absl::Span<const SourceRow> rows,
                                            const std::vector<std::vector<GroupId>>& old_groups,
                                            ChangedGroups* changed) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<GroupId> all = UnionOf(old_groups[i], GroupsOf(rows[i]));
    if (all != old_groups[i]) state_.Put(SourceStateKey(rows[i].key), EncodeGroups(all));
  }
  if (!state_.keeps_order()) SONDE_TRY(state_.Commit());
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<GroupId> groups = GroupsOf(rows[i]);
    const std::vector<GroupId> all = UnionOf(old_groups[i], groups);
    const uint64_t hash = StateHash(rows[i].key);
    std::vector<GroupId> gone;
    std::ranges::set_difference(all, groups, std::back_inserter(gone));
    for (const GroupId& group : gone) (*changed)[group].push_back({hash, std::nullopt});
    for (const Contribution& contribution : rows[i].contributions) {
      const bool is_new = !std::ranges::binary_search(old_groups[i], contribution.group);
      (*changed)[contribution.group].push_back(
          {hash, is_new ? std::optional<std::string_view>(contribution.state) : std::nullopt});
      state_.Put(ContributorKey(GroupPrefix(contribution.group), rows[i].key), contribution.state);
    }
    for (const GroupId& group : gone) state_.Delete(ContributorKey(GroupPrefix(group), rows[i].key));
    if (state_.waiting_bytes() >= kStateCommitBytes) SONDE_TRY(state_.Commit());
  }
  return state_.Commit();
}

absl::Status ViewWriter::Show(ChangedGroups* changed) {
  std::vector<GroupCells> row;
  for (auto& [group, changes] : *changed) {
    std::ranges::sort(changes, {}, &ContributorChange::hash);
    if (!row.empty() && row.front().group.row_key != group.row_key)
      SONDE_TRY(table_.Write(std::exchange(row, {})));
    SONDE_TRY_SET(GroupCells cells, CellsOf(group, changes));
    row.push_back(std::move(cells));
  }
  if (!row.empty()) SONDE_TRY(table_.Write(std::move(row)));
  return table_.Commit();
}

absl::StatusOr<GroupCells> ViewWriter::CellsOf(const GroupId& group,
                                               absl::Span<const ContributorChange> changes) {
  GroupCells result{group, std::nullopt};
  SONDE_TRY_SET(const GroupTree::Merged merged,
                GroupTree(shape_, &state_, merger_.get()).Refresh(group, changes));
  if (merged.contributors == 0) return result;
  if (!merged.has_failed) {
    absl::StatusOr<std::optional<std::vector<ViewCell>>> cells = merger_->Cells(group);
    if (cells.ok()) {
      result.cells = *std::move(cells);
      return result;
    }
    if (absl::IsDataLoss(cells.status())) return cells.status();
  }
  ++groups_left_out_;
  return result;
}

absl::Status ViewWriter::ForgetOldGroups(absl::Span<const SourceRow> rows,
                                         const std::vector<std::vector<GroupId>>& old_groups) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<GroupId> groups = GroupsOf(rows[i]);
    if (groups == UnionOf(old_groups[i], groups)) continue;
    std::string key = SourceStateKey(rows[i].key);
    if (groups.empty()) {
      state_.Delete(std::move(key));
    } else {
      state_.Put(std::move(key), EncodeGroups(groups));
    }
  }
  return state_.Commit();
}

}  // namespace sonde::sql
