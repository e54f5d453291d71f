// Counts of distinct values by the sketches of hll/hll_sketch.h.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "hll/fingerprint.h"
#include "hll/hll_sketch.h"
#include "sql/aggregate/aggregator_states.h"
#include "sql/aggregate/sketch_aggregates.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

absl::Status NoSketch(std::string_view function) {
  return absl::OutOfRangeError(fmt::format("Invalid or incompatible sketch in {}", function));
}

// A sketch, and hashes that are not in it yet: many are added at once.
struct HllState {
  static constexpr size_t kPendingMin = 1'024;

  std::optional<HllSketch> sketch;  // none: no value was added
  std::vector<uint64_t> pending;

  void Add(AggregateKind kind, int precision, uint64_t hash) {
    if (!sketch.has_value()) sketch.emplace(kind, precision);
    pending.push_back(hash);
    if (pending.size() >= PendingMax()) Flush();
  }
  // More for a larger sketch, which is written anew each time.
  size_t PendingMax() const { return std::max(kPendingMin, sketch->MemoryBytes() / (4 * sizeof(uint64_t))); }
  void Flush() {
    if (pending.empty()) return;
    sketch->AddHashes(pending);
    pending.clear();
  }
  absl::Status MergeSketch(const HllSketch& other, std::string_view function) {
    if (!sketch.has_value()) {
      sketch = other;
      return absl::OkStatus();
    }
    if (sketch->kind() != other.kind()) return NoSketch(function);
    sketch->Merge(other);
    return absl::OkStatus();
  }
  absl::Status Merge(const HllState& other) {
    if (!other.sketch.has_value()) return absl::OkStatus();
    if (absl::Status status = MergeSketch(*other.sketch, "HLL_COUNT.MERGE"); !status.ok()) return status;
    Flush();
    sketch->AddHashes(other.pending);
    return absl::OkStatus();
  }
  size_t HeldBytes() const {
    return pending.capacity() * sizeof(uint64_t) + (sketch.has_value() ? sketch->MemoryBytes() : 0);
  }
  void Save(std::string* bytes) const {
    if (!sketch.has_value()) return;
    HllState all = *this;
    all.Flush();
    bytes->append(all.sketch->Serialize());
  }
  bool Load(std::string_view* bytes) {
    if (bytes->empty()) return true;
    const absl::StatusOr<HllSketch> parsed = HllSketch::ParseAny(*bytes);
    if (!parsed.ok()) return false;
    sketch = *parsed;
    *bytes = {};
    return true;
  }
};

// The hash of a value; equal values have equal ones.
uint64_t HllHashOf(const Datum& datum) {
  switch (datum.kind) {
    case Datum::Kind::kInt:
      return Fingerprint2011(datum.integer);
    case Datum::Kind::kDouble: {
      const double number = std::isnan(datum.number) ? std::numeric_limits<double>::quiet_NaN()
                            : datum.number == 0      ? 0.0
                                                     : datum.number;
      return Fingerprint2011(std::bit_cast<int64_t>(number));
    }
    case Datum::Kind::kBytes:
      return Fingerprint2011(datum.bytes());
    case Datum::Kind::kList:
      break;
  }
  return Fingerprint2011(static_cast<int64_t>(HashOf(datum)));
}

// The results of states, as numbers or as sketches.
class HllAggregator : public StatesOf<HllState> {
 public:
  explicit HllAggregator(bool gives_sketches) : gives_sketches_(gives_sketches) {}

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    for (size_t i = 0; i < count; ++i) {
      HllState& state = states_[first + i];
      const size_t before = state.HeldBytes();
      state.Flush();
      held_bytes_ += state.HeldBytes() - before;
    }
    if (!gives_sketches_) {
      return ColumnOfResults<int64_t>(count, arena, [&](size_t i) {
        const HllState& state = states_[first + i];
        return std::optional(state.sketch.has_value() ? state.sketch->Estimate() : 0);
      });
    }
    return ColumnOfResults<std::string_view>(count, arena, [&](size_t i) {
      const HllState& state = states_[first + i];
      return state.sketch.has_value() ? std::optional(arena->Copy(state.sketch->Serialize())) : std::nullopt;
    });
  }

 private:
  const bool gives_sketches_;
};

