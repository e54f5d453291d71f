#include "rpc/headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sonde::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

TEST(ParseTimeout, KnowsEachUnit) {
  EXPECT_THAT(ParseTimeout("1H"), Optional(absl::Hours(1)));
  EXPECT_THAT(ParseTimeout("2M"), Optional(absl::Minutes(2)));
  EXPECT_THAT(ParseTimeout("3S"), Optional(absl::Seconds(3)));
  EXPECT_THAT(ParseTimeout("4m"), Optional(absl::Milliseconds(4)));
  EXPECT_THAT(ParseTimeout("5u"), Optional(absl::Microseconds(5)));
  EXPECT_THAT(ParseTimeout("6n"), Optional(absl::Nanoseconds(6)));
  EXPECT_THAT(ParseTimeout("0S"), Optional(absl::ZeroDuration()));
  EXPECT_THAT(ParseTimeout("99999999H"), Optional(absl::Hours(99'999'999)));
}

TEST(ParseTimeout, RefusesWhatIsNotOne) {
  for (const char* value :
       {"", "S", "1", "1s", "1h", "-1S", "+1S", "1.5S", " 1S", "1S ", "123456789S", "1SS", "0x1S"}) {
    EXPECT_EQ(ParseTimeout(value), std::nullopt) << value;
  }
}

TEST(IsGrpcContentType, TakesItsOwnWithWhatMayFollow) {
  for (const char* value : {"application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8",
                            "Application/gRPC+json"}) {
    EXPECT_TRUE(IsGrpcContentType(value)) << value;
  }
  for (const char* value :
       {"", "application/grpcx", "application/grpc-web", "application/json", "text/html"}) {
    EXPECT_FALSE(IsGrpcContentType(value)) << value;
  }
}

TEST(PercentEncoded, LeavesPrintableAscii) {
  EXPECT_EQ(PercentEncoded("Row 'a' is 5 bytes; limit 4"), "Row 'a' is 5 bytes; limit 4");
  EXPECT_EQ(PercentEncoded("100%\n\x7f\xc3\xa4"), "100%25%0A%7F%C3%A4");
  EXPECT_EQ(PercentEncoded(std::string("\0", 1)), "%00");
}

TEST(BinaryMetadata, IsSentWithoutPaddingAndTakenWithOrWithout) {
  EXPECT_EQ(EncodeBinary("a"), "YQ");
  EXPECT_EQ(EncodeBinary(std::string("\xff\0", 2)), "/wA");
  EXPECT_THAT(DecodeBinary("YQ=="), Optional(std::string("a")));
  EXPECT_THAT(DecodeBinary("YQ"), Optional(std::string("a")));
  EXPECT_THAT(DecodeBinary(""), Optional(std::string()));
  EXPECT_EQ(DecodeBinary("!?"), std::nullopt);
}

TEST(MetadataName, IsLowerCaseAndNotGrpcs) {
  for (const char* name : {"x", "server-timing", "x-goog-ext-1-bin", "a_b.c9"})
    EXPECT_TRUE(IsMetadataName(name)) << name;
  for (const char* name : {"", "X", ":status", "grpc-status", "te", "content-type", "a b", "ä"}) {
    EXPECT_FALSE(IsMetadataName(name)) << name;
  }
}

TEST(Metadata, FindsWhatWasAppended) {
  Metadata metadata;
  metadata.Append("a", "1");
  metadata.Append("b", "");
  metadata.Append("a", "2, 3");
  EXPECT_THAT(metadata.Values("a"), ElementsAre("1", "2, 3"));
  EXPECT_THAT(metadata.Find("a"), Optional(std::string("1,2, 3")));
  EXPECT_THAT(metadata.Find("b"), Optional(std::string()));
  EXPECT_EQ(metadata.Find("c"), std::nullopt);
}

