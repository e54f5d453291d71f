// JSON: any path is read or refused, and what is found in any text is written as JSON that is found and written as the same.
#include <algorithm>
#include <string>
#include <string_view>

#include "sql/text/json_path.h"
#include "sql/text/json_scanner.h"
#include "target.h"

namespace sonde::sql {
namespace {

constexpr size_t kTextBytes = 1 << 14;

// The compact text of the value at a path; false: there is none, or the text is faulty.
bool WriteAt(std::string_view text, const JsonPath& path, std::string* out) {
  JsonScanner scanner(text);
  return scanner.Find(path) == JsonScanner::Found::kValue && scanner.WriteValue(out);
}

void CheckElements(std::string_view text, const JsonPath& path) {
  JsonScanner scanner(text);
  if (scanner.Find(path) != JsonScanner::Found::kValue || scanner.Peek() != JsonScanner::Kind::kArray) return;
  bool has_element = false;
  size_t count = 0;
  if (!scanner.EnterArray(&has_element)) return;
  while (has_element) {
    Require(++count <= text.size() + 1, "an array has no more elements than bytes");
    std::string element;
    if (!scanner.WriteValue(&element) || !scanner.NextElement(&has_element)) return;
  }
}

void CheckString(std::string_view text, const JsonPath& path) {
  JsonScanner scanner(text);
  if (scanner.Find(path) != JsonScanner::Found::kValue || scanner.Peek() != JsonScanner::Kind::kString)
    return;
  JsonScanner::String string;
  if (!scanner.TakeString(&string)) return;
  std::string plain;
  JsonScanner::AppendUnescaped(string.inside, &plain);
  std::string written;
  AppendJsonString(plain, &written);
  JsonScanner again(written);
  JsonScanner::String second;
  Require(again.Find({}) == JsonScanner::Found::kValue && again.TakeString(&second),
          "a written string is one");
  std::string read;
  JsonScanner::AppendUnescaped(second.inside, &read);
  Require(read == plain, "a string is read as it was written");
}

void CheckText(std::string_view text, const JsonPath& path) {
  std::string first;
  if (WriteAt(text, path, &first)) {
    std::string second;
    Require(WriteAt(first, {}, &second), "what was written is JSON");
    Require(second == first, "what is compact stays as it is");
    JsonScanner skipping(text);
    Require(skipping.Find(path) == JsonScanner::Found::kValue && skipping.SkipValue(),
            "a value that is written is skipped");
  }
  CheckElements(text, path);
  CheckString(text, path);
}

}  // namespace
}  // namespace sonde::sql

// A line with the path, and the text behind it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using sonde::sql::JsonPath;
  if (size > sonde::sql::kTextBytes) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(input.find('\n'), input.size());
  const std::string_view text = input.substr(std::min(line + 1, input.size()));
  sonde::sql::CheckText(text, {});
  for (const auto style : {sonde::sql::JsonPathStyle::kDoubleQuotes, sonde::sql::JsonPathStyle::kBrackets}) {
    const absl::StatusOr<JsonPath> path = sonde::sql::ParseJsonPath(input.substr(0, line), style);
    if (path.ok()) {
      sonde::sql::CheckText(text, *path);
    } else {
      sonde::Require(path.status().code() == absl::StatusCode::kOutOfRange, "the code of a refusal");
    }
  }
  return 0;
}
