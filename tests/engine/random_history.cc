#include "random_history.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apply_in_parts.h"
#include "base/bytes.h"
#include "base/random.h"
#include "fmt/format.h"
#include "naive_model.h"
#include "observed_rows.h"
#include "random_words.h"

namespace sonde {
namespace {

constexpr size_t kShownStepsMax = 12;

struct HistoryTable {
  NaiveTable model;
  std::vector<HistoryFamily> families;
};

// A scan that was opened some steps ago.  Its rows may be as they were in any state since.
struct HeldScan {
  TableId table = 0;
  std::vector<RowRange> ranges;
  bool reverse = false;
  RowGatherer gatherer;
  std::unique_ptr<RowStream> stream;
  std::vector<std::vector<ObservedRow>> states;
};

absl::Status CheckHeldRows(const HeldScan& held) {
  std::map<std::string, const ObservedRow*> observed;
  for (const ObservedRow& row : held.gatherer.rows()) {
    observed[row.row_key] = &row;
    bool known = false;
    for (const auto& state : held.states) known |= std::find(state.begin(), state.end(), row) != state.end();
    if (!known) {
      return absl::InternalError("a held scan returned a row as it never was: " + Describe(row));
    }
  }
  std::map<std::string, size_t> states_count;  // by row key: in how many states it was there
  for (const auto& state : held.states) {
    for (const ObservedRow& row : state) ++states_count[row.row_key];
  }
  for (const auto& [row_key, count] : states_count) {
    if (count == held.states.size() && !observed.contains(row_key)) {
      return absl::InternalError("a held scan missed row '" + Printable(row_key) +
                                 "', which was always there");
    }
  }
  return absl::OkStatus();
}

class History {
 public:
  History(const EngineUnderTest& under_test, uint64_t seed)
      : under_test_(under_test), random_(seed), words_(&random_), engine_(under_test.open()) {}

  absl::Status Run(int steps_count) {
    absl::Status status = CreateTable();
    for (int step = 0; step < steps_count && status.ok(); ++step) {
      status = Step();
      if (status.ok() && held_.has_value()) RememberState();
      if (status.ok() && step % 10 == 9) status = CheckAll();
    }
    if (status.ok()) status = CheckAll();
    if (status.ok()) status = DrainHeld();
    if (status.ok()) return status;
    std::string steps;
    for (const std::string& line : log_) steps += fmt::format("  {}\n", line);
    return absl::InternalError(fmt::format("{}\nlast steps:\n{}", status.ToString(), steps));
  }

 private:
  using Word = std::pair<const TableId, HistoryTable>;

  absl::Status Step() {
    const uint64_t choice = words_.Uniform(100);
    if (choice < 40) return Apply();
    if (choice < 55) return Update();
    if (choice < 78) return Scan();
    if (choice < 82) return DropRange();
    if (choice < 84) return DropFamily();
    if (choice < 86) return tables_.size() < 3 ? CreateTable() : DropTable();
    if (choice < 90) return WriteRecords();
    if (choice < 94) return FlushOrCompact();
    if (choice < 96) return Restart();
    return held_.has_value() ? DrainHeld() : HoldScan();
  }

  void Log(std::string line) {
    log_.push_back(std::move(line));
    if (log_.size() > kShownStepsMax) log_.pop_front();
  }

  Word& AnyTable() {
    auto table = tables_.begin();
    std::advance(table, words_.Uniform(tables_.size()));
    return *table;
  }

  absl::Status CreateTable() {
    const TableId id = next_table_;
    next_table_ += words_.OneIn(2) ? 1 : 255;  // ids whose bytes are prefixes of each other, too
    Log(fmt::format("CreateTable {}", id));
    tables_[id].families = {{1, AggregateKind::kNone}, {2, AggregateKind::kSum},
                            {3, AggregateKind::kMin},  {4, AggregateKind::kMax},
                            {9, AggregateKind::kNone}, {300, AggregateKind::kNone}};
    return engine_->CreateTable({.id = id});
  }

  absl::Status DropTable() {
    if (absl::Status status = DrainHeld(); !status.ok()) return status;
    const TableId id = AnyTable().first;
    Log(fmt::format("DropTable {}", id));
    if (absl::Status status = engine_->DropTable(id); !status.ok()) return status;
    tables_.erase(id);
    const auto stream = engine_->Scan(id, {RowRange::All()}, {});
    if (stream.status().code() != absl::StatusCode::kNotFound) {
      return absl::InternalError("scan of a dropped table: " + stream.status().ToString());
    }
    return absl::OkStatus();
  }

