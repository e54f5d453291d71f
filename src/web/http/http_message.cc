#include "web/http/http_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/admission.h"
#include "base/bytes.h"

namespace sonde {
namespace {

constexpr size_t kBodyPieceBytes = 64 << 10;

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

std::string Decode(std::string_view text, bool has_plus_for_blank) {
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    const auto high = text[at] == '%' && at + 2 < text.size() ? HexDigit(text[at + 1]) : std::nullopt;
    const auto low = high ? HexDigit(text[at + 2]) : std::nullopt;
    if (low) {
      plain += static_cast<char>(*high * 16 + *low);
      at += 2;
    } else {
      plain += text[at] == '+' && has_plus_for_blank ? ' ' : text[at];
    }
  }
  return plain;
}

std::string DecodeQueryText(std::string_view text) { return Decode(text, true); }

}  // namespace

std::string DecodePath(std::string_view path) { return Decode(path, false); }

std::multimap<std::string, std::string> ParseQueryOfTarget(std::string_view target) {
  std::multimap<std::string, std::string> query;
  const size_t question = target.find('?');
  if (question == std::string_view::npos) return query;
  std::string_view rest = target.substr(question + 1, target.find('#', question) - question - 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    query.emplace(DecodeQueryText(pair.substr(0, equals)),
                  DecodeQueryText(pair.substr(std::min(equals + 1, pair.size()))));
  }
  return query;
}

std::optional<std::string> HttpRequest::Query(const std::string& name) const {
  const auto found = query.find(name);
  if (found == query.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> HttpRequest::Header(const std::string& lower_case_name) const {
  const auto found = headers.find(lower_case_name);
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> HttpRequest::Cookie(std::string_view name) const {
  const std::string header = Header("cookie").value_or("");
  std::string_view rest = header;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(';'), rest.size());
    std::string_view pair = rest.substr(0, end);
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    while (pair.ends_with(' ')) pair.remove_suffix(1);
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name)
      return std::string(pair.substr(equals + 1));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

std::string HttpRequest::Caller() const {
  constexpr size_t kAgentBytesShown = 200;
  const std::string agent = Header("user-agent").value_or("");
  return fmt::format("{} from {}", agent.empty() ? "An HTTP client" : Printable(agent, kAgentBytesShown),
                     peer.empty() ? "an unknown address" : peer);
}

absl::Status HttpBody::Read(const std::function<absl::Status(std::string_view bytes)>& take) {
  const auto buffer = std::make_unique_for_overwrite<char[]>(kBodyPieceBytes);
  size_t bytes_read = 0;
  while (true) {
    const absl::StatusOr<size_t> bytes = source_(buffer.get(), kBodyPieceBytes);
    if (!bytes.ok()) return bytes.status();
    if (*bytes == 0) break;
    bytes_read += *bytes;
    if (bytes_read > bytes_max_) {
      return absl::ResourceExhaustedError(fmt::format(
          "The body has more than {} bytes, which is the limit here: send it in parts", bytes_max_));
    }
    if (absl::Status status = take({buffer.get(), *bytes}); !status.ok()) return status;
  }
  complete_ = true;
  return absl::OkStatus();
}

absl::StatusOr<std::string> HttpBody::ReadAll(const std::function<absl::Status(size_t bytes)>& make_room) {
  std::string all;
  absl::Status status = Read([&](std::string_view bytes) {
    const size_t wanted = all.size() + bytes.size();
    if (wanted > all.capacity()) {
      const size_t capacity = std::max(wanted, 2 * all.capacity());
      if (make_room) {
        // While it moves, it is there twice.
        if (absl::Status room = make_room(all.capacity() + capacity); !room.ok()) return room;
      }
      all.reserve(capacity);
    }
    all.append(bytes);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return all;
}

std::function<absl::Status()> InterruptedWhenGone(const HttpRequest& request) {
  if (!request.is_client_gone) return {};
  struct Look {
    std::atomic<int64_t> next_millis = 0;
    std::atomic<bool> is_gone = false;
  };
  return [is_client_gone = request.is_client_gone, look = std::make_shared<Look>()]() -> absl::Status {
    const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
    const int64_t now = std::chrono::duration_cast<std::chrono::milliseconds>(since_start).count();
    if (now >= look->next_millis) {
      look->next_millis = now + kClientLookMillis;
      if (is_client_gone()) look->is_gone = true;
    }
    return look->is_gone ? absl::CancelledError("the client has gone") : absl::OkStatus();
  };
}

int HttpCodeOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kCancelled:
      return 499;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

absl::StatusCode CodeOfHttp(int http_code) {
  constexpr int kContentTooLarge = 413;
  if (http_code < 400) return absl::StatusCode::kOk;
  if (http_code == kContentTooLarge) return absl::StatusCode::kResourceExhausted;
  for (const absl::StatusCode code :
       {absl::StatusCode::kInvalidArgument, absl::StatusCode::kUnauthenticated,
        absl::StatusCode::kPermissionDenied, absl::StatusCode::kNotFound, absl::StatusCode::kAborted,
        absl::StatusCode::kResourceExhausted, absl::StatusCode::kCancelled, absl::StatusCode::kUnimplemented,
        absl::StatusCode::kUnavailable, absl::StatusCode::kDeadlineExceeded}) {
    if (HttpCodeOf(code) == http_code) return code;
  }
  return http_code < 500 ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kInternal;
}

HttpResponse ErrorResponse(const absl::Status& status) {
  HttpResponse response =
      ErrorResponse(HttpCodeOf(status.code()), std::string(absl::StatusCodeToString(status.code())),
                    std::string(status.message()));
  if (response.code == 429 && status.GetPayload(kTryAgainPayload).has_value()) {
    response.headers.emplace_back("Retry-After", "1");
  }
  return response;
}

HttpResponse ErrorResponse(int http_code, std::string_view status_name, std::string_view message) {
  const nlohmann::json error = {
      {"error",
       {{"code", http_code}, {"status", std::string(status_name)}, {"message", std::string(message)}}}};
  HttpResponse response;
  response.code = http_code;
  if (http_code == 503) response.headers.emplace_back("Retry-After", "1");
  // A message may quote bytes that are no UTF-8.
  response.body = error.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return response;
}

}  // namespace sonde
