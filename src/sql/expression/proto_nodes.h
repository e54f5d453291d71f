// Fields of messages.
#pragma once

#include "sql/expression/node.h"

namespace sonde::sql {

NodePtr MakeProtoFieldNode(NodeMaking making);

}  // namespace sonde::sql
