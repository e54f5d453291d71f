#include "wire/client_features.h"

#include <string>

#include "absl/strings/escaping.h"

namespace sonde {

google::bigtable::v2::FeatureFlags ClientFeatures(const grpc::CallbackServerContext& context) {
  google::bigtable::v2::FeatureFlags features;
  const auto at = context.client_metadata().find("bigtable-features");
  if (at == context.client_metadata().end()) return features;
  std::string bytes;
  const bool known = absl::WebSafeBase64Unescape({at->second.data(), at->second.size()}, &bytes) &&
                     features.ParseFromString(bytes);
  if (!known) features.Clear();
  return features;
}

}  // namespace sonde
