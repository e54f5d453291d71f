#include "sql/view/contributions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "model/limits.h"
#include "rows/batch.h"
#include "sql/exec/build.h"
#include "sql/operator/execution_state.h"
#include "sql/operator/operator.h"
#include "sql/plan/try.h"
#include "sql/relation/part_groups.h"
#include "sql/value/value.h"
#include "sql/view/group_state.h"
#include "sql/view/shown_rows.h"

namespace sonde::sql {
namespace {

// Errors that say something of the row and not of the store.
bool IsOfRow(const absl::Status& status) {
  return absl::IsOutOfRange(status) || absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status);
}

Datum ValueAt(const ViewDefinition::Source& source, const rows::Batch& batch, size_t row) {
  return source.column.has_value() ? DatumAt(batch.columns[*source.column], row) : source.constant.datum();
}

// Nothing: what this row of the batch gives is left out.
std::optional<GroupId> GroupOf(const ViewDefinition& definition, const rows::Batch& batch, size_t row) {
  std::vector<Datum> keys;
  for (const ViewDefinition::Source& source : definition.key_sources) {
    keys.push_back(ValueAt(source, batch, row));
    if (!keys.back().is_there) return std::nullopt;
  }
  GroupId group;
  if (definition.time.has_value()) {
    const Datum time = ValueAt(definition.time_source, batch, row);
    if (!time.is_there || time.integer < 0 || time.integer % kMicrosPerMilli != 0) return std::nullopt;
    group.micros = time.integer;
  }
  std::optional<std::string> row_key = ViewRowKey(definition, keys);
  if (!row_key.has_value()) return std::nullopt;
  group.row_key = *std::move(row_key);
  return group;
}

// Makes contributions of the rows of a plan that come of one row of the source.
class RowFold {
 public:
  virtual ~RowFold() = default;
  // `from` gave the batch.
  virtual absl::Status Add(const Operator& from, const rows::Batch& batch) = 0;
  // Appends what has come since the last call.
  virtual absl::Status Take(std::vector<Contribution>* contributions) = 0;
};

absl::Status CheckCount(size_t count) {
  if (count <= kContributionsMax) return absl::OkStatus();
  return absl::OutOfRangeError(
      fmt::format("A row gives to {} groups of the view; {} is the limit", count, kContributionsMax));
}

size_t BytesOf(const std::vector<Contribution>& contributions) {
  size_t bytes = 0;
  for (const Contribution& contribution : contributions) {
    bytes += sizeof(contribution) + contribution.group.row_key.size() + contribution.state.size();
  }
  return bytes;
}

class GroupsFold final : public RowFold {
 public:
  static absl::StatusOr<std::unique_ptr<RowFold>> Create(const QueryScope* scope,
                                                         const ViewDefinition& definition) {
    SONDE_TRY_SET(std::unique_ptr<PartGroups> groups, PartGroups::Create(scope, *definition.aggregate));
    return std::unique_ptr<RowFold>(new GroupsFold(definition, std::move(groups)));
  }

  absl::Status Add(const Operator& from, const rows::Batch& batch) override {
    SONDE_TRY(groups_->Add(from, batch));
    return CheckCount(groups_->size());
  }

  absl::Status Take(std::vector<Contribution>* contributions) override {
    rows::Batch keys{.rows = groups_->size(), .columns = groups_->Keys(0, groups_->size())};
    for (size_t group = 0; group < keys.rows; ++group) {
      std::optional<GroupId> id = GroupOf(definition_, keys, group);
      if (!id.has_value()) continue;
      Contribution& contribution = contributions->emplace_back();
      contribution.group = *std::move(id);
      for (size_t i = 0; i < definition_.aggregate->aggregates.size(); ++i) {
        std::string part;
        groups_->aggregate(i).Save(static_cast<uint32_t>(group), &part);
        AppendStatePart(part, &contribution.state);
      }
    }
    groups_->Clear();
    return absl::OkStatus();
  }

 private:
  GroupsFold(const ViewDefinition& definition, std::unique_ptr<PartGroups> groups)
      : definition_(definition), groups_(std::move(groups)) {}

  const ViewDefinition& definition_;
  const std::unique_ptr<PartGroups> groups_;
};

class IndexFold final : public RowFold {
 public:
  explicit IndexFold(const ViewDefinition& definition) : definition_(definition) {}

