#include "cli/reach/place.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/hbase/store_layout.h"
#include "server/local_store.h"
#include "server/temporary_directory.h"
#include "table/local_tables.h"

namespace sonde {
namespace {

// A store in a cluster, with the directory that it needs as long as it is open.
struct ClusterStore {
  std::unique_ptr<TemporaryDirectory> directory;
  std::unique_ptr<LocalStore> store;
};

absl::StatusOr<std::shared_ptr<Tables>> OpenCluster(const std::string& place,
                                                    std::optional<hbase::TlsToServers> tls) {
  absl::StatusOr<HBaseStoreAddress> address = ParseHBaseStore(place);
  if (!address.ok()) return address.status();
  const auto held = std::make_shared<ClusterStore>();
  absl::StatusOr<std::unique_ptr<TemporaryDirectory>> directory =
      TemporaryDirectory::Create(std::filesystem::temp_directory_path());
  if (!directory.ok()) return directory.status();
  held->directory = *std::move(directory);
  absl::StatusOr<std::unique_ptr<LocalStore>> store =
      LocalStore::OpenHBase({.engine = {.address = *std::move(address), .sync = true, .tls = std::move(tls)}},
                            held->directory->path() / "state",
                            /*large_room=*/nullptr);
  if (!store.ok()) return store.status();
  held->store = *std::move(store);
  return std::shared_ptr<Tables>(held, &held->store->tables());
}

}  // namespace

PlaceKind KindOfPlace(std::string_view place) {
  if (place.starts_with(kHBaseScheme)) return PlaceKind::kHBase;
  if (place.find("://") != std::string_view::npos) return PlaceKind::kEndpoint;
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || place.find('/') != std::string_view::npos)
    return PlaceKind::kDirectory;
  const std::string_view port = place.substr(colon + 1);
  const bool is_port =
      !port.empty() && std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_port ? PlaceKind::kEndpoint : PlaceKind::kDirectory;
}

void AddStoreTlsFlags(CLI::App* command, const std::string& flag, const std::string& cluster,
                      hbase::TlsToServers* tls) {
  const auto add = [&](const char* part, std::string* value, const char* type, const std::string& text) {
    command->add_option(flag + part, *value, text)->type_name(type);
  };
  add("-ca", &tls->files.ca, "PEM_FILE",
      "CA of the certificates that servers of " + cluster +
          " show, which are reached by TLS (default: plain text)");
  add("-certificate", &tls->files.certificate, "PEM_FILE",
      "Certificate that servers of " + cluster + " are shown (default: none)");
  add("-key", &tls->files.key, "PEM_FILE",
      "Key of the certificate that servers of " + cluster + " are shown");
  add("-server-name", &tls->server_name, "HOSTNAME",
      "Name for which the certificates of servers of " + cluster + " are (default: each for its host)");
}

absl::StatusOr<std::unique_ptr<CopyAccess>> OpenPlace(std::string_view flag, const std::string& place,
                                                      AccessFlags flags, const hbase::TlsToServers& tls,
                                                      DataDir data_dir) {
  const PlaceKind kind = KindOfPlace(place);
  if (kind != PlaceKind::kEndpoint && !(flags.ca_file.empty() && flags.key_file.empty())) {
    return absl::InvalidArgumentError(
        fmt::format("{0}-ca-file and {0}-key-file are for an endpoint, which '{1}' is not", flag, place));
  }
  absl::StatusOr<std::optional<hbase::TlsToServers>> store_tls = StoreTlsOf(fmt::format("{}-tls", flag), tls);
  if (!store_tls.ok()) return store_tls.status();
  if (kind != PlaceKind::kHBase && store_tls->has_value()) {
    return absl::InvalidArgumentError(
        fmt::format("{}-tls-ca is for a store in an HBase cluster, which '{}' is not", flag, place));
  }
  if (kind == PlaceKind::kEndpoint) {
    flags.endpoint = place;
    return OpenEndpoint(flags);
  }
  if (kind == PlaceKind::kDirectory && data_dir == DataDir::kIsThere &&
      !std::filesystem::exists(std::filesystem::path(place) / "FORMAT")) {
    return absl::InvalidArgumentError(
        fmt::format("{}: '{}' is no data directory of Sonde (it has no file FORMAT), no HOST:PORT and no "
                    "hbase://HOST[:PORT]/NAMESPACE",
                    flag, place));
  }
  flags.data_dir = place;
  absl::StatusOr<std::shared_ptr<Tables>> tables = kind == PlaceKind::kHBase
                                                       ? OpenCluster(place, *std::move(store_tls))
                                                       : OpenTables(flags, DataDir::kMayBeMade);
  if (!tables.ok()) return tables.status();
  return std::unique_ptr<CopyAccess>(std::make_unique<LocalTables>(*std::move(tables), InstanceOf(flags)));
}

}  // namespace sonde
