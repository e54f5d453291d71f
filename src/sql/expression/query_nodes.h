// Nodes of subqueries: (SELECT ...), ARRAY(SELECT ...), EXISTS(SELECT ...), x IN (SELECT ...).
//
// A subquery that reads nothing of the rows around it runs once, and its rows are kept.  One that reads rows of a
// query further out runs once a batch.  A correlated one runs once a row.
#pragma once

#include "sql/expression/node.h"

namespace sonde::sql {

NodePtr MakeScalarQueryNode(NodeMaking making);
NodePtr MakeArrayQueryNode(NodeMaking making);
NodePtr MakeExistsQueryNode(NodeMaking making);
NodePtr MakeInQueryNode(NodeMaking making);

}  // namespace sonde::sql
