// MutateRow and MutateRows: requests become writes of the line (table/commit_line.h).
#pragma once

#include "table/tables.h"
#include "wire/call/calls.h"

namespace sonde {

// Nothing is owned.
AnswerRequest AnswerMutateRow(Tables* tables, const CallResources& resources);
AnswerRequest AnswerMutateRows(Tables* tables, const CallResources& resources);

}  // namespace sonde
