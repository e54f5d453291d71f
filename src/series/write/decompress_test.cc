#include "series/write/decompress.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace sonde::series {
namespace {

std::string Gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
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

std::string Zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

// Of a source that gives few bytes at a time.
std::string ReadAll(std::string_view packed) {
  ByteSource source = Unpacked([packed](char* buffer, size_t bytes_max) mutable -> absl::StatusOr<size_t> {
    const size_t bytes = std::min({packed.size(), bytes_max, size_t{1'000}});
    std::memcpy(buffer, packed.data(), bytes);
    packed.remove_prefix(bytes);
    return bytes;
  });
  std::string text;
  char buffer[700];
  while (true) {
    const absl::StatusOr<size_t> bytes = source(buffer, sizeof(buffer));
    if (!bytes.ok()) return std::string(bytes.status().message());
    if (*bytes == 0) return text;
    text.append(buffer, *bytes);
  }
}

TEST(Decompress, UnpacksWhatIsPacked) {
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += std::to_string(i * i) + "\n";
  EXPECT_EQ(ReadAll(text), text);
  EXPECT_EQ(ReadAll(""), "");
  EXPECT_EQ(ReadAll("a"), "a");
  EXPECT_EQ(ReadAll(Gzip(text)), text);
  EXPECT_EQ(ReadAll(Gzip(text) + Gzip("more")), text + "more");
  EXPECT_EQ(ReadAll(Zstd(text)), text);
  EXPECT_EQ(ReadAll(Zstd(text) + Zstd("more")), text + "more");
}

TEST(Decompress, SaysWhatIsDamaged) {
  const std::string text(100'000, 'x');
  const std::string gzip = Gzip(text);
  EXPECT_EQ(ReadAll(gzip.substr(0, gzip.size() / 2)), "the gzip data ends early");
  EXPECT_EQ(ReadAll(gzip.substr(0, 20) + "nonsense" + gzip.substr(28)), "the gzip data is damaged");
  const std::string zstd = Zstd(text);
  EXPECT_EQ(ReadAll(zstd.substr(0, zstd.size() - 4)), "the zstd data ends early");
  EXPECT_EQ(ReadAll(zstd.substr(0, 4) + std::string(1'000, '\xff')), "the zstd data is damaged");
}

}  // namespace
}  // namespace sonde::series
