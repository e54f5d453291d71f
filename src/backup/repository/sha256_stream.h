// SHA-256 of bytes that come piece by piece, by OpenSSL (FIPS 180-4).
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sonde {

class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(const Sha256Stream&) = delete;

  void Add(std::string_view bytes);
  // Returns the digest of all bytes that were added: 64 hexadecimal digits in lower case.  Once.
  std::string Finish();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// The digest of `bytes`, as Sha256Stream::Finish writes it.
std::string Sha256Hex(std::string_view bytes);
bool IsSha256Hex(std::string_view text);

}  // namespace sonde
