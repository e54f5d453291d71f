// A place that keeps tables, as one word on a command line: a data directory, a store in an HBase cluster, or a Bigtable endpoint.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cli/reach/access.h"
#include "engine/hbase/store_layout.h"
#include "model/copy_access.h"

namespace CLI {
class App;
}

namespace sonde {

enum class PlaceKind : uint8_t { kDirectory, kHBase, kEndpoint };

// hbase://..., another scheme or HOST:PORT, and else a directory.
PlaceKind KindOfPlace(std::string_view place);

// Adds FLAG-ca and so on (StoreTlsOf) to a command.  `cluster`: whose servers they are for, in the help.
void AddStoreTlsFlags(CLI::App* command, const std::string& flag, const std::string& cluster,
                      hbase::TlsToServers* tls);

// Opens the place of `place`; `flags` has what an endpoint is reached by, and the names; `tls` what a cluster is.  `flag`: which one
// named the place, for messages.  INVALID_ARGUMENT: it is no such place; certificates or keys where no endpoint is, or no cluster.
// Further errors: those of opening it.
absl::StatusOr<std::unique_ptr<CopyAccess>> OpenPlace(std::string_view flag, const std::string& place,
                                                      AccessFlags flags, const hbase::TlsToServers& tls,
                                                      DataDir data_dir);

}  // namespace sonde
