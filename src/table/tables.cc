#include "table/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "base/random.h"
#include "base/varint.h"
#include "changes/change_record.h"
#include "filter/byte_range.h"
#include "filter/filter_evaluator.h"
#include "model/limits.h"
#include "mutation/normalize.h"
#include "table/number_reader.h"
#include "table/row_assembler.h"
#include "table/view_access.h"

namespace sonde {
namespace {

// Rows of a range that are deleted in one commit.
constexpr size_t kRowsPerDeletion = 1'000;

bool ChangesNothing(const Mutation& mutation) {
  const auto* merge = std::get_if<MergeToCell>(&mutation);
  return merge != nullptr && !merge->state.has_value();
}

// Gives the deltas of a table whose changes are logged their records, and holds these until the engine has
// them.
class ChangeLogger {
 public:
  ChangeLogger(const TableSchema& schema, int64_t now_micros) : schema_(schema), now_micros_(now_micros) {}

  void Log(std::string_view row_key, absl::Span<const Mutation> mutations, RowDelta* delta) {
    if (!schema_.change_stream.has_value() || std::all_of(mutations.begin(), mutations.end(), ChangesNothing))
      return;
    // A vector may move its vectors, not what they hold.
    records_.push_back(EncodeChange(schema_, ChangeKind::kUser, row_key, mutations, now_micros_));
    delta->log = {std::max(now_micros_, schema_.change_stream->start_micros), records_.back()};
  }

 private:
  const TableSchema& schema_;
  const int64_t now_micros_;
  std::vector<std::vector<std::string>> records_;
};

// Applies the rules to the newest cells that are visible.
class ReadModifyWriter {
 public:
  ReadModifyWriter(const TableSchema& schema, std::string_view row_key,
                   absl::Span<const ReadModifyWriteRule> rules, int64_t now_micros)
      : schema_(schema),
        row_key_(row_key),
        rules_(rules),
        now_micros_(TruncateToGranularity(schema, now_micros)) {}

