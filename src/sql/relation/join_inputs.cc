#include "sql/relation/join_inputs.h"

#include <algorithm>
#include <utility>

namespace sonde::sql {
namespace {

std::vector<ColumnType> ColumnTypesOf(const std::vector<Type>& types) {
  std::vector<ColumnType> column_types;
  for (const Type& type : types) column_types.push_back(ColumnTypeOf(type));
  return column_types;
}

size_t RowsOf(const SpilledRows* rows) { return rows == nullptr ? 0 : rows->rows(); }

}  // namespace

JoinInputs::JoinInputs(const ExecutionState& state, std::string_view operator_name, Operator* left,
                       Operator* right, const std::vector<Type>& left_types,
                       const std::vector<Type>& right_types)
    : state_(state),
      operator_name_(operator_name),
      left_(*left),
      right_(*right),
      left_types_(ColumnTypesOf(left_types)),
      right_types_(ColumnTypesOf(right_types)),
      check_(state.interrupted) {}

void JoinInputs::Restart() {
  part_ = {};
  parts_.clear();
  kept_left_.reset();
  is_reread_ = false;
  is_input_ = true;
}

absl::StatusOr<bool> JoinInputs::NextLeft(rows::Batch* batch) {
  if (absl::Status status = check_.Step(is_input_ ? 0 : 16 * rows::kBatchRowsMax); !status.ok())
    return status;
  if (is_reread_) return kept_left_->Next(batch);
  if (!is_input_ && part_.left == nullptr) return false;
  absl::StatusOr<bool> more = is_input_ ? left_.Next(batch) : part_.left->Next(batch);
  if (!more.ok() || !*more || kept_left_ == nullptr) return more;
  if (absl::Status status = kept_left_->Append(batch->columns, batch->rows); !status.ok()) return status;
  return true;
}

absl::StatusOr<bool> JoinInputs::NextRight(rows::Batch* batch) {
  if (is_input_) return right_.Next(batch);
  if (absl::Status status = check_.Step(16 * rows::kBatchRowsMax); !status.ok()) return status;
  if (part_.right == nullptr) return false;
  return part_.right->Next(batch);
}

absl::Status JoinInputs::KeepLeft() {
  if (kept_left_ != nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<SpillFile>> file = SpillFile::Create(state_.spill, operator_name_);
  if (!file.ok()) return file.status();
  kept_left_ = std::make_unique<SpilledRows>(left_types_, *std::move(file));
  return absl::OkStatus();
}

absl::Status JoinInputs::RereadLeft() {
  if (!std::exchange(is_reread_, true)) {
    if (absl::Status status = kept_left_->Finish(); !status.ok()) return status;
  }
  kept_left_->Rewind();
  return absl::OkStatus();
}

absl::Status JoinInputs::SplitRows(JoinTable* table, bool is_left, Partitions* partitions) {
  rows::Batch in;
  while (true) {
    const absl::StatusOr<bool> more = is_left ? NextLeft(&in) : NextRight(&in);
    if (!more.ok()) return more.status();
    if (!*more) return partitions->Finish();
    const absl::StatusOr<std::vector<ColumnView>> keys = is_left ? table->LeftKeys(in) : table->RightKeys(in);
    if (!keys.ok()) return keys.status();
    if (absl::Status status = partitions->Append(*keys, in.columns, in.rows); !status.ok()) return status;
  }
}

absl::Status JoinInputs::Split(JoinTable* table) {
  Partitions left(state_.spill, operator_name_, left_types_, part_.level);
  Partitions right(state_.spill, operator_name_, right_types_, part_.level);
  const std::vector<ColumnView> held = table->Views();
  const size_t held_rows = table->rows();
  for (size_t first = 0; first < held_rows; first += rows::kBatchRowsMax) {
    if (absl::Status status = check_.Step(16 * rows::kBatchRowsMax); !status.ok()) return status;
    rows::Batch batch{.rows = std::min(rows::kBatchRowsMax, held_rows - first), .columns = held};
    for (ColumnView& column : batch.columns) column = column.Part(first, batch.rows);
    const absl::StatusOr<std::vector<ColumnView>> keys = table->RightKeys(batch);
    if (!keys.ok()) return keys.status();
    if (absl::Status status = right.Append(*keys, batch.columns, batch.rows); !status.ok()) return status;
  }
  table->Clear();
  if (absl::Status status = SplitRows(table, /*is_left=*/false, &right); !status.ok()) return status;
  if (absl::Status status = SplitRows(table, /*is_left=*/true, &left); !status.ok()) return status;
  is_input_ = false;
  const uint32_t level = part_.level + 1;
  size_t right_rows = 0;
  for (size_t i = 0; i < Partitions::kCount; ++i) right_rows += RowsOf(right.rows(i));
  for (size_t i = 0; i < Partitions::kCount; ++i) {
    Part part{.left = left.Take(i), .right = right.Take(i), .level = level};
    if (part.left == nullptr && part.right == nullptr) continue;
    // Rows that are all together still have one key, most likely: no other level will divide them.
    if (RowsOf(part.right.get()) == right_rows) part.level = Partitions::kLevelsMax;
    for (const SpilledRows* rows : {part.left.get(), part.right.get()}) {
      if (rows != nullptr) bytes_on_disk_ += rows->bytes();
    }
    parts_.push_back(std::move(part));
  }
  return absl::OkStatus();
}

bool JoinInputs::NextPart() {
  part_ = {};
  kept_left_.reset();
  is_reread_ = false;
  if (parts_.empty()) return false;
  part_ = std::move(parts_.back());
  parts_.pop_back();
  return true;
}

}  // namespace sonde::sql
