// ARRAY_AGG, ARRAY_CONCAT_AGG, STRING_AGG and ANY_VALUE: they hold values, as bytes (datum_bytes.h).
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "base/varint.h"
#include "sql/aggregate/aggregator_states.h"
#include "sql/aggregate/datum_bytes.h"
#include "sql/function/aggregates.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

size_t HeldBytesOf(const std::string& text) {
  return text.capacity() < sizeof(text) ? 0 : text.capacity() + 1;
}

// Values one after the other.
struct ListState {
  std::string values;
  uint64_t count = 0;
  bool is_there = false;  // arrays were added, which may be empty

  absl::Status Merge(const ListState& other) {
    values += other.values;
    count += other.count;
    is_there |= other.is_there;
    return absl::OkStatus();
  }
  size_t HeldBytes() const { return HeldBytesOf(values); }
  void Save(std::string* bytes) const {
    bytes->push_back(is_there ? 1 : 0);
    PutVarint(bytes, count);
    bytes->append(values);
  }
  // Whether the values are values, ListAggregator::Load asks.
  bool Load(std::string_view* bytes) {
    if (bytes->empty() || static_cast<unsigned char>(bytes->front()) > 1) return false;
    is_there = bytes->front() == 1;
    bytes->remove_prefix(1);
    if (!GetVarint(bytes, &count)) return false;
    values = *bytes;
    *bytes = {};
    return is_there || count == 0;
  }
};

// Of values, or of the elements of arrays, which become elements of one array.
class ListAggregator : public StatesOf<ListState> {
 public:
  ListAggregator(const AggregateSite& site, bool takes_arrays)
      : element_(site.result_type.element()),
        hold_(site.facts == nullptr ? nullptr : &site.facts->hold),
        takes_arrays_(takes_arrays) {}

  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    for (size_t row = 0; row < groups.size(); ++row) {
      const Datum datum = DatumAt(arguments[0], row);
      if (takes_arrays_ && !datum.is_there) continue;
      ListState& state = states_[groups[row]];
      const size_t before = state.HeldBytes();
      state.is_there = true;
      if (takes_arrays_) {
        for (const Datum& item : datum.list()) AppendDatumBytes(element_, item, &state.values);
        state.count += datum.size;
      } else {
        AppendDatumBytes(element_, datum, &state.values);
        ++state.count;
      }
      held_bytes_ += state.HeldBytes() - before;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    auto* const lists = arena->New<Datum>(count);
    auto* const there = arena->New<uint8_t>(count);
    for (size_t i = 0; i < count; ++i) {
      const ListState& state = states_[first + i];
      lists[i] = Datum::Missing();
      there[i] = state.is_there ? 1 : 0;
      if (!state.is_there) continue;
      const size_t items_bytes = state.count * sizeof(Datum);
      if (hold_ != nullptr && *hold_ && items_bytes > kLargeValueBytes) {
        if (absl::Status status = (*hold_)(items_bytes); !status.ok()) return status;
      }
      auto* const items = arena->New<Datum>(state.count);
      std::string_view values = arena->Copy(state.values);
      for (size_t item = 0; item < state.count; ++item) {
        CHECK(TakeDatumBytes(element_, &values, arena, &items[item]));
      }
      lists[i] = Datum::List({items, state.count});
    }
    return ColumnView::OfLists({lists, count}, there);
  }

  absl::Status Load(uint32_t group, std::string_view bytes) override {
    ListState state;
    bool is_right = state.Load(&bytes);
    std::string_view values = state.values;
    Arena arena;
    Datum datum;
    for (uint64_t i = 0; is_right && i < state.count; ++i) {
      is_right = TakeDatumBytes(element_, &values, &arena, &datum);
    }
    if (!is_right || !values.empty()) return absl::DataLossError("the state of an aggregate is damaged");
    return MergeState(&states_[group], state);
  }

 private:
  const Type element_;
  const std::function<absl::Status(size_t bytes)>* const hold_;
  const bool takes_arrays_;
};

// The first value, which may be NULL.
struct FirstState {
  std::string value;  // empty: there was none

  absl::Status Merge(const FirstState& other) {
    if (value.empty()) value = other.value;
    return absl::OkStatus();
  }
  size_t HeldBytes() const { return HeldBytesOf(value); }
  void Save(std::string* bytes) const { bytes->append(value); }
  bool Load(std::string_view* bytes) {
    value = *bytes;
    *bytes = {};
    return true;
  }
};

