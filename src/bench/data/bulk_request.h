// MutateRows requests of benchmark data, written as bytes of the wire format.
//
// The client of a benchmark runs on the cores of the server that it measures, so it must cost little: the
// bytes are those that protobuf would make of the same request (bulk_request_test.cc compares them), without
// the objects in between.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/data/readings.h"
#include "bench/data/series_data.h"

namespace sonde::bench {

// The requests of one client, which writes the entities [entity_begin, entity_end).  Not for several threads.
class BulkRequests {
 public:
  // At least one entity.
  BulkRequests(const DataShape& shape, std::string_view table_name, int entity_begin, int entity_end,
               int64_t steps, int rows_per_request);

  // The next request, of so many readings at least, in a buffer that holds until the next call; empty when
  // `steps` are done.
  std::string_view Next();

  // Leaves out what belongs to steps before this one; before the first Next.
  void SkipTo(int64_t step) { readings_.SkipTo(step); }

  // The sum of all requests so far.
  const CellSum& sum() const { return sum_; }
  uint64_t rows() const { return rows_; }
  uint64_t bytes() const { return bytes_; }
  // As Bigtable counts a cell: row key, family, qualifier, value and eight bytes of time.
  uint64_t cell_bytes() const { return cell_bytes_; }
  // Steps that all entities have made.
  int64_t steps_done() const { return readings_.steps_done(); }

 private:
  struct Column {
    std::string names;  // the family and the qualifier, as they begin a cell
    size_t name_bytes = 0;
    uint64_t qualifier = 0;  // hash
  };

  void AppendRow(const Reading& reading);

  const RowKeys keys_;
  const bool is_big_endian_;
  const int64_t steps_;
  const int rows_per_request_;
  const int entity_begin_;
  Readings readings_;
  std::string request_start_;                 // the table's name
  std::vector<std::vector<Column>> columns_;  // of each group
  std::vector<std::string> prefixes_;         // of each entity and group
  int64_t key_time_micros_ = -1;
  std::string key_time_;  // of key_time_micros_

  std::string buffer_;
  CellSum sum_;
  uint64_t rows_ = 0;
  uint64_t bytes_ = 0;
  uint64_t cell_bytes_ = 0;
};

}  // namespace sonde::bench
