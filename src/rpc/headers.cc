#include "rpc/headers.h"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace sonde::rpc {
namespace {

constexpr size_t kTimeoutDigitsMax = 8;
constexpr size_t kPathBytesMax = 1'024;
constexpr size_t kShownBytesMax = 64;

// Debian's abseil has a string_view of its own.
absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

bool IsNameByte(char byte) {
  return absl::ascii_islower(static_cast<unsigned char>(byte)) ||
         absl::ascii_isdigit(static_cast<unsigned char>(byte)) || byte == '-' || byte == '_' || byte == '.';
}

uint32_t LengthAt(std::string_view bytes) {
  uint32_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  return length;
}

}  // namespace

std::optional<absl::Duration> ParseTimeout(std::string_view value) {
  if (value.size() < 2 || value.size() > kTimeoutDigitsMax + 1) return std::nullopt;
  int64_t count = 0;
  for (const char digit : value.substr(0, value.size() - 1)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    count = count * 10 + (digit - '0');
  }
  switch (value.back()) {
    case 'H':
      return absl::Hours(count);
    case 'M':
      return absl::Minutes(count);
    case 'S':
      return absl::Seconds(count);
    case 'm':
      return absl::Milliseconds(count);
    case 'u':
      return absl::Microseconds(count);
    case 'n':
      return absl::Nanoseconds(count);
    default:
      return std::nullopt;
  }
}

bool IsGrpcContentType(std::string_view value) {
  constexpr std::string_view kType = "application/grpc";
  if (!absl::StartsWithIgnoreCase(ToAbsl(value), ToAbsl(kType))) return false;
  value.remove_prefix(kType.size());
  return value.empty() || value[0] == '+' || value[0] == ';';
}

std::string PercentEncoded(std::string_view message) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(message.size());
  for (const char character : message) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x20 && byte <= 0x7E && byte != '%') {
      encoded.push_back(character);
    } else {
      encoded += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return encoded;
}

bool IsBinaryName(std::string_view name) { return name.ends_with("-bin"); }

std::string EncodeBinary(std::string_view bytes) {
  std::string text = absl::Base64Escape(ToAbsl(bytes));
  while (text.ends_with('=')) text.pop_back();
  return text;
}

std::optional<std::string> DecodeBinary(std::string_view text) {
  std::string bytes;
  if (!absl::Base64Unescape(ToAbsl(text), &bytes)) return std::nullopt;
  return bytes;
}

bool IsMetadataName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), IsNameByte) && !name.starts_with("grpc-") &&
         name != "content-type" && name != "te" && name != "connection" && name != "transfer-encoding";
}

bool IsMetadataValue(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char byte) { return byte >= 0x20 && byte <= 0x7E; });
}

absl::StatusCode CodeOfReset(uint32_t http2_error) {
  switch (http2_error) {
    case NGHTTP2_CANCEL:
      return absl::StatusCode::kCancelled;
    case NGHTTP2_REFUSED_STREAM:
      return absl::StatusCode::kUnavailable;
    case NGHTTP2_ENHANCE_YOUR_CALM:
      return absl::StatusCode::kResourceExhausted;
    case NGHTTP2_INADEQUATE_SECURITY:
      return absl::StatusCode::kPermissionDenied;
    default:
      return absl::StatusCode::kInternal;
  }
}

void Metadata::Append(std::string_view name, std::string_view value) {
  const std::array<uint32_t, 2> lengths = {static_cast<uint32_t>(name.size()),
                                           static_cast<uint32_t>(value.size())};
  block_.append(reinterpret_cast<const char*>(lengths.data()), sizeof(lengths));
  block_.append(name).append(value);
}

void Metadata::ForEach(absl::FunctionRef<void(std::string_view, std::string_view)> visit) const {
  for (std::string_view rest = block_; !rest.empty();) {
    const size_t name_bytes = LengthAt(rest);
    const size_t value_bytes = LengthAt(rest.substr(sizeof(uint32_t)));
    rest.remove_prefix(2 * sizeof(uint32_t));
    visit(rest.substr(0, name_bytes), rest.substr(name_bytes, value_bytes));
    rest.remove_prefix(name_bytes + value_bytes);
  }
}

