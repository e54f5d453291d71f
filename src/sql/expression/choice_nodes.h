// Nodes that evaluate their parts for those rows that need them: AND, OR, IF, CASE, COALESCE, and NULLIF.
#pragma once

#include "sql/expression/node.h"

namespace sonde::sql {

NodePtr MakeAndNode(NodeMaking making);
NodePtr MakeOrNode(NodeMaking making);
// IF is a CASE of one condition.
NodePtr MakeCaseNode(NodeMaking making);
NodePtr MakeCoalesceNode(NodeMaking making);
// NULLIF evaluates both of its parts for all rows, as GoogleSQL does.
NodePtr MakeNullIfNode(NodeMaking making);

}  // namespace sonde::sql
