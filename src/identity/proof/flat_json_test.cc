#include "identity/proof/flat_json.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

std::string Shown(const FlatJson& json, std::string_view name) {
  const FlatJsonValue* const value = json.Find(name);
  if (value == nullptr) return "none";
  if (const auto* text = std::get_if<std::string>(value)) return "text " + *text;
  if (const auto* number = std::get_if<int64_t>(value)) return "number " + std::to_string(*number);
  if (const auto* texts = std::get_if<std::vector<std::string>>(value)) {
    std::string shown = "list";
    for (const std::string& text : *texts) shown += " " + text;
    return shown;
  }
  return "other";
}

std::string ErrorOf(std::string_view text) {
  const auto json = FlatJson::Read(text);
  return json.ok() ? "" : std::string(json.status().message());
}

TEST(FlatJson, KeepsTextsNumbersAndListsOfTexts) {
  const auto json = FlatJson::Read(
      R"({"t":"a","n":-5,"l":["x","y"],"e":[],"m":["x",1],"f":1.5,"b":true,"z":null,"o":{"t":"b"},"p":[["x"]],)"
      R"("q":["x",["y"],"z"],"r":[{"t":"c"},"x"],"u":18446744073709551615,"s":"last"})");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(Shown(*json, "t"), "text a");
  EXPECT_EQ(Shown(*json, "n"), "number -5");
  EXPECT_EQ(Shown(*json, "l"), "list x y");
  EXPECT_EQ(Shown(*json, "e"), "list");
  for (const char* const name : {"m", "f", "b", "z", "o", "p", "q", "r", "u"})
    EXPECT_EQ(Shown(*json, name), "other") << name;
  EXPECT_EQ(Shown(*json, "s"), "text last");
  EXPECT_EQ(Shown(*json, "x"), "none");
}

TEST(FlatJson, RefusesWhatMayBeReadInTwoWays) {
  EXPECT_EQ(ErrorOf("{}"), "");
  EXPECT_EQ(ErrorOf(R"({"a":1,"a":1})"), "a member comes twice");
  EXPECT_EQ(ErrorOf(R"({"o":[{"a":1,"a":1}]})"), "a member comes twice");
  EXPECT_EQ(ErrorOf(R"({"a":{"a":{"a":1}}})"), "");
  EXPECT_EQ(ErrorOf("[]"), "the JSON is no object");
  EXPECT_EQ(ErrorOf(" {}"), "the JSON is no object");
  EXPECT_EQ(ErrorOf("{}x"), "the JSON cannot be read");
  EXPECT_EQ(ErrorOf("{} "), "");
  EXPECT_EQ(ErrorOf("{\"a\":\"\xFF\"}"), "the JSON cannot be read");
  EXPECT_EQ(ErrorOf(R"({"a":1e999})"), "the JSON cannot be read");
  EXPECT_EQ(ErrorOf(R"({"a":NaN})"), "the JSON cannot be read");
  std::string deep = "{\"a\":";
  for (int i = 0; i < kJsonDepthMax - 1; ++i) deep += "[";
  EXPECT_EQ(ErrorOf(deep), "the JSON cannot be read");  // it only has no end
  EXPECT_EQ(ErrorOf(deep + "["), "the JSON is nested too deeply");
}

}  // namespace
}  // namespace sonde
