// The work of `sonde check --store`: a store in an HBase cluster is looked at, with all of its rows, and nothing is written.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "engine/hbase/store_check.h"

namespace sonde {

// The tables of a store's records; those that were deleted and are kept, too.
RecordedTables TablesOfRecords(const std::vector<Record>& records);

// INVALID_ARGUMENT: it is no store's address, or `tls` is not as StoreTlsOf says.  Other errors: as CheckStore, and of
// hbase::Client::Create.
absl::StatusOr<StoreCheck> CheckCluster(const std::string& store, const hbase::TlsToServers& tls);

}  // namespace sonde