class HllOfValues : public HllAggregator {
 public:
  HllOfValues(const AggregateSite& site, bool gives_sketches)
      : HllAggregator(gives_sketches),
        kind_(site.argument_types[0].IsText() ? AggregateKind::kHllBytes : AggregateKind::kHllInt64) {}

  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    if (arguments.size() > 1 && !groups.empty()) {
      if (absl::Status status = SetPrecision(arguments[1], groups.size()); !status.ok()) return status;
    }
    for (size_t row = 0; row < groups.size(); ++row) {
      const Datum datum = DatumAt(arguments[0], row);
      if (!datum.is_there) continue;
      HllState& state = states_[groups[row]];
      const size_t before = state.HeldBytes();
      state.Add(kind_, precision_.value_or(HllSketch::kCellPrecision), HllHashOf(datum));
      held_bytes_ += state.HeldBytes() - before;
    }
    return absl::OkStatus();
  }

 private:
  // OUT_OF_RANGE: there is no such precision, or rows have different ones.
  absl::Status SetPrecision(const ColumnView& column, size_t rows) {
    const size_t distinct_rows = column.is_constant() ? 1 : rows;
    for (size_t row = 0; row < distinct_rows; ++row) {
      const Datum precision = DatumAt(column, row);
      const int64_t number = precision.is_there ? precision.integer : HllSketch::kCellPrecision;
      if (number < HllSketch::kPrecisionMin || number > HllSketch::kPrecisionMax) {
        return absl::OutOfRangeError(fmt::format("Precision of HLL_COUNT.INIT must be between {} and {}: {}",
                                                 HllSketch::kPrecisionMin, HllSketch::kPrecisionMax, number));
      }
      if (precision_.value_or(number) != number) {
        return absl::OutOfRangeError(fmt::format(
            "Precision of HLL_COUNT.INIT must be the same for all rows: {} and {}", *precision_, number));
      }
      precision_ = static_cast<int>(number);
    }
    return absl::OkStatus();
  }

  const AggregateKind kind_;
  std::optional<int> precision_;  // none: no row has said it
};

class HllOfSketches : public HllAggregator {
 public:
  explicit HllOfSketches(bool gives_sketches)
      : HllAggregator(gives_sketches),
        function_(gives_sketches ? "HLL_COUNT.MERGE_PARTIAL" : "HLL_COUNT.MERGE") {}

  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    for (size_t row = 0; row < groups.size(); ++row) {
      const Datum datum = DatumAt(arguments[0], row);
      if (!datum.is_there) continue;
      const absl::StatusOr<HllSketch> sketch = HllSketch::ParseAny(datum.bytes());
      if (!sketch.ok()) return NoSketch(function_);
      HllState& state = states_[groups[row]];
      const size_t before = state.HeldBytes();
      const absl::Status status = state.MergeSketch(*sketch, function_);
      held_bytes_ += state.HeldBytes() - before;
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  const std::string_view function_;
};

}  // namespace

std::unique_ptr<Aggregator> MakeApproxCountDistinct(const AggregateSite& site) {
  return std::make_unique<HllOfValues>(site, false);
}
std::unique_ptr<Aggregator> MakeHllInit(const AggregateSite& site) {
  return std::make_unique<HllOfValues>(site, true);
}
std::unique_ptr<Aggregator> MakeHllMerge(const AggregateSite& /*site*/) {
  return std::make_unique<HllOfSketches>(false);
}
std::unique_ptr<Aggregator> MakeHllMergePartial(const AggregateSite& /*site*/) {
  return std::make_unique<HllOfSketches>(true);
}

absl::StatusOr<int64_t> ExtractFromHll(Call& /*call*/, std::optional<std::string_view> sketch) {
  if (!sketch.has_value()) return 0;
  const absl::StatusOr<HllSketch> parsed = HllSketch::ParseAny(*sketch);
  if (!parsed.ok()) return NoSketch("HLL_COUNT.EXTRACT");
  return parsed->Estimate();
}

}  // namespace sonde::sql
