// For tests: bytes as other programs pack them.
#pragma once

#include <zlib.h>

#include <string>

namespace sonde {

// `window` as zlib counts: 15 for zlib's own framing, plus 16 for gzip's.
inline std::string Deflate(const std::string& text, int window) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string Gzip(const std::string& text) { return Deflate(text, 15 + 16); }
inline std::string Zlib(const std::string& text) { return Deflate(text, 15); }

}  // namespace sonde
