#include "rows/column.h"

#include <algorithm>
#include <variant>

#include "base/wide_int.h"

namespace sonde::rows {

size_t Column::size() const {
  switch (type_) {
    case ColumnType::kInt64:
    case ColumnType::kTime:
      return ints_.size();
    case ColumnType::kDouble:
      return doubles_.size();
    case ColumnType::kBytes:
      return bytes_.size();
    case ColumnType::kList:
      return lists_.size();
    case ColumnType::kInt128:
      break;
  }
  return wide_ints_.size();
}

void Column::Reserve(size_t count) {
  switch (type_) {
    case ColumnType::kInt64:
    case ColumnType::kTime:
      ints_.reserve(count);
      break;
    case ColumnType::kInt128:
      wide_ints_.reserve(count);
      break;
    case ColumnType::kDouble:
      doubles_.reserve(count);
      break;
    case ColumnType::kBytes:
      bytes_.reserve(count);
      break;
    case ColumnType::kList:
      lists_.reserve(count);
      break;
  }
}

void Column::Clear() {
  if (type_ == ColumnType::kBytes) {
    bytes_.clear();
    arena_.Clear();
    bytes_held_ = 0;
  }
  ints_.clear();
  doubles_.clear();
  wide_ints_.clear();
  lists_.clear();
  list_items_.Clear();
  there_.clear();
  type_ = declared_;
}

void Column::AppendInt(int64_t value) {
  assert(type_ == ColumnType::kInt64 || type_ == ColumnType::kTime || type_ == ColumnType::kInt128);
  if (type_ == ColumnType::kInt128) {
    wide_ints_.push_back(value);
  } else {
    ints_.push_back(value);
  }
  NoteThere();
}

void Column::AppendWideInt(absl::int128 value) {
  if (IsInt(value)) return AppendInt(static_cast<int64_t>(value));
  Widen();
  wide_ints_.push_back(value);
  NoteThere();
}

void Column::Widen() {
  assert(type_ == ColumnType::kInt64 || type_ == ColumnType::kInt128);
  if (type_ == ColumnType::kInt128) return;
  wide_ints_.assign(ints_.begin(), ints_.end());
  ints_.clear();
  type_ = ColumnType::kInt128;
}

std::string_view Column::Keep(std::string_view bytes) {
  if (bytes.empty()) return "";
  char* const to = arena_.Reserve(bytes.size());
  std::copy(bytes.begin(), bytes.end(), to);
  arena_.Commit(bytes.size());
  bytes_held_ += bytes.size();
  return {to, bytes.size()};
}

void Column::AppendBytes(std::string_view value, size_t count) {
  assert(type_ == ColumnType::kBytes);
  // Rows of one series come one behind the other, and have the same tags.
  const bool is_again = !value.empty() && !bytes_.empty() && bytes_.back() == value;
  const std::string_view kept = is_again ? bytes_.back() : Keep(value);
  for (; count > 0; --count) {
    bytes_.push_back(kept);
    NoteThere();
  }
}

void Column::AppendList(const Datum& list) {
  assert(type_ == ColumnType::kList);
  lists_.push_back(CopyTo(&list_items_, list));
  NoteThere();
}

void Column::AppendMissing(size_t count) {
  if (there_.empty()) there_.assign(size(), 1);
  there_.resize(there_.size() + count, 0);
  switch (type_) {
    case ColumnType::kInt64:
    case ColumnType::kTime:
      ints_.resize(ints_.size() + count);
      break;
    case ColumnType::kDouble:
      doubles_.resize(doubles_.size() + count);
      break;
    case ColumnType::kBytes:
      bytes_.resize(bytes_.size() + count);
      break;
    case ColumnType::kList:
      lists_.resize(lists_.size() + count);
      break;
    case ColumnType::kInt128:
      wide_ints_.resize(wide_ints_.size() + count);
      break;
  }
}

void Column::AppendValue(const Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    AppendInt(*integer);
  } else if (const auto* number = std::get_if<double>(&value)) {
    AppendDouble(*number);
  } else if (const auto* wide = std::get_if<absl::int128>(&value)) {
    AppendWideInt(*wide);
  } else if (const auto* bytes = std::get_if<std::string>(&value)) {
    AppendBytes(*bytes);
  } else {
    AppendMissing();
  }
}

void Column::AppendThere(const ColumnView& values, size_t place) {
  switch (values.type()) {
    case ColumnType::kInt64:
    case ColumnType::kTime:
      return AppendInt(values.ints()[place]);
    case ColumnType::kDouble:
      return AppendDouble(values.doubles()[place]);
    case ColumnType::kBytes:
      return AppendBytes(values.bytes()[place]);
    case ColumnType::kList:
      return AppendList(values.lists()[place]);
    case ColumnType::kInt128:
      return AppendWideInt(values.wide_ints()[place]);
  }
}