TEST(Metadata, DecodesListsOfBinaryValues) {
  Metadata metadata;
  metadata.Append("k-bin", "YQ==,Yg, Yw");
  metadata.Append("k-bin", "!");
  metadata.Append("k-bin", "ZA");
  EXPECT_THAT(metadata.Values("k-bin"), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(metadata.Find("k-bin"), Optional(std::string("a")));
}

TEST(CodeOfReset, FollowsGrpcsTable) {
  EXPECT_EQ(CodeOfReset(0x8), absl::StatusCode::kCancelled);
  EXPECT_EQ(CodeOfReset(0x7), absl::StatusCode::kUnavailable);
  EXPECT_EQ(CodeOfReset(0xb), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(CodeOfReset(0xc), absl::StatusCode::kPermissionDenied);
  for (const uint32_t error : {0x0U, 0x1U, 0x2U, 0x3U, 0x4U, 0x5U, 0x6U, 0x9U, 0xaU, 0xdU, 0x99U}) {
    EXPECT_EQ(CodeOfReset(error), absl::StatusCode::kInternal) << error;
  }
}

using Headers = std::vector<std::pair<std::string, std::string>>;

// Those of a call, with others in the place of some.  An empty value: without that header.
std::variant<CallHead, RequestHead::Refused> HeadOf(const Headers& others) {
  Headers headers = {{":method", "POST"},
                     {":scheme", "http"},
                     {":path", "/s/m"},
                     {":authority", "localhost"},
                     {"content-type", "application/grpc"},
                     {"te", "trailers"}};
  for (const auto& other : others) {
    std::erase_if(headers, [&](const auto& header) { return header.first == other.first; });
    if (!other.second.empty()) headers.push_back(other);
  }
  RequestHead head;
  head.Begin();
  const ServerOptions options;
  for (const auto& [name, value] : headers) {
    head.Count(name, value);
    head.Add(name, value);
  }
  return head.End(options, absl::FromUnixSeconds(1'000));
}

RequestHead::Refused RefusalOf(const Headers& others) {
  auto head = HeadOf(others);
  if (!std::holds_alternative<RequestHead::Refused>(head)) return {Refusal::kCount};
  return std::get<RequestHead::Refused>(std::move(head));
}

TEST(RequestHead, BecomesACall) {
  auto head = HeadOf({{"grpc-timeout", "5S"}, {"user-agent", "test"}, {"grpc-encoding", "identity"}});
  ASSERT_TRUE(std::holds_alternative<CallHead>(head));
  const auto& call = std::get<CallHead>(head);
  EXPECT_EQ(call.path, "/s/m");
  EXPECT_EQ(call.deadline, absl::FromUnixSeconds(1'005));
  EXPECT_THAT(call.metadata.Find("user-agent"), Optional(std::string("test")));
  EXPECT_EQ(call.metadata.Find(":path"), std::nullopt);
}

TEST(RequestHead, HasNoDeadlineByItself) {
  EXPECT_EQ(std::get<CallHead>(HeadOf({})).deadline, absl::InfiniteFuture());
}

TEST(RequestHead, RefusesWhatIsNotGrpc) {
  EXPECT_STREQ(RefusalOf({{":method", "GET"}}).http_status, "405");
  EXPECT_STREQ(RefusalOf({{"content-type", "application/json"}}).http_status, "415");
  EXPECT_STREQ(RefusalOf({{"content-type", ""}}).http_status, "415");
  EXPECT_EQ(RefusalOf({{"te", ""}}).status.code, absl::StatusCode::kInternal);
  EXPECT_EQ(RefusalOf({{"te", "gzip"}}).status.code, absl::StatusCode::kInternal);
  EXPECT_EQ(RefusalOf({{"grpc-timeout", "soon"}}).status.code, absl::StatusCode::kInternal);
  EXPECT_EQ(RefusalOf({{":path", std::string(2'000, '/')}}).status.code, absl::StatusCode::kInvalidArgument);
}

TEST(RequestHead, RefusesCompressionAndNamesWhatMayBeUsed) {
  const RequestHead::Refused refused = RefusalOf({{"grpc-encoding", "gzip"}});
  EXPECT_EQ(refused.status.code, absl::StatusCode::kUnimplemented);
  EXPECT_THAT(refused.status.message, HasSubstr("'gzip'"));
  EXPECT_TRUE(refused.names_encodings);
}

TEST(RequestHead, RefusesMuchMetadata) {
  EXPECT_EQ(RefusalOf({{"x", std::string(7'000, 'x')}}).reason, Refusal::kCount);
  const RequestHead::Refused refused = RefusalOf({{"x", std::string(9'000, 'x')}});
  EXPECT_EQ(refused.reason, Refusal::kHeaderBytes);
  EXPECT_EQ(refused.status.code, absl::StatusCode::kResourceExhausted);
}

TEST(RequestHead, CountsBytesAsHttp2Does) {
  RequestHead head;
  head.Begin();
  EXPECT_EQ(head.Count("name", "value"), 4 + 5 + 32);
  EXPECT_EQ(head.Count("x", ""), 41 + 1 + 32);
  head.Begin();
  EXPECT_EQ(head.Count("x", ""), 1 + 32);
}

}  // namespace
}  // namespace sonde::rpc
