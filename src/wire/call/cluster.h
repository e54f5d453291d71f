// The name of the one cluster that there is: views of replication, change streams and headers carry it.
#pragma once

namespace sonde {

inline constexpr char kClusterId[] = "sonde";

}  // namespace sonde
