#include "sql/operator/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::sql {

absl::Status OperatorMemory::Refused(const absl::Status& why) const {
  return {why.code(),
          fmt::format("{} holds {} bytes: {}", operator_name_, bytes_, std::string(why.message()))};
}

absl::StatusOr<bool> Operator::Next(rows::Batch* batch) {
  const Clock::time_point start = Clock::now();
  while (true) {
    if (absl::Status status = CheckInterrupted(); !status.ok()) return status;
    batch->rows = 0;
    batch->columns.clear();
    absl::StatusOr<bool> more = Produce(batch);
    if (!more.ok()) return more;
    if (*more && batch->rows == 0) continue;
    time_ += Clock::now() - start;
    if (*more) {
      rows_given_ += batch->rows;
      ++batches_given_;
    }
    return more;
  }
}

namespace {

std::string EstimateText(const std::optional<double>& rows) {
  if (!rows.has_value()) return "how many rows nobody knows";
  // A part of a row is a row that may be there.
  return fmt::format("about {:.0f} rows expected", std::ceil(*rows));
}

}  // namespace

void Operator::Estimate() {
  for (const auto& input : inputs_) input->Estimate();
  estimated_rows_ = EstimateRows();
  is_estimated_ = true;
}

void Operator::Describe(size_t depth, bool has_run, std::string* text) const {
  *text += fmt::format("{:{}}{}", "", 2 * depth, name_);
  const char* before = ": ";
  if (has_run) {
    Clock::duration own = time_;
    for (const auto& input : inputs_) own -= input->time_;
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(own).count();
    *text += fmt::format(": {} rows, {} batches, {} us", rows_given_, batches_given_,
                         std::max<int64_t>(micros, 0));
    before = "; ";
  }
  if (const std::string details = Details(has_run); !details.empty()) {
    *text += before + details;
    before = "; ";
  }
  if (is_estimated_) *text += before + EstimateText(estimated_rows_);
  *text += '\n';
  for (const auto& input : inputs_) input->Describe(depth + 1, has_run, text);
}

void Operator::TakeCounts(Operator* other) {
  rows_given_ += std::exchange(other->rows_given_, 0);
  batches_given_ += std::exchange(other->batches_given_, 0);
  time_ += std::exchange(other->time_, Clock::duration{});
  TakeOwnCounts(other);
  for (size_t i = 0; i < inputs_.size(); ++i) inputs_[i]->TakeCounts(other->inputs_[i].get());
}

std::string Operator::Shape() const {
  std::string text = name_ + "(";
  for (const auto& input : inputs_) text += input->Shape();
  return text + ")";
}

}  // namespace sonde::sql
