// What a client says that it understands: the `bigtable-features` metadata.
#pragma once

#include <google/bigtable/v2/feature_flags.pb.h>
#include <grpcpp/server_context.h>

namespace sonde {

// Empty when the client sends none, or something else.  Costs a look-up and a decoding: only asked where an
// answer depends on it.
google::bigtable::v2::FeatureFlags ClientFeatures(const grpc::CallbackServerContext& context);

}  // namespace sonde
