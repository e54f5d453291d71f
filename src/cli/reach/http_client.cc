#include "cli/reach/http_client.h"

#include <httplib.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "base/format.h"

namespace sonde {
namespace {

constexpr int kConnectSeconds = 3;
constexpr int kAnswerSeconds = 60;
constexpr size_t kTokenBytesMax = 4096;

absl::StatusCode CodeOf(int http_code) {
  switch (http_code) {
    case 400:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
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

// Takes `prefix` off the front of `text`, if it is there.
bool Consume(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  struct stat facts{};
  if (stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return absl::InvalidArgumentError(fmt::format("--token-file {} cannot be read", path));
  if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return absl::InvalidArgumentError(
        fmt::format("--token-file {} has the mode {:04o}: others may use it; `chmod 600` shuts them out",
                    path, facts.st_mode & 07777));
  }
  std::ifstream file(path);
  std::string token;
  file >> token;
  if (token.empty() || token.size() > kTokenBytesMax)
    return absl::InvalidArgumentError(fmt::format("--token-file {} holds no token", path));
  return token;
}

std::string_view WhyNoAnswer(httplib::Error error) {
  switch (error) {
    case httplib::Error::Connection:
      return "nobody listens there, or a firewall is between; `sonde serve` prints the address of its page";
    case httplib::Error::Read:
    case httplib::Error::Write:
      return "the port speaks no HTTP, or the answer took too long; the Bigtable port is another one (--http "
             "wants "
             "that of the page, usually 8087)";
    case httplib::Error::SSLConnection:
    case httplib::Error::SSLLoadingCerts:
    case httplib::Error::SSLServerVerification:
      return "TLS failed; --ca names the CA of the server's certificate";
    default:
      return "the connection broke off";
  }
}

}  // namespace

absl::StatusOr<std::string> HttpGet(const std::string& address, const std::string& path) {
  return HttpGet(HttpAccess{.address = address}, path);
}

void AddHttpFlags(CLI::App& app, HttpAccess* access) {
  app.add_option("--http", access->address, "the HTTP address of the server: HOST:PORT or https://HOST:PORT")
      ->capture_default_str();
  app.add_option("--token-file", access->token_file,
                 "a file with a token (`sonde auth create-token`), where the server asks who calls");
  app.add_option("--ca", access->ca_file,
                 "a PEM file of the CAs that are trusted, with https [the system's]");
}

absl::StatusOr<std::string> HttpGet(const HttpAccess& access, const std::string& path) {
  std::string_view place = access.address;
  const bool has_tls = Consume("https://", &place);
  if (!has_tls) Consume("http://", &place);
  if (place.ends_with('/')) place.remove_suffix(1);
  const size_t colon = place.rfind(':');
  int port = 0;
  const char* const end = place.data() + place.size();
  if (colon == std::string_view::npos || std::from_chars(place.data() + colon + 1, end, port).ptr != end ||
      port < 1 || port > 65'535) {
    return absl::InvalidArgumentError(fmt::format("'{}' is no HOST:PORT", access.address));
  }
  httplib::Headers headers;
  if (!access.token_file.empty()) {
    absl::StatusOr<std::string> token = ReadToken(access.token_file);
    if (!token.ok()) return token.status();
    headers.emplace("Authorization", "Bearer " + *token);
  }
  httplib::Client client(fmt::format("{}://{}", has_tls ? "https" : "http", place));
  if (has_tls && !access.ca_file.empty()) client.set_ca_cert_path(access.ca_file.c_str());
  client.set_connection_timeout(kConnectSeconds);
  client.set_read_timeout(kAnswerSeconds);
  const httplib::Result result = client.Get(path.c_str(), headers);
  if (!result) {
    return absl::UnavailableError(
        fmt::format("no HTTP server answers at {}: {}", access.address, WhyNoAnswer(result.error())));
  }
  if (result->status == 200) return std::move(result->body);
  const nlohmann::json body = nlohmann::json::parse(result->body, nullptr, false);
  std::string message = fmt::format("{} answered {}", access.address, result->status);
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
