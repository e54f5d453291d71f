#include "web/http/request_check.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
#include "base/bytes.h"

namespace sonde {
namespace {

// host of host[:port], without brackets; empty when it is neither.
std::string HostOf(std::string_view authority) {
  std::string host;
  std::string_view rest;
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos) return "";
    host = authority.substr(1, end - 1);
    rest = authority.substr(end + 1);
  } else {
    const size_t end = std::min(authority.find(':'), authority.size());
    host = authority.substr(0, end);
    rest = authority.substr(end);
  }
  const bool port_fits = rest.empty() || (rest[0] == ':' && rest.size() >= 2 && rest.size() <= 6 &&
                                          std::all_of(rest.begin() + 1, rest.end(), absl::ascii_isdigit));
  if (!port_fits) return "";
  absl::AsciiStrToLower(&host);
  return host;
}

bool IsAddress(const std::string& host) {
  in6_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1 || inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

}  // namespace

absl::Status CheckHostAndOrigin(const HttpRequest& request, const std::vector<std::string>& names,
                                bool has_tls) {
  const std::string authority = request.Header("host").value_or("");
  const std::string host = HostOf(authority);
  if (host.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("Host must be HOST or HOST:PORT, but is '{}'", Printable(authority)));
  }
  // With TLS the client has found the name in the certificate, which no other site can show.
  if (!has_tls && !IsAddress(host) && host != "localhost" &&
      std::find(names.begin(), names.end(), host) == names.end()) {
    return absl::PermissionDeniedError(fmt::format(
        "Host '{}' is no name of this server: use its address, or localhost", Printable(authority)));
  }
  const std::optional<std::string> origin = request.Header("origin");
  const std::string scheme = has_tls ? "https://" : "http://";
  if (origin.has_value() && absl::AsciiStrToLower(*origin) != scheme + absl::AsciiStrToLower(authority)) {
    return absl::PermissionDeniedError(
        fmt::format("Requests from pages of other origins are refused: Origin is '{}', this server is '{}{}'",
                    Printable(*origin), scheme, Printable(authority)));
  }
  const std::string site = request.Header("sec-fetch-site").value_or("none");
  const bool follows_link = request.method == "GET" && request.Header("sec-fetch-mode") == "navigate";
  if (site != "none" && site != "same-origin" && !follows_link) {
    return absl::PermissionDeniedError("Requests from pages of other sites are refused (Sec-Fetch-Site)");
  }
  return absl::OkStatus();
}

}  // namespace sonde
