// What `sonde sql` does with one statement: asks it, writes the answer, draws it.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/reach/access.h"
#include "cli/reach/plot_flags.h"
#include "model/table_access.h"
#include "sql/access/sql_access.h"
#include "sql/output/answer_writer.h"

namespace sonde {

// Where tables are, and who answers SQL over them.
struct SqlSession {
  std::unique_ptr<TableAccess> tables;
  std::unique_ptr<sql::SqlAccess> sql;
};

// Errors: those of OpenAccess.
absl::StatusOr<SqlSession> OpenSqlSession(const AccessFlags& given);

struct SqlOptions {
  sql::AnswerFormat format = sql::AnswerFormat::kTable;
  PlotFlags plot;
  std::vector<sql::Question::Parameter> parameters;
  bool says_how_many = false;  // rows and time, on stderr
};

// NAME=VALUE, where the value's look says its type (INT64, FLOAT64, BOOL, else STRING), or NAME:TYPE=VALUE; the value of an ARRAY
// is a SQL expression: ids:ARRAY<INT64>=[1, 2].  INVALID_ARGUMENT: it is neither.
absl::StatusOr<sql::Question::Parameter> ParseSqlParameter(const std::string& text);

// Asks one statement, or carries out one that is the tool's own: SHOW TABLES (views, too), DESCRIBE table or view.  A trailing semicolon is taken.
absl::Status RunStatement(const SqlSession& session, const std::string& text, const SqlOptions& options,
                          std::ostream* out);

}  // namespace sonde
