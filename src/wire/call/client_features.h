// The features that a client understands: the `bigtable-features` metadata.
#pragma once

#include <google/bigtable/v2/feature_flags.pb.h>

#include "rpc/call.h"

namespace sonde {

// Empty when the client sends none, or sends something that is no FeatureFlags.  Costs a look-up and a
// decoding, so only calls whose answer depends on features ask.
google::bigtable::v2::FeatureFlags ClientFeatures(const rpc::Call& call);

}  // namespace sonde
