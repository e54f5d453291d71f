// Window functions that number rows: ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST, NTILE.
#include <algorithm>

#include "sql/relation/window_function.h"

namespace sonde::sql {
namespace {

class Numbering : public WindowFunction {
 public:
  bool needs_frames() const override { return false; }
};

class RowNumber final : public Numbering {
  absl::Status Compute(const PartitionRows& partition, absl::Span<const ColumnView> /*arguments*/,
                       const Frames& /*frames*/, rows::WorkCheck* /*check*/, rows::Column* results) override {
    for (size_t row = 0; row < partition.rows; ++row) results->AppendInt(static_cast<int64_t>(row) + 1);
    return absl::OkStatus();
  }
};

class Rank final : public Numbering {
  absl::Status Compute(const PartitionRows& partition, absl::Span<const ColumnView> /*arguments*/,
                       const Frames& /*frames*/, rows::WorkCheck* /*check*/, rows::Column* results) override {
    for (size_t row = 0; row < partition.rows; ++row) {
      results->AppendInt(static_cast<int64_t>(partition.peers_begin[row]) + 1);
    }
    return absl::OkStatus();
  }
};

class DenseRank final : public Numbering {
  absl::Status Compute(const PartitionRows& partition, absl::Span<const ColumnView> /*arguments*/,
                       const Frames& /*frames*/, rows::WorkCheck* /*check*/, rows::Column* results) override {
    int64_t rank = 0;
    for (size_t row = 0; row < partition.rows; ++row) {
      if (partition.peers_begin[row] == row) ++rank;
      results->AppendInt(rank);
    }
    return absl::OkStatus();
  }
};

class PercentRank final : public Numbering {
  absl::Status Compute(const PartitionRows& partition, absl::Span<const ColumnView> /*arguments*/,
                       const Frames& /*frames*/, rows::WorkCheck* /*check*/, rows::Column* results) override {
    const auto others = static_cast<double>(std::max<size_t>(partition.rows, 2) - 1);
    for (size_t row = 0; row < partition.rows; ++row) {
      results->AppendDouble(static_cast<double>(partition.peers_begin[row]) / others);
    }
    return absl::OkStatus();
  }
};

class CumeDist final : public Numbering {
  absl::Status Compute(const PartitionRows& partition, absl::Span<const ColumnView> /*arguments*/,
                       const Frames& /*frames*/, rows::WorkCheck* /*check*/, rows::Column* results) override {
    const auto all = static_cast<double>(partition.rows);
    for (size_t row = 0; row < partition.rows; ++row) {
      results->AppendDouble(static_cast<double>(partition.peers_end[row]) / all);
    }
    return absl::OkStatus();
  }
};

class Ntile final : public Numbering {
  absl::Status Compute(const PartitionRows& partition, absl::Span<const ColumnView> arguments,
                       const Frames& /*frames*/, rows::WorkCheck* /*check*/, rows::Column* results) override {
    if (!arguments[0].IsThere(0)) {
      return absl::OutOfRangeError("The argument to NTILE must be non-NULL");
    }
    const int64_t buckets = arguments[0].ints()[arguments[0].PlaceOf(0)];
    if (buckets < 1) return absl::OutOfRangeError("The argument to NTILE must be at least 1");
    const auto rows = static_cast<int64_t>(partition.rows);
    const int64_t rows_of_bucket = rows / buckets;
    const int64_t larger = rows % buckets;  // so many buckets, the first ones, have a row more
    const int64_t rows_of_larger = larger * (rows_of_bucket + 1);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t bucket = row < rows_of_larger ? row / (rows_of_bucket + 1)
                                                  : larger + (row - rows_of_larger) / rows_of_bucket;
      results->AppendInt(bucket + 1);
    }
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<WindowFunction> MakeNumberingFunction(std::string_view name) {
  if (name == "ROW_NUMBER") return std::make_unique<RowNumber>();
  if (name == "RANK") return std::make_unique<Rank>();
  if (name == "DENSE_RANK") return std::make_unique<DenseRank>();
  if (name == "PERCENT_RANK") return std::make_unique<PercentRank>();
  if (name == "CUME_DIST") return std::make_unique<CumeDist>();
  if (name == "NTILE") return std::make_unique<Ntile>();
  return nullptr;
}

}  // namespace sonde::sql
