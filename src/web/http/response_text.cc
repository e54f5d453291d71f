#include "web/http/response_text.h"

#include <iterator>
#include <string_view>

#include "base/format.h"

namespace sonde {
namespace {

constexpr std::string_view kSafetyHeaders =
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Content-Security-Policy: default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: "
    "blob:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'\r\n";

std::string_view ReasonOf(int code) {
  switch (code) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 499:
      return "Client Closed Request";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Unknown";
  }
}

// Within a header no line may end.
void AppendHeader(std::string_view name, std::string_view value, std::string* head) {
  head->append(name).append(": ");
  for (const char c : value) *head += c == '\r' || c == '\n' || c == '\0' ? ' ' : c;
  *head += "\r\n";
}

}  // namespace

std::string ResponseHead(const HttpResponse& response, const ResponseForm& form) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.code, ReasonOf(response.code));
  head += kSafetyHeaders;
  for (const auto& [name, value] : response.headers) AppendHeader(name, value, &head);
  const bool has_body = response.code != 204 && response.code != 304;
  if (has_body) AppendHeader("Content-Type", response.content_type, &head);
  if (!response.stream && has_body) {
    fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", response.body.size());
  } else if (response.stream && !form.is_http_1_0) {
    head += "Transfer-Encoding: chunked\r\n";
  }
  if (form.closes) {
    head += "Connection: close\r\n";
  } else if (form.is_http_1_0) {
    head += "Connection: keep-alive\r\n";
  }
  return head + "\r\n";
}

}  // namespace sonde
