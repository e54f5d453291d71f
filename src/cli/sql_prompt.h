// The prompt of `sonde sql`: lines with history and completion, one statement after the other.
#pragma once

#include "cli/sql_session.h"

namespace sonde {

// Reads statements, each up to its semicolon, until the end of the input or `quit`.  Errors of statements are told and the prompt
// goes on.  The history is kept in XDG_STATE_HOME/sonde/sql_history (~/.local/state).
void RunSqlPrompt(const SqlSession& session, SqlOptions options);

}  // namespace sonde
