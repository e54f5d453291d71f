#include "cli/watch/tar_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

constexpr size_t kBlockBytes = 512;

// The fields of a header, by their places (the standard's table).
constexpr size_t kMode = 100, kUser = 108, kGroup = 116, kSize = 124, kModified = 136, kChecksum = 148,
                 kType = 156, kMagic = 257;

void SetOctal(uint64_t value, size_t digits, size_t place, std::string* header) {
  header->replace(place, digits, fmt::format("{:0{}o}", value, digits));
}

std::string HeaderOf(std::string_view name, uint64_t bytes, int64_t modified_seconds) {
  std::string header(kBlockBytes, '\0');
  header.replace(0, name.size(), name);
  SetOctal(0600, 7, kMode, &header);
  SetOctal(0, 7, kUser, &header);
  SetOctal(0, 7, kGroup, &header);
  SetOctal(bytes, 11, kSize, &header);
  SetOctal(static_cast<uint64_t>(std::max<int64_t>(modified_seconds, 0)), 11, kModified, &header);
  header[kType] = '0';
  constexpr std::string_view kUstar("ustar\00000", 8);
  header.replace(kMagic, kUstar.size(), kUstar);
  header.replace(kChecksum, 8, "        ");
  uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  SetOctal(sum, 6, kChecksum, &header);
  header[kChecksum + 6] = '\0';
  return header;
}

}  // namespace

absl::Status TarWriter::Add(std::string_view name, std::string_view content, int64_t modified_seconds) {
  if (name.empty() || name.size() > kNameBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("a name in an archive must have 1 to {} bytes, but has {}", kNameBytesMax, name.size()));
  }
  archive_ += HeaderOf(name, content.size(), modified_seconds);
  archive_ += content;
  archive_.resize((archive_.size() + kBlockBytes - 1) / kBlockBytes * kBlockBytes);
  return absl::OkStatus();
}

std::string TarWriter::Finish() {
  archive_.resize(archive_.size() + 2 * kBlockBytes);
  return std::move(archive_);
}

}  // namespace sonde
