// What the embedded engine tells whoever runs it.
#pragma once

#include <functional>
#include <string>

namespace sonde {

enum class TellLevel {
  kInfo,     // all is well, or well again
  kWarning,  // something is damaged, was lost, or does not work
};

// Called with a line, now and then and from several threads; may be null.
using Tell = std::function<void(TellLevel level, const std::string& text)>;

}  // namespace sonde
