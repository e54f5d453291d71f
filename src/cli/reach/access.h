// Where a command finds its tables: a data directory opened in this process, or a Bigtable endpoint.  Flags name it; without them, the
// environment does (kEndpointVariable, kDataDirVariable, kEmulatorVariable); without that, it is kEndpointUsual.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/copy_access.h"
#include "server/serve_settings.h"
#include "sql/access/sql_access.h"
#include "table/tables.h"

namespace sonde {

inline constexpr char kEndpointVariable[] = "SONDE_ENDPOINT";
inline constexpr char kDataDirVariable[] = "SONDE_DATA_DIR";
// The one of Google's clients, whose server speaks without TLS.
inline constexpr char kEmulatorVariable[] = "BIGTABLE_EMULATOR_HOST";
inline constexpr char kEndpointUsual[] = "127.0.0.1:8086";

struct AccessFlags {
  std::string data_dir;
  std::string endpoint;  // HOST:PORT, http://HOST:PORT, https://HOST[:PORT]
  std::string ca_file;   // of the endpoint's certificate
  std::string key_file;  // shown to the endpoint
  std::string project = kProjectUsual;
  std::string instance = kInstanceUsual;
  std::string program = "sonde";  // which command it is
};

// --data-dir, --endpoint, --ca-file, --key-file, --project, --instance; the program is "sonde" and the names of the command.
void AddAccessFlags(CLI::App& app, AccessFlags* flags);

// INVALID_ARGUMENT: it is no data directory of Sonde; nothing is made there.
absl::Status CheckDataDir(const std::string& data_dir);

// Commands that write points may make the data directory; for all others it must be there.
enum class DataDir : uint8_t { kIsThere, kMayBeMade };

// projects/P/instances/I of the flags.
std::string InstanceOf(const AccessFlags& flags);
// The tables of flags.endpoint.  Errors: as RemoteTables::Connect.
absl::StatusOr<std::unique_ptr<CopyAccess>> OpenEndpoint(const AccessFlags& flags);

// The value of a variable of the environment; empty: it is not set.
using ReadVariable = std::function<std::string(const char* name)>;

// `flags` with either the data directory or the endpoint.  A flag comes before a variable, and SONDE_* before the emulator's.
// `tell`: is told when neither flags nor variables name one, and the endpoint is kEndpointUsual.  INVALID_ARGUMENT: both flags are
// given, or both variables without a flag; or ca_file or key_file where no endpoint is.
absl::StatusOr<AccessFlags> ResolveAccess(AccessFlags flags, const ReadVariable& variable,
                                          const std::function<void(const std::string&)>& tell);

// As ResolveAccess, by the process's environment and telling on stderr.
absl::StatusOr<AccessFlags> ResolveAccess(const AccessFlags& flags);

// INVALID_ARGUMENT: as ResolveAccess; as CheckDataDir where the data
// directory must be there.
absl::StatusOr<std::unique_ptr<TableAccess>> OpenAccess(const AccessFlags& flags,
                                                        DataDir data_dir = DataDir::kIsThere);

// SQL of the endpoint, or of the data directory: whichever ResolveAccess has left.  `tables` are those of OpenTables, null with an endpoint.
absl::StatusOr<std::unique_ptr<sql::SqlAccess>> OpenSql(const AccessFlags& flags,
                                                        std::shared_ptr<Tables> tables);

// The tables of flags.data_dir, which ResolveAccess has filled in, opened in this process; they hold their store.  Errors as OpenAccess.
absl::StatusOr<std::shared_ptr<Tables>> OpenTables(const AccessFlags& flags,
                                                   DataDir data_dir = DataDir::kIsThere);

}  // namespace sonde
