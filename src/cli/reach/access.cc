#include "cli/reach/access.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "client/remote_sql.h"
#include "client/remote_tables.h"
#include "server/local_store.h"
#include "sql/exec/local_sql.h"
#include "sql/spill/spill_space.h"
#include "table/local_tables.h"

namespace sonde {
void AddAccessFlags(CLI::App& app, AccessFlags* flags) {
  std::string names;
  for (const CLI::App* command = &app; command->get_parent() != nullptr; command = command->get_parent())
    names.insert(0, " " + command->get_name());
  flags->program = "sonde" + names;
  app.add_option("--data-dir", flags->data_dir,
                 "a data directory, opened in this process (no server may be using it)");
  app.add_option(
      "--endpoint", flags->endpoint,
      "a Bigtable server, HOST:PORT: with TLS, on loopback without; https:// and http:// before it say "
      "so");
  app.add_option("--ca-file", flags->ca_file,
                 "the CA of the endpoint's certificate, in PEM; the connection is then with TLS");
  app.add_option("--key-file", flags->key_file,
                 "an account's key, as `sonde auth create-key` writes it; with TLS, without this, "
                 "GOOGLE_APPLICATION_CREDENTIALS names it");
  app.add_option("--project", flags->project, "the project that the tables are in")->capture_default_str();
  app.add_option("--instance", flags->instance, "the instance that the tables are in")->capture_default_str();
}

absl::Status CheckDataDir(const std::string& data_dir) {
  if (std::filesystem::exists(std::filesystem::path(data_dir) / "FORMAT")) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("--data-dir: {} is no data directory of Sonde (it has no file FORMAT)", data_dir));
}

namespace {

absl::Status CheckOneIsGiven(const AccessFlags& flags) {
  if (flags.endpoint.empty() && !(flags.ca_file.empty() && flags.key_file.empty())) {
    return absl::InvalidArgumentError("--ca-file and --key-file are for --endpoint, which is not given");
  }
  if (flags.data_dir.empty() != flags.endpoint.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("Give either --data-dir DIR or --endpoint HOST:PORT");
}

std::string InstanceOf(const AccessFlags& flags) {
  return fmt::format("projects/{}/instances/{}", flags.project, flags.instance);
}

RemoteOptions RemoteOptionsOf(const AccessFlags& flags) {
  RemoteOptions options;
  options.endpoint = flags.endpoint;
  options.ca_file = flags.ca_file;
  options.key_file = flags.key_file;
  options.project = flags.project;
  options.instance = flags.instance;
  options.program = flags.program;
  return options;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Tables>> OpenTables(const AccessFlags& flags, DataDir data_dir) {
  if (absl::Status status = CheckOneIsGiven(flags); !status.ok()) return status;
  if (data_dir == DataDir::kIsThere) {
    if (absl::Status status = CheckDataDir(flags.data_dir); !status.ok()) return status;
  }
  absl::StatusOr<std::unique_ptr<LocalStore>> store = LocalStore::Open({.data_dir = flags.data_dir});
  if (!store.ok()) return store.status();
  const std::shared_ptr<LocalStore> held = *std::move(store);
  return std::shared_ptr<Tables>(held, &held->tables());
}

absl::StatusOr<std::unique_ptr<TableAccess>> OpenAccess(const AccessFlags& flags, DataDir data_dir) {
  if (absl::Status status = CheckOneIsGiven(flags); !status.ok()) return status;
  if (flags.endpoint.empty()) {
    absl::StatusOr<std::shared_ptr<Tables>> tables = OpenTables(flags, data_dir);
    if (!tables.ok()) return tables.status();
    return std::unique_ptr<TableAccess>(std::make_unique<LocalTables>(*std::move(tables), InstanceOf(flags)));
  }
  absl::StatusOr<std::unique_ptr<RemoteTables>> remote = RemoteTables::Connect(RemoteOptionsOf(flags));
  if (!remote.ok()) return remote.status();
  return std::unique_ptr<TableAccess>(*std::move(remote));
}

absl::StatusOr<std::unique_ptr<sql::SqlAccess>> OpenSql(const AccessFlags& flags,
                                                        std::shared_ptr<Tables> tables) {
  if (tables != nullptr)
    return std::unique_ptr<sql::SqlAccess>(std::make_unique<sql::LocalSql>(
        std::move(tables), InstanceOf(flags), sql::Dialect::kSonde,
        std::make_unique<sql::SpillSpace>(flags.data_dir + "/spill", sql::SpillSpace::Limits())));
  absl::StatusOr<std::unique_ptr<RemoteSql>> remote = RemoteSql::Connect(RemoteOptionsOf(flags));
  if (!remote.ok()) return remote.status();
  return std::unique_ptr<sql::SqlAccess>(*std::move(remote));
}

}  // namespace sonde
