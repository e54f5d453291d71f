// Walks over a JSON text in place, without a tree.
//
//   JsonScanner scanner(text);
//   if (scanner.Find(path) == JsonScanner::Found::kValue) scanner.WriteValue(&out);
//
// What counts as JSON is what GoogleSQL's functions of STRING take, which is more than RFC 8259: strings in single quotes; the escapes
// \v, \x41 and \101; a backslash before any other character; a comma behind the last member; nothing where a value should stand,
// which is null. Only what lies before the end of the value that is sought is looked at.
//
// Ownership: a scanner views the text, and gives views of it.
// Threads: of one thread at a time.
// Cost: one pass; the text is read eight bytes at a time within strings.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sql/text/json_path.h"

namespace sonde::sql {

class JsonScanner {
 public:
  // How deep objects and arrays may lie within one another; GoogleSQL's.
  static constexpr int kDepthMax = 1000;

  explicit JsonScanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  enum class Found : uint8_t { kNothing, kValue, kFault };
  // Goes to the first value at a path; called once, first.  kNothing: there is none.  kFault: the text is no JSON, or too deep.
  Found Find(const JsonPath& path) { return FindStep(path, 0); }

  // What stands at the place of a value.
  enum class Kind : uint8_t { kFault, kObject, kArray, kString, kNumber, kBool, kNull };
  Kind Peek();

  // --- All of these return false at a fault.
  // Goes behind a value.
  bool SkipValue();
  // Goes behind a value and appends it as compact JSON.
  bool WriteValue(std::string* out);
  // Goes behind a number, true, false or null.  `text`: as it stands there.
  bool TakePlain(std::string_view* text);
  // Goes behind a string.
  struct String {
    std::string_view inside;  // between the quotes, as written
    bool has_escapes = false;
  };
  bool TakeString(String* string);
  // Goes into an array: to its first element, or behind it if it is empty.
  bool EnterArray(bool* has_element);
  // Behind an element of the array: goes to the next one, or behind the array.
  bool NextElement(bool* has_element);

  // Whether the fault was the depth.
  bool is_too_deep() const { return is_too_deep_; }

  // Appends what a string with escapes stands for.
  static void AppendUnescaped(std::string_view inside, std::string* text);

 private:
  enum class Next : uint8_t { kMore, kClosed, kFault };

  // The first byte that is not space; NUL at the end.
  char Skip();
  bool Enter();
  // Behind a member or element: goes to the next one, or behind the bracket that closes.
  Next AfterItem(char closing);
  // Goes behind a key and its colon.
  bool TakeKey(String* key);
  bool ScanString(String* string);
  bool TakeWord(std::string_view word);
  bool TakeNumber();
  bool SkipEscape();
  // Goes behind a value that has none within, and begins with this byte.
  bool SkipPlain(char first);
  bool SkipContainer();
  bool WriteItems(char closing, std::string* out);

  Found FindStep(const JsonPath& path, size_t step);
  Found FindInObject(const JsonPath& path, size_t step);
  Found FindInArray(const JsonPath& path, size_t step);

  const char* at_;
  const char* const end_;
  int depth_ = 0;
  bool is_too_deep_ = false;
  std::bitset<kDepthMax + 1> is_object_;  // of the levels that SkipValue is in
};

// Appends a string of JSON, with quotes.
void AppendJsonString(std::string_view text, std::string* out);
// Whether a string of JSON cannot hold the text as it is.
bool NeedsJsonEscapes(std::string_view text);

}  // namespace sonde::sql