class FirstAggregator : public StatesOf<FirstState> {
 public:
  explicit FirstAggregator(Type type) : type_(std::move(type)) {}

  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    for (size_t row = 0; row < groups.size(); ++row) AddRow(arguments[0], row, groups[row]);
    return absl::OkStatus();
  }

  absl::Status AddRun(absl::Span<const ColumnView> arguments, size_t rows, uint32_t group) override {
    if (rows > 0) AddRow(arguments[0], 0, group);
    return absl::OkStatus();
  }

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    std::vector<Datum> data(count);
    for (size_t i = 0; i < count; ++i) {
      std::string_view value = arena->Copy(states_[first + i].value);
      if (!value.empty()) CHECK(TakeDatumBytes(type_, &value, arena, &data[i]));
    }
    const auto result = [&](auto&& value_of) {
      return [&data, value_of](size_t i) {
        return data[i].is_there ? std::optional(value_of(data[i])) : std::nullopt;
      };
    };
    switch (ColumnTypeOf(type_)) {
      case ColumnType::kDouble:
        return ColumnOfResults<double>(count, arena, result([](const Datum& datum) { return datum.number; }));
      case ColumnType::kBytes:
        return ColumnOfResults<std::string_view>(count, arena,
                                                 result([](const Datum& datum) { return datum.bytes(); }));
      case ColumnType::kList:
        return ColumnOfResults<Datum>(count, arena, result([](const Datum& datum) { return datum; }));
      default:
        return ColumnOfResults<int64_t>(count, arena,
                                        result([](const Datum& datum) { return datum.integer; }));
    }
  }

  absl::Status Load(uint32_t group, std::string_view bytes) override {
    std::string_view rest = bytes;
    Arena arena;
    Datum datum;
    if (!bytes.empty() && (!TakeDatumBytes(type_, &rest, &arena, &datum) || !rest.empty())) {
      return absl::DataLossError("the state of an aggregate is damaged");
    }
    return StatesOf::Load(group, bytes);
  }

 private:
  void AddRow(const ColumnView& column, size_t row, uint32_t group) {
    FirstState& state = states_[group];
    if (!state.value.empty()) return;
    const size_t before = state.HeldBytes();
    AppendDatumBytes(type_, DatumAt(column, row), &state.value);
    held_bytes_ += state.HeldBytes() - before;
  }

  const Type type_;
};

// Strings with a delimiter between.  Each state knows the delimiter, which it needs when it is merged.
struct TextState {
  std::string text;
  std::string delimiter;
  bool is_there = false;

  void Add(std::string_view next, std::string_view between) {
    if (is_there) {
      text += between;
    } else {
      delimiter = between;
    }
    text += next;
    is_there = true;
  }
  absl::Status Merge(const TextState& other) {
    if (other.is_there) Add(other.text, other.delimiter);
    return absl::OkStatus();
  }
  size_t HeldBytes() const { return HeldBytesOf(text) + HeldBytesOf(delimiter); }
  void Save(std::string* bytes) const {
    if (!is_there) return;
    PutBytes(bytes, delimiter);
    bytes->append(text);
  }
  bool Load(std::string_view* bytes) {
    if (bytes->empty()) return true;
    std::string_view between;
    if (!GetBytes(bytes, &between)) return false;
    delimiter = between;
    text = *bytes;
    is_there = true;
    *bytes = {};
    return true;
  }
};

class TextAggregator : public StatesOf<TextState> {
 public:
  explicit TextAggregator(const AggregateSite& site)
      : hold_(site.facts == nullptr ? nullptr : &site.facts->hold) {}

  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    std::string_view delimiter = ",";
    if (arguments.size() > 1 && !groups.empty()) {
      if (!arguments[1].IsThere(0)) {
        return absl::InvalidArgumentError("Argument 2 to STRING_AGG must be non-NULL");
      }
      delimiter = arguments[1].bytes()[arguments[1].PlaceOf(0)];
    }
    absl::Status status;
    ForEachThere<std::string_view>(arguments[0], groups.size(), [&](size_t row, std::string_view text) {
      TextState& state = states_[groups[row]];
      const size_t before = state.HeldBytes();
      const size_t grown = state.text.size() + delimiter.size() + text.size();
      if (grown > kLargeValueBytes && grown > state.text.capacity() && hold_ != nullptr && *hold_) {
        if (status.ok()) status = (*hold_)(grown);
        if (!status.ok()) return;
      }
      state.Add(text, delimiter);
      held_bytes_ += state.HeldBytes() - before;
    });
    return status;
  }

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    return ColumnOfResults<std::string_view>(count, arena, [&](size_t i) {
      const TextState& state = states_[first + i];
      return state.is_there ? std::optional(arena->Copy(state.text)) : std::nullopt;
    });
  }

 private:
  const std::function<absl::Status(size_t bytes)>* const hold_;
};

}  // namespace

std::unique_ptr<Aggregator> MakeAnyValue(const AggregateSite& site) {
  return std::make_unique<FirstAggregator>(site.result_type);
}
std::unique_ptr<Aggregator> MakeArrayAgg(const AggregateSite& site) {
  return std::make_unique<ListAggregator>(site, false);
}
std::unique_ptr<Aggregator> MakeArrayConcatAgg(const AggregateSite& site) {
  return std::make_unique<ListAggregator>(site, true);
}
std::unique_ptr<Aggregator> MakeStringAgg(const AggregateSite& site) {
  return std::make_unique<TextAggregator>(site);
}

}  // namespace sonde::sql
