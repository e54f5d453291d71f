#include "sql/view/group_state.h"

#include <utility>

#include "base/arena.h"
#include "base/varint.h"
#include "rows/batch.h"
#include "rows/column.h"
#include "sql/aggregate/datum_bytes.h"
#include "sql/expression/evaluator.h"
#include "sql/operator/execution_state.h"
#include "sql/plan/try.h"
#include "sql/relation/aggregate_input.h"
#include "sql/value/value.h"
#include "sql/view/shown_rows.h"

namespace sonde::sql {
namespace {

absl::Status DamagedState() { return absl::DataLossError("The state of a view is damaged"); }

// A map has its keys and values in turn, by keys ascending.
void AppendCells(const ViewColumn& column, size_t number, const Datum& value, std::vector<ViewCell>* cells) {
  if (!column.IsFamily()) {
    AppendViewCell(column.type, value, &cells->emplace_back(ViewCell{number, {}, {}}).value);
    return;
  }
  for (size_t i = 0; i + 1 < value.size; i += 2) {
    if (!value.items[i + 1].is_there) continue;
    cells->push_back({number, std::string(value.items[i + 1].bytes()), std::string(value.items[i].bytes())});
  }
}

// The values of a row as cells; nothing: all are NULL.
std::optional<std::vector<ViewCell>> CellsOf(const ViewDefinition& definition,
                                             absl::Span<const Datum> values) {
  std::vector<ViewCell> cells;
  size_t count = 0;
  size_t there = 0;
  for (size_t i = 0; i < definition.columns.size(); ++i) {
    const ViewColumn& column = definition.columns[i];
    if (column.role != ViewColumn::Role::kValue) continue;
    ++count;
    if (!values[i].is_there) continue;
    ++there;
    AppendCells(column, i, values[i], &cells);
  }
  if (count > 0 && there == 0) return std::nullopt;
  return cells;
}

class AggregateMerger final : public GroupMerger {
 public:
  explicit AggregateMerger(const ViewDefinition& definition) : definition_(definition) {
    scope_.state = &state_;
  }

  absl::Status Start() {
    for (const AggregateItem& item : definition_.aggregate->aggregates) {
      SONDE_TRY_SET(std::unique_ptr<AggregateInput> input, AggregateInput::Create(item, &scope_, "View"));
      if (!input->CanSave())
        return absl::UnimplementedError("Materialized views with such an aggregate are not built");
      inputs_.push_back(std::move(input));
    }
    for (const Plan* const plan : definition_.projections) {
      std::vector<Evaluator>& evaluators = projections_.emplace_back();
      for (const ExpressionPtr& expression : plan->expressions)
        evaluators.emplace_back(*expression, scope_.evaluation());
    }
    Clear();
    return absl::OkStatus();
  }

  void Clear() override {
    for (const auto& input : inputs_) {
      input->Clear();
      input->Resize(1);
    }
  }

  absl::Status Add(std::string_view state) override {
    for (const auto& input : inputs_) {
      std::string_view part;
      if (!GetBytes(&state, &part)) return DamagedState();
      SONDE_TRY(input->Load(0, part));
    }
    return state.empty() ? absl::OkStatus() : DamagedState();
  }

  std::string Save() override {
    std::string state;
    for (const auto& input : inputs_) {
      std::string part;
      input->Save(0, &part);
      AppendStatePart(part, &state);
    }
    return state;
  }

  absl::StatusOr<std::optional<std::vector<ViewCell>>> Cells(const GroupId& group) override {
    arena_.Clear();
    SONDE_TRY_SET(const std::vector<rows::Column> keys, KeysOf(group));
    rows::Batch batch{.rows = 1, .columns = {}};
    for (const rows::Column& key : keys) batch.columns.push_back(key.View());
    for (const auto& input : inputs_) {
      SONDE_TRY(input->Finish(1));
      SONDE_TRY_SET(const ColumnView results, input->Results(0, 1, &arena_));
      batch.columns.push_back(results);
    }
    for (std::vector<Evaluator>& projection : projections_) {
      rows::Batch next{.rows = 1, .columns = {}};
      for (Evaluator& evaluator : projection) {
        SONDE_TRY_SET(const ColumnView column, evaluator.Evaluate(batch, &arena_));
        next.columns.push_back(column);
      }
      batch = std::move(next);
    }
    std::vector<Datum> values;
    for (const ColumnView& column : batch.columns) values.push_back(DatumAt(column, 0));
    return CellsOf(definition_, values);
  }

