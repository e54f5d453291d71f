// Nodes that make lists of their parts (ARRAY, STRUCT), and those that take a field out of a struct.
#pragma once

#include "sql/expression/node.h"

namespace sonde::sql {

// An array or a struct of the parts.
NodePtr MakeListNode(NodeMaking making);
NodePtr MakeFieldNode(NodeMaking making);

}  // namespace sonde::sql
