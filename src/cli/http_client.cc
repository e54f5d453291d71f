#include "cli/http_client.h"

#include <httplib.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "base/format.h"

namespace sonde {
namespace {

constexpr int kConnectSeconds = 3;
constexpr int kAnswerSeconds = 60;

absl::StatusCode CodeOf(int http_code) {
  switch (http_code) {
    case 400:
      return absl::StatusCode::kInvalidArgument;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 501:
      return absl::StatusCode::kUnimplemented;
    case 503:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kUnknown;
  }
}

}  // namespace

absl::StatusOr<std::string> HttpGet(const std::string& address, const std::string& path) {
  const size_t colon = address.rfind(':');
  int port = 0;
  const char* const end = address.data() + address.size();
  if (colon == std::string::npos || std::from_chars(address.data() + colon + 1, end, port).ptr != end ||
      port < 1 || port > 65'535) {
    return absl::InvalidArgumentError(fmt::format("'{}' is no HOST:PORT", address));
  }
  httplib::Client client(address.substr(0, colon), port);
  client.set_connection_timeout(kConnectSeconds);
  client.set_read_timeout(kAnswerSeconds);
  const httplib::Result result = client.Get(path.c_str());
  if (!result) {
    return absl::UnavailableError(
        fmt::format("no HTTP server answers at {}: {}", address, httplib::to_string(result.error())));
  }
  if (result->status == 200) return std::move(result->body);
  const nlohmann::json body = nlohmann::json::parse(result->body, nullptr, false);
  std::string message = fmt::format("{} answered {}", address, result->status);
  if (body.is_object() && body.contains("error")) message = body["error"].value("message", message);
  return absl::Status(CodeOf(result->status), message);
}

std::string PercentEncode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~') {
      encoded.push_back(c);
    } else {
      fmt::format_to(std::back_inserter(encoded), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace sonde
