// A table in an HBase cluster as a store that is measured: a cell of HBase's for each cell, or packed cells.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "bench/inside/measured_store.h"

namespace sonde::bench {

enum class ClusterStoreKind {
  kPlain,    // stays as it is written
  kSettled,  // written so, then packed by a settler
  kPacked,   // packed when it is written, then settled
};
// "plain", "settled", "packed".
ClusterStoreKind KindOfClusterStore(const std::string& name);

// `master`: HOST:PORT.  The table is in a namespace of its own, and goes with the store.
absl::StatusOr<std::unique_ptr<StoreUnderTest>> OpenClusterStore(const std::string& master,
                                                                 ClusterStoreKind kind, bool sync);

}  // namespace sonde::bench