  absl::Status DropFamily() {
    if (absl::Status status = DrainHeld(); !status.ok()) return status;
    auto& [id, table] = AnyTable();
    HistoryFamily& family = table.families[words_.Uniform(table.families.size())];
    Log(fmt::format("DropFamily {} {}", id, family.id));
    table.model.DropFamily(family.id);
    const FamilyId dropped = std::exchange(family.id, next_family_);
    next_family_ += 1;
    return engine_->DropFamily(id, dropped);
  }

  absl::Status DropRange() {
    auto& [id, table] = AnyTable();
    const RowRange range = words_.OneIn(4) ? words_.Range() : RowRange::Single(words_.RowKey());
    Log(fmt::format("DropRange {} {}", id, Describe(std::vector<RowRange>{range})));
    table.model.DropRange(range);
    return engine_->DropRange(id, range);
  }

  absl::Status Apply() {
    auto& [id, table] = AnyTable();
    std::deque<std::string> values;
    std::vector<RowChange> changes;
    const bool in_parts = words_.OneIn(2);
    std::string line = fmt::format("Apply{} {}", in_parts ? " in parts" : "", id);
    for (uint64_t count = words_.Uniform(5); count > 0; --count) {
      // Often the row before: the order within a batch matters.
      const std::string_view row_key =
          !changes.empty() && words_.OneIn(3) ? changes.back().row_key : words_.RowKey();
      changes.push_back({row_key, words_.Delta(table.families, &values)});
      table.model.Apply(row_key, changes.back().delta);
      line += fmt::format(" '{}'", Printable(row_key, 12));
    }
    Log(line);
    if (!in_parts) return engine_->Apply(id, changes);
    return ApplyInParts(engine_.get(), id, changes, [this](size_t left) { return words_.Uniform(left + 1); });
  }

  absl::Status Update() {
    auto& [id, table] = AnyTable();
    const std::string row_key(words_.RowKey());
    ReadHints hints = words_.Hints(table.families);
    hints.rows_max.reset();
    std::deque<std::string> values;
    const RowDelta delta = words_.Delta(table.families, &values);
    const uint64_t answer = words_.Uniform(4);  // 0 an error, 1 nothing, else the delta
    Log(fmt::format("Update {} '{}' answer {} hints{}", id, Printable(row_key, 12), answer, Describe(hints)));

    const std::vector<ObservedRow> truth = table.model.Rows({RowRange::Single(row_key)});
    absl::Status seen = absl::InternalError("Update never called decide");
    const absl::Status status = engine_->Update(
        id, row_key, hints,
        [&](const std::vector<RowFamily>& row) -> absl::StatusOr<std::optional<RowDelta>> {
          const auto observed = ObserveRow(row_key, row);
          seen = observed.status();
          if (observed.ok()) {
            seen = CheckRows(
                truth, row.empty() ? std::vector<ObservedRow>() : std::vector<ObservedRow>{*observed}, hints);
          }
          if (answer == 0) return absl::FailedPreconditionError("decided so");
          if (answer == 1) return std::nullopt;
          return delta;
        });
    if (!seen.ok()) return seen;
    if (answer >= 2) table.model.Apply(row_key, delta);
    const absl::Status should = answer == 0 ? absl::FailedPreconditionError("decided so") : absl::OkStatus();
    if (status == should) return absl::OkStatus();
    return absl::InternalError(
        fmt::format("Update answered {}, should {}", status.ToString(), should.ToString()));
  }

  absl::Status Scan() {
    auto& [id, table] = AnyTable();
    const std::vector<RowRange> ranges = words_.Ranges();
    Engine::ScanOptions options{.reverse = words_.OneIn(2)};
    if (!words_.OneIn(3)) options.hints = words_.Hints(table.families);
    Log(fmt::format("Scan {} {}{} hints{}", id, Describe(ranges), options.reverse ? " reverse" : "",
                    Describe(options.hints)));
    const auto rows = ScanRows(engine_.get(), id, ranges, options);
    if (!rows.ok()) return rows.status();
    return CheckRows(table.model.Rows(ranges, options.reverse), *rows, options.hints);
  }

