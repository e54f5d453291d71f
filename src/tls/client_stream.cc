#include "tls/client_stream.h"

#include <fmt/format.h>
#include <openssl/err.h>

#include <utility>

#include "tls/openssl.h"

namespace sonde::tls {
namespace {

// What OpenSSL says of first bytes that are no record.
bool IsOfNoRecord(int reason) {
  return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_PACKET_LENGTH_TOO_LONG ||
         reason == SSL_R_HTTP_REQUEST || reason == SSL_R_HTTPS_PROXY_REQUEST;
}

}  // namespace

ClientStream::ClientStream(std::shared_ptr<const ClientContext> context, int socket, std::string name)
    : SecureSocket(context->openssl(), socket), context_(std::move(context)), name_(std::move(name)) {
  if (has_ended()) return;
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl());
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  // An address is not sent as the name that is asked for; the protocol has only hosts there.
  const bool is_address = X509_VERIFY_PARAM_set1_ip_asc(wanted, name_.c_str()) == 1;
  const bool is_set = is_address || (SSL_set1_host(ssl(), name_.c_str()) == 1 &&
                                     SSL_set_tlsext_host_name(ssl(), name_.c_str()) == 1);
  ERR_clear_error();
  if (!is_set) Fail();
  SSL_set_connect_state(ssl());
}

ClientStream::State ClientStream::Handshake() {
  if (is_open()) return State::kOk;
  if (has_ended()) return State::kEnded;
  ERR_clear_error();
  if (const int result = SSL_connect(ssl()); result != 1) return StateOf(result);
  Open();
  return State::kOk;
}

std::string ClientStream::FaultOfCertificate(long result) const {
  switch (result) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return fmt::format("the server's certificate is not for {}", name_);
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the server's certificate has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the server's certificate is not valid yet";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return fmt::format("the server's certificate is of no authority of {}", context_->files().ca);
    default:
      return fmt::format("the server's certificate is not taken: {}", X509_verify_cert_error_string(result));
  }
}

ClientStream::Fault ClientStream::fault() const {
  if (ssl() == nullptr) return {"no memory is left", false};
  const long certificate = SSL_get_verify_result(ssl());
  if (!is_open() && certificate != X509_V_OK) return {FaultOfCertificate(certificate), true};
  // The server's own words, "tlsv1 alert unknown ca".
  if (end_reason() >= SSL_AD_REASON_OFFSET) {
    const bool may_want_ours = context_->files().certificate.empty();
    return {fmt::format("the server refuses the connection, \"{}\"{}", end_text(),
                        may_want_ours ? ": it may want a certificate of its clients, and none is given" : ""),
            true};
  }
  if (!is_open() && IsOfNoRecord(end_reason())) return {"the server speaks no TLS", true};
  const bool is_cut = end_reason() == 0 || end_reason() == SSL_R_UNEXPECTED_EOF_WHILE_READING;
  if (is_cut)
    return {is_open() ? "the server closed the connection"
                      : "the server closed the connection in the middle of it",
            false};
  return {end_text(), !is_open()};
}

}  // namespace sonde::tls