void Column::Append(const ColumnView& values) {
  const bool is_plain = !values.is_constant() && values.type() == type_ && type_ != ColumnType::kBytes &&
                        type_ != ColumnType::kList;
  if (!is_plain) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (values.IsThere(i)) {
        AppendThere(values, values.PlaceOf(i));
      } else {
        AppendMissing();
      }
    }
    return;
  }
  if (there_.empty() && values.there() != nullptr) there_.assign(size(), 1);
  if (values.there() != nullptr) {
    there_.insert(there_.end(), values.there(), values.there() + values.size());
  } else if (!there_.empty()) {
    there_.resize(there_.size() + values.size(), 1);
  }
  if (type_ == ColumnType::kDouble) {
    doubles_.insert(doubles_.end(), values.doubles(), values.doubles() + values.size());
  } else if (type_ == ColumnType::kInt128) {
    wide_ints_.insert(wide_ints_.end(), values.wide_ints(), values.wide_ints() + values.size());
  } else {
    ints_.insert(ints_.end(), values.ints(), values.ints() + values.size());
  }
}

namespace {

template <typename Number>
void PutPlaces(const Number* values, absl::Span<const size_t> places, std::vector<Number>* out) {
  const size_t before = out->size();
  out->resize(before + places.size());
  Number* const to = out->data() + before;
  for (size_t i = 0; i < places.size(); ++i) to[i] = values[places[i]];
}

}  // namespace

void Column::AppendPlaces(const ColumnView& values, absl::Span<const size_t> places) {
  const bool is_plain =
      !values.is_constant() && values.there() == nullptr && there_.empty() && values.type() == type_;
  if (is_plain && type_ == ColumnType::kDouble) return PutPlaces(values.doubles(), places, &doubles_);
  if (is_plain && (type_ == ColumnType::kInt64 || type_ == ColumnType::kTime)) {
    return PutPlaces(values.ints(), places, &ints_);
  }
  for (const size_t place : places) {
    if (values.IsThere(place)) {
      AppendThere(values, values.PlaceOf(place));
    } else {
      AppendMissing();
    }
  }
}

namespace {

// Without branches: each value is written, and the next one over it unless it is there.
template <typename Number>
void PutThose(const Number* values, const uint8_t* there, size_t count, std::vector<Number>* out) {
  const size_t before = out->size();
  out->resize(before + count);
  Number* to = out->data() + before;
  for (size_t i = 0; i < count; ++i) {
    *to = values[i];
    to += there[i];
  }
  out->resize(to - out->data());
}

}  // namespace

void Column::AppendThose(const ColumnView& values) {
  const bool is_plain = !values.is_constant() && values.there() != nullptr && values.type() == type_ &&
                        type_ != ColumnType::kBytes && type_ != ColumnType::kList && there_.empty();
  if (!is_plain) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (values.IsThere(i)) AppendThere(values, values.PlaceOf(i));
    }
  } else if (type_ == ColumnType::kDouble) {
    PutThose(values.doubles(), values.there(), values.size(), &doubles_);
  } else if (type_ == ColumnType::kInt128) {
    PutThose(values.wide_ints(), values.there(), values.size(), &wide_ints_);
  } else {
    PutThose(values.ints(), values.there(), values.size(), &ints_);
  }
}

void Column::ResizeDense(size_t count) {
  assert(type_ == ColumnType::kInt64 || type_ == ColumnType::kTime || type_ == ColumnType::kDouble);
  there_.clear();
  if (type_ == ColumnType::kDouble) {
    doubles_.resize(count);
  } else {
    ints_.resize(count);
  }
}

void Column::ResizeMissing(size_t count) {
  ResizeDense(count);
  there_.assign(count, 0);
}

void Column::SetMissing(size_t place) {
  if (there_.empty()) there_.assign(size(), 1);
  there_[place] = 0;
}

void Column::CopyFromBefore(size_t place) {
  if (!IsThere(place - 1)) return;
  if (!there_.empty()) there_[place] = 1;
  const auto copy = [place](auto* values) {
    if (!values->empty()) (*values)[place] = (*values)[place - 1];
  };
  copy(&ints_);
  copy(&doubles_);
  copy(&wide_ints_);
  copy(&bytes_);
  copy(&lists_);
}

ColumnView Column::View() const {
  switch (type_) {
    case ColumnType::kInt64:
      return ColumnView::OfInts(ints_, there());
    case ColumnType::kTime:
      return ColumnView::OfTimes(ints_, there());
    case ColumnType::kDouble:
      return ColumnView::OfDoubles(doubles_, there());
    case ColumnType::kBytes:
      return ColumnView::OfBytes(bytes_, there());
    case ColumnType::kList:
      return ColumnView::OfLists(lists_, there());
    case ColumnType::kInt128:
      break;
  }
  return ColumnView::OfWideInts(wide_ints_, there());
}

size_t Column::MemoryBytes() const {
  return (ints_.size() + doubles_.size()) * 8 + (wide_ints_.size() + bytes_.size() + lists_.size()) * 16 +
         there_.size() + bytes_held_ + list_items_.MemoryBytes();
}

}  // namespace sonde::rows