  absl::Status Add(const Operator& /*from*/, const rows::Batch& batch) override {
    for (size_t row = 0; row < batch.rows; ++row) {
      std::optional<GroupId> id = GroupOf(definition_, batch, row);
      if (!id.has_value()) continue;
      Contribution& contribution = contributions_.emplace_back();
      contribution.group = *std::move(id);
      for (size_t i = 0; i < definition_.columns.size(); ++i) {
        if (definition_.columns[i].role != ViewColumn::Role::kValue) continue;
        AppendStateValue(definition_.columns[i].type, DatumAt(batch.columns[i], row), &contribution.state);
      }
    }
    return CheckCount(contributions_.size());
  }

  // Of rows with one key the first counts.
  absl::Status Take(std::vector<Contribution>* contributions) override {
    *contributions = std::exchange(contributions_, {});
    return absl::OkStatus();
  }

 private:
  const ViewDefinition& definition_;
  std::vector<Contribution> contributions_;
};

void SortContributions(std::vector<Contribution>* contributions) {
  std::ranges::stable_sort(*contributions, {}, &Contribution::group);
  const auto repeated = std::ranges::unique(*contributions, {}, &Contribution::group);
  contributions->erase(repeated.begin(), repeated.end());
}

// Reads the rows of a plan, and folds those of each row of the source.
class Reading {
 public:
  Reading(Tables* tables, const ViewDefinition& definition, absl::Span<const std::string> keys,
          const TimesOfRow& times)
      : definition_(definition) {
    for (const std::string& key : keys) ranges_.push_back(RowRange::Single(key));
    ranges_ = NormalizeRanges(std::move(ranges_));
    state_.tables = tables;
    state_.evaluation.facts.now_micros = tables->clock().NowMicros();
    state_.hold = [this](int64_t more_bytes) { return Hold(more_bytes); };
    state_.evaluation.facts.hold = [this](size_t bytes) {
      const auto more_bytes = static_cast<int64_t>(bytes);
      SONDE_TRY(Hold(more_bytes));
      return Hold(-more_bytes);
    };
    state_.scan_ranges = &ranges_;
    state_.unpacked_times = times;
    scope_.state = &state_;
  }

  // Whether Run has failed as a row needs too much memory.
  bool needs_too_much() const { return needs_too_much_; }
  // Returns how many of the rows were read, from the first on.
  absl::StatusOr<size_t> Run(absl::Span<SourceRow> rows) {
    const bool groups = definition_.kind == ViewDefinition::Kind::kGroups;
    const Plan& plan = groups ? *definition_.aggregate->inputs[0] : *definition_.query.plan;
    SONDE_TRY_SET(const OperatorPtr from, BuildOperators(&scope_, plan));
    if (!from->HasPlaces()) return absl::InternalError("A definition of a view has rows of unknown origin");
    from->KeepPlaces();
    if (groups) {
      SONDE_TRY_SET(fold_, GroupsFold::Create(&scope_, definition_));
    } else {
      fold_ = std::make_unique<IndexFold>(definition_);
    }
    rows_ = rows;
    rows::Batch batch;
    while (!IsFull()) {
      SONDE_TRY_SET(const bool more, from->Next(&batch));
      if (!more) break;
      SONDE_TRY(Take(*from, batch));
    }
    SONDE_TRY(EndRow());
    return IsFull() ? rows_read_ : rows.size();
  }

 private:
  absl::Status Hold(int64_t more_bytes) {
    if (more_bytes > 0 && held_bytes_ + more_bytes > kRowMemoryBytes) {
      needs_too_much_ = true;
      return absl::ResourceExhaustedError(fmt::format("A row needs {} bytes of memory; {} is the limit",
                                                      held_bytes_ + more_bytes, kRowMemoryBytes));
    }
    held_bytes_ += more_bytes;
    return absl::OkStatus();
  }

  absl::Status Take(const Operator& from, const rows::Batch& batch) {
    for (size_t first = 0; first < batch.rows;) {
      const std::string_view key = from.SourceKey(first);
      size_t end = first + 1;
      while (end < batch.rows && from.SourceKey(end) == key) ++end;
      if (!key_.has_value() || *key_ != key) {
        SONDE_TRY(EndRow());
        if (IsFull()) return absl::OkStatus();
        key_ = std::string(key);
      }
      rows::Batch part = batch;
      part.Cut(first, end - first);
      SONDE_TRY(fold_->Add(from, part));
      first = end;
    }
    return absl::OkStatus();
  }

