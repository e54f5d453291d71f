// Filters that are made to be expensive, at most as large as the API allows.
#pragma once

#include <google/bigtable/v2/data.pb.h>

#include "base/random.h"

namespace sonde {

// Patterns that blow up an automaton, a program or a parser; interleaves that multiply cells; thousands of
// filters; long ranges, masks and literals; all of that nested and mixed.  Most are accepted or refused for
// what they cost; some are not well-formed.
google::bigtable::v2::RowFilter HostileFilter(RandomSource* random);

}  // namespace sonde
