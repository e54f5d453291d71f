// Where a command finds its tables: a data directory opened in this process, or a Bigtable endpoint.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "server/serve_settings.h"
#include "sql/access/sql_access.h"
#include "table/tables.h"

namespace sonde {

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

// INVALID_ARGUMENT unless exactly one of data_dir and endpoint is given, or if
// ca_file or key_file is given without endpoint; as CheckDataDir where the data
// directory must be there.
absl::StatusOr<std::unique_ptr<TableAccess>> OpenAccess(const AccessFlags& flags,
                                                        DataDir data_dir = DataDir::kIsThere);

// SQL of the endpoint, or of the data directory: whichever is given.  `tables` are those of OpenTables, null with an endpoint.
absl::StatusOr<std::unique_ptr<sql::SqlAccess>> OpenSql(const AccessFlags& flags,
                                                        std::shared_ptr<Tables> tables);

// The tables of flags.data_dir, opened in this process; they hold their store.  Errors as OpenAccess.
absl::StatusOr<std::shared_ptr<Tables>> OpenTables(const AccessFlags& flags,
                                                   DataDir data_dir = DataDir::kIsThere);

}  // namespace sonde
