// The name of the only cluster.  Views of replication, change streams and headers carry it.
#pragma once

namespace sonde {

inline constexpr char kClusterId[] = "sonde";

}  // namespace sonde
