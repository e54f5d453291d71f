// BIT_AND, BIT_OR, BIT_XOR of integers, and LOGICAL_AND, LOGICAL_OR, which are BIT_AND and BIT_OR of 0 and 1.
#include <cstdint>
#include <memory>
#include <optional>

#include "sql/aggregate/aggregator_states.h"
#include "sql/function/aggregates.h"

namespace sonde::sql {
namespace {

struct BitsOfAnd {
  static constexpr int64_t kStart = -1;
  static int64_t Combine(int64_t a, int64_t b) { return a & b; }
};
struct BitsOfOr {
  static constexpr int64_t kStart = 0;
  static int64_t Combine(int64_t a, int64_t b) { return a | b; }
};
struct BitsOfXor {
  static constexpr int64_t kStart = 0;
  static int64_t Combine(int64_t a, int64_t b) { return a ^ b; }
};

template <typename Operation>
struct BitState {
  int64_t bits = Operation::kStart;
  bool is_there = false;

  void Add(int64_t value) {
    bits = Operation::Combine(bits, value);
    is_there = true;
  }
  absl::Status Merge(const BitState& other) {
    bits = Operation::Combine(bits, other.bits);
    is_there |= other.is_there;
    return absl::OkStatus();
  }
  static constexpr size_t HeldBytes() { return 0; }
  void Save(std::string* bytes) const {
    if (is_there) SaveNumber(bits, bytes);
  }
  bool Load(std::string_view* bytes) {
    if (bytes->empty()) return true;
    is_there = true;
    return LoadNumber(bytes, &bits);
  }
};

template <typename Operation>
class BitAggregator : public StatesOf<BitState<Operation>> {
 public:
  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    ForEachThere<int64_t>(arguments[0], groups.size(),
                          [&](size_t row, int64_t value) { this->states_[groups[row]].Add(value); });
    return absl::OkStatus();
  }

  absl::Status AddRun(absl::Span<const ColumnView> arguments, size_t rows, uint32_t group) override {
    BitState<Operation> run;
    ForEachThere<int64_t>(arguments[0], rows, [&](size_t, int64_t value) { run.Add(value); });
    return this->states_[group].Merge(run);
  }

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    return ColumnOfResults<int64_t>(count, arena, [&](size_t i) {
      const BitState<Operation>& state = this->states_[first + i];
      return state.is_there ? std::optional(state.bits) : std::nullopt;
    });
  }
};

}  // namespace

std::unique_ptr<Aggregator> MakeBitAnd(const AggregateSite& /*site*/) {
  return std::make_unique<BitAggregator<BitsOfAnd>>();
}
std::unique_ptr<Aggregator> MakeBitOr(const AggregateSite& /*site*/) {
  return std::make_unique<BitAggregator<BitsOfOr>>();
}
std::unique_ptr<Aggregator> MakeBitXor(const AggregateSite& /*site*/) {
  return std::make_unique<BitAggregator<BitsOfXor>>();
}
std::unique_ptr<Aggregator> MakeLogicalAnd(const AggregateSite& site) { return MakeBitAnd(site); }
std::unique_ptr<Aggregator> MakeLogicalOr(const AggregateSite& site) { return MakeBitOr(site); }

}  // namespace sonde::sql
