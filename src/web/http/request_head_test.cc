#include "web/http/request_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace sonde {
namespace {

using testing::HasSubstr;

// Parses a whole head; returns its error if it has one.
absl::StatusOr<RequestHead> Parse(const std::string& text) {
  const std::optional<size_t> end = FindHeadEnd(text);
  if (!end) return absl::OutOfRangeError("there is no end");
  return ParseRequestHead(std::string_view(text).substr(0, *end));
}

std::string ErrorOf(const std::string& text) {
  const absl::StatusOr<RequestHead> head = Parse(text);
  return head.ok() ? "" : std::string(head.status().message());
}

TEST(RequestHead, ReadsWhatARequestSays) {
  const auto head = Parse(
      "\r\nPOST /a%20b/c?x=1&y=%2F HTTP/1.1\r\nHost: localhost:80\r\nX-Empty:\r\nX-List: a\r\nx-list:  b \r\n"
      "Content-Length: 12\r\nExpect: 100-Continue\r\n\r\nbody");
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_EQ(head->request.method, "POST");
  EXPECT_EQ(head->request.path, "/a b/c");
  EXPECT_EQ(head->request.target_path, "/a%20b/c");
  EXPECT_EQ(head->request.Query("y"), "/");
  EXPECT_EQ(head->request.Header("host"), "localhost:80");
  EXPECT_EQ(head->request.Header("x-empty"), "");
  EXPECT_EQ(head->request.Header("x-list"), "a, b");
  EXPECT_EQ(head->body_bytes, 12);
  EXPECT_TRUE(head->keeps_open && head->expects_continue && head->HasBody());
  EXPECT_FALSE(head->is_chunked || head->is_head_only || head->is_http_1_0);
}

TEST(RequestHead, KnowsHowTheConnectionGoesOn) {
  const auto keeps_open = [](const std::string& version, const std::string& connection) {
    return Parse("GET / HTTP/" + version + "\r\nHost: a\r\nConnection: " + connection + "\r\n\r\n")
        ->keeps_open;
  };
  EXPECT_TRUE(keeps_open("1.1", ""));
  EXPECT_TRUE(keeps_open("1.1", "upgrade"));
  EXPECT_FALSE(keeps_open("1.1", "upgrade , Close"));
  EXPECT_FALSE(keeps_open("1.0", ""));
  EXPECT_TRUE(keeps_open("1.0", "Keep-Alive"));
  EXPECT_TRUE(Parse("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")->is_head_only);
}

TEST(RequestHead, ATargetMayNameTheHost) {
  const auto head = Parse("GET http://sonde.example:80?x=1 HTTP/1.1\r\nHost: other\r\n\r\n");
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_EQ(head->request.Header("host"), "sonde.example:80");
  EXPECT_EQ(head->request.path, "/");
  EXPECT_EQ(head->request.Query("x"), "1");
}

// An HTTP/1.1 request has to have it whatever its target says (RFC 9112, 3.2).
TEST(RequestHead, ATargetIsNoHost) {
  const std::string first = "GET http://localhost/ HTTP/1.1\r\n";
  EXPECT_EQ(Parse(first + "\r\n")->request.Header("host"), std::nullopt);
  EXPECT_EQ(Parse(first + "Host: \r\n\r\n")->request.Header("host"), "");
  EXPECT_EQ(Parse("GET http://localhost/ HTTP/1.0\r\n\r\n")->request.Header("host"), "localhost");
  for (const char* target : {"http://", "http:///", "http:///x", "http://?x=http://a", "HTTP://#x"}) {
    EXPECT_THAT(ErrorOf(std::string("GET ") + target + " HTTP/1.1\r\nHost: a\r\n\r\n"),
                HasSubstr(std::string("the target names no host: '") + target + "'"));
  }
}

TEST(RequestHead, OnlyWholeLineEndsMayStandInFront) {
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  EXPECT_EQ(ErrorOf("\r\n" + request), "");
  EXPECT_EQ(ErrorOf("\r\n\r\n\r\n" + request), "");
  for (const char* front :
       {"\n", "\r", "\n\n", "\r\r\n", "\n\r\n", "\n\r", "\r\n\n", "\r\n\r", "\r\n\r\r\n"}) {
    EXPECT_THAT(ErrorOf(front + request), HasSubstr("cannot be read as HTTP/1.1"))
        << testing::PrintToString(front);
  }
}

// What a proxy in front might read differently.
TEST(RequestHead, RefusesWhatHasTwoMeanings) {
  const auto error = [](const std::string& headers) {
    return ErrorOf("POST / HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n");
  };
  EXPECT_EQ(error(""), "");
  EXPECT_THAT(error("Host: a\r\n"), HasSubstr("there is a second 'Host'"));
  EXPECT_THAT(error("host: b\r\n"), HasSubstr("there is a second 'host'"));
  EXPECT_THAT(error("Origin: x\r\nOrigin: y\r\n"), HasSubstr("there is a second 'Origin'"));
  EXPECT_THAT(error("Content-Length: 1\r\nContent-Length: 1\r\n"),
              HasSubstr("there is a second 'Content-Length'"));
  EXPECT_THAT(error("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
              HasSubstr("Transfer-Encoding excludes Content-Length"));
  for (const char* length :
       {"", "+0", "0x10", "-1", "1, 1", "1 1", "9223372036854775808", "99999999999999999999"}) {
    EXPECT_THAT(error(std::string("Content-Length: ") + length + "\r\n"), HasSubstr("Content-Length is"))
        << length;
  }
  EXPECT_THAT(error("Transfer-Encoding: gzip, chunked\r\n"), HasSubstr("allowed: chunked"));
  EXPECT_THAT(error("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
              HasSubstr("allowed: chunked"));
  EXPECT_EQ(error("Transfer-Encoding: Chunked\r\n"), "");
  EXPECT_THAT(error(" folded: x\r\n"), HasSubstr("a header is"));
  EXPECT_THAT(error("X : y\r\n"), HasSubstr("a header is"));
  EXPECT_THAT(error("no colon\r\n"), HasSubstr("a header is"));
  EXPECT_THAT(error("X: a\rb\r\n"), HasSubstr("a control character"));
  EXPECT_THAT(error(std::string("X: a\0b\r\n", 8)), HasSubstr("a control character"));
  EXPECT_THAT(error("X: a\n"), HasSubstr("without a carriage return"));
  for (const char* first :
       {"GET / HTTP/2.0", "GET /", "GET  / HTTP/1.1", "GET / HTTP/1.1 ", " GET / HTTP/1.1", "G@T / HTTP/1.1",
        "GET /\x7F HTTP/1.1", "GET a HTTP/1.1", "GET / x HTTP/1.1", "\x16\x03\x01"}) {
    EXPECT_THAT(ErrorOf(std::string(first) + "\r\nHost: a\r\n\r\n"), HasSubstr("cannot be read as HTTP/1.1"))
        << first;
  }
}

// However it comes, its end is found where it is.
TEST(RequestHead, TheEndIsFoundPieceByPiece) {
  SeededRandom random(7);
  constexpr std::string_view kSigns = "a:\r\n\n";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (uint64_t n = random.Uniform(20); n > 0; --n) text += kSigns[random.Uniform(kSigns.size())];
    const std::optional<size_t> whole = FindHeadEnd(text);
    size_t searched = 0;
    std::optional<size_t> found;
    while (!found && searched < text.size()) {
      const size_t bytes = std::min(text.size(), searched + 1 + random.Uniform(3));
      found = FindHeadEnd(std::string_view(text).substr(0, bytes), searched);
      searched = bytes;
    }
    EXPECT_EQ(found, whole) << testing::PrintToString(text);
    if (whole) (void)ParseRequestHead(std::string_view(text).substr(0, *whole));
  }
}

}  // namespace
}  // namespace sonde
