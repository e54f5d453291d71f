// Handshakes of OpenSSL's client with Stream: which are taken, and what is told of the client.
#include "tls/stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>

#include "tls/openssl.h"
#include "tls/testing.h"

namespace sonde::tls {
namespace {

struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

struct Client {
  int version = TLS1_3_VERSION;
  std::string ciphers = "DEFAULT@SECLEVEL=0";
  std::string protocol = "\2h2";
  const Pair* certificate = nullptr;
};

class StreamTest : public ::testing::Test {
 protected:
  StreamTest() {
    const Pair pair = TestCertificate(authority_, {"DNS:localhost"});
    WriteTestFile(files_.certificate, pair.certificate);
    WriteTestFile(files_.key, pair.key);
    WriteTestFile(client_ca_file_, client_authority_.certificate);
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets_.data()), 0);
  }
  ~StreamTest() override {
    server_.reset();
    for (const int socket : sockets_) close(socket);
  }

  // Whether both sides finish their handshakes; server_ and client_ stay.
  bool Connect(const Client& client, Stream::Protocol protocol = Stream::kHttp2) {
    auto context = Context::Load(files_, absl::Now());
    if (!context.ok()) {
      ADD_FAILURE() << context.status();
      return false;
    }
    server_ = std::make_unique<Stream>(*std::move(context), sockets_[0], protocol);
    client_context_.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_min_proto_version(client_context_.get(), client.version);
    SSL_CTX_set_max_proto_version(client_context_.get(), client.version);
    SSL_CTX_set_cipher_list(client_context_.get(), client.ciphers.c_str());
    SSL_CTX_set_security_level(client_context_.get(), 0);
    client_.reset(SSL_new(client_context_.get()));
    if (!client.protocol.empty()) {
      SSL_set_alpn_protos(client_.get(), reinterpret_cast<const unsigned char*>(client.protocol.data()),
                          static_cast<unsigned int>(client.protocol.size()));
    }
    if (client.certificate != nullptr) UseCertificate(*client.certificate);
    SSL_set_fd(client_.get(), sockets_[1]);
    SSL_set_connect_state(client_.get());
    // A client of TLS 1.3 is done before the server has looked at its certificate.
    for (int i = 0; i < 100; ++i) {
      const int at_client = SSL_do_handshake(client_.get());
      const Stream::State at_server = server_->Handshake();
      if (at_server == Stream::State::kEnded) return false;
      if (at_client == 1 && at_server == Stream::State::kOk) return true;
      if (at_client != 1 && SSL_get_error(client_.get(), at_client) == SSL_ERROR_SSL) return false;
    }
    return false;
  }

  void UseCertificate(const Pair& pair) {
    const Owned<BIO> certificate = BioOf(pair.certificate);
    const Owned<BIO> key = BioOf(pair.key);
    const Owned<X509> x509(PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr));
    const Owned<EVP_PKEY> pkey(PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr));
    SSL_use_certificate(client_.get(), x509.get());
    SSL_use_PrivateKey(client_.get(), pkey.get());
  }

  const Pair authority_ = TestAuthority();
  const Pair client_authority_ = TestAuthority("clients' CA");
  const std::string client_ca_file_ = TemporaryFile("stream_ca.pem");
  Files files_{.certificate = TemporaryFile("stream.pem"), .key = TemporaryFile("stream.key")};
  std::array<int, 2> sockets_{};
  std::unique_ptr<Stream> server_;
  Owned<SSL_CTX> client_context_;
  std::unique_ptr<SSL, FreeSsl> client_;
};

TEST_F(StreamTest, SpeaksTls13AndTls12WithAeadAlone) {
  EXPECT_TRUE(Connect({.version = TLS1_3_VERSION}));
  EXPECT_EQ(server_->peer_certificate(), nullptr);
}

struct CipherCase {
  int version;
  const char* cipher;
  bool is_taken;
};

class StreamCipherTest : public StreamTest, public ::testing::WithParamInterface<CipherCase> {};

TEST_P(StreamCipherTest, IsTakenOrRefused) {
  EXPECT_EQ(
      Connect({.version = GetParam().version, .ciphers = fmt::format("{}:@SECLEVEL=0", GetParam().cipher)}),
      GetParam().is_taken);
}

INSTANTIATE_TEST_SUITE_P(Table, StreamCipherTest,
                         ::testing::Values(CipherCase{TLS1_VERSION, "ECDHE-ECDSA-AES128-SHA", false},
                                           CipherCase{TLS1_1_VERSION, "ECDHE-ECDSA-AES128-SHA", false},
                                           CipherCase{TLS1_2_VERSION, "ECDHE-ECDSA-AES128-SHA", false},
                                           CipherCase{TLS1_2_VERSION, "ECDHE-ECDSA-AES256-SHA384", false},
                                           CipherCase{TLS1_2_VERSION, "AES128-GCM-SHA256", false},
                                           CipherCase{TLS1_2_VERSION, "ECDHE-ECDSA-AES128-CCM", false},
                                           CipherCase{TLS1_2_VERSION, "ECDHE-ECDSA-AES128-GCM-SHA256", true},
                                           CipherCase{TLS1_2_VERSION, "ECDHE-ECDSA-AES256-GCM-SHA384", true},
                                           CipherCase{TLS1_2_VERSION, "ECDHE-ECDSA-CHACHA20-POLY1305",
                                                      true}));

