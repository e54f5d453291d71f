#include "sql/relation/join.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sql/expression/evaluator.h"
#include "sql/expression/node.h"
#include "sql/operator/selectivity.h"
#include "sql/plan/plan_tree.h"
#include "sql/relation/join_condition.h"
#include "sql/relation/join_inputs.h"
#include "sql/relation/join_table.h"

namespace sonde::sql {
namespace {

bool CanSplit(const JoinCondition& condition) {
  return !condition.equal.empty() && std::ranges::none_of(condition.equal, [](const JoinKey& key) {
    return HasVolatile(*key.left) || HasVolatile(*key.right);
  });
}

class JoinOperator final : public Operator {
 public:
  JoinOperator(const QueryScope* scope, const Plan& plan, JoinCondition condition, OperatorPtr left,
               OperatorPtr right)
      : Operator(scope, plan.asof ? "AsofJoin" : "Join"),
        plan_(plan),
        left_types_(plan.inputs[0]->types),
        right_types_(plan.inputs[1]->types),
        keeps_left_(plan.join == Plan::Join::kLeft || plan.join == Plan::Join::kFull),
        keeps_right_(plan.join == Plan::Join::kRight || plan.join == Plan::Join::kFull),
        condition_(std::move(condition)),
        can_split_(CanSplit(condition_)),
        table_(right_types_, condition_, scope),
        memory_(*scope->state, name()) {
    for (const Expression* other : condition_.others) others_.emplace_back(*other, evaluation());
    AddInput(std::move(left));
    AddInput(std::move(right));
    inputs_.emplace(state(), name(), &input(0), &input(1), left_types_, right_types_);
  }

  void Restart() override {
    Operator::Restart();
    inputs_->Restart();
    Begin();
    left_matches_ = {};
  }

 private:
  absl::StatusOr<bool> Produce(rows::Batch* batch) override;
  // Makes it ready for other right rows.
  void Begin();
  // Reads the right rows, or as many of them as memory has room for.
  absl::Status ReadRight();
  absl::StatusOr<bool> MakeRoom(const absl::Status& refused);
  // Goes on with the right rows that were not read yet, or with the next part; false: there are none.
  absl::StatusOr<bool> GoOn();
  // Reads the next left batch; false: there are no more.
  absl::StatusOr<bool> ReadLeft();
  // Takes the next pairs to look at; none: there are no more of the left batch.
  void TakePairs();
  void TakePairsOf(absl::Span<const size_t> matches);
  // Gives the pairs that match.
  absl::Status GivePairs(rows::Batch* batch);
  absl::Status KeepMatching(const rows::Batch& pairs);
  void GiveLeftWithoutMatch(rows::Batch* batch);
  bool GiveRightWithoutMatch(rows::Batch* batch);
  void AppendNull(const std::vector<Type>& types, size_t rows, rows::Batch* batch) {
    for (const Type& type : types) batch->columns.push_back(NullColumn(type, rows));
  }
  void AppendRows(absl::Span<const ColumnView> columns, absl::Span<const size_t> places, rows::Batch* batch) {
    for (const ColumnView& column : columns) batch->columns.push_back(Gather(column, places, &arena_));
  }
  std::optional<double> EstimateRows() const override;
  std::string Details(bool has_run) const override;

  const Plan& plan_;
  const std::vector<Type>& left_types_;
  const std::vector<Type>& right_types_;
  const bool keeps_left_;
  const bool keeps_right_;
  const JoinCondition condition_;
  const bool can_split_;  // by equal keys, which have the same values when they are evaluated again
  JoinTable table_;
  std::vector<Evaluator> others_;
  OperatorMemory memory_;

  std::optional<JoinInputs> inputs_;
  bool is_right_read_ = false;
  // Not all right rows of the inputs, or of the part, are in the table: left rows are read once for each table.
  bool has_more_right_ = false;
  std::vector<bool> left_matches_;  // by left row: it had a match in the tables before
  size_t left_rows_before_ = 0;     // this batch
  std::vector<ColumnView> right_columns_;
  std::vector<uint8_t> has_right_match_;
  size_t next_right_ = 0;  // of those without a match

  bool is_left_over_ = false;
  bool has_left_ = false;  // there is a left batch
  rows::Batch left_;
  std::vector<uint8_t> has_left_match_;
  size_t left_row_ = 0;  // whose matches come next
  size_t match_ = 0;     // of that row, which comes next

