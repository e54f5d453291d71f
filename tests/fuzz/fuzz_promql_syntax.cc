// PromQL: any text is read or refused by place, and what is read is printed as a text that reads as the same.
#include <string>
#include <string_view>

#include "promql/syntax/parser.h"
#include "promql/syntax/printer.h"
#include "target.h"

namespace sonde::promql {
namespace {

constexpr size_t kTextBytes = 1 << 14;

void CheckQuery(std::string_view text) {
  const ParseOptions options{.allows_experimental = true};
  const auto tree = ParseQuery(text, options);
  if (!tree.ok()) {
    const bool is_refused = absl::IsInvalidArgument(tree.status());
    Require(is_refused || absl::IsResourceExhausted(tree.status()), "the code of a refusal");
    const std::string message(tree.status().message());
    Require(!is_refused || message.find(": parse error: ") != std::string::npos, "a refusal names the place");
    return;
  }
  const std::string printed = Print(**tree);
  const auto again = ParseQuery(printed, options);
  // Lengths below a millisecond are printed as none, as Prometheus prints them.
  if (!again.ok()) {
    Require(printed.find("0s") != std::string::npos, "what is printed is read");
    return;
  }
  Require(Print(**again) == printed, "as the same");
  const auto of_lines = ParseQuery(PrintLines(**tree), options);
  Require(of_lines.ok() && Print(**of_lines) == printed, "on several lines, too");
}

}  // namespace
}  // namespace sonde::promql

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > sonde::promql::kTextBytes) return 0;
  sonde::promql::CheckQuery({reinterpret_cast<const char*>(data), size});
  return 0;
}
