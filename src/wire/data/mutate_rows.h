// MutateRows.
#pragma once

#include "table/tables.h"
#include "wire/call/calls.h"

namespace sonde {

// Nothing is owned.
AnswerRequest AnswerMutateRows(Tables* tables, const CallResources& resources);

}  // namespace sonde
