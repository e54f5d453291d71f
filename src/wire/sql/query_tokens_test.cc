#include "wire/sql/query_tokens.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

const PreparedQueryToken kPrepared{.instance = "projects/p/instances/i",
                                   .query = "SELECT cf['q'] FROM t WHERE _key = @k",
                                   .parameters = {{"k", "\x0a\x00"}, {"n", ""}},
                                   .fingerprint = 0x8000'0000'0000'0001,
                                   .issued_micros = 1'700'000'000'000'000};
const ResumeToken kResume{
    .request_hash = 7, .now_micros = 1'700'000'000'000'000, .is_end = false, .place = std::string("a\0b", 3)};
const ResumeToken kSpooled{.request_hash = 7,
                           .now_micros = 1'700'000'000'000'000,
                           .spooled = "0123456789abcdef",
                           .spooled_place = int64_t{1} << 40};

TEST(QueryTokens, SayAgainWhatWasWritten) {
  const QueryTokens tokens("key");
  const absl::StatusOr<PreparedQueryToken> prepared = tokens.ReadPrepared(tokens.Write(kPrepared));
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_EQ(*prepared, kPrepared);
  const absl::StatusOr<ResumeToken> resume = tokens.ReadResume(tokens.Write(kResume));
  ASSERT_TRUE(resume.ok()) << resume.status();
  EXPECT_EQ(*resume, kResume);
  const absl::StatusOr<ResumeToken> spooled = tokens.ReadResume(tokens.Write(kSpooled));
  ASSERT_TRUE(spooled.ok()) << spooled.status();
  EXPECT_EQ(*spooled, kSpooled);
}

TEST(QueryTokens, FindOutThatABitHasChanged) {
  const QueryTokens tokens("key");
  for (const std::string& token : {tokens.Write(kPrepared), tokens.Write(kResume), tokens.Write(kSpooled)}) {
    for (size_t bit = 0; bit < 8 * token.size(); ++bit) {
      std::string changed = token;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
      EXPECT_EQ(tokens.ReadPrepared(changed).status().code(), absl::StatusCode::kInvalidArgument) << bit;
      EXPECT_EQ(tokens.ReadResume(changed).status().code(), absl::StatusCode::kInvalidArgument) << bit;
    }
    for (size_t size = 0; size < token.size(); ++size) {
      EXPECT_FALSE(tokens.ReadPrepared(token.substr(0, size)).ok()) << size;
      EXPECT_FALSE(tokens.ReadResume(token.substr(0, size)).ok()) << size;
    }
  }
}

TEST(QueryTokens, BelongToTheirKeyAndKind) {
  const QueryTokens tokens("key");
  const QueryTokens others("another key");
  EXPECT_EQ(others.ReadPrepared(tokens.Write(kPrepared)).status().message(),
            "Error in field 'prepared_query' : The bytes are no prepared query of this server; prepare the "
            "query again");
  EXPECT_EQ(tokens.ReadResume(tokens.Write(kPrepared)).status().message(),
            "Error in field 'resume_token' : The bytes are no resume token of this server");
  EXPECT_FALSE(tokens.ReadPrepared(tokens.Write(kResume)).ok());
}

}  // namespace
}  // namespace sonde
