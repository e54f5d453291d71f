// The question that POST /api/v1/sql asks: its JSON, read and checked.
//
//   {"query": "SELECT ...", "params": {"p": 5, "k": {"type": "BYTES", "value": "row"}},
//    "view_parameters": {"user_id": "alice"}, "format": "json" | "csv", "project": "p", "instance": "i", "timeout_ms": 60000}
//
// A parameter is a JSON value whose look says the type (INT64, FLOAT64, BOOL, STRING, or an ARRAY of one of these), or an
// object that names the type; then the value is cast as `sonde sql --param NAME:TYPE=VALUE` casts it.
// Errors: INVALID_ARGUMENT names the member, what is allowed, and the value.
// Threads: any number may call at once.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sql/access/sql_access.h"
#include "sql/function/call.h"
#include "sql/output/answer_writer.h"

namespace sonde::sql {

constexpr size_t kSqlBodyBytesMax = size_t{4} << 20;
constexpr size_t kQueryBytesMax = size_t{1} << 20;
constexpr size_t kParametersMax = 10'000;
constexpr absl::Duration kTimeoutMax = absl::Hours(1);

struct SqlRequest {
  std::string query;
  std::vector<Question::Parameter> parameters;
  ViewParameters view_parameters;
  AnswerFormat format = AnswerFormat::kJsonArrays;  // or kCsv
  std::string project;
  std::string instance;
  absl::Duration timeout = kTimeoutMax;
};

// `usual`: what the body leaves out.  `interrupted`: as Question::interrupted, for values that take long to be cast.
absl::StatusOr<SqlRequest> ParseSqlRequest(const std::string& body, SqlRequest usual,
                                           const std::function<absl::Status()>& interrupted);

}  // namespace sonde::sql
