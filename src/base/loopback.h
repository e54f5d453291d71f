// Names of this machine itself.
#pragma once

#include <string_view>

namespace sonde {

// Whether a host is only this machine: "localhost", an address 127.x.x.x, or ::1, with or without brackets.
bool IsLoopback(std::string_view host);

}  // namespace sonde
