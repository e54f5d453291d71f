#include "tls/openssl.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>

#include "absl/cleanup/cleanup.h"

namespace sonde::tls {

std::string TakeOpensslError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "no reason is known";
  const char* const reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : fmt::format("error {:#x}", code);
}

absl::StatusOr<std::string> ReadPemFile(const std::string& path, bool is_secret) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return absl::NotFoundError(
        fmt::format("{} cannot be read: {}", path, std::generic_category().message(errno)));
  }
  const auto close_file = absl::MakeCleanup([file] { close(file); });
  struct stat facts{};
  if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return absl::InvalidArgumentError(fmt::format("{} is no file", path));
  }
  if (is_secret && (facts.st_mode & 077) != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "{} holds a secret key and has the mode {:04o}: others than its owner may use it; `chmod 600 {}` "
        "keeps it to its owner",
        path, facts.st_mode & 07777, path));
  }
  std::string bytes;
  std::array<char, 16 << 10> part;
  while (true) {
    const ssize_t got = read(file, part.data(), part.size());
    if (got < 0) {
      return absl::NotFoundError(
          fmt::format("{} cannot be read: {}", path, std::generic_category().message(errno)));
    }
    if (got == 0) return bytes;
    bytes.append(part.data(), static_cast<size_t>(got));
    if (bytes.size() > kPemBytesMax) {
      return absl::InvalidArgumentError(
          fmt::format("{} has more than {} bytes, the limit", path, kPemBytesMax));
    }
  }
}

std::string FactsOfFiles(std::initializer_list<const std::string*> paths) {
  std::string facts;
  for (const std::string* path : paths) {
    struct stat found{};
    if (path->empty() || stat(path->c_str(), &found) != 0) {
      facts += "none;";
      continue;
    }
    facts += fmt::format("{}:{}:{}:{}.{}:{:o};", found.st_dev, found.st_ino, found.st_size,
                         found.st_mtim.tv_sec, found.st_mtim.tv_nsec, found.st_mode);
  }
  return facts;
}

Owned<BIO> BioOf(std::string_view bytes) {
  return Owned<BIO>(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

absl::Time TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return absl::InfinitePast();
  return absl::FromTM(parts, absl::UTCTimeZone());
}

}  // namespace sonde::tls
