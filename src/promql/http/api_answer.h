// The form of the answers of Prometheus' API: {"status":"success","data":...,"warnings":[...],"infos":[...]}, or
// {"status":"error","errorType":"bad_data","error":"..."}.
//
// Threads: the functions are pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "promql/samples/labels.h"
#include "web/http/http_message.h"

namespace sonde::promql {

struct Notices {
  std::vector<std::string> warnings;
  std::vector<std::string> infos;
};

constexpr char kTruncated[] = "results truncated due to limit";

// A text of JSON, with its quotes; what is no UTF-8 becomes U+FFFD.
void AppendJsonText(std::string_view text, std::string* out);
// The same, without < > &: as Prometheus writes errors and queries.
void AppendJsonTextForHtml(std::string_view text, std::string* out);
// {"job":"x"}
void AppendLabels(const Labels& labels, std::string* out);

// What stands in front of the data, and behind it: at most ten of each notice, then how many there are more.
constexpr char kAnswerBegin[] = R"({"status":"success","data":)";
std::string AnswerEnd(const Notices& notices);

// `data`: JSON.
void Answer(std::string_view data, const Notices& notices, HttpResponse* response);

// INVALID_ARGUMENT: bad_data (400); FAILED_PRECONDITION, RESOURCE_EXHAUSTED, UNIMPLEMENTED: execution (422); CANCELLED:
// canceled (499); DEADLINE_EXCEEDED: timeout (503); UNAVAILABLE: unavailable (503, with Retry-After); NOT_FOUND: not_found
// (404); others: internal (500).  PERMISSION_DENIED and UNAUTHENTICATED come back, for the server to answer them as it
// does everywhere.
absl::Status AnswerError(const absl::Status& status, HttpResponse* response);

}  // namespace sonde::promql
