// MutateRows requests of benchmark data, written as bytes of the wire format.
//
// The client of a benchmark runs on the cores of the server that it measures, so it must cost little: the
// bytes are those that protobuf would make of the same request (bulk_request_test.cc compares them), without
// the objects in between.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/series_data.h"

namespace sonde::bench {

// The requests of one client, which writes the hosts [host_begin, host_end): all of them at step 0, then all
// of them at step 1, and so on.  Not for several threads.
class BulkRequests {
 public:
  // At least one host.
  BulkRequests(const DataShape& shape, std::string_view table_name, int host_begin, int host_end,
               int64_t steps, int rows_per_request);

  // The next request, in a buffer that holds until the next call; empty when `steps` are done.
  std::string_view Next();

  // Of all requests so far.
  const CellSum& sum() const { return sum_; }
  uint64_t rows() const { return rows_; }
  uint64_t bytes() const { return bytes_; }
  // Steps that all hosts have made.
  int64_t steps_done() const { return step_; }

 private:
  static constexpr int kDigitsMax = 3;

  void BeginStep();
  void AppendRow();

  const DataShape shape_;
  const int64_t steps_;
  const int rows_per_request_;
  std::string request_start_;  // the table's name
  // What comes before the timestamp of a cell, for each metric and each number of digits of its value.
  std::vector<std::array<std::string, kDigitsMax>> cell_starts_;
  std::vector<uint64_t> qualifiers_;  // of each metric: hash
  std::vector<HostWalk> walks_;
  std::vector<std::string> host_prefixes_;
  size_t next_walk_ = 0;
  int64_t step_ = 0;
  std::string key_time_;   // of step_
  std::string timestamp_;  // of step_, as it is in a cell

  std::string buffer_;
  std::vector<uint8_t> values_;
  CellSum sum_;
  uint64_t rows_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace sonde::bench
