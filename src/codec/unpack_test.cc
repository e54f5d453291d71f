#include "codec/unpack.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "codec/packed_for_tests.h"

namespace sonde {
namespace {

std::string Zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

// Gives few bytes at a time.
ByteSource SourceOf(std::string_view text) {
  return [text](char* buffer, size_t bytes_max) mutable -> absl::StatusOr<size_t> {
    const size_t bytes = std::min({text.size(), bytes_max, size_t{1'000}});
    std::memcpy(buffer, text.data(), bytes);
    text.remove_prefix(bytes);
    return bytes;
  };
}

// All of it, or the error.
std::string ReadAll(const ByteSource& source) {
  std::string text;
  char buffer[700];
  while (true) {
    const absl::StatusOr<size_t> bytes = source(buffer, sizeof(buffer));
    if (!bytes.ok()) return std::string(bytes.status().message());
    if (*bytes == 0) return text;
    text.append(buffer, *bytes);
  }
}
std::string ReadAll(std::string_view packed) { return ReadAll(UnpackedBySign(SourceOf(packed))); }
std::string ReadAll(std::string_view packed, Packing packing) {
  return ReadAll(Unpacked(SourceOf(packed), packing));
}

TEST(Unpack, UnpacksWhatIsPacked) {
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

TEST(Unpack, SaysWhatIsDamaged) {
  const std::string text(100'000, 'x');
  const std::string gzip = Gzip(text);
  EXPECT_EQ(ReadAll(gzip.substr(0, gzip.size() / 2)), "the gzip data ends early");
  EXPECT_EQ(ReadAll(gzip.substr(0, 20) + "nonsense" + gzip.substr(28)), "the gzip data is damaged");
  const std::string zstd = Zstd(text);
  EXPECT_EQ(ReadAll(zstd.substr(0, zstd.size() - 4)), "the zstd data ends early");
  EXPECT_EQ(ReadAll(zstd.substr(0, 4) + std::string(1'000, '\xff')), "the zstd data is damaged");
}

// Whatever byte the data ends behind, but for the last of a stream.
TEST(Unpack, NothingThatEndsEarlyIsWhole) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += std::to_string(i * i) + "\n";
  const struct {
    Packing packing;
    std::string packed, says;
  } all[] = {{Packing::kGzip, Gzip(text), "the gzip data ends early"},
             {Packing::kZlib, Zlib(text), "the deflate data ends early"},
             {Packing::kZstd, Zstd(text), "the zstd data ends early"}};
  for (const auto& [packing, packed, says] : all) {
    EXPECT_EQ(ReadAll(packed, packing), text);
    EXPECT_EQ(ReadAll(packed + packed, packing), text + text);
    for (size_t bytes = 0; bytes < packed.size(); ++bytes) {
      EXPECT_EQ(ReadAll(packed.substr(0, bytes), packing), says) << bytes;
      if (bytes > 0) {
        EXPECT_EQ(ReadAll(packed + packed.substr(0, bytes), packing), says) << bytes;
      }
    }
  }
  std::string wrong = Gzip(text);
  wrong[wrong.size() - 5] ^= 1;  // of its CRC
  EXPECT_EQ(ReadAll(wrong, Packing::kGzip), "the gzip data is damaged");
  EXPECT_EQ(ReadAll(Gzip(text) + "xx", Packing::kGzip), "the gzip data is damaged");
  EXPECT_EQ(ReadAll(text, Packing::kGzip), "the gzip data is damaged");
}

}  // namespace
}  // namespace sonde
