// FIRST, LAST, MIN_BY and MAX_BY: the value of the row whose key is the least or the greatest.
//
// Order: rows may come in any.  Of rows with one key, LAST and MAX_BY take the greatest value, FIRST and MIN_BY the least.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/varint.h"
#include "sql/aggregate/aggregator_states.h"
#include "sql/aggregate/point_aggregates.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

// A number or a string, held.
class PickedValue {
 public:
  void Set(const Datum& datum) {
    datum_ = datum;
    if (datum.is_there && datum.kind == Datum::Kind::kBytes) {
      bytes_ = datum.bytes();
    } else {
      bytes_.clear();
    }
  }
  // Holds as long as this is neither set nor moved.
  Datum Get() const {
    return datum_.is_there && datum_.kind == Datum::Kind::kBytes ? Datum::Bytes(bytes_) : datum_;
  }
  size_t HeldBytes() const { return bytes_.capacity() < sizeof(bytes_) ? 0 : bytes_.capacity() + 1; }

  void Save(std::string* bytes) const {
    bytes->push_back(datum_.is_there ? static_cast<char>(datum_.kind) + 1 : 0);
    if (!datum_.is_there) return;
    if (datum_.kind == Datum::Kind::kBytes) {
      PutBytes(bytes, bytes_);
    } else if (datum_.kind == Datum::Kind::kDouble) {
      SaveNumber(datum_.number, bytes);
    } else {
      SaveNumber(datum_.integer, bytes);
    }
  }
  bool Load(std::string_view* bytes) {
    if (bytes->empty()) return false;
    const int kind = static_cast<unsigned char>(bytes->front()) - 1;
    bytes->remove_prefix(1);
    if (kind < 0) return true;
    std::string_view text;
    double number = 0;
    int64_t integer = 0;
    switch (static_cast<Datum::Kind>(kind)) {
      case Datum::Kind::kInt:
        if (!LoadNumber(bytes, &integer)) return false;
        Set(Datum::Int(integer));
        return true;
      case Datum::Kind::kDouble:
        if (!LoadNumber(bytes, &number)) return false;
        Set(Datum::Double(number));
        return true;
      case Datum::Kind::kBytes:
        if (!GetBytes(bytes, &text)) return false;
        Set(Datum::Bytes(text));
        return true;
      default:
        return false;
    }
  }

 private:
  Datum datum_;
  std::string bytes_;
};

template <bool kIsGreatest>
struct PickedState {
  PickedValue key;
  PickedValue value;
  bool is_there = false;

  void Add(const Datum& new_key, const Datum& new_value) {
    if (is_there) {
      int order = Compare(new_key, key.Get());
      if (order == 0) order = Compare(new_value, value.Get());
      if (kIsGreatest ? order <= 0 : order >= 0) return;
    }
    key.Set(new_key);
    value.Set(new_value);
    is_there = true;
  }
  absl::Status Merge(const PickedState& other) {
    if (other.is_there) Add(other.key.Get(), other.value.Get());
    return absl::OkStatus();
  }
  size_t HeldBytes() const { return key.HeldBytes() + value.HeldBytes(); }
  void Save(std::string* bytes) const {
    if (!is_there) return;
    key.Save(bytes);
    value.Save(bytes);
  }
  bool Load(std::string_view* bytes) {
    if (bytes->empty()) return true;
    is_there = true;
    return key.Load(bytes) && value.Load(bytes);
  }
};

template <bool kIsGreatest>
class PickAggregator : public StatesOf<PickedState<kIsGreatest>> {
 public:
  PickAggregator(const AggregateSite& site, bool takes_nulls)
      : type_(ColumnTypeOf(site.result_type)), takes_nulls_(takes_nulls) {}

  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    for (size_t row = 0; row < groups.size(); ++row) {
      if (!arguments[1].IsThere(row) || (!takes_nulls_ && !arguments[0].IsThere(row))) continue;
      PickedState<kIsGreatest>& state = this->states_[groups[row]];
      const size_t before = state.HeldBytes();
      state.Add(DatumAt(arguments[1], row), DatumAt(arguments[0], row));
      this->held_bytes_ += state.HeldBytes() - before;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    const auto result = [&](auto&& value_of) {
      return [this, first, value_of](size_t i) {
        const Datum datum = this->states_[first + i].value.Get();
        return datum.is_there ? std::optional(value_of(datum)) : std::nullopt;
      };
    };
    switch (type_) {
      case ColumnType::kDouble:
        return ColumnOfResults<double>(count, arena, result([](const Datum& datum) { return datum.number; }));
      case ColumnType::kBytes:
        return ColumnOfResults<std::string_view>(
            count, arena, result([arena](const Datum& datum) { return arena->Copy(datum.bytes()); }));
      default:
        return ColumnOfResults<int64_t>(count, arena,
                                        result([](const Datum& datum) { return datum.integer; }));
    }
  }

 private:
  const ColumnType type_;
  const bool takes_nulls_;
};

}  // namespace

std::unique_ptr<Aggregator> MakeFirst(const AggregateSite& site) {
  return std::make_unique<PickAggregator<false>>(site, false);
}
std::unique_ptr<Aggregator> MakeLast(const AggregateSite& site) {
  return std::make_unique<PickAggregator<true>>(site, false);
}
std::unique_ptr<Aggregator> MakeMinBy(const AggregateSite& site) {
  return std::make_unique<PickAggregator<false>>(site, true);
}
std::unique_ptr<Aggregator> MakeMaxBy(const AggregateSite& site) {
  return std::make_unique<PickAggregator<true>>(site, true);
}

}  // namespace sonde::sql
