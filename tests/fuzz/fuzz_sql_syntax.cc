// Queries: any text is read or refused by place, and what is read is printed as a text that reads as the same.
#include <string>
#include <string_view>

#include "sql/syntax/parser.h"
#include "sql/syntax/printer.h"
#include "target.h"

namespace sonde::sql {
namespace {

constexpr size_t kTextBytes = 1 << 16;

void CheckRefusal(const absl::Status& status) {
  Require(status.code() == absl::StatusCode::kInvalidArgument, "the code of a refusal");
  Require(std::string(status.message()).find(" [at ") != std::string::npos, "a refusal names the place");
}

void CheckStatement(std::string_view text) {
  const auto statement = ParseStatement(text);
  if (!statement.ok()) return CheckRefusal(statement.status());
  const std::string printed = Print(**statement);
  const auto again = ParseStatement(printed);
  Require(again.ok(), "what is printed is read");
  Require(Print(**again) == printed, "as the same");
}

void CheckExpression(std::string_view text) {
  const auto expr = ParseExpression(text);
  if (!expr.ok()) return CheckRefusal(expr.status());
  const std::string printed = Print(**expr);
  const auto again = ParseExpression(printed);
  Require(again.ok(), "an expression that is printed is read");
  Require(Print(**again) == printed, "as the same expression");
}

}  // namespace
}  // namespace sonde::sql

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > sonde::sql::kTextBytes) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  sonde::sql::CheckStatement(text);
  sonde::sql::CheckExpression(text);
  return 0;
}
