// ops/sonde.yaml, the settings that packages install, beside the settings that there are.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/serve_settings.h"

namespace sonde {
namespace {

constexpr char kPackagedFile[] = SONDE_SOURCE_DIR "/ops/sonde.yaml";

// A setting of the file: "# port: 8086" is a comment that shows the default; "# name:" has none to show.
struct PackagedSetting {
  std::string key;
  std::string value;
  bool is_comment = false;
};

std::vector<PackagedSetting> ReadPackagedSettings() {
  std::vector<PackagedSetting> found;
  std::ifstream file(kPackagedFile);
  EXPECT_TRUE(file.good()) << kPackagedFile;
  for (std::string line; std::getline(file, line);) {
    std::string_view text = line;
    const bool is_comment = text.starts_with("# ");
    if (is_comment) text.remove_prefix(2);
    const size_t colon = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
    if (colon == 0 || colon == std::string_view::npos || text[colon] != ':') continue;
    // In prose, more than one word follows a colon.
    std::string_view value = text.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (value.find(' ') == std::string_view::npos)
      found.push_back({std::string(text.substr(0, colon)), std::string(value), is_comment});
  }
  return found;
}

// Loads `text` as a file; returns the error.
std::string LoadText(const std::string& text, ServeSettings* settings) {
  const std::string file = absl::StrCat(testing::TempDir(), "/sonde_packaged_settings_", getpid(), ".yaml");
  std::ofstream(file) << text;
  const absl::Status status = LoadServeSettings(file, settings);
  std::remove(file.c_str());
  return std::string(status.message());
}

TEST(PackagedSettings, NameEverySettingOnce) {
  std::vector<std::string> named;
  for (const PackagedSetting& setting : ReadPackagedSettings()) named.push_back(setting.key);
  ServeSettings settings;
  const std::string error = LoadText("no_such_setting: 1\n", &settings);
  ASSERT_THAT(error, testing::HasSubstr("known are "));
  const std::string known = error.substr(error.find("known are ") + 10);
  EXPECT_THAT(named,
              testing::UnorderedElementsAreArray(std::vector<std::string>(absl::StrSplit(known, ", "))));
}

TEST(PackagedSettings, ShowTheDefaults) {
  std::string text;
  for (const PackagedSetting& setting : ReadPackagedSettings()) {
    if (setting.is_comment && !setting.value.empty())
      absl::StrAppend(&text, setting.key, ": ", setting.value, "\n");
  }
  ServeSettings settings;
  ASSERT_EQ(LoadText(text, &settings), "");
  ServeSettings defaults;
  defaults.http_port = kHttpPortUsual;
  EXPECT_EQ(settings, defaults) << text;
}

TEST(PackagedSettings, ChangeThePlaceOfTheDataAlone) {
  ServeSettings settings;
  ASSERT_TRUE(LoadServeSettings(kPackagedFile, &settings).ok());
  EXPECT_EQ(settings.data_dir, "/var/lib/sonde");
  settings.data_dir.reset();
  EXPECT_EQ(settings, ServeSettings());
}

}  // namespace
}  // namespace sonde
