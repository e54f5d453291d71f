#include "work/request_tag.h"

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

// The log is one for the process, so the thread has to say for which request it writes.
thread_local const RequestScope* innermost_scope = nullptr;

bool IsIdByte(char byte) {
  const bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
  return is_letter || (byte >= '0' && byte <= '9') ||
         std::string_view("-_.:/+=@").find(byte) != std::string_view::npos;
}

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char byte) { return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f'); });
}

bool IsZero(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }

}  // namespace

bool IsRequestId(std::string_view text) {
  return !text.empty() && text.size() <= kRequestIdBytesMax &&
         std::all_of(text.begin(), text.end(), IsIdByte);
}

std::string_view TraceIdOf(std::string_view traceparent) {
  // VERSION-TRACE-PARENT-FLAGS; later versions than 00 may have more behind a dash.
  constexpr size_t kBytes = 55;
  if (traceparent.size() < kBytes) return {};
  const std::string_view version = traceparent.substr(0, 2);
  const std::string_view trace = traceparent.substr(3, 32), parent = traceparent.substr(36, 16);
  const bool has_dashes = traceparent[2] == '-' && traceparent[35] == '-' && traceparent[52] == '-';
  const bool ends_right = traceparent.size() == kBytes || (version != "00" && traceparent[kBytes] == '-');
  const bool is_hex = IsHex(version) && IsHex(trace) && IsHex(parent) && IsHex(traceparent.substr(53, 2));
  if (!has_dashes || !ends_right || !is_hex || version == "ff" || IsZero(trace) || IsZero(parent)) return {};
  return trace;
}

RequestTag MakeRequestTag(std::string_view x_request_id, std::string_view traceparent, std::string own) {
  return {.id = IsRequestId(x_request_id) ? std::string(x_request_id) : std::move(own),
          .trace = std::string(TraceIdOf(traceparent))};
}

RequestScope::RequestScope() : outer_(std::exchange(innermost_scope, this)) {}

RequestScope::~RequestScope() { innermost_scope = outer_; }

std::optional<RequestTag> RequestScope::Current() {
  if (innermost_scope == nullptr) return std::nullopt;
  return innermost_scope->tag();
}

}  // namespace sonde