  absl::Status Run(const std::vector<FilterCell>& row) {
    columns_.clear();
    for (const ReadModifyWriteRule& rule : rules_) {
      const FamilySchema* family = schema_.FindFamily(rule.family);
      if (family == nullptr) return Error(absl::StatusCode::kNotFound, "Requested column family not found.");
      if (family->aggregate != AggregateKind::kNone) {
        return Error(absl::StatusCode::kInvalidArgument, "Column family type mismatch");
      }
      const auto index = static_cast<uint32_t>(family - schema_.families.data());
      const auto [at, is_new] = columns_.try_emplace({index, std::string(rule.qualifier)});
      if (is_new) at->second = Newest(row, index, rule.qualifier);
      if (absl::Status status = Change(rule, &at->second); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // Views into this.
  RowDelta Delta() const {
    std::map<FamilyId, FamilyDelta> families;
    for (const auto& [column, cell] : columns_) {
      const FamilySchema& family = schema_.families[column.first];
      FamilyDelta& delta = families[family.id];
      delta.family = family.id;
      delta.puts.push_back({column.second, cell.timestamp_micros, cell.value});
    }
    RowDelta result;
    for (auto& [id, delta] : families) result.families.push_back(std::move(delta));
    return result;
  }

  // What the delta does, by names.  Views into this.
  std::vector<Mutation> Mutations() const {
    std::vector<Mutation> result;
    for (const auto& [column, cell] : columns_) {
      result.push_back(
          SetCell{schema_.families[column.first].name, column.second, cell.timestamp_micros, cell.value});
    }
    return result;
  }

  std::vector<WrittenCell> Written() const {
    std::vector<WrittenCell> result;
    for (const auto& [column, cell] : columns_) {
      result.push_back(
          {schema_.families[column.first].name, column.second, cell.timestamp_micros, cell.value});
    }
    return result;
  }

 private:
  struct Cell {
    int64_t timestamp_micros = 0;
    std::string value;
    bool is_set = false;
  };

  absl::Status Error(absl::StatusCode code, std::string_view what) const {
    return absl::Status(code, fmt::format("Error while mutating the row '{}' ({}) : {}", Printable(row_key_),
                                          schema_.name, what));
  }

  Cell Newest(const std::vector<FilterCell>& row, uint32_t family, std::string_view qualifier) const {
    const auto cell = std::lower_bound(
        row.begin(), row.end(), std::pair(family, qualifier), [](const FilterCell& a, const auto& column) {
          return std::pair(a.family, std::string_view(a.cell.qualifier)) < column;
        });
    if (cell == row.end() || cell->family != family || cell->cell.qualifier != qualifier) {
      return {now_micros_, "", false};
    }
    return {std::max(now_micros_, cell->cell.timestamp_micros), std::string(cell->cell.value), true};
  }

  absl::Status Change(const ReadModifyWriteRule& rule, Cell* cell) const {
    const bool was_set = std::exchange(cell->is_set, true);
    if (const auto* append = std::get_if<ReadModifyWriteRule::Append>(&rule.change)) {
      if (cell->value.size() + append->value.size() > kValueBytesMax) {
        return Error(absl::StatusCode::kInvalidArgument,
                     fmt::format("The value would have {} bytes; the limit is {}",
                                 cell->value.size() + append->value.size(), kValueBytesMax));
      }
      cell->value.append(append->value);
      return absl::OkStatus();
    }
    uint64_t number = 0;
    if (was_set) {
      std::string_view bytes = cell->value;
      if (bytes.size() != sizeof(number) || !GetFixed64(&bytes, &number)) {
        return Error(absl::StatusCode::kFailedPrecondition,
                     fmt::format("Cannot increment the cell {}:'{}': its value has {} bytes, not 8",
                                 rule.family, Printable(rule.qualifier), cell->value.size()));
      }
    }
    number += static_cast<uint64_t>(std::get<ReadModifyWriteRule::Increment>(rule.change).amount);
    cell->value.clear();
    PutFixed64(&cell->value, number);
    return absl::OkStatus();
  }

  const TableSchema& schema_;
  const std::string_view row_key_;
  const absl::Span<const ReadModifyWriteRule> rules_;
  const int64_t now_micros_;
  std::map<std::pair<uint32_t, std::string>, Cell> columns_;  // by family name, as the schema is
};

// The newest cell of each column of the rules.
ReadHints HintsOf(const TableSchema& schema, absl::Span<const ReadModifyWriteRule> rules) {
  constexpr size_t kRangesMax = 16;  // more would cost more than they leave out
  ReadHints hints{.newest_per_column = 1};
  hints.families.emplace();
  hints.columns.emplace();
  ByteRanges columns;
  for (const ReadModifyWriteRule& rule : rules) {
    const FamilySchema* family = schema.FindFamily(rule.family);
    if (family == nullptr) continue;  // the writer says so
    hints.families->push_back(family->id);
    columns.push_back(ByteRange::Single(rule.qualifier));
  }
  std::sort(hints.families->begin(), hints.families->end());
  hints.families->erase(std::unique(hints.families->begin(), hints.families->end()), hints.families->end());
  for (ByteRange& range : AtMost(kRangesMax, NormalizeByteRanges(std::move(columns)))) {
    hints.columns->push_back({std::move(range.start), std::move(range.end).value_or("")});
  }
  return hints;
}

// Whether one of several rows may have got this, of which none was written, only for what another is: a row
// whose types do not match refuses all, and on a full disk those who add refuse those who delete.
bool MayBeOfAnother(const absl::Status& status) {
  return !status.ok() && !absl::IsUnavailable(status) && !absl::IsUnknown(status) &&
         !absl::IsInternal(status) && !absl::IsDataLoss(status);
}

// Of what the mutations carry.
uint64_t BytesOf(absl::Span<const Mutation> mutations) {
  uint64_t bytes = 0;
  const auto add = [&bytes](const auto& one) {
    if constexpr (requires { one.qualifier; }) bytes += one.qualifier.size();
    if constexpr (requires { one.value; }) bytes += one.value.size();
  };
  for (const Mutation& mutation : mutations) std::visit(add, mutation);
  return bytes;
}

// What is told of a request's rows; views into their keys.
class WrittenRows {
 public:
  explicit WrittenRows(absl::Span<const RowMutations> rows) {
    rows_.reserve(rows.size());
    for (const RowMutations& row : rows) {
      rows_.push_back({row.row_key, BytesOf(row.mutations)});
      cells_ += row.mutations.size();
    }
  }

  void Tell(AccessObserver* observer, TableId table, const AccessTimer& timer,
            absl::Span<const absl::Status> statuses) const {
    const auto failed = [](const absl::Status& status) { return !status.ok(); };
    observer->OnAccess(
        table, {.kind = AccessKind::kWrite,
                .rows = rows_,
                .cells = cells_,
                .latency_micros = timer.Micros(),
                .errors = static_cast<uint32_t>(std::count_if(statuses.begin(), statuses.end(), failed))});
  }

 private:
  std::vector<AccessedRow> rows_;
  uint64_t cells_ = 0;
};

// The changes of a request's rows that are accepted: at the front of *changes, whose memory is used again.
// `statuses`: as many as rows.
absl::Span<const RowChange> NormalizeRows(const TableSchema& schema, absl::Span<const RowMutations> rows,
                                          const AuthorizedView* view, int64_t now_micros,
                                          std::vector<RowChange>* changes,
                                          std::vector<absl::Status>* statuses) {
  if (changes->size() < rows.size()) changes->resize(rows.size());
  size_t count = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowMutations& row = rows[i];
    absl::Status& status = (*statuses)[i];
    if (view != nullptr) status = CheckInView(*view, schema, row.row_key, row.mutations);
    if (!status.ok()) continue;
    RowChange& change = (*changes)[count];
    change.row_key = row.row_key;
    status = Normalize(schema, row.row_key, row.mutations, now_micros, &change.delta);
    if (IsTypeMismatch(status)) {
      statuses->assign(rows.size(), absl::Status(status));
      return {};
    }
    if (status.ok()) ++count;
  }
  return absl::MakeSpan(*changes).first(count);
}

bool WantsServerTime(const Mutation& mutation) {
  const auto wants = [](const auto& one) {
    if constexpr (requires { one.timestamp_micros; }) {
      return one.timestamp_micros == kServerTimestamp;
    } else {
      return false;
    }
  };
  return std::visit(wants, mutation);
}

// Whose writes must wait for each other: those of the server's time, and those with tokens.
std::vector<std::string_view> RowsOfTurns(absl::Span<const RowMutations> rows) {
  std::vector<std::string_view> row_keys;
  for (const RowMutations& row : rows) {
    if (row.idempotency.has_value() ||
        std::any_of(row.mutations.begin(), row.mutations.end(), WantsServerTime)) {
      row_keys.push_back(row.row_key);
    }
  }
  return row_keys;
}

// The idempotency tokens that a request's rows have already.
class SeenTokens {
 public:
  enum class Where { kNowhere, kInCommit, kStored };

  // The caller has the turns of the rows.
  SeenTokens(Engine* engine, TableId table, int64_t now_micros)
      : engine_(engine), table_(table), now_micros_(now_micros) {}

  absl::StatusOr<Where> Find(const RowMutations& row) const {
    const Idempotency& idempotency = *row.idempotency;
    if (absl::Status status = CheckStartTime(idempotency, now_micros_); !status.ok()) return status;
    if (in_commit_.contains({row.row_key, idempotency.token})) return Where::kInCommit;
    const absl::StatusOr<bool> stored =
        HasToken(engine_, table_, row.row_key, idempotency.token, now_micros_);
    if (!stored.ok()) return stored.status();
    return *stored ? Where::kStored : Where::kNowhere;
  }

  void Add(const RowMutations& row, RowDelta* delta) {
    AddToken(row.idempotency->token, now_micros_, delta);
    in_commit_.insert({row.row_key, row.idempotency->token});
  }

 private:
  Engine* const engine_;
  const TableId table_;
  const int64_t now_micros_;
  std::set<std::pair<std::string_view, std::string_view>> in_commit_;  // row, token
};

// `samples`: of the whole table, the last its end.
std::vector<RowKeySample> ClipSamples(const std::vector<RowKeySample>& samples,
                                      absl::Span<const RowRange> ranges) {
  std::vector<RowKeySample> clipped;
  std::optional<uint64_t> offset_before;
  auto at = samples.begin();
  for (const RowRange& range : ranges) {
    uint64_t last_offset = 0;
    for (; !at->row_key.empty() && at->row_key <= range.start; ++at) last_offset = at->offset_bytes;
    if (!offset_before.has_value()) offset_before = last_offset;
    for (; !at->row_key.empty() && (range.end.empty() || at->row_key < range.end); ++at) {
      clipped.push_back({at->row_key, at->offset_bytes - *offset_before});
    }
    clipped.push_back({range.end, at->offset_bytes - *offset_before});
  }
  return clipped;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RowReader>> Tables::Read(TableSchemaRef schema, ReadRequest request) {
  return RowReader::Open(engine_, std::move(schema), clock_->NowMicros(), next_seed_++, std::move(request),
                         observer_);
}

absl::Status Tables::ReadNumbers(const TableSchemaRef& schema, const NumberRead& read,
                                 const std::function<bool(const NumberRow&)>& row,
                                 const std::function<std::string()>& caller) {
  return ReadNumbersOf(engine_, *schema, clock_->NowMicros(), read, {observer_, caller}, row);
}

absl::Status Tables::MutateRow(const TableSchema& schema, const RowMutations& row,
                               const AuthorizedView* view) {
  return MutateRows(schema, absl::MakeSpan(&row, 1), view)[0];
}

std::vector<absl::Status> Tables::MutateRows(const TableSchema& schema, absl::Span<const RowMutations> rows,
                                             const AuthorizedView* view,
                                             const std::function<absl::Status()>& interrupted) {
  if (observer_ == nullptr) return ApplyRows(schema, rows, view, interrupted);
  const AccessTimer timer;
  std::vector<absl::Status> statuses = ApplyRows(schema, rows, view, interrupted);
  WrittenRows(rows).Tell(observer_, schema.id, timer, statuses);
  return statuses;
}

absl::StatusOr<std::vector<std::vector<absl::Status>>> Tables::MutateRowsOfEach(const TableSchema& schema,
                                                                                const NextRows& next,
                                                                                const AuthorizedView* view) {
  const AccessTimer timer;
  const int64_t now_micros = clock_->NowMicros();
  std::vector<RowChange> changes;  // of the request that came last, and room for more
  std::vector<std::vector<absl::Status>> statuses;
  std::vector<WrittenRows> written;
  bool is_last = false;
  const auto next_changes = [&]() -> std::optional<absl::Span<const RowChange>> {
    const std::optional<absl::Span<const RowMutations>> rows = next();
    is_last = !rows.has_value();
    if (is_last) return std::nullopt;
    if (observer_ != nullptr) written.emplace_back(*rows);
    return NormalizeRows(schema, *rows, view, now_micros, &changes, &statuses.emplace_back(rows->size()));
  };
  const absl::Status applied = engine_->ApplyParts(schema.id, next_changes);
  if (!applied.ok() && (!is_last || MayBeOfAnother(applied))) return applied;
  for (std::vector<absl::Status>& of_request : statuses) {
    for (absl::Status& status : of_request) {
      if (status.ok()) status = applied;
    }
  }
  for (size_t i = 0; i < written.size(); ++i) written[i].Tell(observer_, schema.id, timer, statuses[i]);
  return statuses;
}

std::vector<absl::Status> Tables::MutateTogether(const TableSchema& schema,
                                                 absl::Span<const RowMutations> rows,
                                                 const AuthorizedView* view) {
  const AccessTimer timer;
  std::vector<absl::Status> statuses = ApplyRows(schema, rows, view, {});
  if (rows.size() > 1 && std::all_of(statuses.begin(), statuses.end(), MayBeOfAnother)) {
    for (size_t i = 0; i < rows.size(); ++i) statuses[i] = ApplyRows(schema, rows.subspan(i, 1), view, {})[0];
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    TellOfWrite(schema.id, rows[i].row_key, {rows[i].mutations.size(), BytesOf(rows[i].mutations)}, timer,
                statuses[i]);
  }
  return statuses;
}

void Tables::TellOfWrite(TableId table, std::string_view row_key, WrittenSize size, const AccessTimer& timer,
                         const absl::Status& status) {
  if (observer_ == nullptr) return;
  const AccessedRow row{row_key, size.bytes};
  observer_->OnAccess(table, {.kind = AccessKind::kWrite,
                              .rows = absl::MakeSpan(&row, 1),
                              .cells = size.cells,
                              .latency_micros = timer.Micros(),
                              .errors = status.ok() ? 0U : 1U});
}

std::vector<absl::Status> Tables::ApplyRows(const TableSchema& schema, absl::Span<const RowMutations> rows,
                                            const AuthorizedView* view,
                                            const std::function<absl::Status()>& interrupted) {
  std::vector<absl::Status> statuses(rows.size());
  std::vector<RowChange> changes(rows.size());
  const RowTurn turn(&turns_, schema.id, RowsOfTurns(rows));
  const int64_t now_micros = turn.now_micros();
  ChangeLogger logger(schema, now_micros);
  SeenTokens tokens(engine_, schema.id, now_micros);
  std::vector<size_t> written;  // rows that are part of the commit, or repeat one that is
  size_t count = 0;
  absl::Status stopped;
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowMutations& row = rows[i];
    if (view != nullptr) statuses[i] = CheckInView(*view, schema, row.row_key, row.mutations);
    if (!statuses[i].ok()) continue;
    if (row.idempotency.has_value()) {
      if (stopped.ok() && interrupted) stopped = interrupted();
      if (!stopped.ok()) break;
      const absl::StatusOr<SeenTokens::Where> seen = tokens.Find(row);
      statuses[i] = seen.status();
      if (seen.ok() && *seen == SeenTokens::Where::kInCommit) written.push_back(i);
      if (!seen.ok() || *seen != SeenTokens::Where::kNowhere) continue;
    }
    RowChange& change = changes[count];
    change.row_key = row.row_key;
    statuses[i] = Normalize(schema, row.row_key, row.mutations, now_micros, &change.delta);
    if (IsTypeMismatch(statuses[i])) return std::vector<absl::Status>(rows.size(), statuses[i]);
    if (!statuses[i].ok()) continue;
    if (row.idempotency.has_value()) tokens.Add(row, &change.delta);
    logger.Log(row.row_key, row.mutations, &change.delta);
    written.push_back(i);
    ++count;
  }
  if (stopped.ok() && interrupted) stopped = interrupted();
  if (!stopped.ok()) return std::vector<absl::Status>(rows.size(), stopped);
  changes.resize(count);
  const absl::Status applied = count == 0 ? absl::OkStatus() : engine_->Apply(schema.id, changes);
  for (const size_t i : written) statuses[i] = applied;
  return statuses;
}

absl::StatusOr<bool> Tables::CheckAndMutateRow(TableSchemaRef schema, std::string_view row_key,
                                               std::shared_ptr<const CompiledFilter> predicate,
                                               absl::Span<const Mutation> if_true,
                                               absl::Span<const Mutation> if_false,
                                               const AuthorizedViewRef& view) {
  const AccessTimer timer;
  const RowTurn turn(&turns_, schema->id, row_key);
  const int64_t now_micros = turn.now_micros();
  const VisibleCells visible(schema, now_micros, view);
  FilterBudget budget;
  ReadHints hints;
  if (predicate != nullptr) {
    if (absl::Status status = predicate->CheckFamilies(*schema); !status.ok()) return status;
    hints = predicate->Needs(*schema, &budget).hints;
    RefineReadHints(visible.rules(), &hints);
  }
  if (view != nullptr) RestrictReadHints(*view, *schema, &hints);
  if (!hints.families.has_value()) hints.families = FamilyIds(*schema);
  // A view must allow both branches.  What a table has to say to them, it says to the one that is taken.
  for (const absl::Span<const Mutation> branch : {if_true, if_false}) {
    if (view == nullptr) break;
    if (absl::Status status = CheckInView(*view, *schema, row_key, branch); !status.ok()) return status;
  }
  bool matched = false;
  ChangeLogger logger(*schema, now_micros);
  const auto decide = [&](const std::vector<RowFamily>& row) -> absl::StatusOr<std::optional<RowDelta>> {
    std::vector<FilterCell> cells;
    AssembleRow(row, visible, &cells);
    if (predicate != nullptr && !cells.empty()) {
      SeededRandom random(next_seed_++);
      FilterEvaluator evaluator(*predicate, *schema, &budget, &random);
      if (!predicate->RowKeyMayPass(row_key, &budget)) {
        cells.clear();
      } else if (absl::Status status = evaluator.Run(row_key, &cells); !status.ok()) {
        return status;
      }
    }
    matched = !cells.empty();
    const absl::Span<const Mutation> mutations = matched ? if_true : if_false;
    if (mutations.empty()) return std::nullopt;
    RowDelta delta;
    if (absl::Status status = Normalize(*schema, row_key, mutations, now_micros, &delta); !status.ok())
      return status;
    logger.Log(row_key, mutations, &delta);
    return delta;
  };
  const absl::Status status = engine_->Update(schema->id, row_key, hints, decide);
  const absl::Span<const Mutation> taken = matched ? if_true : if_false;
  TellOfWrite(schema->id, row_key, {taken.size(), BytesOf(taken)}, timer, status);
  if (!status.ok()) return status;
  return matched;
}

absl::StatusOr<std::vector<WrittenCell>> Tables::ReadModifyWriteRow(
    TableSchemaRef schema, std::string_view row_key, absl::Span<const ReadModifyWriteRule> rules,
    const AuthorizedViewRef& view) {
  if (view != nullptr) {
    if (absl::Status status = CheckInView(*view, row_key, rules); !status.ok()) return status;
  }
  const AccessTimer timer;
  const RowTurn turn(&turns_, schema->id, row_key);
  const int64_t now_micros = turn.now_micros();
  const VisibleCells visible(schema, now_micros, view);
  ReadModifyWriter writer(*schema, row_key, rules, now_micros);
  ChangeLogger logger(*schema, now_micros);
  const ReadHints hints = HintsOf(*schema, rules);
  const auto decide = [&](const std::vector<RowFamily>& row) -> absl::StatusOr<std::optional<RowDelta>> {
    std::vector<FilterCell> cells;
    AssembleRow(row, visible, &cells);
    if (absl::Status status = writer.Run(cells); !status.ok()) return status;
    RowDelta delta = writer.Delta();
    if (schema->change_stream.has_value()) logger.Log(row_key, writer.Mutations(), &delta);
    return delta;
  };
  const absl::Status status = engine_->Update(schema->id, row_key, hints, decide);
  std::vector<WrittenCell> written;
  if (status.ok()) written = writer.Written();
  WrittenSize size{written.size(), 0};
  for (const WrittenCell& cell : written) size.bytes += cell.qualifier.size() + cell.value.size();
  TellOfWrite(schema->id, row_key, size, timer, status);
  if (!status.ok()) return status;
  return written;
}

absl::StatusOr<std::vector<RowKeySample>> Tables::SampleRowKeys(const TableSchema& schema,
                                                                absl::Span<const RowRange> clip) {
  absl::StatusOr<std::vector<RangeStats>> ranges = engine_->Ranges(schema.id);
  if (!ranges.ok()) return ranges.status();
  std::vector<std::string> splits = schema.split_points;
  if (observer_ != nullptr) {
    const std::vector<std::string> by_load = observer_->TabletStarts(schema.id);
    std::vector<std::string> both;
    std::set_union(splits.begin(), splits.end(), by_load.begin(), by_load.end(), std::back_inserter(both));
    splits = std::move(both);
  }
  std::vector<RowKeySample> samples;
  uint64_t offset_bytes = 0;
  auto split = splits.begin();
  for (const RangeStats& range : *ranges) {
    // A split inside a range is put where the range's bytes before it would lie, were they spread evenly.
    auto last = split;
    while (last != splits.end() && (range.end_key.empty() || *last < range.end_key)) ++last;
    const auto inside = static_cast<uint64_t>(last - split);
    for (uint64_t i = 1; split != last; ++split, ++i) {
      samples.push_back({*split, offset_bytes + range.bytes * i / (inside + 1)});
    }
    if (split != splits.end() && *split == range.end_key) ++split;
    offset_bytes += range.bytes;
    samples.push_back({range.end_key, offset_bytes});
  }
  return ClipSamples(samples, clip);
}

absl::Status Tables::DropRowRange(const TableSchema& schema, const RowRange& range) {
  if (schema.change_stream.has_value()) return DeleteRows(schema, range);
  return engine_->DropRange(schema.id, range);
}

absl::Status Tables::DeleteRows(const TableSchema& schema, RowRange range) {
  const std::vector<Mutation> mutations = {DeleteFromRow{}};
  while (!range.IsEmpty()) {
    absl::StatusOr<std::unique_ptr<RowStream>> stream =
        engine_->Scan(schema.id, {range}, {.hints = {.keys_only = true}});
    if (!stream.ok()) return stream.status();
    std::vector<std::string> row_keys;
    RowPiece piece;
    bool more = true;
    while (row_keys.size() < kRowsPerDeletion) {
      absl::StatusOr<bool> found = (*stream)->Next(&piece);
      if (!found.ok()) return found.status();
      if (more = *found; !more) break;
      if (row_keys.empty() || row_keys.back() != piece.row_key) row_keys.push_back(piece.row_key);
    }
    if (row_keys.empty()) return absl::OkStatus();
    std::vector<RowMutations> rows;
    for (const std::string& row_key : row_keys) rows.push_back({row_key, mutations});
    for (const absl::Status& status : MutateRows(schema, rows)) {
      if (!status.ok()) return status;
    }
    if (!more) return absl::OkStatus();
    range.start = Successor(row_keys.back());
  }
  return absl::OkStatus();
}

}  // namespace sonde
