// Requests at a given rate, whatever the server makes of them.
#pragma once

#include <google/bigtable/v2/bigtable.grpc.pb.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace sonde {

// A row of so many cells is looked through for a value that none of them has.
enum class LoadKind {
  kRead,   // ReadRows
  kWrite,  // CheckAndMutateRow, which then writes a cell of its own to the row
};

struct Load {
  LoadKind kind = LoadKind::kRead;
  double per_second = std::numeric_limits<double>::infinity();
  int under_way_max = 0;  // what would be more is not sent
  std::chrono::milliseconds time{0};
};

struct LoadResult {
  double seconds = 0;  // until the last answer
  uint64_t sent = 0;
  uint64_t answered = 0;
  uint64_t refused = 0;                   // UNAVAILABLE with RetryInfo
  std::map<std::string, uint64_t> other;  // by code and text
  std::vector<int64_t> latency_us;        // of what was answered, sorted
  std::vector<int64_t> refused_us;        // likewise
  std::set<uint64_t> answered_ids, refused_ids;
  // Of the last second of requests.
  uint64_t refused_at_the_end = 0;

  double Goodput() const { return static_cast<double>(answered) / seconds; }
};

// The value at `fraction` of sorted values; 0 when there are none.
int64_t Quantile(const std::vector<int64_t>& sorted, double fraction);

class LoadDriver {
 public:
  // Rows are MarkedRow(0) and on.
  LoadDriver(const std::string& address, std::string table_name, int rows);

  LoadResult Run(const Load& load);

  // Makes the rows of `cells` cells each.  Throws std::runtime_error.
  void FillRows(int cells);
  // The ids of all writes that the rows show.
  std::set<uint64_t> WrittenIds();

 private:
  class Driven;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  std::vector<std::unique_ptr<google::bigtable::v2::Bigtable::Stub>> stubs_;
  const std::string table_name_;
  const int rows_;
  uint64_t next_id_ = 0;
};

}  // namespace sonde
