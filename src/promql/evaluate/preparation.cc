#include "promql/evaluate/preparation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "promql/functions/go_math.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

// They depend on the time of the step, whatever their arguments are.
constexpr std::array<std::string_view, 15> kTimeFunctions = {
    "days_in_month", "day_of_month",   "day_of_week", "day_of_year", "end",  "hour", "minute",   "month",
    "year",          "predict_linear", "range",       "start",       "step", "time", "timestamp"};

bool DependsOnTime(std::string_view function) {
  return std::find(kTimeFunctions.begin(), kTimeFunctions.end(), function) != kTimeFunctions.end();
}

class Preparation {
 public:
  explicit Preparation(const QueryTimes& times) : times_(times) {}

  // start(), end(), range(), step() as numbers.
  void FoldTimes(Expression* node);
  absl::Status CalculateLengths(Expression* node);
  // Whether it is the same at all steps; `wraps`: and is worth to be evaluated once.
  bool MarkInvariant(Expression* node, bool* wraps);

 private:
  absl::Status Calculate(Length* length, bool may_be_negative);
  absl::StatusOr<double> SecondsOf(const Expression& length);
  void ResolveAt(TimeShift* shift) const;
  bool MarkCall(Expression* node, bool* wraps);
  static void Unwrap(ExpressionPtr* node);

  const QueryTimes times_;
};

double Seconds(int64_t millis) { return static_cast<double>(millis) / 1000; }

void Preparation::FoldTimes(Expression* node) {
  for (const ExpressionPtr& operand : node->operands) FoldTimes(operand.get());
  if (node->kind != ExpressionKind::kCall) return;
  double value = 0;
  const std::string_view name = node->function->name;
  if (name == "start") {
    value = Seconds(times_.start_millis);
  } else if (name == "end") {
    value = Seconds(times_.end_millis);
  } else if (name == "range") {
    value = Seconds(times_.end_millis - times_.start_millis);
  } else if (name == "step") {
    value = times_.start_millis == times_.end_millis ? 0 : Seconds(times_.step_millis);
  } else {
    return;
  }
  *node = Expression(ExpressionKind::kNumber, node->place);
  node->number = value;
}

absl::StatusOr<double> Preparation::SecondsOf(const Expression& length) {
  if (length.kind == ExpressionKind::kNumber) return length.number;
  std::vector<double> values;
  for (const ExpressionPtr& operand : length.operands) {
    const absl::StatusOr<double> value = SecondsOf(*operand);
    if (!value.ok()) return value;
    values.push_back(*value);
  }
  const auto failed = [&](std::string_view why) {
    return absl::InvalidArgumentError(fmt::format("{}:{}: {}", length.place.start, length.place.end, why));
  };
  switch (length.op) {
    case TokenKind::kStep:
      return Seconds(times_.step_millis);
    case TokenKind::kRangeWord:
      return Seconds(times_.end_millis - times_.start_millis);
    case TokenKind::kMinOf:
      return GoMin(values[0], values[1]);
    case TokenKind::kMaxOf:
      return GoMax(values[0], values[1]);
    case TokenKind::kAdd:
      return values.size() == 1 ? values[0] : values[0] + values[1];
    case TokenKind::kSub:
      return values.size() == 1 ? -values[0] : values[0] - values[1];
    case TokenKind::kMul:
      return values[0] * values[1];
    case TokenKind::kDiv:
      if (values[1] == 0) return failed("division by zero");
      return values[0] / values[1];
    case TokenKind::kMod:
      if (values[1] == 0) return failed("modulo by zero");
      return std::fmod(values[0], values[1]);
    default:
      return std::pow(values[0], values[1]);
  }
}

absl::Status Preparation::Calculate(Length* length, bool may_be_negative) {
  if (length->expression == nullptr) return absl::OkStatus();
  const absl::StatusOr<double> seconds = SecondsOf(*length->expression);
  if (!seconds.ok()) return seconds.status();
  const Range place = length->expression->place;
  constexpr double kMost = 9223372036854775808.0 / 1e9;
  std::string_view why;
  if (!std::isfinite(*seconds)) {
    why = "duration is NaN or infinite";
  } else if (*seconds <= 0 && !may_be_negative) {
    why = "duration must be greater than 0";
  } else if (*seconds >= kMost || *seconds <= -kMost) {
    why = "duration is out of range";
  }
  if (!why.empty()) return absl::InvalidArgumentError(fmt::format("{}:{}: {}", place.start, place.end, why));
  length->nanos = static_cast<int64_t>(*seconds * 1000) * kNanosPerMilli;
  return absl::OkStatus();
}

