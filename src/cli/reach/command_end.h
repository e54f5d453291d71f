// How commands end, and how they say why they failed: one way for all of them.
//
// The exit status is 0: done; 1: it failed, or was done in part; 2: the call was wrong.  The result goes to stdout, all else to stderr.
// An error is one text, "sonde series load: TEXT"; where --json is asked for, it is an object in a line,
// {"error": {"command": "sonde series load", "code": "NOT_FOUND", "message": TEXT}}.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace sonde {

// Errors of this process are written as JSON from now on.  To be called before other threads are.
void WriteErrorsAsJson();

// Writes the error to stderr.  `command`: "sonde series load".
void WriteError(std::string_view command, absl::StatusCode code, std::string_view message);

// Writes the error, if the status is one.  Returns the exit status.
int EndOfCommand(std::string_view command, const absl::Status& status);

}  // namespace sonde