  absl::Status EndRow() {
    if (!key_.has_value()) return absl::OkStatus();
    const auto row = std::ranges::lower_bound(rows_, *key_, {}, &SourceRow::key);
    if (row == rows_.end() || row->key != *key_)
      return absl::InternalError("A scan gave a row that nobody asked for");
    SONDE_TRY(fold_->Take(&row->contributions));
    SortContributions(&row->contributions);
    key_.reset();
    const size_t bytes = BytesOf(row->contributions);
    if (bytes > kRowMemoryBytes) {
      return absl::OutOfRangeError(
          fmt::format("A row gives {} bytes to the view; {} is the limit", bytes, kRowMemoryBytes));
    }
    contributions_ += row->contributions.size();
    bytes_ += bytes;
    rows_read_ = static_cast<size_t>(row - rows_.begin()) + 1;
    return absl::OkStatus();
  }

  bool IsFull() const { return contributions_ >= kContributionsMax || bytes_ >= kContributionBytesMax; }

  const ViewDefinition& definition_;
  std::vector<RowRange> ranges_;
  int64_t held_bytes_ = 0;
  bool needs_too_much_ = false;
  ExecutionState state_;
  QueryScope scope_;
  std::unique_ptr<RowFold> fold_;
  absl::Span<SourceRow> rows_;
  std::optional<std::string> key_;  // of the row that is being folded
  size_t rows_read_ = 0;            // up to the last one that gave something
  size_t contributions_ = 0;
  size_t bytes_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<SourceRow>> ContributionReader::Read(absl::Span<const std::string> keys,
                                                                const TimesOfRow& times) {
  const bool has_helpers = idle_workers_ != nullptr && idle_workers_->helpers() > 0;
  if (!has_helpers || keys.size() <= kPartKeys) return ReadPart(keys, times);
  const auto keys_of = [keys](size_t part) { return keys.subspan(part * kPartKeys, kPartKeys); };
  std::vector<std::vector<SourceRow>> read((keys.size() + kPartKeys - 1) / kPartKeys);
  PartsInOrder parts(idle_workers_, read.size(), kPartsAhead,
                     [&](const PartsInOrder&, size_t part) -> absl::Status {
                       SONDE_TRY_SET(read[part], ReadPart(keys_of(part), times));
                       return absl::OkStatus();
                     });
  std::vector<SourceRow> rows;
  size_t contributions = 0;
  size_t bytes = 0;
  while (true) {
    SONDE_TRY_SET(const std::optional<size_t> part, parts.Next());
    if (!part.has_value()) return rows;
    const bool is_whole = read[*part].size() == keys_of(*part).size();
    for (SourceRow& row : read[*part]) {
      contributions += row.contributions.size();
      bytes += BytesOf(row.contributions);
      rows.push_back(std::move(row));
    }
    if (!is_whole || contributions >= kContributionsMax || bytes >= kContributionBytesMax) return rows;
  }
}

absl::StatusOr<std::vector<SourceRow>> ContributionReader::ReadPart(absl::Span<const std::string> keys,
                                                                    const TimesOfRow& times) {
  std::vector<SourceRow> rows;
  for (const std::string& key : keys) rows.push_back({key, {}});
  SONDE_TRY_SET(const size_t count, ReadInto(keys, times, absl::MakeSpan(rows)));
  rows.resize(count);
  return rows;
}

// Where a row fails, its half is read in halves again, until it is alone.
absl::StatusOr<size_t> ContributionReader::ReadInto(absl::Span<const std::string> keys,
                                                    const TimesOfRow& times, absl::Span<SourceRow> rows) {
  for (SourceRow& row : rows) row.contributions.clear();
  Reading reading(tables_, *definition_, keys, times);
  absl::StatusOr<size_t> read = reading.Run(rows);
  if (read.ok() || (!IsOfRow(read.status()) && !reading.needs_too_much())) return read;
  if (keys.size() == 1) {
    rows[0].contributions.clear();
    ++rows_left_out_;
    return 1;
  }
  const size_t half = keys.size() / 2;
  SONDE_TRY_SET(const size_t of_first, ReadInto(keys.first(half), times, rows.first(half)));
  if (of_first < half) return of_first;
  SONDE_TRY_SET(const size_t of_second, ReadInto(keys.subspan(half), times, rows.subspan(half)));
  return half + of_second;
}

}  // namespace sonde::sql
