// Nodes that call kernels: functions, casts, and the lambdas that functions take.
#pragma once

#include "sql/expression/node.h"

namespace sonde::sql {

NodePtr MakeCallNode(NodeMaking making);
NodePtr MakeCastNode(NodeMaking making);
// It is no value, but an argument of a call.
NodePtr MakeLambdaNode(NodeMaking making);

}  // namespace sonde::sql
