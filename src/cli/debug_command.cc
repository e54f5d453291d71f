// sonde debug bundle: an archive of facts about a server, for a report.  No rows are in it, and no secrets.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/processors.h"
#include "cli/commands.h"
#include "cli/reach/command_end.h"
#include "cli/reach/http_client.h"
#include "cli/watch/redact.h"
#include "cli/watch/tar_writer.h"
#include "server/serve_settings.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr char kTopDirectory[] = "sonde-debug/";
// The end of a log, and the whole of other files.
constexpr int64_t kLogBytesMax = 8 << 20;
constexpr size_t kLogsMax = 20;
constexpr size_t kInventoryFilesMax = 100'000;

struct BundleFlags {
  HttpAccess http;
  std::string out;
  std::string config;
  std::string data_dir;
  std::vector<std::string> logs;
  bool json = false;
};

// The parts of an archive, and what could not be had.
class Bundle {
 public:
  void Add(const std::string& name, const std::string& content) {
    const absl::Status status = tar_.Add(kTopDirectory + name, Redact(content), now_);
    if (!status.ok()) Miss(name, status);
  }
  void Miss(const std::string& name, const absl::Status& why) {
    missing_ += fmt::format("{}: {}\n", name, std::string(why.message()));
  }
  std::string Finish() {
    Add("missing.txt", missing_.empty() ? "nothing\n" : missing_);
    return tar_.Finish();
  }
  const std::string& missing() const { return missing_; }

 private:
  const int64_t now_ = absl::ToUnixSeconds(absl::Now());
  TarWriter tar_;
  std::string missing_;
};

std::string ToText(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string FirstLines(const std::string& path, size_t lines_max) {
  std::ifstream file(path);
  std::string text;
  std::string line;
  for (size_t i = 0; i < lines_max && std::getline(file, line); ++i) text += line + "\n";
  return text;
}

Json FactsOfMachine() {
  utsname system{};
  uname(&system);
  return {{"time", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone())},
          {"version", SONDE_VERSION},
          {"build", SONDE_BUILD_TYPE},
          {"rocksdb", SONDE_ROCKSDB_VERSION},
          {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
          {"distribution", FirstLines("/etc/os-release", 3)},
          {"processors", UsableProcessors()},
          {"memory", FirstLines("/proc/meminfo", 3)},
          {"pressure", FirstLines("/proc/pressure/memory", 2) + FirstLines("/proc/pressure/io", 2)},
          {"load", FirstLines("/proc/loadavg", 1)}};
}

// What the server says about itself.  Texts of queries may hold values, so they stay behind.
void AddAnswers(const HttpAccess& http, Bundle* bundle) {
  const absl::StatusOr<std::string> ready = HttpGet(http, "/readyz");
  bundle->Add("readyz.txt", ready.ok() ? *ready : std::string(ready.status().message()) + "\n");
  for (const auto& [path, name] :
       {std::pair{"/metrics", "metrics.txt"}, std::pair{"/api/v1/slow", "slow.ndjson"}}) {
    const absl::StatusOr<std::string> answer = HttpGet(http, path);
    answer.ok() ? bundle->Add(name, *answer) : bundle->Miss(name, answer.status());
  }
  const absl::StatusOr<std::string> overview = HttpGet(http, "/api/v1/overview");
  if (!overview.ok()) return bundle->Miss("overview.json", overview.status());
  Json json = Json::parse(*overview, nullptr, false);
  if (!json.is_object())
    return bundle->Miss("overview.json", absl::UnknownError("the answer is no JSON object"));
  for (Json& query : json["slow_queries"]) query.erase("query");
  bundle->Add("overview.json", ToText(json));
}

void AddSettings(const ServeSettings& settings, const SettingOrigins& origins, Bundle* bundle) {
  Json lines = Json::array();
  for (const SettingLine& line : ListSettings(settings)) {
    const auto found = origins.find(line.key.substr(0, line.key.find('.')));
    lines.push_back({{"key", line.key},
                     {"value", line.value},
                     {"from", found == origins.end() ? "default" : found->second}});
  }
  bundle->Add("settings.json", ToText(lines));
}

// The names, sizes and times of the files of a directory; not their contents.
void AddInventory(const std::string& data_dir, Bundle* bundle) {
  std::error_code error;
  fs::recursive_directory_iterator at(data_dir, fs::directory_options::skip_permission_denied, error), end;
  if (error) return bundle->Miss("inventory.txt", absl::UnavailableError(data_dir + ": " + error.message()));
  std::string text;
  size_t files = 0;
  for (; at != end; at.increment(error)) {
    if (error) break;
    std::error_code unknown;  // the file went meanwhile
    if (!at->is_regular_file(unknown)) continue;
    if (++files > kInventoryFilesMax) {
      text += fmt::format("(there are more than {} files)\n", kInventoryFilesMax);
      break;
    }
    const auto modified = fs::last_write_time(at->path(), unknown);
    const auto age =
        std::chrono::duration_cast<std::chrono::seconds>(fs::file_time_type::clock::now() - modified);
    text += fmt::format("{:>16} bytes {:>10} s old  {}\n", at->file_size(unknown), age.count(),
                        fs::relative(at->path(), data_dir, unknown).native());
  }
  if (error) text += "(" + error.message() + ")\n";
  bundle->Add("inventory.txt", text);
}

void AddLog(const std::string& path, size_t number, Bundle* bundle) {
  const std::string name = fmt::format("log-{}.txt", number);
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return bundle->Miss(name, absl::UnavailableError(path + " cannot be read"));
  const auto bytes = static_cast<int64_t>(file.tellg());
  const int64_t from = std::max<int64_t>(bytes - kLogBytesMax, 0);
  file.seekg(from);
  std::string text(static_cast<size_t>(bytes - from), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  // The first line may have lost its beginning, and with it what tells a secret.
  if (from > 0) text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  bundle->Add(name, fmt::format("{}, its last {} of {} bytes\n", path, text.size(), bytes) + text);
}

// A new file, which nobody else may read.
absl::Status WriteBundle(const std::string& path, const std::string& content) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0)
    return absl::FailedPreconditionError(
        fmt::format("--out {} cannot be made: {}", path, std::strerror(errno)));
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t bytes = write(file, content.data() + done, content.size() - done);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;
    done += static_cast<size_t>(bytes);
  }
  const bool is_written = close(file) == 0 && done == content.size();
  if (is_written) return absl::OkStatus();
  unlink(path.c_str());
  return absl::UnavailableError(fmt::format("--out {} cannot be written", path));
}

