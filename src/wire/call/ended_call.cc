#include "wire/call/ended_call.h"

#include <array>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "identity/principal.h"
#include "wire/call/call_access.h"
#include "wire/call/call_tag.h"

namespace sonde {
namespace {

// A header that is longer is no client's of ours.
constexpr size_t kRoutingBytesMax = 4096;
// The fields by which requests of the data API name their resource; the first that is there counts.
constexpr std::array<std::string_view, 6> kResourceFields = {
    "authorized_view_name", "materialized_view_name", "table_name", "instance_name", "name", "parent"};

std::string UndoPercents(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && absl::ascii_isxdigit(text[i + 1]) &&
        absl::ascii_isxdigit(text[i + 2])) {
      plain += absl::HexStringToBytes(std::string(text.substr(i + 1, 2)));
      i += 2;
    } else {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

}  // namespace

RoutedTo ParseRouting(std::string_view header) {
  RoutedTo to;
  if (header.size() > kRoutingBytesMax) return to;
  size_t best = kResourceFields.size();
  for (const absl::string_view part : absl::StrSplit(absl::string_view(header.data(), header.size()), '&')) {
    const std::string_view pair(part.data(), part.size());
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view field = pair.substr(0, equals);
    if (field == "app_profile_id") to.app_profile = UndoPercents(pair.substr(equals + 1));
    for (size_t i = 0; i < best; ++i) {
      if (field != kResourceFields[i] || pair.size() == equals + 1) continue;
      best = i;
      to.resource = UndoPercents(pair.substr(equals + 1));
    }
  }
  return to;
}

void NoteFailure(const rpc::Call& call, std::string_view method, const absl::Status& status,
                 std::string principal, RequestMetrics* metrics) {
  // A client that gives up has not met a fault.
  if (status.ok() || absl::IsCancelled(status)) return;
  metrics->failed_calls()->Record(
      {.ended = absl::Now(),
       .method = std::string(method),
       .code = status.code(),
       .message = std::string(status.message()),
       .request = TagOf(call).id,
       .resource = ParseRouting(call.FindMetadata("x-goog-request-params").value_or("")).resource,
       .principal = std::move(principal),
       .client = call.peer()});
}

void EndCall(const rpc::Call& call, const EndedCall& ended, RequestMetrics* metrics) {
  const absl::Time now = absl::Now();
  const absl::Duration took = now - ended.came;
  metrics->Record(ended.method, ended.status.code(), absl::ToInt64Microseconds(took));
  const CallAccess* const access = AccessOf(call);
  const auto principal = [&] { return access == nullptr ? std::string() : access->principal().member; };
  if (!ended.status.ok()) NoteFailure(call, ended.method, ended.status, principal(), metrics);
  if (const uint64_t calls = metrics->callers()->Weigh(now); calls > 0) {
    metrics->callers()->Add(
        {.method = std::string(ended.method),
         .resource = ParseRouting(call.FindMetadata("x-goog-request-params").value_or("")).resource,
         .principal = principal(),
         .client = call.peer(),
         .agent = std::string(call.FindMetadata("user-agent").value_or(""))},
        calls, now);
  }
  if (!metrics->slow_calls()->Wants(took, now)) return;
  RequestTag tag = TagOf(call);
  RoutedTo to = ParseRouting(call.FindMetadata("x-goog-request-params").value_or(""));
  metrics->slow_calls()->Record({.ended = now,
                                 .took = took,
                                 .method = std::string(ended.method),
                                 .code = ended.status.code(),
                                 .request = std::move(tag.id),
                                 .trace = std::move(tag.trace),
                                 .resource = std::move(to.resource),
                                 .app_profile = std::move(to.app_profile),
                                 .principal = principal(),
                                 .filter = std::string(ended.filter),
                                 .cost = ended.cost});
}

}  // namespace sonde
