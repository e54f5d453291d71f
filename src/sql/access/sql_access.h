// How SQL is asked, wherever it is answered: in this process (sql/exec/local_sql.h) or by a Bigtable endpoint
// (client/remote_sql.h).
//
//   absl::Status status = access->Ask({.text = "SELECT COUNT(*) FROM t"}, &sink);
//
// Threads: as each implementation says.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rows/batch.h"
#include "sql/value/type.h"
#include "sql/value/value.h"

namespace sonde::sql {

struct Question {
  struct Parameter {
    std::string name;  // without @
    Value value;
  };
  std::string text;
  std::vector<Parameter> parameters = {};
  // Asked now and then.  An error (CANCELLED) ends the question with it.  Null: nobody interrupts.
  std::function<absl::Status()> interrupted = {};
};

struct AnswerColumn {
  std::string name;
  Type type;
  std::string unit = {};  // of its values; empty: none is known, as by endpoints, whose API has no units
};

// Takes an answer.  An error that it returns ends the question with it.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  // Called once, before any rows.
  virtual absl::Status TakeColumns(const std::vector<AnswerColumn>& columns) = 0;
  // The views hold until it returns.
  virtual absl::Status TakeRows(const rows::Batch& batch) = 0;
};

class SqlAccess {
 public:
  virtual ~SqlAccess() = default;
  // Errors are those of PrepareQuery and ExecuteQuery.  Rows that were taken before an error are right.
  virtual absl::Status Ask(const Question& question, AnswerSink* sink) = 0;
  // The ids of the instance's logical and materialized views, ascending.  None, if an endpoint has no views or does not tell them to
  // the caller.
  virtual absl::StatusOr<std::vector<std::string>> ListViews() = 0;
};

}  // namespace sonde::sql
