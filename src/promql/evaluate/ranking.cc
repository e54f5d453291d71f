// topk, bottomk, limitk and limit_ratio: some series of each group, whole.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "promql/evaluate/evaluator.h"
#include "promql/functions/go_math.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

struct Ranked {
  double value;
  size_t row;
};

// Go's heap, so that of equal values the same ones stay: the one to go is at the top.
class Heap {
 public:
  explicit Heap(bool is_least_on_top) : is_least_on_top_(is_least_on_top) {}

  void Push(Ranked item) {
    items_.push_back(item);
    for (size_t i = items_.size() - 1; i > 0;) {
      const size_t parent = (i - 1) / 2;
      if (!Less(items_[i], items_[parent])) break;
      std::swap(items_[i], items_[parent]);
      i = parent;
    }
  }

  void ReplaceTop(Ranked item) {
    items_[0] = item;
    for (size_t i = 0;;) {
      size_t child = 2 * i + 1;
      if (child >= items_.size()) break;
      if (child + 1 < items_.size() && Less(items_[child + 1], items_[child])) ++child;
      if (!Less(items_[child], items_[i])) break;
      std::swap(items_[i], items_[child]);
      i = child;
    }
  }

  // Whether `value` belongs in place of the one at the top.
  bool Beats(double value) const {
    const double top = items_[0].value;
    if (std::isnan(top) && !std::isnan(value)) return true;
    return is_least_on_top_ ? top < value : top > value;
  }

  // Best first, NaN last.
  std::vector<Ranked> Sorted() const {
    std::vector<Ranked> result = items_;
    std::stable_sort(result.begin(), result.end(), [&](const Ranked& a, const Ranked& b) {
      if (std::isnan(a.value) || std::isnan(b.value)) return !std::isnan(a.value);
      return is_least_on_top_ ? a.value > b.value : a.value < b.value;
    });
    return result;
  }

  const std::vector<Ranked>& items() const { return items_; }
  void Clear() { items_.clear(); }

 private:
  bool Less(const Ranked& a, const Ranked& b) const {
    if (std::isnan(a.value)) return true;
    return is_least_on_top_ ? a.value < b.value : a.value > b.value;
  }

  const bool is_least_on_top_;
  std::vector<Ranked> items_;
};

struct Spread {
  double most;
  double least;
  bool has_nan;
};

Spread SpreadOf(const Row& parameter) {
  Spread spread{parameter.values[0], parameter.values[0], false};
  for (const double value : parameter.values) {
    spread.most = GoMax(spread.most, value);
    spread.least = GoMin(spread.least, value);
    spread.has_nan = spread.has_nan || std::isnan(value);
  }
  return spread;
}

// OK and false: nothing comes out.
absl::StatusOr<bool> CheckCounts(const Row& parameter) {
  constexpr double kIntegerMax = 9223372036854774784.0;
  const auto [most, least, has_nan] = SpreadOf(parameter);
  if (most < 1) return false;
  if (has_nan) return ExecutionError("Parameter value is NaN");
  if (least <= -9223372036854775808.0) {
    return ExecutionError(fmt::format("Scalar value {} underflows int64", GeneralNumber(least)));
  }
  if (most >= kIntegerMax) {
    return ExecutionError(fmt::format("Scalar value {} overflows int64", GeneralNumber(most)));
  }
  return true;
}

void AddTo(TokenKind op, size_t limit, Ranked item, Heap* heap) {
  if (heap->items().size() < limit) {
    heap->Push(item);
  } else if (op != TokenKind::kLimitk && heap->Beats(item.value)) {
    heap->ReplaceTop(item);
  }
}

// As CheckCounts.
absl::StatusOr<bool> CheckRatios(const Row& parameter, Range place, Annotations* annotations) {
  const auto [most, least, has_nan] = SpreadOf(parameter);
  if (most == 0 && least == 0) return false;
  if (has_nan) return ExecutionError("Ratio value is NaN");
  const auto warn = [&](double value, int limit) {
    annotations->Warn(fmt::format("ratio value should be between -1 and 1, got {}, capping to {}",
                                  GeneralNumber(value), limit),
                      place);
  };
  if (most > 1) warn(most, 1);
  if (least < -1) warn(least, -1);
  return true;
}

// The bytes of a text in Prometheus' sets of labels: its length in one byte, or in three behind 255.
void AddSized(std::string_view text, std::string* out) {
  if (text.size() < 255) {
    out->push_back(static_cast<char>(text.size()));
  } else {
    out->push_back(static_cast<char>(255));
    for (const int shift : {0, 8, 16}) out->push_back(static_cast<char>(text.size() >> shift & 255));
  }
  out->append(text);
}

// A place in [0, 1] that the labels of a series alone decide, Prometheus' one.
double PlaceOf(const Labels& labels) {
  std::string bytes;
  for (const auto& [name, value] : labels) {
    AddSized(name, &bytes);
    AddSized(value, &bytes);
  }
  return static_cast<double>(XXH64(bytes.data(), bytes.size(), 0)) / 0x1p64;
}

// A ratio below 0 has the series that its complement has not.
bool IsWithin(double ratio, double place) {
  const double share = std::clamp(ratio, -1.0, 1.0);
  return share >= 0 ? place < share : place >= 1 + share;
}

}  // namespace

absl::StatusOr<Matrix> Evaluator::Rank(const Expression& node, const Row& parameter, Matrix input,
                                       const std::vector<size_t>& groups, size_t group_count) {
  const bool is_ratio = node.op == TokenKind::kLimitRatio;
  const absl::StatusOr<bool> gives_any =
      is_ratio ? CheckRatios(parameter, node.operands[0]->place, &context_->annotations())
               : CheckCounts(parameter);
  if (!gives_any.ok()) return gives_any.status();
  if (!*gives_any) return Matrix();
  std::vector<Heap> heaps(group_count, Heap(node.op != TokenKind::kBottomk));
  Matrix result;
  const bool is_instant = steps_ == 1;
  std::vector<std::vector<uint8_t>> kept(input.size(), std::vector<uint8_t>(is_instant ? 0 : steps_));
  std::vector<double> places;
  for (size_t i = 0; is_ratio && i < input.size(); ++i) places.push_back(PlaceOf(input[i].labels));
  for (size_t step = 0; step < steps_; ++step) {
    for (Heap& heap : heaps) heap.Clear();
    const double wanted = parameter.values[step];
    if (is_ratio ? wanted == 0 : wanted < 1) continue;
    const size_t limit = is_ratio ? input.size() : std::min(static_cast<size_t>(wanted), input.size());
    for (size_t i = 0; i < input.size(); ++i) {
      if (!input[i].present[step] || (is_ratio && !IsWithin(wanted, places[i]))) continue;
      AddTo(node.op, limit, {input[i].values[step], i}, &heaps[groups[i]]);
    }
    const bool is_sorted = node.op == TokenKind::kTopk || node.op == TokenKind::kBottomk;
    for (const Heap& heap : heaps) {
      for (const Ranked& item : is_sorted ? heap.Sorted() : heap.items()) {
        is_instant ? result.push_back(input[item.row]) : void(kept[item.row][step] = 1);
      }
    }
  }
  if (is_instant) return result;
  for (size_t i = 0; i < input.size(); ++i) {
    input[i].present = std::move(kept[i]);
    if (!input[i].IsEmpty()) result.push_back(std::move(input[i]));
  }
  return result;
}

}  // namespace sonde::promql
