#include "tls/certificate_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tls/testing.h"

namespace sonde::tls {
namespace {

using ::testing::HasSubstr;

class CertificateKeeperTest : public ::testing::Test {
 protected:
  CertificateKeeperTest() { Write(TestCertificate(authority_, {"DNS:localhost"})); }

  void Write(const Pair& pair) {
    WriteTestFile(files_.certificate, pair.certificate);
    WriteTestFile(files_.key, pair.key);
  }
  std::string LoadError() const { return std::string(Context::Load(files_, absl::Now()).status().message()); }

  const Pair authority_ = TestAuthority();
  Files files_{.certificate = TemporaryFile("keeper.pem"), .key = TemporaryFile("keeper.key")};
};

TEST_F(CertificateKeeperTest, RefusesAKeyOfAnotherCertificate) {
  WriteTestFile(files_.key, TestCertificate(authority_, {"DNS:localhost"}).key);
  EXPECT_THAT(LoadError(), HasSubstr("does not fit the certificate"));
}

TEST_F(CertificateKeeperTest, RefusesAKeyThatOthersMayRead) {
  chmod(files_.key.c_str(), 0640);
  EXPECT_THAT(LoadError(), HasSubstr("has the mode 0640"));
}

TEST_F(CertificateKeeperTest, RefusesACertificateThatHasEnded) {
  Write(TestCertificate(authority_, {"DNS:localhost"}, false, absl::Now() - absl::Minutes(1)));
  EXPECT_THAT(LoadError(), HasSubstr("certificate 1 is valid from"));
}

TEST_F(CertificateKeeperTest, RefusesACertificateThatHasNotBegun) {
  EXPECT_THAT(std::string(Context::Load(files_, absl::Now() - absl::Hours(2)).status().message()),
              HasSubstr("certificate 1 is valid from"));
}

TEST_F(CertificateKeeperTest, RefusesAChainWhoseNextCertificateIsNoIssuer) {
  const Pair own = TestCertificate(authority_, {"DNS:localhost"});
  Write({own.certificate + TestAuthority("another").certificate, own.key});
  EXPECT_THAT(LoadError(), HasSubstr("certificate 1 is not signed by certificate 2"));
  // The same name does not make it the signer.
  Write({own.certificate + TestAuthority().certificate, own.key});
  EXPECT_THAT(LoadError(), HasSubstr("certificate 1 is not signed by certificate 2"));
  Write({own.certificate + authority_.certificate, own.key});
  EXPECT_TRUE(Context::Load(files_, absl::Now()).ok()) << LoadError();
}

TEST_F(CertificateKeeperTest, RefusesWhatIsNoCertificate) {
  WriteTestFile(files_.certificate, "nothing");
  EXPECT_THAT(LoadError(), HasSubstr("certificate 1 cannot be read"));
  WriteTestFile(files_.certificate, std::string(2 << 20, 'a'));
  EXPECT_THAT(LoadError(), HasSubstr("has more than 1048576 bytes, the limit"));
}

TEST_F(CertificateKeeperTest, RefusesToRequireCertificatesOfNoCa) {
  files_.require_client_certificate = true;
  EXPECT_THAT(LoadError(), HasSubstr("needs tls.client_ca"));
}

TEST_F(CertificateKeeperTest, RefusesAClientCaThatIsNone) {
  files_.client_ca = files_.certificate;
  EXPECT_THAT(LoadError(), HasSubstr("must hold certificates of CAs"));
}

TEST_F(CertificateKeeperTest, ReplacesThePairWhole) {
  auto keeper = *CertificateKeeper::Open(files_, absl::Now());
  const auto first = keeper->current();
  EXPECT_FALSE(*keeper->ReloadIfChanged(absl::Now()));
  const Pair next = TestCertificate(authority_, {"DNS:localhost"});
  WriteTestFile(files_.certificate, next.certificate);
  EXPECT_FALSE(keeper->ReloadIfChanged(absl::Now()).ok());
  EXPECT_TRUE(keeper->reload_failed());
  EXPECT_EQ(keeper->current(), first);
  EXPECT_FALSE(*keeper->ReloadIfChanged(absl::Now())) << "a failure is told once";
  EXPECT_TRUE(keeper->reload_failed());
  WriteTestFile(files_.key, next.key);
  EXPECT_TRUE(*keeper->ReloadIfChanged(absl::Now()));
  EXPECT_FALSE(keeper->reload_failed());
  EXPECT_NE(keeper->current(), first);
}

}  // namespace
}  // namespace sonde::tls
