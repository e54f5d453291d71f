// Which entities of a block a condition of PromQL lets through, by Prometheus' rules.
//
// A label that an entity lacks is the empty text: a condition that the empty text fulfils keeps entities without the
// label.  A condition is asked once of each distinct value, and only of those that begin as its pattern does.
// Threads: the functions are pure.
#pragma once

#include <vector>

#include "promql/syntax/matcher.h"
#include "series/index/entity_block.h"
#include "series/index/position_set.h"

namespace sonde::series {

// The positions of the entities that all matchers let through.  The matchers are of labels of entities.
PositionSet MatchBlock(const EntityBlock& block, const std::vector<promql::Matcher>& matchers);

}  // namespace sonde::series
