#include "tls/stream.h"

#include <openssl/err.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "tls/openssl.h"

namespace sonde::tls {
namespace {

// Names with control characters would mean one thing here and another elsewhere.
bool IsPlain(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

PeerCertificate NamesOf(const X509* certificate) {
  PeerCertificate names;
  const Owned<BIO> text(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(text.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  char* bytes = nullptr;
  const long count = BIO_get_mem_data(text.get(), &bytes);
  names.subject.assign(bytes, static_cast<size_t>(std::max<long>(count, 0)));
  const Owned<GENERAL_NAMES> others(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; others != nullptr && i < sk_GENERAL_NAME_num(others.get()); ++i) {
    const GENERAL_NAME* const other = sk_GENERAL_NAME_value(others.get(), i);
    if (other->type != GEN_URI && other->type != GEN_EMAIL) continue;
    const ASN1_IA5STRING* const value =
        other->type == GEN_URI ? other->d.uniformResourceIdentifier : other->d.rfc822Name;
    const std::string_view name(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                                static_cast<size_t>(ASN1_STRING_length(value)));
    if (IsPlain(name)) (other->type == GEN_URI ? names.uris : names.emails).emplace_back(name);
  }
  return names;
}

}  // namespace

Stream::Stream(std::shared_ptr<const Context> context, int socket, Protocol protocol)
    : SecureSocket(context->openssl(), socket), context_(std::move(context)), protocol_(protocol) {
  if (has_ended()) return;
  SSL_set_app_data(ssl(), const_cast<char*>(protocol_.name));
  SSL_set_accept_state(ssl());
}

Stream::State Stream::Handshake() {
  if (is_open()) return State::kOk;
  if (has_ended()) return State::kEnded;
  ERR_clear_error();
  if (const int result = SSL_accept(ssl()); result != 1) return StateOf(result);
  const unsigned char* chosen = nullptr;
  unsigned int chosen_bytes = 0;
  SSL_get0_alpn_selected(ssl(), &chosen, &chosen_bytes);
  if (chosen_bytes == 0 && protocol_.must_be_offered) return Fail();
  Open();
  if (const X509* const certificate = SSL_get0_peer_certificate(ssl()))
    peer_certificate_ = NamesOf(certificate);
  return State::kOk;
}

}  // namespace sonde::tls
