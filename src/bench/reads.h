// Reads of single series.
#pragma once

#include <google/bigtable/v2/bigtable.grpc.pb.h>

#include <memory>

#include "bench/call_loop.h"
#include "bench/quota.h"
#include "bench/workload.h"

namespace sonde::bench {

enum class ReadKind : uint8_t {
  kPoint,   // all fields of one entity's group at one step
  kColumn,  // the newest cell of one column of such a row
  kLatest,  // the newest of all fields of one entity's group
  kRange,   // one field of one entity over options.range_seconds
};

// A call that asks so again and again, for entities and times at random.  All arguments outlive it.
// NOT_FOUND: the answer does not hold what ingest wrote, if the data is regular.
std::unique_ptr<Call> MakeRead(ReadKind kind, google::bigtable::v2::Bigtable::Stub* stub,
                               const Options& options, RandomSource* random, Quota* quota,
                               ClientResult* result);

}  // namespace sonde::bench
