#include "cli/reach/command_end.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace sonde {
namespace {

bool g_errors_are_json = false;

}  // namespace

void WriteErrorsAsJson() { g_errors_are_json = true; }

void WriteError(std::string_view command, absl::StatusCode code, std::string_view message) {
  if (!g_errors_are_json) {
    fmt::print(stderr, "{}: {}\n", command, message);
    return;
  }
  const nlohmann::ordered_json error = {
      {"error",
       {{"command", command}, {"code", std::string(absl::StatusCodeToString(code))}, {"message", message}}}};
  fmt::print(stderr, "{}\n", error.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

int EndOfCommand(std::string_view command, const absl::Status& status) {
  if (status.ok()) return 0;
  const absl::string_view message = status.message();
  WriteError(command, status.code(), {message.data(), message.size()});
  return absl::IsInvalidArgument(status) ? 2 : 1;
}

}  // namespace sonde
