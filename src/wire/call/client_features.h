// What a client says that it understands: the `bigtable-features` metadata.
#pragma once

#include <google/bigtable/v2/feature_flags.pb.h>

#include "rpc/call.h"

namespace sonde {

// Empty when the client sends none, or something else.  Costs a look-up and a decoding: only asked where an
// answer depends on it.
google::bigtable::v2::FeatureFlags ClientFeatures(const rpc::Call& call);

}  // namespace sonde
