// `sonde init`: what a server needs to be reached by others safely, made at once.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cli/auth_commands.h"
#include "cli/commands.h"
#include "cli/reach/command_end.h"
#include "tls/authority.h"

namespace sonde {
namespace {

constexpr absl::Duration kAuthorityLasts = absl::Hours(24 * 3650);
constexpr absl::Duration kCertificateLasts = absl::Hours(24 * 398);
// Clocks of clients may be behind.
constexpr absl::Duration kBegunBefore = absl::Hours(1);

constexpr char kInitFooter[] =
    "It makes a certificate authority, a certificate, an authentication file with the account `admin`, its "
    "key, and\n"
    "sonde.yaml, all in the data directory and for its owner alone.  Nothing that is there is replaced.\n\n"
    "Examples:\n"
    "  sonde init --data-dir /var/lib/sonde\n"
    "  sonde init --data-dir /var/lib/sonde --host db.example.com --host 192.0.2.7 --production\n"
    "Then:  sonde serve --config /var/lib/sonde/sonde.yaml";

struct InitFlags {
  std::string data_dir;
  bool production = false;
  bool json = false;
  std::vector<std::string> hosts;
};

absl::Status Failed(std::string_view what, const std::filesystem::path& path) {
  return absl::FailedPreconditionError(fmt::format("{} {}: {}", what, path.native(), std::strerror(errno)));
}

// Writes a file that is not there yet, which only its owner may read.
absl::Status WriteNew(const std::filesystem::path& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return Failed("Making", path);
  const absl::Cleanup close_file = [file] { close(file); };
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed("Writing", path);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return fsync(file) == 0 ? absl::OkStatus() : Failed("Writing", path);
}

absl::Status MakeDirectory(const std::filesystem::path& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return absl::OkStatus();
  return Failed("Making", path);
}

bool IsAddress(const std::string& host) {
  return host.find(':') != std::string::npos || host.find_first_not_of("0123456789.") == std::string::npos;
}

absl::Status MakeCertificates(const std::filesystem::path& directory, const std::vector<std::string>& hosts) {
  const absl::Time now = absl::Now();
  const absl::StatusOr<tls::Pair> authority =
      tls::MakeAuthority("Sonde's own authority", now - kBegunBefore, now + kAuthorityLasts);
  if (!authority.ok()) return authority.status();
  tls::Wanted wanted{.common_name = hosts.empty() ? "localhost" : hosts.front(),
                     .names = {"DNS:localhost", "IP:127.0.0.1", "IP:::1"},
                     .begin = now - kBegunBefore,
                     .end = now + kCertificateLasts};
  for (const std::string& host : hosts) wanted.names.push_back((IsAddress(host) ? "IP:" : "DNS:") + host);
  const absl::StatusOr<tls::Pair> server = tls::MakeCertificate(*authority, wanted);
  if (!server.ok()) return server.status();
  if (absl::Status status = MakeDirectory(directory); !status.ok()) return status;
  absl::Status status = WriteNew(directory / "ca.key", authority->key);
  if (status.ok()) status = WriteNew(directory / "ca.pem", authority->certificate);
  if (status.ok()) status = WriteNew(directory / "server.key", server->key);
  if (status.ok()) status = WriteNew(directory / "server.pem", server->certificate + authority->certificate);
  return status;
}

std::string SettingsText(const std::filesystem::path& directory, bool is_remote, bool is_production) {
  const auto quoted = [](const std::filesystem::path& path) {
    std::string text = "'";
    for (const char c : path.native()) text += c == '\'' ? "''" : std::string(1, c);
    return text + "'";
  };
  return fmt::format(
      "# Made by `sonde init`; `sonde serve --help` tells of all settings.\n"
      "data_dir: {}\n"
      "host: {}\n"
      "auth: {}\n"
      "tls:\n"
      "  certificate: {}\n"
      "  key: {}\n"
      "{}",
      quoted(directory), is_remote ? "0.0.0.0" : "127.0.0.1", quoted(directory / "auth.yaml"),
      quoted(directory / "certificates/server.pem"), quoted(directory / "certificates/server.key"),
      is_production ? "# As Cloud Bigtable: tables need an instance that was created, calls an app profile "
                      "that is known.\n"
                      "strict_instances: true\n"
                    : "");
}

absl::Status Init(const InitFlags& flags) {
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::absolute(flags.data_dir, error).lexically_normal();
  if (error)
    return absl::InvalidArgumentError(fmt::format("--data-dir {}: {}", flags.data_dir, error.message()));
  umask(077);
  if (absl::Status status = MakeDirectory(directory); !status.ok()) return status;
  const std::filesystem::path settings = directory / "sonde.yaml";
  for (const char* const name : {"sonde.yaml", "auth.yaml", "admin-key.json", "certificates"}) {
    if (!std::filesystem::exists(directory / name, error)) continue;
    return absl::FailedPreconditionError(
        fmt::format("{} is there already: nothing is replaced; move it away, or choose another --data-dir",
                    (directory / name).native()));
  }
  if (absl::Status status = MakeCertificates(directory / "certificates", flags.hosts); !status.ok())
    return status;
  const std::filesystem::path key = directory / "admin-key.json";
  absl::Status status =
      CreateFirstKey((directory / "auth.yaml").native(), "admin", "roles/bigtable.admin", key.native());
  // Last: whoever has the settings has all that they name.
  if (status.ok())
    status = WriteNew(settings, SettingsText(directory, !flags.hosts.empty(), flags.production));
  if (!status.ok()) return status;
  const std::string path = directory.native();
  if (flags.json) {
    const nlohmann::ordered_json paths = {{"config", path + "/sonde.yaml"},
                                          {"auth", path + "/auth.yaml"},
                                          {"key", path + "/admin-key.json"},
                                          {"ca", path + "/certificates/ca.pem"}};
    fmt::print("{}\n", paths.dump());
  } else {
    fmt::print(
        "{0}/sonde.yaml\n"
        "{0}/auth.yaml\n"
        "{0}/admin-key.json\n"
        "{0}/certificates/ca.pem\n",
        path);
  }
  fmt::print(stderr,
             "sonde init: start the server by `sonde serve --config {0}/sonde.yaml`; clients trust "
             "{0}/certificates/ca.pem\n"
             "and prove themselves by GOOGLE_APPLICATION_CREDENTIALS={0}/admin-key.json (docs/identity.md)\n",
             directory.native());
  return absl::OkStatus();
}

}  // namespace

void AddInitCommand(CLI::App& app, int* exit_status) {
  CLI::App* const init =
      app.add_subcommand("init", "Make certificates, the first key and settings for a secure server");
  init->footer(kInitFooter);
  auto flags = std::make_shared<InitFlags>();
  init->add_option("--data-dir", flags->data_dir,
                   "the directory of the server's data, which is made if it is not there")
      ->required();
  init->add_option(
      "--host", flags->hosts,
      "a name or address by which other machines reach the server, which then listens on all of this "
      "machine's addresses; may be given several times. Without it the server stays on loopback");
  init->add_flag("--production", flags->production,
                 "settings as Cloud Bigtable's: no instance is made by its first table, and no unknown app "
                 "profile is taken "
                 "(strict_instances)");
  init->add_flag("--json", flags->json, "print the paths as JSON");
  init->callback([=] { *exit_status = EndOfCommand("sonde init", Init(*flags)); });
}

}  // namespace sonde
