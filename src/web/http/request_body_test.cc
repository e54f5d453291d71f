#include "web/http/request_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "codec/packed_for_tests.h"

namespace sonde {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Gives `text` in pieces of `piece_bytes`; `rest` is what nobody has taken.
ByteSource SourceOf(std::string_view text, size_t piece_bytes, std::string_view* rest = nullptr) {
  return [text, piece_bytes, rest](char* buffer, size_t bytes_max) mutable -> absl::StatusOr<size_t> {
    const size_t bytes = text.copy(buffer, std::min(bytes_max, piece_bytes));
    text.remove_prefix(bytes);
    if (rest != nullptr) *rest = text;
    return bytes;
  };
}

// All of it, or "CODE: message".
std::string ReadAll(const ByteSource& source) {
  std::string text;
  char buffer[50];
  while (true) {
    const absl::StatusOr<size_t> bytes = source(buffer, sizeof(buffer));
    if (!bytes.ok()) return bytes.status().ToString();
    if (*bytes == 0) return text;
    text.append(buffer, *bytes);
  }
}

RequestHead ChunkedHead() {
  RequestHead head;
  head.is_chunked = true;
  return head;
}
RequestHead CountedHead(uint64_t bytes) {
  RequestHead head;
  head.body_bytes = bytes;
  return head;
}
std::string Unframe(const RequestHead& head, std::string_view text, uint64_t bytes_max = 1'000) {
  return ReadAll(Unframed(head, SourceOf(text, 3), bytes_max));
}

TEST(RequestBody, TakesNoMoreThanItsOwn) {
  for (const size_t piece_bytes : {1, 3, 100}) {
    std::string_view rest;
    EXPECT_EQ(ReadAll(Unframed(CountedHead(5), SourceOf("12345GET", piece_bytes, &rest), 100)), "12345");
    EXPECT_EQ(rest, "GET");
    EXPECT_EQ(
        ReadAll(Unframed(
            ChunkedHead(),
            SourceOf("3;a=b\r\nabc\r\n0A\r\n0123456789\r\n0\r\nX: y\r\n\r\nGET", piece_bytes, &rest), 100)),
        "abc0123456789");
    EXPECT_EQ(rest, "GET");
  }
  EXPECT_EQ(Unframe(RequestHead(), "GET"), "");
}

// Wherever it is cut.
TEST(RequestBody, NothingThatEndsEarlyIsWhole) {
  constexpr std::string_view kChunks = "3\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n";
  EXPECT_EQ(Unframe(ChunkedHead(), kChunks), "abcde");
  for (size_t bytes = 0; bytes < kChunks.size(); ++bytes) {
    EXPECT_EQ(Unframe(ChunkedHead(), kChunks.substr(0, bytes)),
              "INVALID_ARGUMENT: The body ended before its time")
        << bytes;
  }
  EXPECT_EQ(Unframe(CountedHead(5), "1234"), "INVALID_ARGUMENT: The body ended before its time");
}

TEST(RequestBody, RefusesWhatAreNoChunks) {
  for (const char* text :
       {"x\r\n", "-1\r\n", "\r\n", "0x1\r\na\r\n", "1 1\r\na\r\n", "10000000000000000\r\n"}) {
    EXPECT_THAT(Unframe(ChunkedHead(), text), StartsWith("INVALID_ARGUMENT: The size of a chunk is")) << text;
  }
  EXPECT_THAT(Unframe(ChunkedHead(), "1\r\nab\r\n0\r\n\r\n"), HasSubstr("more bytes than its size says"));
  EXPECT_THAT(Unframe(ChunkedHead(), "1;" + std::string(1'000, 'a') + "\r\n", 10'000),
              HasSubstr("A line between chunks has more than 256 bytes"));
  std::string trailers = "0\r\n";
  for (int i = 0; i < 2'000; ++i) trailers += "X: y\r\n";
  EXPECT_THAT(Unframe(ChunkedHead(), trailers + "\r\n", 100'000),
              HasSubstr("A line between chunks has more than"));
  EXPECT_THAT(Unframe(ChunkedHead(), "1\r\na\r\n1\r\na\r\n0\r\n\r\n", 10),
              StartsWith("RESOURCE_EXHAUSTED: The body has more than 10 bytes as it was sent"));
}

// Others might take what stands behind it for a line of its own.
TEST(RequestBody, RefusesControlCharactersBetweenChunks) {
  using std::string_literals::operator""s;
  EXPECT_EQ(Unframe(ChunkedHead(), "1 \t;\ta=\"\t\"\r\na\r\n0\r\nX:\ty\r\n\r\n"), "a");
  for (const std::string& text :
       {"1\na\r\n0\r\n\r\n"s, "1;a\nb\r\na\r\n0\r\n\r\n"s, "1;a\rb\r\na\r\n0\r\n\r\n"s,
        "1;a\0b\r\na\r\n0\r\n\r\n"s, "1;\x7F\r\na\r\n0\r\n\r\n"s, "1\r\r\na\r\n0\r\n\r\n"s,
        "1\r\na\n0\r\n\r\n"s, "1\r\na\r0\r\n\r\n"s, "0\n\r\n"s, "0\r\n\n"s, "0\r\n\r\r\n"s,
        "0\r\nX: y\n\r\n\r\n"s, "0\r\nX: y\rZ: z\r\n\r\n"s, "0\r\nX: \0\r\n\r\n"s}) {
    EXPECT_THAT(Unframe(ChunkedHead(), text),
                StartsWith("INVALID_ARGUMENT: A line between chunks has a control character"))
        << testing::PrintToString(text);
  }
  // At once: nobody waits for an end of the line.
  EXPECT_THAT(Unframe(ChunkedHead(), "1\n"), HasSubstr("a control character: '1\\x0a'"));
}

TEST(RequestBody, TrailersAreHeaders) {
  EXPECT_EQ(Unframe(ChunkedHead(), "0\r\nX:\r\nY: \xC3\xA9\r\n\r\n"), "");
  for (const char* line : {"GET / HTTP/1.1", "X", ": y", "X : y", " X: y", "X Y: z"}) {
    EXPECT_THAT(Unframe(ChunkedHead(), "0\r\nA: b\r\n" + std::string(line) + "\r\n\r\n"),
                StartsWith("INVALID_ARGUMENT: The request cannot be read as HTTP/1.1: a header is"))
        << line;
  }
}

std::string Zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

TEST(RequestBody, UndoesTheCodingsThatItKnows) {
  const std::string text(1'000, 'x');
  const auto decode = [](const std::string& coding, const std::string& bytes) {
    const absl::StatusOr<ByteSource> source = Decoded(coding, SourceOf(bytes, 7));
    return source.ok() ? ReadAll(*source) : source.status().ToString();
  };
  const std::string gzip = Gzip(text);
  for (const char* coding : {"gzip", "GZIP", "x-gzip", "X-GZip"})
    EXPECT_EQ(decode(coding, gzip), text) << coding;
  EXPECT_EQ(decode("gzip", gzip + Gzip("more")), text + "more");
  EXPECT_EQ(decode("deflate", Zlib(text)), text);
  EXPECT_EQ(decode("zstd", Zstd(text)), text);
  EXPECT_EQ(decode("", gzip), gzip);
  EXPECT_EQ(decode("Identity", gzip), gzip);
  EXPECT_EQ(decode("gzip", gzip.substr(0, gzip.size() / 2)),
            "INVALID_ARGUMENT: Content-Encoding gzip: the gzip data ends early");
  EXPECT_EQ(decode("zstd", Zstd(text).substr(0, 10)),
            "INVALID_ARGUMENT: Content-Encoding zstd: the zstd data ends early");
  EXPECT_EQ(decode("gzip", text), "INVALID_ARGUMENT: Content-Encoding gzip: the gzip data is damaged");
  for (const char* coding : {"br", "snappy", "gzip, gzip", "gzip;q=1", "compress"}) {
    EXPECT_THAT(decode(coding, text), StartsWith("UNIMPLEMENTED: Content-Encoding")) << coding;
  }
}

}  // namespace
}  // namespace sonde
