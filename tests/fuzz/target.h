// What the fuzz targets share.  A target is one function that takes any bytes and must neither crash nor find
// one of its requirements broken; libFuzzer calls it (preset `fuzz`), or replay_main.cc, in the tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace sonde {

// Ends the process, which is what a fuzzer takes notice of.
inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// Small numbers and pieces from the front of an input; zeros and nothing once it is used up.
class InputReader {
 public:
  InputReader(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  uint8_t Byte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  uint32_t Number() {
    uint32_t number = 0;
    for (int i = 0; i < 4; ++i) number = number << 8 | Byte();
    return number;
  }
  std::string_view Bytes(size_t count) {
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(bytes.size());
    return bytes;
  }
  std::string_view Rest() { return Bytes(rest_.size()); }
  bool IsEmpty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace sonde
