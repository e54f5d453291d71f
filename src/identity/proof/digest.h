// Digests, random bytes and comparisons of secrets: OpenSSL's, without its headers.
//
// Threads: all functions may be called at once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace sonde {

using Sha256Digest = std::array<uint8_t, 32>;

Sha256Digest Sha256(std::string_view bytes);

// Takes as long for digests that differ early as for those that differ late.
bool EqualInConstantTime(const Sha256Digest& a, const Sha256Digest& b);

// From the operating system's generator, by way of OpenSSL.  It ends the program if there are none: a key of bytes that are
// not random is worse than none.
std::string RandomBytes(size_t count);

// Two digits of 0-9 a-f a byte.
std::string HexOf(std::string_view bytes);

// Overwrites what the text held, in a way that no compiler leaves out, and empties it.
void Wipe(std::string* secret);

}  // namespace sonde
