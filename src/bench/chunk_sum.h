// The sum of the cells of a ReadRows stream, without making rows of them.
//
// Threads: not for several threads.
#pragma once

#include <google/bigtable/v2/bigtable.pb.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "bench/data/series_data.h"

namespace sonde::bench {

// Keeps to the chunk protocol but does not check it: that is what RowMerger (src/client) is for.
class ChunkSum {
 public:
  void Add(const google::bigtable::v2::ReadRowsResponse::CellChunk& chunk) {
    if (chunk.reset_row()) {
      row_sum_ = CellSum();
      split_value_.clear();
      return;
    }
    if (!chunk.row_key().empty()) row_ = CellSum::Hash(chunk.row_key());
    if (chunk.has_qualifier()) qualifier_ = CellSum::Hash(chunk.qualifier().value());
    if (chunk.timestamp_micros() != 0) timestamp_micros_ = chunk.timestamp_micros();
    if (chunk.value_size() > 0) {
      split_value_ += chunk.value();
      return;
    }
    if (split_value_.empty()) {
      row_sum_.Add(row_, qualifier_, timestamp_micros_, CellSum::Hash(chunk.value()));
    } else {
      row_sum_.Add(row_, qualifier_, timestamp_micros_, CellSum::Hash(split_value_ + chunk.value()));
      split_value_.clear();
    }
    newest_micros_ = std::max(newest_micros_.value_or(timestamp_micros_), timestamp_micros_);
    if (!chunk.commit_row()) return;
    sum_.Merge(row_sum_);
    row_sum_ = CellSum();
    ++rows_;
  }
  const CellSum& sum() const { return sum_; }
  uint64_t rows() const { return rows_; }
  std::optional<int64_t> newest_micros() const { return newest_micros_; }

 private:
  CellSum sum_;
  CellSum row_sum_;
  uint64_t rows_ = 0;
  uint64_t row_ = 0;
  uint64_t qualifier_ = 0;
  int64_t timestamp_micros_ = 0;
  std::optional<int64_t> newest_micros_;
  std::string split_value_;
};

}  // namespace sonde::bench
