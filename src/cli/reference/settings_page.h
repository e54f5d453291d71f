// The settings of `sonde serve` for people and for editors: a page (docs/settings.md) and a JSON schema of the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

enum class SettingKind : uint8_t {
  kText,
  kInteger,
  kBoolean,
  kBytes,  // "512MiB", or a number
  kTime,   // "30s", "500ms", "2m"
};

struct SettingEntry {
  std::string key;   // as the file has it; "tls.certificate": `certificate` of the section `tls`
  std::string flag;  // "--data-dir"
  SettingKind kind = SettingKind::kText;
  std::vector<std::string> words;  // one of them is the value; empty: any value of the kind
  std::string fallback;            // the value where nothing is set; empty: there is none
  std::string description;
};

// The page, in Markdown.
std::string SettingsPage(const std::vector<SettingEntry>& entries);

// The schema of the file, by JSON Schema's draft 7.
std::string SettingsSchema(const std::vector<SettingEntry>& entries);

}  // namespace sonde
