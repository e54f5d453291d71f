// Files with certificates for tests: a CA, and what it signs.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "tls/authority.h"

namespace sonde::tls {

// A path that no other process has: tests run beside each other.
inline std::string TemporaryFile(const std::string& name) {
  return ::testing::TempDir() + "/tls_" + std::to_string(getpid()) + "_" + name;
}

inline void WriteTestFile(const std::string& path, const std::string& text) {
  // A file of its own, so that nobody sees half of it and its mode is its owner's.
  std::remove(path.c_str());
  const mode_t before = umask(077);
  std::ofstream(path) << text;
  umask(before);
}

inline Pair TestAuthority(const std::string& name = "test CA") {
  return *MakeAuthority(name, absl::Now() - absl::Hours(1), absl::Now() + absl::Hours(48));
}

inline Pair TestCertificate(const Pair& authority, std::vector<std::string> names, bool is_client = false,
                            absl::Time end = absl::Now() + absl::Hours(24)) {
  return *MakeCertificate(authority, {.common_name = is_client ? "client" : "server",
                                      .is_client = is_client,
                                      .names = std::move(names),
                                      .begin = absl::Now() - absl::Hours(1),
                                      .end = end});
}

}  // namespace sonde::tls
