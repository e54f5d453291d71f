#include "cli/reach/access.h"

#include <fmt/format.h>

#include <cstdlib>
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
  app.add_option(
      "--data-dir", flags->data_dir,
      fmt::format("Data directory, opened in this process; no server may be using it (default: {})",
                  kDataDirVariable));
  app.add_option(
      "--endpoint", flags->endpoint,
      fmt::format(
          "Bigtable server, HOST:PORT: with TLS, on loopback without; https:// or http:// before it says "
          "which (default: {}, {}, {})",
          kEndpointVariable, kEmulatorVariable, kEndpointUsual));
  app.add_option("--ca-file", flags->ca_file,
                 "CA of the endpoint's certificate, in PEM; the connection is then with TLS");
  app.add_option("--key-file", flags->key_file,
                 "Key of an account, as `sonde auth create-key` writes it; with TLS, without this, "
                 "GOOGLE_APPLICATION_CREDENTIALS names it");
  app.add_option("--project", flags->project, "Project that the tables are in")->capture_default_str();
  app.add_option("--instance", flags->instance, "Instance that the tables are in")->capture_default_str();
}

absl::Status CheckDataDir(const std::string& data_dir) {
  if (std::filesystem::exists(std::filesystem::path(data_dir) / "FORMAT")) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("--data-dir: {} is no data directory of Sonde (it has no file FORMAT)", data_dir));
}

std::string InstanceOf(const AccessFlags& flags) {
  return fmt::format("projects/{}/instances/{}", flags.project, flags.instance);
}

namespace {

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

absl::StatusOr<std::unique_ptr<CopyAccess>> OpenEndpoint(const AccessFlags& flags) {
  absl::StatusOr<std::unique_ptr<RemoteTables>> remote = RemoteTables::Connect(RemoteOptionsOf(flags));
  if (!remote.ok()) return remote.status();
  return std::unique_ptr<CopyAccess>(*std::move(remote));
}

absl::StatusOr<AccessFlags> ResolveAccess(AccessFlags flags, const ReadVariable& variable,
                                          const std::function<void(const std::string&)>& tell) {
  if (!flags.data_dir.empty() && !flags.endpoint.empty())
    return absl::InvalidArgumentError("--data-dir and --endpoint exclude each other");
  if (flags.data_dir.empty() && flags.endpoint.empty()) {
    flags.data_dir = variable(kDataDirVariable);
    flags.endpoint = variable(kEndpointVariable);
    if (!flags.data_dir.empty() && !flags.endpoint.empty()) {
      return absl::InvalidArgumentError(
          fmt::format("{} and {} are both set: give --data-dir DIR or --endpoint HOST:PORT", kDataDirVariable,
                      kEndpointVariable));
    }
  }
  if (flags.data_dir.empty() && flags.endpoint.empty()) {
    const std::string emulator = variable(kEmulatorVariable);
    if (!emulator.empty()) {
      flags.endpoint = emulator.find("://") == std::string::npos ? "http://" + emulator : emulator;
    } else {
      flags.endpoint = kEndpointUsual;
      tell(fmt::format("{}: no --endpoint, no --data-dir, no {}: asking {}", flags.program, kEndpointVariable,
                       kEndpointUsual));
    }
  }
  if (flags.endpoint.empty() && !(flags.ca_file.empty() && flags.key_file.empty()))
    return absl::InvalidArgumentError(
        "--ca-file and --key-file are for an endpoint, not for a data directory");
  return flags;
}

absl::StatusOr<AccessFlags> ResolveAccess(const AccessFlags& flags) {
  return ResolveAccess(
      flags,
      [](const char* name) {
        const char* const value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
      },
      [](const std::string& line) { fmt::print(stderr, "{}\n", line); });
}

absl::StatusOr<std::shared_ptr<Tables>> OpenTables(const AccessFlags& flags, DataDir data_dir) {
  if (data_dir == DataDir::kIsThere) {
    if (absl::Status status = CheckDataDir(flags.data_dir); !status.ok()) return status;
  }
  absl::StatusOr<std::unique_ptr<LocalStore>> store = LocalStore::Open({.data_dir = flags.data_dir});
  if (!store.ok()) return store.status();
  const std::shared_ptr<LocalStore> held = *std::move(store);
  return std::shared_ptr<Tables>(held, &held->tables());
}

absl::StatusOr<std::unique_ptr<TableAccess>> OpenAccess(const AccessFlags& given, DataDir data_dir) {
  const absl::StatusOr<AccessFlags> resolved = ResolveAccess(given);
  if (!resolved.ok()) return resolved.status();
  const AccessFlags& flags = *resolved;
  if (flags.endpoint.empty()) {
    absl::StatusOr<std::shared_ptr<Tables>> tables = OpenTables(flags, data_dir);
    if (!tables.ok()) return tables.status();
    return std::unique_ptr<TableAccess>(std::make_unique<LocalTables>(*std::move(tables), InstanceOf(flags)));
  }
  absl::StatusOr<std::unique_ptr<CopyAccess>> remote = OpenEndpoint(flags);
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
