// The services of the API.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace sonde {

inline constexpr std::string_view kDataService = "google.bigtable.v2.Bigtable";
inline constexpr std::string_view kTableAdminService = "google.bigtable.admin.v2.BigtableTableAdmin";
inline constexpr std::string_view kInstanceAdminService = "google.bigtable.admin.v2.BigtableInstanceAdmin";
inline constexpr std::string_view kOperationsService = "google.longrunning.Operations";

inline constexpr std::array kServiceNames = {kDataService, kTableAdminService, kInstanceAdminService,
                                             kOperationsService};

}  // namespace sonde
