#include "cli/reference/settings_page.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "base/format.h"

namespace sonde {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kBytesPattern = "^[0-9]+ *([kKmMgGtT]([iI]?[bB])?|[bB])?$";
constexpr std::string_view kTimePattern = "^(0|([0-9]+(\\.[0-9]*)?(ns|us|ms|s|m|h))+)$";

// The section of a key with a dot, or nothing.
std::string_view SectionOf(std::string_view key) {
  const size_t dot = key.find('.');
  return dot == std::string_view::npos ? "" : key.substr(0, dot);
}

std::string_view NameOf(SettingKind kind) {
  switch (kind) {
    case SettingKind::kText:
      return "text";
    case SettingKind::kInteger:
      return "number";
    case SettingKind::kBoolean:
      return "true or false";
    case SettingKind::kBytes:
      return "bytes, such as 4GiB";
    case SettingKind::kTime:
      return "time, such as 30s";
  }
  return "";
}

Json SchemaOf(const SettingEntry& entry) {
  Json schema = {{"description", entry.description}};
  switch (entry.kind) {
    case SettingKind::kText:
      schema["type"] = "string";
      break;
    case SettingKind::kInteger:
      schema["type"] = "integer";
      schema["minimum"] = 0;
      break;
    case SettingKind::kBoolean:
      schema["type"] = "boolean";
      break;
    case SettingKind::kBytes:
    case SettingKind::kTime:
      schema["type"] = {"string", "integer"};
      schema["pattern"] = entry.kind == SettingKind::kBytes ? kBytesPattern : kTimePattern;
      break;
  }
  if (!entry.words.empty()) schema["enum"] = entry.words;
  if (entry.fallback.empty()) return schema;
  switch (entry.kind) {
    case SettingKind::kBoolean:
      schema["default"] = entry.fallback == "true";
      break;
    case SettingKind::kInteger:
    case SettingKind::kBytes:
      schema["default"] = std::stoll(entry.fallback);  // as ListSettings writes it
      break;
    default:
      schema["default"] = entry.fallback;
  }
  return schema;
}

Json Section() {
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
}

std::string Cell(const std::string& text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}, {"<", "&lt;"}, {"*", "\\*"}});
}

}  // namespace

std::string SettingsPage(const std::vector<SettingEntry>& entries) {
  std::string page =
      "# Settings of `sonde serve`\n\n"
      "A setting is given by its flag, by the environment, or by the YAML file that `--config` names, in "
      "this order: a flag goes first. An\n"
      "unknown key of the file is an error with its line. `sonde config show` tells each value and where it "
      "is from,\n"
      "`sonde serve --check-config` whether the server would start with them. Members of the section `tls` "
      "have no variable.\n\n"
      "This page is what `sonde config reference` prints, and [settings.schema.json](settings.schema.json), "
      "with which an editor checks\n"
      "the file, is what `sonde config schema` prints. The test `package.settings` compares both.\n\n"
      "| key of the file | flag | environment | value | default | what it does |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  for (const SettingEntry& entry : entries) {
    const bool has_variable = SectionOf(entry.key).empty();
    fmt::format_to(std::back_inserter(page), "| `{}` | `{}` | {} | {} | {} | {} |\n", entry.key, entry.flag,
                   has_variable ? fmt::format("`SONDE_{}`", absl::AsciiStrToUpper(entry.key)) : "",
                   entry.words.empty() ? std::string(NameOf(entry.kind))
                                       : fmt::format("`{}`", fmt::join(entry.words, "`, `")),
                   entry.fallback.empty() ? "" : fmt::format("`{}`", entry.fallback),
                   Cell(entry.description));
  }
  return page;
}

std::string SettingsSchema(const std::vector<SettingEntry>& entries) {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", "The settings of sonde serve"},
                 {"description", "The file that --config names. docs/settings.md is the same for people."}};
  schema.update(Section());
  for (const SettingEntry& entry : entries) {
    const std::string section(SectionOf(entry.key));
    if (section.empty()) {
      schema["properties"][entry.key] = SchemaOf(entry);
      continue;
    }
    Json& inner = schema["properties"][section];
    if (inner.is_null()) inner = Section();
    inner["properties"][entry.key.substr(section.size() + 1)] = SchemaOf(entry);
  }
  return schema.dump(2) + "\n";
}

}  // namespace sonde
