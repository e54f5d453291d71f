#include "cli/watch/redact.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde {
namespace {

TEST(Redact, TakesSecretsOutAndLeavesTheRest) {
  const std::string secret(43, 'x');
  EXPECT_EQ(Redact("token=sonde_ab12_" + secret + "&rest"), "token=[secret]&rest");
  EXPECT_EQ(Redact("a sonde_ab12_" + secret + " b"), "a [secret] b");
  EXPECT_EQ(Redact("authorization: Bearer abcdefghijklmnop.qrs"), "authorization: Bearer [secret]");
  EXPECT_EQ(Redact("authorization: basic YWRtaW46c2VjcmV0MTIz=="), "authorization: basic [secret]");
  EXPECT_EQ(Redact("\"eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJhIn0.c2ln\""), "\"[secret]\"");
  EXPECT_EQ(Redact("x\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\ny"),
            "x\n[secret]\ny");
  EXPECT_EQ(Redact("-----BEGIN PRIVATE KEY-----\ncut off"), "[secret]");
}

TEST(Redact, LeavesOrdinaryTextAsItIs) {
  for (const char* text : {"", "time=2026-01-01T00:00:00Z level=info msg=\"serving address=127.0.0.1:8086\"",
                           "the token was refused", "bearer of news", "sonde_requests_total",
                           "sonde_request_duration_seconds_bucket",
                           "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----"})
    EXPECT_EQ(Redact(text), text);
}

}  // namespace
}  // namespace sonde
