#include "web/http/request_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/bytes.h"

namespace sonde {
namespace {

constexpr size_t kHeadTextBytesShown = 100;
// Headers that have one value; of others, several lines are one list.
constexpr std::array<std::string_view, 6> kSingleHeaders = {
    "content-length", "content-type", "host", "origin", "sec-fetch-mode", "sec-fetch-site"};

absl::Status NoRequest(std::string_view why, std::string_view text) {
  return absl::InvalidArgumentError(fmt::format("The request cannot be read as HTTP/1.1: {} '{}'", why,
                                                Printable(text, kHeadTextBytesShown)));
}

bool IsTokenSign(char c) {
  constexpr std::string_view kSigns = "!#$%&'*+-.^_`|~";
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || kSigns.find(c) != std::string_view::npos;
}
bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenSign);
}
bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

// Takes the text up to `sign` off the front; all of it where there is none.
std::string_view TakeUntil(char sign, std::string_view* text) {
  const std::string_view taken = text->substr(0, text->find(sign));
  text->remove_prefix(std::min(taken.size() + 1, text->size()));
  return taken;
}

absl::Status ReadFirstLine(std::string_view line, RequestHead* head, std::string* authority) {
  std::string_view rest = line;
  const std::string_view method = TakeUntil(' ', &rest);
  std::string_view target = TakeUntil(' ', &rest);
  if (!IsToken(method) || target.empty() || (rest != "HTTP/1.1" && rest != "HTTP/1.0") ||
      std::any_of(target.begin(), target.end(), IsControl)) {
    return NoRequest("the first line is", line);
  }
  head->is_http_1_0 = rest == "HTTP/1.0";
  head->is_head_only = method == "HEAD";
  HttpRequest& request = head->request;
  request.method = head->is_head_only ? "GET" : method;
  constexpr std::string_view kScheme = "http://";
  if (absl::StartsWithIgnoreCase(absl::string_view(target.data(), target.size()),
                                 absl::string_view(kScheme.data(), kScheme.size()))) {
    const std::string_view behind = target.substr(kScheme.size());
    *authority = behind.substr(0, behind.find_first_of("/?#"));
    if (authority->empty()) return NoRequest("the target names no host:", target);
    target = behind.substr(authority->size());
  } else if (!target.starts_with('/') && target != "*") {
    return NoRequest("the target is", target);
  }
  request.target_path = target.substr(0, target.find_first_of("?#"));
  if (request.target_path.empty()) request.target_path = "/";
  request.path = DecodePath(request.target_path);
  request.query = ParseQueryOfTarget(target);
  return absl::OkStatus();
}

absl::Status ReadHeader(std::string_view line, HttpRequest* request) {
  const absl::StatusOr<HeaderLine> read = ParseHeaderLine(line);
  if (!read.ok()) return read.status();
  std::string lower(read->name);
  absl::AsciiStrToLower(&lower);
  const auto [header, is_first] = request->headers.try_emplace(lower, read->value);
  if (is_first) return absl::OkStatus();
  if (std::find(kSingleHeaders.begin(), kSingleHeaders.end(), lower) != kSingleHeaders.end()) {
    return NoRequest("there is a second", read->name);
  }
  header->second.append(", ").append(read->value);
  return absl::OkStatus();
}

absl::Status ReadFraming(RequestHead* head) {
  const HttpRequest& request = head->request;
  const std::optional<std::string> length = request.Header("content-length");
  const std::optional<std::string> coding = request.Header("transfer-encoding");
  if (coding) {
    if (length || head->is_http_1_0) {
      return absl::InvalidArgumentError("Transfer-Encoding excludes Content-Length, and needs HTTP/1.1");
    }
    if (!absl::EqualsIgnoreCase(*coding, "chunked")) {
      return absl::UnimplementedError(
          fmt::format("Transfer-Encoding '{}'; allowed: chunked", Printable(*coding, kHeadTextBytesShown)));
    }
    head->is_chunked = true;
  }
  if (length) {
    uint64_t bytes = 0;
    const char* const text_end = length->data() + length->size();
    const auto [end, error] = std::from_chars(length->data(), text_end, bytes);
    if (length->empty() || end != text_end || error != std::errc() ||
        bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return NoRequest("Content-Length is", *length);
    }
    head->body_bytes = bytes;
  }
  head->expects_continue = absl::EqualsIgnoreCase(request.Header("expect").value_or(""), "100-continue");
  return absl::OkStatus();
}

bool HasOption(const std::string& connection, std::string_view option) {
  for (const absl::string_view part : absl::StrSplit(connection, ',')) {
    if (absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(part),
                               absl::string_view(option.data(), option.size())))
      return true;
  }
  return false;
}

// The bytes of the empty lines in front, which end as all lines do.
size_t EmptyLinesBytes(std::string_view bytes) {
  size_t count = 0;
  while (bytes.substr(count).starts_with("\r\n")) count += 2;
  return count;
}

}  // namespace

absl::StatusOr<HeaderLine> ParseHeaderLine(std::string_view line) {
  std::string_view value = line;
  const std::string_view name = TakeUntil(':', &value);
  if (name.size() == line.size() || !IsToken(name)) return NoRequest("a header is", line);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  if (std::any_of(value.begin(), value.end(), [](char c) { return IsControl(c) && c != '\t'; })) {
    return NoRequest("a header has a control character:", line);
  }
  return HeaderLine{name, value};
}

std::optional<size_t> FindHeadEnd(std::string_view bytes, size_t searched) {
  constexpr size_t kEndBytesMax = 3;  // of a line end and an empty line
  const size_t begin = std::max(EmptyLinesBytes(bytes), searched - std::min(searched, kEndBytesMax));
  for (size_t at = bytes.find('\n', begin); at != std::string_view::npos; at = bytes.find('\n', at + 1)) {
    const std::string_view behind = bytes.substr(at + 1);
    if (behind.starts_with('\n')) return at + 2;
    if (behind.starts_with("\r\n")) return at + 3;
  }
  return std::nullopt;
}

absl::StatusOr<RequestHead> ParseRequestHead(std::string_view text) {
  text.remove_prefix(EmptyLinesBytes(text));
  RequestHead head;
  std::string authority;
  for (bool is_first = true; !text.empty(); is_first = false) {
    std::string_view line = TakeUntil('\n', &text);
    if (!line.ends_with('\r')) return NoRequest("a line ends without a carriage return:", line);
    line.remove_suffix(1);
    if (line.empty()) break;
    const absl::Status status =
        is_first ? ReadFirstLine(line, &head, &authority) : ReadHeader(line, &head.request);
    if (!status.ok()) return status;
  }
  // A target that names the host is what counts, not Host; which HTTP/1.1 asks for all the same.
  const bool has_host = !head.request.Header("host").value_or("").empty();
  if (!authority.empty() && (has_host || head.is_http_1_0)) head.request.headers["host"] = authority;
  if (absl::Status status = ReadFraming(&head); !status.ok()) return status;
  const std::string connection = head.request.Header("connection").value_or("");
  head.keeps_open = head.is_http_1_0 ? HasOption(connection, "keep-alive") : !HasOption(connection, "close");
  return head;
}

}  // namespace sonde
