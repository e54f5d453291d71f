#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/datum.h"
#include "sql/function/bounds.h"
#include "sql/function/call.h"
#include "sql/function/function.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/text/functions.h"
#include "sql/text/json_path.h"
#include "sql/text/json_scanner.h"
#include "sql/text/json_text.h"

namespace sonde::sql {
namespace {

constexpr JsonPathStyle kDoubleQuotes = JsonPathStyle::kDoubleQuotes;
constexpr JsonPathStyle kBrackets = JsonPathStyle::kBrackets;

// The last path of a call, parsed.
class JsonPathState : public CallState {
 public:
  absl::StatusOr<const JsonPath*> Get(std::string_view text, JsonPathStyle style) {
    if (!is_parsed_ || text_ != text) {
      absl::StatusOr<JsonPath> path = ParseJsonPath(text, style);
      if (!path.ok()) return path.status();
      path_ = *std::move(path);
      text_ = text;
      is_parsed_ = true;
    }
    return &path_;
  }
  WorkMeter& meter() { return meter_; }

 private:
  bool is_parsed_ = false;
  std::string text_;
  JsonPath path_;
  WorkMeter meter_;
};

// What an extraction comes to where the text is no JSON: nothing, or an error if it is too deep.
absl::Status StatusOfFault(const JsonScanner& scanner) {
  if (!scanner.is_too_deep()) return absl::OkStatus();
  return absl::OutOfRangeError(
      "JSON parsing failed due to deeply nested array/struct. Maximum nesting depth is 1000");
}

using JsonText = absl::StatusOr<std::optional<std::string_view>>;
using JsonTexts = absl::StatusOr<std::optional<absl::Span<const Datum>>>;

template <typename Result>
absl::StatusOr<std::optional<Result>> NothingAt(const JsonScanner& scanner) {
  if (absl::Status fault = StatusOfFault(scanner); !fault.ok()) return fault;
  return std::optional<Result>();
}

// Goes to the value at a path.  OK and false: there is none.
absl::StatusOr<bool> FindPath(Call& call, std::string_view json, std::string_view path_text,
                              JsonPathStyle style, JsonScanner* scanner) {
  auto& state = call.state<JsonPathState>();
  const absl::StatusOr<const JsonPath*> path = state.Get(path_text, style);
  if (!path.ok()) return path.status();
  if (absl::Status status = state.meter().Add(call, json.size()); !status.ok()) return status;
  if (scanner->Find(**path) == JsonScanner::Found::kValue) return true;
  if (absl::Status fault = StatusOfFault(*scanner); !fault.ok()) return fault;
  return false;
}

std::string_view Unescaped(Call& call, const JsonScanner::String& string) {
  if (!string.has_escapes) return string.inside;
  std::string text;
  JsonScanner::AppendUnescaped(string.inside, &text);
  return call.arena()->Copy(text);
}

// A string's text, or a number or BOOL as written; nothing of null, objects and arrays.  False: a fault.
bool TakeScalar(Call& call, JsonScanner* scanner, std::optional<std::string_view>* text) {
  switch (scanner->Peek()) {
    case JsonScanner::Kind::kString: {
      JsonScanner::String string;
      if (!scanner->TakeString(&string)) return false;
      *text = Unescaped(call, string);
      return true;
    }
    case JsonScanner::Kind::kNumber:
    case JsonScanner::Kind::kBool:
      return scanner->TakePlain(&text->emplace());
    case JsonScanner::Kind::kNull: {
      std::string_view null;
      text->reset();
      return scanner->TakePlain(&null);
    }
    default:
      return false;
  }
}

template <JsonPathStyle kStyle>
JsonText JsonScalar(Call& call, std::string_view json, std::string_view path) {
  JsonScanner scanner(json);
  const absl::StatusOr<bool> is_found = FindPath(call, json, path, kStyle, &scanner);
  if (!is_found.ok()) return is_found.status();
  std::optional<std::string_view> text;
  if (!*is_found || !TakeScalar(call, &scanner, &text)) return std::nullopt;
  return text;
}

template <JsonPathStyle kStyle>
JsonText JsonScalarOfRoot(Call& call, std::string_view json) {
  return JsonScalar<kStyle>(call, json, "$");
}

template <JsonPathStyle kStyle>
JsonText JsonSubtree(Call& call, std::string_view json, std::string_view path) {
  JsonScanner scanner(json);
  const absl::StatusOr<bool> is_found = FindPath(call, json, path, kStyle, &scanner);
  if (!is_found.ok()) return is_found.status();
  if (!*is_found || scanner.Peek() == JsonScanner::Kind::kNull) return std::nullopt;
  if (absl::Status status = AskForRoom(call, json.size()); !status.ok()) return status;
  std::string subtree;
  if (!scanner.WriteValue(&subtree)) return NothingAt<std::string_view>(scanner);
  return call.arena()->Copy(subtree);
}

JsonTexts KeepElements(Call& call, const std::vector<Datum>& elements) {
  Datum* const kept = call.arena()->New<Datum>(elements.size());
  std::copy(elements.begin(), elements.end(), kept);
  return absl::MakeConstSpan(kept, elements.size());
}

// The elements of the array at a path.  `take` takes one; false: it has none, and so the whole has none.
template <typename Take>
JsonTexts JsonElements(Call& call, std::string_view json, std::string_view path, JsonPathStyle style,
                       const Take& take) {
  JsonScanner scanner(json);
  const absl::StatusOr<bool> is_found = FindPath(call, json, path, style, &scanner);
  if (!is_found.ok()) return is_found.status();
  if (!*is_found || scanner.Peek() != JsonScanner::Kind::kArray) return std::nullopt;
  // Elements may be as short as a comma.
  if (absl::Status status = AskForRoom(call, json.size() * 2); !status.ok()) return status;
  std::vector<Datum> elements;
  bool has_element = false;
  if (!scanner.EnterArray(&has_element)) return NothingAt<absl::Span<const Datum>>(scanner);
  while (has_element) {
    if (!take(&scanner, &elements.emplace_back()) || !scanner.NextElement(&has_element)) {
      return NothingAt<absl::Span<const Datum>>(scanner);
    }
  }
  return KeepElements(call, elements);
}

template <JsonPathStyle kStyle>
JsonTexts JsonSubtrees(Call& call, std::string_view json, std::string_view path) {
  std::string element;
  return JsonElements(call, json, path, kStyle, [&](JsonScanner* scanner, Datum* datum) {
    element.clear();
    if (!scanner->WriteValue(&element)) return false;
    *datum = Datum::Bytes(call.arena()->Copy(element));
    return true;
  });
}

template <JsonPathStyle kStyle>
JsonTexts JsonScalars(Call& call, std::string_view json, std::string_view path) {
  return JsonElements(call, json, path, kStyle, [&](JsonScanner* scanner, Datum* datum) {
    std::optional<std::string_view> text;
    if (!TakeScalar(call, scanner, &text)) return false;
    *datum = text.has_value() ? Datum::Bytes(*text) : Datum::Missing();
    return true;
  });
}

template <JsonPathStyle kStyle>
JsonTexts JsonSubtreesOfRoot(Call& call, std::string_view json) {
  return JsonSubtrees<kStyle>(call, json, "$");
}
template <JsonPathStyle kStyle>
JsonTexts JsonScalarsOfRoot(Call& call, std::string_view json) {
  return JsonScalars<kStyle>(call, json, "$");
}

template <JsonPathStyle kStyle>
std::vector<Overload> ScalarOverloads() {
  return {Scalar("(STRING, [STRING]) -> STRING",
                 KernelByCount<1, RowKernel<JsonScalarOfRoot<kStyle>>, RowKernel<JsonScalar<kStyle>>>)};
}
template <JsonPathStyle kStyle>
std::vector<Overload> SubtreesOverloads() {
  return {Scalar("(STRING, [STRING]) -> ARRAY<STRING>",
                 KernelByCount<1, RowKernel<JsonSubtreesOfRoot<kStyle>>, RowKernel<JsonSubtrees<kStyle>>>)};
}
template <JsonPathStyle kStyle>
std::vector<Overload> ScalarsOverloads() {
  return {Scalar("(STRING, [STRING]) -> ARRAY<STRING>",
                 KernelByCount<1, RowKernel<JsonScalarsOfRoot<kStyle>>, RowKernel<JsonScalars<kStyle>>>)};
}

std::vector<Function> OlderJsonFunctions() {
  return {
      {.name = "JSON_EXTRACT",
       .overloads = {Scalar("(STRING, STRING) -> STRING", RowKernel<JsonSubtree<kBrackets>>)},
       .meaning = "As JSON_QUERY, with ['name'] for names of other characters.",
       .examples = {R"(JSON_EXTRACT('{"a.b": {"c": 1}}', "$['a.b']"))"}},
      {.name = "JSON_EXTRACT_SCALAR",
       .overloads = ScalarOverloads<kBrackets>(),
       .meaning = "As JSON_VALUE, with ['name'] for names of other characters.",
       .examples = {R"(JSON_EXTRACT_SCALAR('{"a.b": {"c": 1}}', "$['a.b'].c"))"}},
      {.name = "JSON_EXTRACT_ARRAY",
       .overloads = SubtreesOverloads<kBrackets>(),
       .meaning = "As JSON_QUERY_ARRAY, with ['name'] for names of other characters.",
       .examples = {R"(JSON_EXTRACT_ARRAY('{"a.b": [1, "x"]}', "$['a.b']"))"}},
      {.name = "JSON_EXTRACT_STRING_ARRAY",
       .overloads = ScalarsOverloads<kBrackets>(),
       .meaning = "As JSON_VALUE_ARRAY, with ['name'] for names of other characters.",
       .examples = {R"(JSON_EXTRACT_STRING_ARRAY('{"a.b": [1, "x"]}', "$['a.b']"))"}},
  };
}

}  // namespace

std::vector<Function> JsonFunctions() {
  std::vector<Function> functions = {
      {.name = "JSON_VALUE",
       .overloads = ScalarOverloads<kDoubleQuotes>(),
       .meaning = "The string, number or BOOL at a path of a JSON text, as a STRING; numbers as written.  "
                  "NULL where something else or "
                  "nothing is there, or where the text is no JSON.  Paths are $.name, $[0] and, for names of "
                  "other characters, $.\"na.me\".",
       .examples = {R"(JSON_VALUE('{"name": "Jakob", "age": "6"}', '$.age'))",
                    R"(JSON_VALUE('[1.50, 2]', '$[0]'))"}},
      {.name = "JSON_QUERY",
       .overloads = {Scalar("(STRING, STRING) -> STRING", RowKernel<JsonSubtree<kDoubleQuotes>>)},
       .meaning = "What is at a path of a JSON text, as a compact JSON text.  NULL where null or nothing is "
                  "there, or where the text is no "
                  "JSON.",
       .examples =
           {R"(JSON_QUERY('{"class": {"students": [{"id": 5}, {"id": 12}]}}', '$.class.students[0]'))"}},
      {.name = "JSON_QUERY_ARRAY",
       .overloads = SubtreesOverloads<kDoubleQuotes>(),
       .meaning = "The elements of the array at a path of a JSON text, as JSON texts.  NULL where something "
                  "else is there.",
       .examples = {R"(JSON_QUERY_ARRAY('{"fruits": ["apples", {"n": 1}]}', '$.fruits'))"}},
      {.name = "JSON_VALUE_ARRAY",
       .overloads = ScalarsOverloads<kDoubleQuotes>(),
       .meaning = "The elements of the array at a path of a JSON text, as strings; null is NULL.  NULL where "
                  "something else is there, or where "
                  "an element is an object or an array.",
       .examples = {R"(JSON_VALUE_ARRAY('{"fruits": ["apples", 2, null]}', '$.fruits'))"}},
  };
  std::vector<Function> older = OlderJsonFunctions();
  functions.insert(functions.end(), std::make_move_iterator(older.begin()),
                   std::make_move_iterator(older.end()));
  functions.push_back(ToJsonStringFunction());
  return functions;
}

}  // namespace sonde::sql