absl::Status Preparation::CalculateLengths(Expression* node) {
  if (absl::Status status = Calculate(&node->shift.offset, true); !status.ok()) return status;
  if (absl::Status status = Calculate(&node->step, false); !status.ok()) return status;
  if (absl::Status status = Calculate(&node->range, false); !status.ok()) return status;
  // The vector of an aggregation comes before its parameter.
  const bool is_vector_first = node->kind == ExpressionKind::kAggregate;
  if (is_vector_first) {
    if (absl::Status status = CalculateLengths(node->operands.back().get()); !status.ok()) return status;
  }
  for (size_t i = 0; i + (is_vector_first ? 1 : 0) < node->operands.size(); ++i) {
    if (absl::Status status = CalculateLengths(node->operands[i].get()); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void Preparation::ResolveAt(TimeShift* shift) const {
  if (shift->at_word == AtWord::kStart) shift->at_millis = times_.start_millis;
  if (shift->at_word == AtWord::kEnd) shift->at_millis = times_.end_millis;
}

void Preparation::Unwrap(ExpressionPtr* node) {
  while ((*node)->kind == ExpressionKind::kParen) {
    ExpressionPtr inner = std::move((*node)->operands[0]);
    *node = std::move(inner);
  }
}

bool Preparation::MarkCall(Expression* node, bool* wraps) {
  bool is_invariant = !DependsOnTime(node->function->name);
  // timestamp(x @ T) is the sample's own time.
  bool is_time_of_selector = node->function->name == "timestamp";
  std::vector<bool> operand_wraps(node->operands.size());
  for (size_t i = 0; i < node->operands.size(); ++i) {
    Unwrap(&node->operands[i]);
    bool wraps_operand = false;
    const bool is_operand_invariant = MarkInvariant(node->operands[i].get(), &wraps_operand);
    operand_wraps[i] = wraps_operand;
    is_invariant = is_invariant && is_operand_invariant;
    if (!is_operand_invariant || node->operands[i]->kind != ExpressionKind::kSelector) {
      is_time_of_selector = false;
    }
  }
  if (is_invariant || is_time_of_selector) {
    *wraps = true;
    return true;
  }
  for (size_t i = 0; i < node->operands.size(); ++i) node->operands[i]->is_step_invariant = operand_wraps[i];
  *wraps = false;
  return false;
}

bool Preparation::MarkInvariant(Expression* node, bool* wraps) {
  switch (node->kind) {
    case ExpressionKind::kSelector:
      ResolveAt(&node->shift);
      *wraps = node->shift.at_millis.has_value();
      return *wraps;
    case ExpressionKind::kAggregate:
      for (ExpressionPtr& operand : node->operands) Unwrap(&operand);
      return MarkInvariant(node->operands.back().get(), wraps);
    case ExpressionKind::kBinary: {
      bool wraps_left = false;
      bool wraps_right = false;
      const bool is_left = MarkInvariant(node->operands[0].get(), &wraps_left);
      const bool is_right = MarkInvariant(node->operands[1].get(), &wraps_right);
      *wraps = is_left && is_right;
      if (*wraps) return true;
      node->operands[0]->is_step_invariant = wraps_left;
      node->operands[1]->is_step_invariant = wraps_right;
      return false;
    }
    case ExpressionKind::kCall:
      return MarkCall(node, wraps);
    case ExpressionKind::kRange: {
      bool ignored = false;
      *wraps = false;
      return MarkInvariant(node->operands[0].get(), &ignored);
    }
    case ExpressionKind::kSubquery: {
      bool ignored = false;
      node->operands[0]->is_step_invariant = MarkInvariant(node->operands[0].get(), &ignored);
      ResolveAt(&node->shift);
      *wraps = node->shift.at_millis.has_value();
      return *wraps;
    }
    case ExpressionKind::kParen:
    case ExpressionKind::kUnary:
      return MarkInvariant(node->operands[0].get(), wraps);
    case ExpressionKind::kNumber:
    case ExpressionKind::kString:
    case ExpressionKind::kLength:
      *wraps = false;
      return true;
  }
  return false;
}

}  // namespace

absl::Status Prepare(Expression* query, const QueryTimes& times) {
  Preparation preparation(times);
  preparation.FoldTimes(query);
  if (absl::Status status = preparation.CalculateLengths(query); !status.ok()) return status;
  bool wraps = false;
  preparation.MarkInvariant(query, &wraps);
  query->is_step_invariant = wraps;
  return absl::OkStatus();
}

}  // namespace sonde::promql
