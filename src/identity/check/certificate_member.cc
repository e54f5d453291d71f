#include "identity/check/certificate_member.h"

#include <fmt/format.h>

#include <vector>

#include "identity/config/member_names.h"

namespace sonde {
namespace {

struct CertificateName {
  CertificateNameKind kind;
  std::string name;
  std::string member;  // without an entry
};

absl::StatusOr<CertificateName> NameOfCertificate(const PeerCertificate& certificate) {
  std::vector<std::string> spiffe;
  for (const std::string& uri : certificate.uris) {
    if (uri.starts_with("spiffe://")) spiffe.push_back(uri);
  }
  if (spiffe.size() > 1 || (spiffe.empty() && certificate.emails.size() > 1)) {
    return absl::InvalidArgumentError(fmt::format("the certificate has {} {}, and one is allowed",
                                                  spiffe.empty() ? certificate.emails.size() : spiffe.size(),
                                                  spiffe.empty() ? "e-mail addresses" : "SPIFFE URIs"));
  }
  if (!spiffe.empty()) return CertificateName{CertificateNameKind::kUri, spiffe[0], "principal:" + spiffe[0]};
  if (!certificate.emails.empty()) {
    const std::string& email = certificate.emails[0];
    return CertificateName{CertificateNameKind::kEmail, email, "principal:email:" + email};
  }
  if (certificate.subject.empty()) return absl::InvalidArgumentError("the certificate has no name");
  return CertificateName{CertificateNameKind::kSubject, certificate.subject,
                         "principal:subject:" + certificate.subject};
}

}  // namespace

CertificateMembers MembersByCertificate(const AuthConfig& config) {
  CertificateMembers members;
  for (const AuthCertificate& certificate : config.certificates) {
    members[{certificate.kind, certificate.name}] = certificate.member;
  }
  return members;
}

absl::StatusOr<std::string> MemberOfCertificate(const PeerCertificate& certificate,
                                                const CertificateMembers& known) {
  absl::StatusOr<CertificateName> name = NameOfCertificate(certificate);
  if (!name.ok()) return name.status();
  if (const auto found = known.find({name->kind, name->name}); found != known.end()) return found->second;
  if (absl::Status status = CheckMember(name->member); !status.ok()) return status;
  return std::move(name->member);
}

}  // namespace sonde
