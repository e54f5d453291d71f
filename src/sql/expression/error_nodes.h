// Nodes that take an error of a row's values for an answer: IFERROR, ISERROR, NULLIFERROR.
//
// They evaluate a whole batch at once.  Where that fails, they evaluate it by halves, until the rows that fail
// stand alone.  Errors that are not of values (CANCELLED, RESOURCE_EXHAUSTED, ...) pass.
#pragma once

#include "sql/expression/node.h"

namespace sonde::sql {

NodePtr MakeIfErrorNode(NodeMaking making);
NodePtr MakeIsErrorNode(NodeMaking making);
NodePtr MakeNullIfErrorNode(NodeMaking making);

}  // namespace sonde::sql