absl::Status RunBundle(BundleFlags flags) {
  ServeSettings settings;
  SettingOrigins origins;
  if (!flags.config.empty()) {
    if (absl::Status status = LoadServeSettings(flags.config, &settings, &origins); !status.ok())
      return status;
    if (flags.data_dir.empty() && settings.data_dir.has_value()) flags.data_dir = *settings.data_dir;
    if (flags.logs.empty() && settings.log_file.has_value()) flags.logs = {*settings.log_file};
  }
  if (flags.logs.size() > kLogsMax) {
    return absl::InvalidArgumentError(
        fmt::format("--log may be given {} times, but is {} times", kLogsMax, flags.logs.size()));
  }
  Bundle bundle;
  bundle.Add("facts.json", ToText(FactsOfMachine()));
  AddAnswers(flags.http, &bundle);
  if (!flags.config.empty()) AddSettings(settings, origins, &bundle);
  if (!flags.data_dir.empty()) AddInventory(flags.data_dir, &bundle);
  for (size_t i = 0; i < flags.logs.size(); ++i) AddLog(flags.logs[i], i + 1, &bundle);
  if (absl::Status status = WriteBundle(flags.out, bundle.Finish()); !status.ok()) return status;
  if (!bundle.missing().empty()) fmt::print(stderr, "sonde debug bundle: left out:\n{}", bundle.missing());
  if (flags.json) {
    const nlohmann::ordered_json result = {{"file", flags.out}, {"is_whole", bundle.missing().empty()}};
    fmt::print("{}\n", result.dump());
  } else {
    fmt::print("{}\n", flags.out);
  }
  return absl::OkStatus();
}

}  // namespace

void AddDebugCommand(CLI::App& app, int* exit_status) {
  CLI::App* debug = app.add_subcommand("debug", "Collect what a report about a server needs");
  debug->require_subcommand(1);
  CLI::App* command = debug->add_subcommand(
      "bundle", "Write an archive of facts, metrics, settings, the log and names of files");
  command->footer(
      "No rows are in it, no keys, no tokens, and no texts of queries.  Look at it before you give it away: "
      "it has names\n"
      "of tables and accounts.\n"
      "Examples:\n"
      "  sonde debug bundle --out report.tar\n"
      "  journalctl --unit sonde > log; sonde debug bundle --out report.tar --config /etc/sonde/sonde.yaml "
      "--log log");
  auto flags = std::make_shared<BundleFlags>();
  command->add_option("--out", flags->out, "the archive, which is made and must not be there")->required();
  command->add_option("--config", flags->config,
                      "the settings of the server, which also name its directory and its log");
  command->add_option("--data-dir", flags->data_dir,
                      "the directory of the data, for the names and sizes of its files");
  command->add_option("--log", flags->logs,
                      "a log, of which the last 8 MiB are taken; may be given several times");
  AddHttpFlags(*command, &flags->http);
  command->add_flag("--json", flags->json, "print the result as JSON");
  command->callback(
      [flags, exit_status] { *exit_status = EndOfCommand("sonde debug bundle", RunBundle(*flags)); });
}

}  // namespace sonde