std::vector<std::string> Metadata::Values(std::string_view name) const {
  std::vector<std::string> values;
  const bool is_binary = IsBinaryName(name);
  ForEach([&](std::string_view entry, std::string_view value) {
    if (entry != name) return;
    if (!is_binary) {
      values.emplace_back(value);
      return;
    }
    for (const absl::string_view part : absl::StrSplit(ToAbsl(value), ',')) {
      std::optional<std::string> bytes = DecodeBinary(std::string(absl::StripAsciiWhitespace(part)));
      if (bytes.has_value()) values.push_back(*std::move(bytes));
    }
  });
  return values;
}

std::optional<std::string> Metadata::Find(std::string_view name) const {
  std::vector<std::string> values = Values(name);
  if (values.empty()) return std::nullopt;
  if (values.size() == 1 || IsBinaryName(name)) return std::move(values[0]);
  return absl::StrJoin(values, ",");
}

void RequestHead::Begin() {
  path_.clear();
  metadata_ = Metadata();
  bytes_ = 0;
  is_post_ = is_grpc_ = takes_trailers_ = false;
  timeout_.clear();
  encoding_.clear();
}

size_t RequestHead::Count(std::string_view name, std::string_view value) {
  bytes_ += name.size() + value.size() + Metadata::kEntryBytes;
  return bytes_;
}

void RequestHead::Add(std::string_view name, std::string_view value) {
  if (name == ":path") {
    path_ = value;
  } else if (name == ":method") {
    is_post_ = value == "POST";
  } else if (name == "content-type") {
    is_grpc_ = IsGrpcContentType(value);
  } else if (name == "te") {
    takes_trailers_ = value == "trailers";
  } else if (name == "grpc-timeout") {
    timeout_ = value;
  } else if (name == "grpc-encoding") {
    encoding_ = value;
  } else if (!name.starts_with(':') && name != "grpc-accept-encoding" && name != "accept-encoding") {
    metadata_.Append(name, value);
  }
}

std::variant<CallHead, RequestHead::Refused> RequestHead::End(const ServerOptions& options, absl::Time now) {
  using Code = absl::StatusCode;
  if (!is_post_) {
    return Refused{Refusal::kBadRequest, {Code::kInternal, "The method of a gRPC call is POST"}, "405"};
  }
  if (!is_grpc_) {
    return Refused{Refusal::kBadRequest,
                   {Code::kInternal, "The content type of a gRPC call begins with application/grpc"},
                   "415"};
  }
  if (bytes_ > options.header_bytes_max) {
    return Refused{
        Refusal::kHeaderBytes,
        {Code::kResourceExhausted, fmt::format("The headers of a call may have {} bytes, and have {}",
                                               options.header_bytes_max, bytes_)}};
  }
  if (path_.size() > kPathBytesMax) {
    return Refused{Refusal::kBadRequest,
                   {Code::kInvalidArgument, fmt::format("The path of a call may have {} bytes, and has {}",
                                                        kPathBytesMax, path_.size())}};
  }
  if (!takes_trailers_) {
    return Refused{Refusal::kBadRequest, {Code::kInternal, "The header 'te: trailers' is missing"}};
  }
  if (!encoding_.empty() && encoding_ != "identity") {
    return Refused{
        Refusal::kBadRequest,
        {Code::kUnimplemented, fmt::format("Messages may not be compressed, and grpc-encoding is '{}'",
                                           encoding_.substr(0, kShownBytesMax))},
        nullptr,
        /*names_encodings=*/true};
  }
  CallHead head;
  if (!timeout_.empty()) {
    const std::optional<absl::Duration> timeout = ParseTimeout(timeout_);
    if (!timeout.has_value()) {
      return Refused{Refusal::kBadRequest,
                     {Code::kInternal, fmt::format("grpc-timeout is up to eight digits and a unit, not '{}'",
                                                   timeout_.substr(0, kShownBytesMax))}};
    }
    head.deadline = now + *timeout;
  }
  head.path = std::move(path_);
  head.metadata = std::move(metadata_);
  return head;
}

}  // namespace sonde::rpc
