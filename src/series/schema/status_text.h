// The message of a status as fmt takes it (Debian's absl::string_view is a type of its own).
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace sonde::series {

inline std::string_view TextOfStatus(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

}  // namespace sonde::series
