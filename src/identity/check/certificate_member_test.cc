#include "identity/check/certificate_member.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

std::string MemberOf(const PeerCertificate& certificate, const AuthConfig& config = {}) {
  const auto member = MemberOfCertificate(certificate, MembersByCertificate(config));
  return member.ok() ? *member : std::string(member.status().message());
}

TEST(CertificateMember, IsTheSpiffeUriElseTheEmailElseTheSubject) {
  PeerCertificate certificate{
      .subject = "CN=ingest,O=Example", .uris = {"https://x", "spiffe://e/i"}, .emails = {"a@example.com"}};
  EXPECT_EQ(MemberOf(certificate), "principal:spiffe://e/i");
  certificate.uris = {"https://x"};
  EXPECT_EQ(MemberOf(certificate), "principal:email:a@example.com");
  certificate.emails.clear();
  EXPECT_EQ(MemberOf(certificate), "principal:subject:CN=ingest,O=Example");
  certificate.subject.clear();
  EXPECT_EQ(MemberOf(certificate), "the certificate has no name");
}

TEST(CertificateMember, IsTheOneOfTheConfiguration) {
  AuthConfig config;
  config.certificates = {{CertificateNameKind::kUri, "spiffe://e/i", "serviceAccount:ingest@sonde.local"},
                         {CertificateNameKind::kEmail, "a@example.com", "user:a@example.com"},
                         {CertificateNameKind::kSubject, "CN=i", "user:i@example.com"}};
  EXPECT_EQ(MemberOf({.uris = {"spiffe://e/i"}}, config), "serviceAccount:ingest@sonde.local");
  EXPECT_EQ(MemberOf({.emails = {"a@example.com"}}, config), "user:a@example.com");
  EXPECT_EQ(MemberOf({.subject = "CN=i"}, config), "user:i@example.com");
  // A name of one kind is none of another kind.
  EXPECT_EQ(MemberOf({.subject = "a@example.com"}, config), "principal:subject:a@example.com");
  EXPECT_EQ(MemberOf({.subject = "spiffe://e/i"}, config), "principal:subject:spiffe://e/i");
  // An entry for a name that does not count is not looked at.
  EXPECT_EQ(MemberOf({.subject = "CN=i", .uris = {"spiffe://e/x"}}, config), "principal:spiffe://e/x");
}

TEST(CertificateMember, IsNobodyWhereTwoNamesCount) {
  EXPECT_EQ(MemberOf({.uris = {"spiffe://e/i", "spiffe://e/j"}}),
            "the certificate has 2 SPIFFE URIs, and one is allowed");
  EXPECT_EQ(MemberOf({.emails = {"a@e", "b@e", "c@e"}}),
            "the certificate has 3 e-mail addresses, and one is allowed");
}

TEST(CertificateMember, IsNobodyWhoseNameIsNoText) {
  EXPECT_FALSE(MemberOfCertificate({.subject = std::string("CN=a\0b", 6)}, {}).ok());
  EXPECT_FALSE(MemberOfCertificate({.subject = "CN=" + std::string(600, 'a')}, {}).ok());
}

}  // namespace
}  // namespace sonde
