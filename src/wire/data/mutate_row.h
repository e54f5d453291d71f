// MutateRow.
#pragma once

#include "table/tables.h"
#include "wire/call/calls.h"

namespace sonde {

// Nothing is owned.
AnswerRequest AnswerMutateRow(Tables* tables, const CallResources& resources);

}  // namespace sonde
