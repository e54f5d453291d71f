// The tokens of SQL: a prepared query, and a place in a stream of results.  A token carries all that it means, so that it
// outlives the server that made it, and a code over all of its bytes (HMAC-SHA256), so that a changed one is found out.
//
// Threads: all functions may be called at once.
// Errors: INVALID_ARGUMENT: the bytes are no token of this kind that this store has made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace sonde {

struct PreparedQueryToken {
  std::string instance;  // projects/P/instances/I
  std::string query;
  std::vector<std::pair<std::string, std::string>> parameters =
      {};                    // name, and google.bigtable.v2.Type, serialized; by name
  uint64_t fingerprint = 0;  // of the schemas that the query was bound to
  int64_t issued_micros = 0;

  bool operator==(const PreparedQueryToken&) const = default;
};

struct ResumeToken {
  uint64_t request_hash = 0;  // of the request without its resume token: the query and its parameters
  int64_t now_micros = 0;     // the statement's CURRENT_TIMESTAMP
  bool is_end = false;        // behind the last row
  std::string place = {};     // sql::Execution::ResumePoint; with `spooled`: none
  // Where the rest of the rows lies on disk (SpooledResults); empty: nowhere.
  std::string spooled = {};
  int64_t spooled_place = 0;  // of a batch in `spooled`

  bool operator==(const ResumeToken&) const = default;
};

class QueryTokens {
 public:
  // `key`: Catalog::Secret.
  explicit QueryTokens(std::string key) : key_(std::move(key)) {}

  std::string Write(const PreparedQueryToken& token) const;
  std::string Write(const ResumeToken& token) const;
  absl::StatusOr<PreparedQueryToken> ReadPrepared(std::string_view bytes) const;
  absl::StatusOr<ResumeToken> ReadResume(std::string_view bytes) const;

 private:
  std::string CodeOf(std::string_view bytes) const;
  // Takes the code off `bytes`.
  bool Check(std::string_view* bytes) const;

  const std::string key_;
};

}  // namespace sonde
