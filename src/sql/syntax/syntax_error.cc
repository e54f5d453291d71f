#include "sql/syntax/syntax_error.h"

#include <fmt/format.h>

#include <string>

#include "absl/strings/cord.h"

namespace sonde::sql {
namespace {

constexpr uint32_t kTabColumns = 8;

// " [at L:C]".
std::string Place(std::string_view text, Position position) {
  const std::string_view before = text.substr(0, position.offset);
  uint32_t line = 1;
  uint32_t column = 1;
  for (size_t i = 0; i < before.size(); ++i) {
    const char c = before[i];
    if (c == '\n' || c == '\r') {
      if (c == '\r' && i + 1 < before.size() && before[i + 1] == '\n') ++i;
      ++line;
      column = 1;
    } else if (c == '\t') {
      column = (column - 1) / kTabColumns * kTabColumns + kTabColumns + 1;
    } else if ((static_cast<uint8_t>(c) & 0xC0) != 0x80) {
      ++column;
    }
  }
  return fmt::format(" [at {}:{}]", line, column);
}

}  // namespace

absl::Status ErrorAt(std::string_view text, Position position, std::string_view message) {
  return absl::InvalidArgumentError(fmt::format("{}{}", message, Place(text, position)));
}

absl::Status ErrorAt(std::string_view text, Position position, const absl::Status& status) {
  if (status.ok()) return status;
  absl::Status placed(status.code(),
                      fmt::format("{}{}", std::string(status.message()), Place(text, position)));
  status.ForEachPayload([&](auto type, const absl::Cord& payload) { placed.SetPayload(type, payload); });
  return placed;
}

}  // namespace sonde::sql