  absl::Status WriteRecords() {
    std::map<std::string, RecordChange> changes;
    for (uint64_t count = words_.Uniform(4); count > 0; --count) {
      RecordChange change{.key = fmt::format("r{}", words_.RowKey())};
      if (!words_.OneIn(3)) change.value = std::string(words_.Qualifier());
      changes[change.key] = change;
    }
    Log(fmt::format("WriteRecords of {}", changes.size()));
    std::vector<RecordChange> batch;
    for (const auto& [key, change] : changes) {
      batch.push_back(change);
      records_.erase(key);
      if (change.value.has_value()) records_[key] = *change.value;
    }
    return engine_->WriteRecords(batch);
  }

  absl::Status FlushOrCompact() {
    if (!under_test_.flush_or_compact) return absl::OkStatus();
    Log("FlushOrCompact");
    under_test_.flush_or_compact(*engine_);
    return absl::OkStatus();
  }

  absl::Status Restart() {
    if (!under_test_.persistent) return absl::OkStatus();
    if (absl::Status status = DrainHeld(); !status.ok()) return status;
    Log("Restart");
    engine_.reset();
    engine_ = under_test_.open();
    return CheckAll();
  }

  absl::Status HoldScan() {
    const auto& [id, table] = AnyTable();
    const std::vector<RowRange> ranges = words_.Ranges();
    const bool reverse = words_.OneIn(2);
    Log(fmt::format("HoldScan {} {}{}", id, Describe(ranges), reverse ? " reverse" : ""));
    auto stream = engine_->Scan(id, ranges, {.reverse = reverse});
    if (!stream.ok()) return stream.status();
    held_.emplace(HeldScan{id, ranges, reverse, RowGatherer(ranges, reverse), std::move(*stream), {}});
    RememberState();
    return Pull(words_.Uniform(4)).status();
  }

  // Whether there may be more.
  absl::StatusOr<bool> Pull(uint64_t pieces_count) {
    RowPiece piece;
    for (; pieces_count > 0; --pieces_count) {
      const absl::StatusOr<bool> more = held_->stream->Next(&piece);
      if (!more.ok() || !*more) return more;
      if (absl::Status status = held_->gatherer.Add(piece); !status.ok()) return status;
    }
    return true;
  }

  void RememberState() {
    held_->states.push_back(tables_.at(held_->table).model.Rows(held_->ranges, held_->reverse));
  }

  absl::Status DrainHeld() {
    if (!held_.has_value()) return absl::OkStatus();
    Log("DrainHeld");
    absl::StatusOr<bool> more = true;
    while (more.ok() && *more) more = Pull(1);
    const absl::Status status = more.ok() ? CheckHeldRows(*held_) : more.status();
    held_.reset();
    return status;
  }

  absl::Status CheckAll() {
    for (const auto& [id, table] : tables_) {
      const auto rows = ScanRows(engine_.get(), id, {RowRange::All()});
      if (!rows.ok()) return rows.status();
      if (absl::Status status = CheckRows(table.model.Rows(), *rows, {}); !status.ok()) {
        return absl::InternalError(fmt::format("all of table {}: {}", id, status.ToString()));
      }
    }
    const auto records = engine_->ReadRecords("r");
    if (!records.ok()) return records.status();
    std::vector<std::pair<std::string, std::string>> found;
    for (const Record& record : *records) found.emplace_back(record.key, record.value);
    if (std::map<std::string, std::string>(found.begin(), found.end()) != records_ ||
        found.size() != records_.size() || !std::is_sorted(found.begin(), found.end())) {
      return absl::InternalError(fmt::format("{} records, should be {}, or others, or out of order",
                                             records->size(), records_.size()));
    }
    return absl::OkStatus();
  }

  const EngineUnderTest& under_test_;
  SeededRandom random_;
  RandomWords words_;
  std::unique_ptr<Engine> engine_;
  TableId next_table_ = 1;
  FamilyId next_family_ = 1000;
  std::map<TableId, HistoryTable> tables_;
  std::map<std::string, std::string> records_;
  std::optional<HeldScan> held_;  // its stream ends before engine_: declared after
  std::deque<std::string> log_;
};

}  // namespace

absl::Status RunHistory(const EngineUnderTest& under_test, uint64_t seed, int steps_count) {
  return History(under_test, seed).Run(steps_count);
}

}  // namespace sonde
