#include "client/channel/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "absl/strings/ascii.h"
#include "base/bytes.h"
#include "base/loopback.h"

namespace sonde {
namespace {

constexpr std::string_view kHttps = "https://";
constexpr std::string_view kHttp = "http://";
constexpr uint16_t kHttpsPort = 443;
constexpr size_t kHostBytesMax = 253;
constexpr char kGoogleDataHost[] = "bigtable.googleapis.com";
constexpr char kGoogleAdminHost[] = "bigtableadmin.googleapis.com";

bool IsHost(std::string_view host, bool is_bracketed) {
  return !host.empty() && host.size() <= kHostBytesMax && std::all_of(host.begin(), host.end(), [&](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_' ||
           (is_bracketed && (c == ':' || c == '%'));
  });
}

bool TakePrefix(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

std::optional<uint16_t> PortOf(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool is_port = error == std::errc() && end == text.data() + text.size() && port > 0;
  return is_port ? std::optional(port) : std::nullopt;
}

absl::Status NoEndpoint(std::string_view text) {
  return absl::InvalidArgumentError(
      fmt::format("an endpoint is HOST:PORT, for example 127.0.0.1:8086; got \"{}\"", Printable(text)));
}

}  // namespace

std::string Endpoint::Target() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

Endpoint Endpoint::ForAdmin() const {
  Endpoint admin = *this;
  if (host == kGoogleDataHost) admin.host = kGoogleAdminHost;
  return admin;
}

absl::StatusOr<Endpoint> ParseEndpoint(std::string_view text, bool has_ca_file) {
  std::string_view rest = text;
  const bool says_tls = TakePrefix(kHttps, &rest);
  const bool says_plain = !says_tls && TakePrefix(kHttp, &rest);
  if (says_tls && rest.ends_with('/')) rest.remove_suffix(1);
  const bool is_bracketed = TakePrefix("[", &rest);
  const size_t host_end = is_bracketed ? rest.find(']') : std::min(rest.find(':'), rest.size());
  if (host_end == std::string_view::npos) return NoEndpoint(text);
  Endpoint endpoint;
  endpoint.host = absl::AsciiStrToLower(std::string(rest.substr(0, host_end)));
  rest.remove_prefix(host_end + (is_bracketed ? 1 : 0));
  if (!IsHost(endpoint.host, is_bracketed)) return NoEndpoint(text);
  const bool has_port = TakePrefix(":", &rest);
  const std::optional<uint16_t> port =
      rest.empty() && !has_port && says_tls ? std::optional(kHttpsPort) : PortOf(rest);
  if (!port.has_value() || (!has_port && !rest.empty())) return NoEndpoint(text);
  endpoint.port = *port;
  endpoint.is_loopback = IsLoopback(endpoint.host);
  endpoint.is_google = endpoint.host.ends_with(".googleapis.com");
  if (says_plain && has_ca_file) {
    return absl::InvalidArgumentError(
        fmt::format("the endpoint \"{}\" is plain text, and --ca-file is for TLS: write https://{}",
                    Printable(text), endpoint.Target()));
  }
  endpoint.is_tls = says_tls || has_ca_file || (!says_plain && !endpoint.is_loopback);
  return endpoint;
}

}  // namespace sonde