 private:
  // The keys of the aggregate, a row of them.
  absl::StatusOr<std::vector<rows::Column>> KeysOf(const GroupId& group) {
    std::vector<Datum> datums(definition_.keys.size() + 1);
    SONDE_TRY(ReadViewRowKey(definition_, group.row_key, &arena_,
                             absl::MakeSpan(datums).first(definition_.keys.size())));
    datums.back() = Datum::Int(group.micros);
    std::vector<rows::Column> keys;
    for (size_t i = 0; i < definition_.group_keys.size(); ++i) {
      const std::optional<size_t> place = definition_.group_keys[i];
      const Datum& datum = place.has_value() ? datums[*place] : definition_.group_constants[i].datum();
      rows::Column& column = keys.emplace_back(ColumnTypeOf(definition_.aggregate->expressions[i]->type));
      AppendDatum(datum, &column);
    }
    return keys;
  }

  // Keys are numbers and texts, or constants of any type.
  static void AppendDatum(const Datum& datum, rows::Column* column) {
    if (!datum.is_there) return column->AppendMissing();
    switch (datum.kind) {
      case Datum::Kind::kInt:
        return column->AppendInt(datum.integer);
      case Datum::Kind::kDouble:
        return column->AppendDouble(datum.number);
      case Datum::Kind::kBytes:
        return column->AppendBytes(datum.bytes());
      case Datum::Kind::kList:
        return column->AppendList(datum);
    }
  }

  const ViewDefinition& definition_;
  ExecutionState state_;
  QueryScope scope_;
  std::vector<std::unique_ptr<AggregateInput>> inputs_;
  std::vector<std::vector<Evaluator>> projections_;
  Arena arena_;
};

// Of rows with one key the one that is added first counts.
class IndexMerger final : public GroupMerger {
 public:
  explicit IndexMerger(const ViewDefinition& definition) : definition_(definition) {}

  void Clear() override { state_.reset(); }

  absl::Status Add(std::string_view state) override {
    if (!state_.has_value()) state_ = std::string(state);
    return absl::OkStatus();
  }

  std::string Save() override { return state_.value_or(""); }

  absl::StatusOr<std::optional<std::vector<ViewCell>>> Cells(const GroupId& /*group*/) override {
    if (!state_.has_value()) return std::nullopt;
    arena_.Clear();
    std::string_view rest = *state_;
    std::vector<Datum> values(definition_.columns.size());
    for (size_t i = 0; i < values.size(); ++i) {
      if (definition_.columns[i].role != ViewColumn::Role::kValue) continue;
      if (!TakeDatumBytes(definition_.columns[i].type, &rest, &arena_, &values[i])) return DamagedState();
    }
    if (!rest.empty()) return DamagedState();
    return CellsOf(definition_, values);
  }

 private:
  const ViewDefinition& definition_;
  std::optional<std::string> state_;
  Arena arena_;
};

}  // namespace

void AppendStatePart(std::string_view part, std::string* state) { PutBytes(state, part); }

void AppendStateValue(const Type& type, const Datum& value, std::string* state) {
  AppendDatumBytes(type, value, state);
}

absl::StatusOr<std::unique_ptr<GroupMerger>> GroupMerger::Create(const ViewDefinition& definition) {
  if (definition.kind == ViewDefinition::Kind::kIndex) return std::make_unique<IndexMerger>(definition);
  auto merger = std::make_unique<AggregateMerger>(definition);
  SONDE_TRY(merger->Start());
  return merger;
}

}  // namespace sonde::sql
