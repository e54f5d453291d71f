// Aggregators made of a state for each group, and the loops over columns that they share.
//
//   class CountIf : public StatesOf<CountState> { Add, AddRun, Results };
//
// A State is empty when it is made, and has
//   absl::Status Merge(const State& other)         as if what is in `other` came behind what is in this
//   void Save(std::string* bytes) const
//   bool Load(std::string_view* bytes)             into an empty state; false: the bytes are none that Save made
//   static constexpr / size_t HeldBytes() const    what it holds beside itself, about
// Threads: as an Aggregator.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/arena.h"
#include "base/check.h"
#include "model/column.h"
#include "sql/function/aggregator.h"

namespace sonde::sql {

template <typename State>
class StatesOf : public Aggregator {
 public:
  void Resize(size_t groups) override { states_.resize(groups); }

  absl::Status Merge(uint32_t group, const Aggregator& other, uint32_t other_group) override {
    const auto& others = static_cast<const StatesOf&>(other);
    return MergeState(&states_[group], others.states_[other_group]);
  }

  void Clear(uint32_t group) override {
    held_bytes_ -= states_[group].HeldBytes();
    states_[group] = State();
    held_bytes_ += states_[group].HeldBytes();
  }

  size_t MemoryBytes() const override { return states_.capacity() * sizeof(State) + held_bytes_; }

  void Save(uint32_t group, std::string* bytes) const override { states_[group].Save(bytes); }

  absl::Status Load(uint32_t group, std::string_view bytes) override {
    State loaded;
    if (!loaded.Load(&bytes) || !bytes.empty()) {
      return absl::DataLossError("the state of an aggregate is damaged");
    }
    return MergeState(&states_[group], loaded);
  }

 protected:
  absl::Status MergeState(State* state, const State& other) {
    const size_t before = state->HeldBytes();
    absl::Status status = state->Merge(other);
    held_bytes_ += state->HeldBytes() - before;
    return status;
  }

  std::vector<State> states_;
  size_t held_bytes_ =
      0;  // of HeldBytes of all states; who changes a state that holds something counts it here
};

// The values of a column, of type int64_t, double, std::string_view or Datum.
template <typename T>
const T* ValuesOf(const ColumnView& column) {
  if constexpr (std::is_same_v<T, int64_t>) return column.ints();
  if constexpr (std::is_same_v<T, double>) return column.doubles();
  if constexpr (std::is_same_v<T, std::string_view>) return column.bytes();
  if constexpr (std::is_same_v<T, Datum>) return column.lists();
}

// Calls f(row, value) for each row that is there.
template <typename T, typename F>
void ForEachThere(const ColumnView& column, size_t rows, F&& f) {
  const uint8_t* const there = column.there();
  if (column.is_constant()) {
    if (rows == 0 || !column.IsThere(0)) return;
    const T value = *ValuesOf<T>(column);
    for (size_t row = 0; row < rows; ++row) f(row, value);
    return;
  }
  const T* const values = ValuesOf<T>(column);
  if (there == nullptr) {
    for (size_t row = 0; row < rows; ++row) f(row, values[row]);
    return;
  }
  for (size_t row = 0; row < rows; ++row) {
    if (there[row] != 0) f(row, values[row]);
  }
}

// Calls f(values, count) with the values that are there, one piece after the other.
template <typename T, typename F>
void ForPieces(const ColumnView& column, size_t rows, F&& f) {
  constexpr size_t kPiece = 512;
  if (column.is_constant()) {
    if (rows == 0 || !column.IsThere(0)) return;
    std::array<T, kPiece> piece;
    piece.fill(*ValuesOf<T>(column));
    for (size_t row = 0; row < rows; row += kPiece) f(piece.data(), std::min(kPiece, rows - row));
    return;
  }
  const T* const values = ValuesOf<T>(column);
  const uint8_t* const there = column.there();
  if (there == nullptr) return f(values, rows);
  std::array<T, kPiece> piece;
  for (size_t first = 0; first < rows; first += kPiece) {
    const size_t end = std::min(first + kPiece, rows);
    size_t count = 0;
    // Each value is written, and the next one over it unless it is there: no branch.
    for (size_t row = first; row < end; ++row) {
      piece[count] = values[row];
      count += there[row] != 0 ? 1 : 0;
    }
    f(piece.data(), count);
  }
}

// How many of the rows are there.
inline size_t CountThere(const ColumnView& column, size_t rows) {
  if (column.there() == nullptr) return rows;
  if (column.is_constant()) return rows > 0 && column.IsThere(0) ? rows : 0;
  size_t count = 0;
  for (size_t row = 0; row < rows; ++row) count += column.there()[row] != 0 ? 1 : 0;
  return count;
}

// A column of result(i) for i below `count`, each a std::optional<T>; T as in ValuesOf, or bool.
template <typename T, typename F>
ColumnView ColumnOfResults(size_t count, Arena* arena, F&& result) {
  using Stored = std::conditional_t<std::is_same_v<T, bool>, int64_t, T>;
  auto* const values = arena->New<Stored>(count);
  auto* const there = arena->New<uint8_t>(count);
  for (size_t i = 0; i < count; ++i) {
    const std::optional<T> value = result(i);
    there[i] = value.has_value() ? 1 : 0;
    values[i] = value.has_value() ? Stored(*value) : Stored{};
  }
  if constexpr (std::is_same_v<Stored, int64_t>) return ColumnView::OfInts({values, count}, there);
  if constexpr (std::is_same_v<Stored, double>) return ColumnView::OfDoubles({values, count}, there);
  if constexpr (std::is_same_v<Stored, std::string_view>) return ColumnView::OfBytes({values, count}, there);
  if constexpr (std::is_same_v<Stored, Datum>) return ColumnView::OfLists({values, count}, there);
}

// Numbers in states: 8 bytes, as bits.
void SaveNumber(uint64_t number, std::string* bytes);
void SaveNumber(double number, std::string* bytes);
bool LoadNumber(std::string_view* bytes, uint64_t* number);
bool LoadNumber(std::string_view* bytes, int64_t* number);
bool LoadNumber(std::string_view* bytes, double* number);
// A number of rows: from 0 to 2^48, so that sums of them do not overflow whatever was loaded.
bool LoadCount(std::string_view* bytes, int64_t* count);
inline void SaveNumber(int64_t number, std::string* bytes) {
  SaveNumber(static_cast<uint64_t>(number), bytes);
}

}  // namespace sonde::sql
