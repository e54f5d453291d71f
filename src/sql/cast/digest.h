// Hashes of bytes, as functions of SQL give them.  None of them is used to keep secrets.
//
// Source: RFC 1321 (MD5), FIPS 180-4 (SHA-1, SHA-256, SHA-512).
#pragma once

#include <string>
#include <string_view>

namespace sonde::sql {

std::string Md5(std::string_view bytes);
std::string Sha1(std::string_view bytes);
std::string Sha256(std::string_view bytes);
std::string Sha512(std::string_view bytes);

}  // namespace sonde::sql
