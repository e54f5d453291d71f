// Messages of the embedded engine to its operator.
#pragma once

#include <functional>
#include <string>

namespace sonde {

enum class TellLevel {
  kInfo,     // all is well, or well again
  kWarning,  // something is damaged, was lost, or does not work
};

// Called with a line, now and then, by several threads.  May be null.
using Tell = std::function<void(TellLevel level, const std::string& text)>;

}  // namespace sonde
