#include "wire/call/client_features.h"

#include <optional>
#include <string>

#include "absl/strings/escaping.h"

namespace sonde {

google::bigtable::v2::FeatureFlags ClientFeatures(const rpc::Call& call) {
  google::bigtable::v2::FeatureFlags features;
  const std::optional<std::string> text = call.FindMetadata("bigtable-features");
  if (!text.has_value()) return features;
  std::string bytes;
  const bool known = absl::WebSafeBase64Unescape(*text, &bytes) && features.ParseFromString(bytes);
  if (!known) features.Clear();
  return features;
}

}  // namespace sonde
