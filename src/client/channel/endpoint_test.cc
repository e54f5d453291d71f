#include "client/channel/endpoint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

// "tls HOST:PORT", "plain HOST:PORT", or the error.
std::string Read(std::string_view text, bool has_ca_file = false) {
  const auto endpoint = ParseEndpoint(text, has_ca_file);
  if (!endpoint.ok()) return std::string(endpoint.status().message());
  return fmt::format("{} {}", endpoint->is_tls ? "tls" : "plain", endpoint->Target());
}

TEST(ParseEndpoint, TakesPlainTextOnLoopbackAndTlsElsewhere) {
  EXPECT_EQ(Read("127.0.0.1:8086"), "plain 127.0.0.1:8086");
  EXPECT_EQ(Read("127.9.9.9:8086"), "plain 127.9.9.9:8086");
  EXPECT_EQ(Read("localhost:1"), "plain localhost:1");
  EXPECT_EQ(Read("[::1]:8086"), "plain [::1]:8086");
  EXPECT_EQ(Read("10.0.0.7:8086"), "tls 10.0.0.7:8086");
  EXPECT_EQ(Read("DB.example.com:65535"), "tls db.example.com:65535");
  EXPECT_EQ(Read("127.0.0.1.example.com:1"), "tls 127.0.0.1.example.com:1");
  EXPECT_EQ(Read("localhost.example.com:1"), "tls localhost.example.com:1");
  EXPECT_EQ(Read("[fe80::1]:8086"), "tls [fe80::1]:8086");
}

TEST(ParseEndpoint, GoesByTheSchemeAndByTheCa) {
  EXPECT_EQ(Read("https://127.0.0.1:8086"), "tls 127.0.0.1:8086");
  EXPECT_EQ(Read("https://db.example.com"), "tls db.example.com:443");
  EXPECT_EQ(Read("https://db.example.com/"), "tls db.example.com:443");
  EXPECT_EQ(Read("http://10.0.0.7:8086"), "plain 10.0.0.7:8086");
  EXPECT_EQ(Read("127.0.0.1:8086", /*has_ca_file=*/true), "tls 127.0.0.1:8086");
  EXPECT_EQ(Read("http://10.0.0.7:8086", /*has_ca_file=*/true),
            "the endpoint \"http://10.0.0.7:8086\" is plain text, and --ca-file is for TLS: write "
            "https://10.0.0.7:8086");
}

TEST(ParseEndpoint, RefusesWhatIsNoEndpoint) {
  for (const char* text :
       {"", "localhost", "localhost:", ":8086", "a:0", "a:65536", "a:-1", "a:1:2", "::1:8086", "[::1]",
        "[::1:8086", "a b:1", "http://a", "ftp://a:1", "https://", "a:1/path", "a/b:1"}) {
    EXPECT_EQ(Read(text),
              fmt::format("an endpoint is HOST:PORT, for example 127.0.0.1:8086; got \"{}\"", text));
  }
}

TEST(ParseEndpoint, KnowsGoogleByItsHosts) {
  const auto google = ParseEndpoint("https://bigtable.googleapis.com", false);
  ASSERT_TRUE(google.ok());
  EXPECT_TRUE(google->is_google);
  EXPECT_EQ(google->ForAdmin().Target(), "bigtableadmin.googleapis.com:443");
  const auto other = ParseEndpoint("https://bigtable.googleapis.com.example.com", false);
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->is_google);
  EXPECT_EQ(other->ForAdmin().Target(), other->Target());
  EXPECT_FALSE(ParseEndpoint("https://evilgoogleapis.com", false)->is_google);
}

}  // namespace
}  // namespace sonde