  std::vector<size_t> left_rows_;  // of the pairs
  std::vector<size_t> right_rows_;
  std::vector<size_t> matching_;  // of the pairs
  Arena arena_;
};

void JoinOperator::Begin() {
  table_.Clear();
  memory_.Clear();
  is_right_read_ = is_left_over_ = has_left_ = has_more_right_ = false;
  next_right_ = left_rows_before_ = 0;
  left_.rows = 0;
}

absl::Status JoinOperator::ReadRight() {
  rows::Batch in;
  while (true) {
    const absl::StatusOr<bool> more = inputs_->NextRight(&in);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (absl::Status status = table_.Add(in); !status.ok()) return status;
    const absl::Status refused = memory_.Set(table_.MemoryBytes() + table_.rows());
    if (refused.ok()) continue;
    const absl::StatusOr<bool> goes_on = MakeRoom(refused);
    if (!goes_on.ok()) return goes_on.status();
    if (!*goes_on) break;
  }
  if (absl::Status status = table_.Finish(); !status.ok()) return status;
  is_right_read_ = true;
  right_columns_ = table_.Views();
  has_right_match_.assign(table_.rows(), 0);
  return absl::OkStatus();
}

// Rows with keys are divided by them.  Those that are not, or cannot be, come one table after the other.
// False: no more right rows are read now.
absl::StatusOr<bool> JoinOperator::MakeRoom(const absl::Status& refused) {
  if (!state().SpillsAfter(refused)) return refused;
  if (can_split_ && inputs_->CanSplit()) {
    if (absl::Status status = inputs_->Split(&table_); !status.ok()) return status;
    memory_.Clear();
    return inputs_->NextPart();
  }
  if (plan_.asof) return refused;
  has_more_right_ = true;
  if (absl::Status status = inputs_->KeepLeft(); !status.ok()) return status;
  return false;
}

absl::StatusOr<bool> JoinOperator::GoOn() {
  if (has_more_right_) {
    if (absl::Status status = inputs_->RereadLeft(); !status.ok()) return status;
  } else {
    left_matches_ = {};
    if (!inputs_->NextPart()) return false;
  }
  Begin();
  return true;
}

absl::StatusOr<bool> JoinOperator::ReadLeft() {
  left_rows_before_ += left_.rows;
  const absl::StatusOr<bool> more = inputs_->NextLeft(&left_);
  if (!more.ok() || !*more) return more;
  if (absl::Status status = table_.Find(left_); !status.ok()) return status;
  has_left_ = true;
  has_left_match_.assign(left_.rows, 0);
  left_row_ = match_ = 0;
  return true;
}

void JoinOperator::TakePairs() {
  left_rows_.clear();
  right_rows_.clear();
  while (left_row_ < left_.rows && left_rows_.size() < rows::kBatchRowsMax) {
    const bool is_settled = plan_.asof && has_left_match_[left_row_] != 0;
    const absl::Span<const size_t> matches =
        is_settled ? absl::Span<const size_t>() : table_.Matches(left_row_);
    if (match_ < matches.size()) TakePairsOf(matches);
    if (match_ < matches.size()) break;
    ++left_row_;
    match_ = 0;
  }
}

void JoinOperator::TakePairsOf(absl::Span<const size_t> matches) {
  // Of ASOF the nearest comes first, and is enough if nothing else is asked of it.
  const size_t wanted = plan_.asof && others_.empty() ? 1 : matches.size() - match_;
  const size_t count = std::min(wanted, rows::kBatchRowsMax - left_rows_.size());
  left_rows_.insert(left_rows_.end(), count, left_row_);
  const bool nearest_is_last = plan_.asof && condition_.inequalities[0].left_is_greater;
  for (size_t i = match_; i < match_ + count; ++i) {
    right_rows_.push_back(nearest_is_last ? matches[matches.size() - 1 - i] : matches[i]);
  }
  match_ = count == wanted ? matches.size() : match_ + count;
}

absl::Status JoinOperator::KeepMatching(const rows::Batch& pairs) {
  rows::Batch left_over = pairs;
  for (Evaluator& other : others_) {
    if (matching_.empty()) break;
    const absl::StatusOr<ColumnView> is_true = other.Evaluate(left_over, &arena_, outer());
    if (!is_true.ok()) return is_true.status();
    std::vector<size_t> places;
    RowsThatAreTrue(*is_true, &places);
    if (places.size() == left_over.rows) continue;
    for (size_t i = 0; i < places.size(); ++i) matching_[i] = matching_[places[i]];
    matching_.resize(places.size());
    left_over.rows = places.size();
    for (ColumnView& column : left_over.columns) column = Gather(column, places, &arena_);
  }
  if (!plan_.asof) return absl::OkStatus();
  std::erase_if(matching_, [this, last = left_.rows](size_t pair) mutable {
    const size_t row = left_rows_[pair];
    return std::exchange(last, row) == row || has_left_match_[row] != 0;
  });
  return absl::OkStatus();
}

absl::Status JoinOperator::GivePairs(rows::Batch* batch) {
  rows::Batch pairs;
  pairs.rows = left_rows_.size();
  AppendRows(left_.columns, left_rows_, &pairs);
  AppendRows(right_columns_, right_rows_, &pairs);
  matching_.resize(pairs.rows);
  for (size_t i = 0; i < pairs.rows; ++i) matching_[i] = i;
  if (absl::Status status = KeepMatching(pairs); !status.ok()) return status;
  for (const size_t pair : matching_) {
    has_left_match_[left_rows_[pair]] = 1;
    has_right_match_[right_rows_[pair]] = 1;
  }
  batch->rows = matching_.size();
  if (matching_.size() == pairs.rows) {
    batch->columns = std::move(pairs.columns);
  } else {
    AppendRows(pairs.columns, matching_, batch);
  }
  return absl::OkStatus();
}

void JoinOperator::GiveLeftWithoutMatch(rows::Batch* batch) {
  if (has_more_right_ && left_matches_.size() < left_rows_before_ + left_.rows) {
    left_matches_.resize(left_rows_before_ + left_.rows);
  }
  left_rows_.clear();
  for (size_t row = 0; row < left_.rows; ++row) {
    const size_t place = left_rows_before_ + row;
    const bool has_match =
        has_left_match_[row] != 0 || (place < left_matches_.size() && left_matches_[place]);
    if (has_more_right_) {
      left_matches_[place] = has_match;
    } else if (!has_match) {
      left_rows_.push_back(row);
    }
  }
  batch->rows = left_rows_.size();
  AppendRows(left_.columns, left_rows_, batch);
  AppendNull(right_types_, batch->rows, batch);
}

bool JoinOperator::GiveRightWithoutMatch(rows::Batch* batch) {
  right_rows_.clear();
  for (; next_right_ < table_.rows() && right_rows_.size() < rows::kBatchRowsMax; ++next_right_) {
    if (has_right_match_[next_right_] == 0) right_rows_.push_back(next_right_);
  }
  batch->rows = right_rows_.size();
  AppendNull(left_types_, batch->rows, batch);
  AppendRows(right_columns_, right_rows_, batch);
  return batch->rows > 0;
}

absl::StatusOr<bool> JoinOperator::Produce(rows::Batch* batch) {
  arena_.Clear();
  if (!is_right_read_) {
    if (absl::Status status = ReadRight(); !status.ok()) return status;
  }
  if (is_left_over_) {
    if (keeps_right_ && GiveRightWithoutMatch(batch)) return true;
    batch->columns.clear();
    return GoOn();
  }
  if (!has_left_) {
    // Left rows that are kept for other tables have to be read.
    const bool needs_no_left = table_.rows() == 0 && !keeps_left_ && !has_more_right_;
    const absl::StatusOr<bool> more = needs_no_left ? false : ReadLeft();
    if (!more.ok()) return more;
    is_left_over_ = !*more;
    return true;  // asked again
  }
  TakePairs();
  if (!left_rows_.empty()) {
    if (absl::Status status = GivePairs(batch); !status.ok()) return status;
    return true;
  }
  has_left_ = false;
  if (keeps_left_) GiveLeftWithoutMatch(batch);
  return true;
}

// A row of the larger side finds one row with its key; without keys every pair is met.
std::optional<double> JoinOperator::EstimateRows() const {
  const std::optional<double> left = EstimateOf(0);
  const std::optional<double> right = EstimateOf(1);
  if (plan_.asof && left.has_value()) return left;
  if (!left.has_value() || !right.has_value()) return std::nullopt;
  double rows = condition_.equal.empty() ? *left * *right : std::max(*left, *right);
  for (const Expression* other : condition_.others) rows *= SelectivityOf(*other);
  if (keeps_left_) rows = std::max(rows, *left);
  if (keeps_right_) rows = std::max(rows, *right);
  return rows;
}

std::string JoinOperator::Details(bool has_run) const {
  std::string text = plan_.condition == nullptr ? "TRUE" : ToString(*plan_.condition);
  text += condition_.equal.empty() ? "; every pair" : fmt::format("; by {} keys", condition_.equal.size());
  if (!has_run) return text;
  text += fmt::format("; {} right rows", table_.rows());
  if (inputs_->bytes_on_disk() > 0) text += fmt::format("; {} bytes on disk", inputs_->bytes_on_disk());
  return text;
}

}  // namespace

absl::StatusOr<OperatorPtr> MakeJoin(const QueryScope* scope, const Plan& plan, OperatorPtr left,
                                     OperatorPtr right) {
  JoinCondition condition = SplitJoinCondition(plan.condition.get(), plan.inputs[0]->types.size(),
                                               plan.inputs[1]->types.size(), plan.asof);
  if (plan.asof && condition.inequalities.empty()) {
    return absl::UnimplementedError("ASOF JOIN needs a comparison of a left with a right value");
  }
  return std::make_unique<JoinOperator>(scope, plan, std::move(condition), std::move(left), std::move(right));
}

}  // namespace sonde::sql
