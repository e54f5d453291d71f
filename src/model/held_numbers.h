// A NumberRow that owns the bytes that it views.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "model/table_access.h"

namespace sonde {

// Not for several threads.
class HeldNumbers {
 public:
  HeldNumbers() = default;
  explicit HeldNumbers(const NumberRow& row) { Add(row); }

  // Adds later parts of the same row.
  void Add(const NumberRow& row) {
    row_key_ = row.row_key;
    const int64_t* last_times = nullptr;
    for (const NumberRow::Part& part : row.parts) {
      const bool has_same_times = part.timestamps_micros.data() == last_times &&
                                  part.timestamps_micros.size() == times_.back().size();
      if (!has_same_times) times_.emplace_back(part.timestamps_micros.begin(), part.timestamps_micros.end());
      last_times = part.timestamps_micros.data();
      Part& held =
          parts_.emplace_back(Part{part.column, times_.size() - 1, part.values.type(), {}, {}, {}, {}});
      const size_t count = part.values.size();
      switch (part.values.type()) {
        case ColumnType::kDouble:
          held.doubles.assign(part.values.doubles(), part.values.doubles() + count);
          break;
        case ColumnType::kBytes:
          held.texts.assign(part.values.bytes(), part.values.bytes() + count);
          break;
        default:
          held.ints.assign(part.values.ints(), part.values.ints() + count);
      }
    }
  }

  bool IsEmpty() const { return parts_.empty(); }
  // About how many bytes of memory it holds.
  size_t Bytes() const {
    size_t bytes = row_key_.size();
    for (const std::vector<int64_t>& times : times_) bytes += times.size() * sizeof(int64_t);
    for (const Part& part : parts_) {
      bytes += sizeof(Part) + (part.ints.size() + part.doubles.size()) * sizeof(double);
      for (const std::string& text : part.texts) bytes += sizeof(text) + text.size();
    }
    return bytes;
  }
  void Clear() {
    times_.clear();
    parts_.clear();
  }

  // The view holds until this is changed or moved.
  NumberRow View() {
    views_.clear();
    for (Part& part : parts_) {
      part.text_views.assign(part.texts.begin(), part.texts.end());
      ColumnView values = ColumnView::OfInts(part.ints);
      if (part.type == ColumnType::kDouble) values = ColumnView::OfDoubles(part.doubles);
      if (part.type == ColumnType::kBytes) values = ColumnView::OfBytes(part.text_views);
      views_.push_back({part.column, times_[part.times], values});
    }
    return {row_key_, views_};
  }

 private:
  struct Part {
    size_t column;
    size_t times;  // in times_
    ColumnType type;
    // That of the type has the values.
    std::vector<int64_t> ints;
    std::vector<double> doubles;
    std::vector<std::string> texts;
    std::vector<std::string_view> text_views;
  };

  std::string row_key_;
  std::vector<std::vector<int64_t>> times_;
  std::vector<Part> parts_;
  std::vector<NumberRow::Part> views_;
};

}  // namespace sonde
