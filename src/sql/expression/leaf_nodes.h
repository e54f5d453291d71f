// Nodes without parts: literals, parameters, columns, and columns of the queries around.
#pragma once

#include "sql/expression/node.h"

namespace sonde::sql {

NodePtr MakeLiteralNode(NodeMaking making);
NodePtr MakeParameterNode(NodeMaking making);
NodePtr MakeColumnNode(NodeMaking making);
NodePtr MakeOuterNode(NodeMaking making);

}  // namespace sonde::sql