TEST_F(StreamTest, RefusesAnotherProtocolThanItsOwn) { EXPECT_FALSE(Connect({.protocol = "\10http/1.1"})); }

TEST_F(StreamTest, RefusesAClientOfHttp2ThatNamesNoProtocol) { EXPECT_FALSE(Connect({.protocol = ""})); }

TEST_F(StreamTest, TakesAClientOfHttp1ThatNamesNoProtocol) {
  EXPECT_TRUE(Connect({.protocol = ""}, Stream::kHttp1));
}

TEST_F(StreamTest, TellsTheNamesOfAClientsCertificate) {
  files_.client_ca = client_ca_file_;
  const Pair own =
      TestCertificate(client_authority_, {"URI:spiffe://example.com/a", "email:a@example.com"}, true);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    ASSERT_TRUE(Connect({.version = version, .certificate = &own}));
    ASSERT_NE(server_->peer_certificate(), nullptr);
    EXPECT_EQ(server_->peer_certificate()->subject, "CN=client");
    EXPECT_THAT(server_->peer_certificate()->uris, ::testing::ElementsAre("spiffe://example.com/a"));
    EXPECT_THAT(server_->peer_certificate()->emails, ::testing::ElementsAre("a@example.com"));
  }
}

TEST_F(StreamTest, ACertificateIsOptionalUnlessItIsRequired) {
  files_.client_ca = client_ca_file_;
  EXPECT_TRUE(Connect({}));
  files_.require_client_certificate = true;
  EXPECT_FALSE(Connect({}));
}

class ForeignCertificateTest : public StreamTest, public ::testing::WithParamInterface<int> {};

TEST_P(ForeignCertificateTest, RefusesAForeignCa) {
  files_.client_ca = client_ca_file_;
  const Pair foreign = TestCertificate(TestAuthority("clients' CA"), {"email:a@example.com"}, true);
  EXPECT_FALSE(Connect({.version = GetParam(), .certificate = &foreign}));
}

TEST_P(ForeignCertificateTest, RefusesACertificateThatHasEnded) {
  files_.client_ca = client_ca_file_;
  const Pair ended = TestCertificate(client_authority_, {}, true, absl::Now() - absl::Minutes(1));
  EXPECT_FALSE(Connect({.version = GetParam(), .certificate = &ended}));
}

TEST_P(ForeignCertificateTest, RefusesAServersCertificate) {
  files_.client_ca = client_ca_file_;
  const Pair servers = TestCertificate(client_authority_, {"DNS:localhost"}, false);
  EXPECT_FALSE(Connect({.version = GetParam(), .certificate = &servers}));
}

INSTANTIATE_TEST_SUITE_P(Versions, ForeignCertificateTest, ::testing::Values(TLS1_2_VERSION, TLS1_3_VERSION));

TEST_F(StreamTest, BytesArriveWholeThroughASmallSocket) {
  ASSERT_TRUE(Connect({}));
  std::string sent(3 << 20, 'x');
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 7 + i / 251);
  std::string got;
  size_t at = 0;
  std::array<char, 32 << 10> buffer;
  for (int turns = 0; turns < 100'000 && got.size() < sent.size(); ++turns) {
    if (at < sent.size()) {
      const Stream::Result taken = server_->Send(sent.data() + at, sent.size() - at);
      ASSERT_NE(taken.state, Stream::State::kEnded);
      at += taken.bytes;
    }
    const int count = SSL_read(client_.get(), buffer.data(), buffer.size());
    if (count > 0) got.append(buffer.data(), static_cast<size_t>(count));
  }
  EXPECT_TRUE(got == sent);
}

TEST_F(StreamTest, LeavesNoPlainBytesBehind) {
  ASSERT_TRUE(Connect({}));
  const std::string record(kRecordBytesMax, 'r');
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(SSL_write(client_.get(), record.data(), record.size()), kRecordBytesMax);
  std::string buffer(2 * kRecordBytesMax + 100, '\0');
  EXPECT_EQ(server_->Receive(buffer.data(), buffer.size()).bytes, 2 * kRecordBytesMax);
  char byte = 0;
  EXPECT_EQ(recv(sockets_[0], &byte, 1, MSG_PEEK), 1) << "the third record is still in the socket";
  EXPECT_EQ(server_->Receive(buffer.data(), buffer.size()).bytes, kRecordBytesMax);
  EXPECT_EQ(server_->Receive(buffer.data(), buffer.size()).state, Stream::State::kLater);
  SSL_shutdown(client_.get());
  EXPECT_EQ(server_->Receive(buffer.data(), buffer.size()).state, Stream::State::kEnded);
}

}  // namespace
}  // namespace sonde::tls
