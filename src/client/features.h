// The features that Sonde's client understands, as the `bigtable-features` metadata of a call that reads.
#pragma once

namespace sonde {

inline constexpr char kFeaturesKey[] = "bigtable-features";
// FeatureFlags{reverse_scans, last_scanned_row_responses} in web-safe base64; some servers want the padding.
inline constexpr char kFeatures[] = "CAEgAQ==";

}  // namespace sonde
