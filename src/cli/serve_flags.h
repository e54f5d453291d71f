// The settings of `sonde serve` as a command line, the environment and a file give them, in this order.
//
// Threads: not for several threads.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/reference/settings_page.h"
#include "server/serve_settings.h"

namespace sonde {

class ServeFlags {
 public:
  // Adds the flags to the command, which must outlive this.
  static std::shared_ptr<ServeFlags> Add(CLI::App* command);

  // The settings as they are now: the file is read each time.  `origins` may be null.
  // Errors: those of LoadServeSettings, LoadEnvironment, ParseBytes and ParseTime.
  absl::StatusOr<ServeSettings> Settings(SettingOrigins* origins) const;

  // All settings, in the order of kSettingKeys; the section tls by its members, "tls.certificate".
  std::vector<SettingEntry> Entries() const;

 private:
  struct Taken {
    CLI::Option* option;
    std::string key;
    SettingKind kind;
    // Puts the flag's value into the settings.
    std::function<absl::Status(ServeSettings* settings)> take;
  };

  ServeFlags() = default;
  void AddPlaces(CLI::App* command);
  void AddStoreTls(CLI::App* command);
  void AddLimits(CLI::App* command);
  void AddLogs(CLI::App* command);
  void AddSecurity(CLI::App* command);
  // The value of `flag` goes into the setting `key`, by `take`.
  void Take(CLI::Option* flag, std::string key, SettingKind kind,
            std::function<absl::Status(ServeSettings* settings)> take);
  // The value, as it is, goes into a member of the settings.
  template <typename Value, typename Member>
  void TakeValue(CLI::Option* flag, std::string key, const Value* value, Member ServeSettings::* member);

  ServeSettings values_;
  int http_port_ = kHttpPortUsual;
  std::string data_dir_ = kDataDirUsual;
  std::string store_;
  std::string memory_;
  std::string drain_delay_ = "0s";
  std::string grace_ = "30s";
  std::string pitr_keep_ = "24h";
  std::string config_;
  std::string auth_;
  std::string audit_log_;
  std::string log_file_;
  tls::Files tls_;
  std::vector<Taken> taken_;
};

}  // namespace sonde
