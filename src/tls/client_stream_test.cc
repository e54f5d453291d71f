// Handshakes of ClientStream with Stream: which servers are taken, and what is said of the others.
#include "tls/client_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "tls/client_keeper.h"
#include "tls/stream.h"
#include "tls/testing.h"

namespace sonde::tls {
namespace {

using State = SecureSocket::State;

class ClientStreamTest : public ::testing::Test {
 protected:
  ClientStreamTest() {
    WriteTestFile(client_files_.ca, authority_.certificate);
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets_.data()), 0);
  }
  ~ClientStreamTest() override {
    server_.reset();
    client_.reset();
    for (const int socket : sockets_) close(socket);
  }

  // What is said of a server with these names; empty: both sides are open.
  std::string Connect(const std::vector<std::string>& names, const std::string& name,
                      int version = TLS1_3_VERSION) {
    const Pair pair = TestCertificate(authority_, names);
    WriteTestFile(server_files_.certificate, pair.certificate);
    WriteTestFile(server_files_.key, pair.key);
    const auto server = Context::Load(server_files_, absl::Now());
    const auto client = ClientContext::Load(client_files_, absl::Now());
    if (!server.ok() || !client.ok()) return "no context";
    SSL_CTX_set_max_proto_version((*server)->openssl(), version);
    server_ = std::make_unique<Stream>(*server, sockets_[0], Stream::kHttp1);
    client_ = std::make_unique<ClientStream>(*client, sockets_[1], name);
    for (int i = 0; i < 100; ++i) {
      const State at_client = client_->Handshake();
      const State at_server = server_->Handshake();
      if (at_client == State::kEnded) return client_->fault().text;
      if (at_client == State::kOk && at_server == State::kOk) return "";
      if (at_server == State::kEnded && at_client == State::kOk) return AfterIt();
    }
    return "no end";
  }
  // What the client learns after its part of the handshake.
  std::string AfterIt() {
    std::array<char, kRecordBytesMax> buffer;
    if (client_->Receive(buffer.data(), buffer.size()).state != State::kEnded) return "not told";
    return client_->fault().text;
  }

  const Pair authority_ = TestAuthority();
  ClientFiles client_files_{.ca = TemporaryFile("client_ca.pem")};
  Files server_files_{.certificate = TemporaryFile("client_server.pem"),
                      .key = TemporaryFile("client_server.key")};
  std::array<int, 2> sockets_{};
  std::unique_ptr<Stream> server_;
  std::unique_ptr<ClientStream> client_;
};

struct NameCase {
  std::vector<std::string> names;
  std::string wanted;
  bool is_taken;
};

class ClientNameTest : public ClientStreamTest, public ::testing::WithParamInterface<NameCase> {};

TEST_P(ClientNameTest, IsTakenOrRefused) {
  const NameCase& one = GetParam();
  EXPECT_EQ(Connect(one.names, one.wanted),
            one.is_taken ? "" : "the server's certificate is not for " + one.wanted);
}

INSTANTIATE_TEST_SUITE_P(Table, ClientNameTest,
                         ::testing::Values(NameCase{{"DNS:a.example.com"}, "a.example.com", true},
                                           NameCase{{"DNS:a.example.com"}, "A.Example.COM", true},
                                           NameCase{{"DNS:a.example.com"}, "b.example.com", false},
                                           NameCase{{"DNS:a.example.com"}, "example.com", false},
                                           NameCase{{"DNS:*.example.com"}, "a.example.com", true},
                                           NameCase{{"DNS:*.example.com"}, "a.b.example.com", false},
                                           NameCase{{"DNS:a*.example.com"}, "ab.example.com", false},
                                           NameCase{{"IP:10.0.0.7"}, "10.0.0.7", true},
                                           NameCase{{"IP:10.0.0.7"}, "10.0.0.8", false},
                                           NameCase{{"DNS:10.0.0.7"}, "10.0.0.7", false},
                                           NameCase{{"IP:::1"}, "::1", true},
                                           // Without other names, that of the subject counts, as for HBase.
                                           NameCase{{}, "server", true},
                                           NameCase{{"DNS:a.example.com"}, "server", false}));

TEST_F(ClientStreamTest, SpeaksTls12AndTls13) {
  EXPECT_EQ(Connect({"DNS:localhost"}, "localhost", TLS1_2_VERSION), "");
  EXPECT_EQ(Connect({"DNS:localhost"}, "localhost", TLS1_3_VERSION), "");
}

TEST_F(ClientStreamTest, TellsThatItsCertificateIsWanted) {
  server_files_.client_ca = client_files_.ca;
  server_files_.require_client_certificate = true;
  const std::string told = ": it may want a certificate of its clients, and none is given";
  EXPECT_EQ(Connect({"DNS:localhost"}, "localhost", TLS1_3_VERSION),
            "the server refuses the connection, \"tlsv13 alert certificate required\"" + told);
  EXPECT_TRUE(client_->fault().is_settled);
}

TEST_F(ClientStreamTest, BytesGoBothWays) {
  ASSERT_EQ(Connect({"DNS:localhost"}, "localhost"), "");
  std::string sent(3 << 20, 'x');
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 7 + i / 251);
  for (SecureSocket* const from :
       {static_cast<SecureSocket*>(server_.get()), static_cast<SecureSocket*>(client_.get())}) {
    SecureSocket* const to =
        from == server_.get() ? static_cast<SecureSocket*>(client_.get()) : server_.get();
    std::string got;
    size_t at = 0;
    std::string buffer(64 << 10, '\0');
    for (int turns = 0; turns < 100'000 && got.size() < sent.size(); ++turns) {
      if (at < sent.size()) at += from->Send(sent.data() + at, sent.size() - at).bytes;
      got.append(buffer.data(), to->Receive(buffer.data(), buffer.size()).bytes);
    }
    EXPECT_TRUE(got == sent);
  }
  server_->EndSending();
  EXPECT_EQ(AfterIt(), "the server closed the connection");
  EXPECT_FALSE(client_->fault().is_settled);
}

TEST_F(ClientStreamTest, ACertificateAndItsKeyGoTogether) {
  client_files_.certificate = "c.pem";
  EXPECT_EQ(ClientContext::Load(client_files_, absl::Now()).status(),
            absl::InvalidArgumentError("The client's certificate c.pem has no key"));
  client_files_ = {.ca = client_files_.ca, .key = "c.key"};
  EXPECT_EQ(ClientContext::Load(client_files_, absl::Now()).status(),
            absl::InvalidArgumentError("The client's key c.key has no certificate"));
}

TEST_F(ClientStreamTest, TheKeeperTakesFilesThatFit) {
  const auto keeper = ClientKeeper::Open(client_files_, absl::Now());
  ASSERT_TRUE(keeper.ok()) << keeper.status();
  const auto first = (*keeper)->Current(absl::Now());
  EXPECT_EQ((*keeper)->Current(absl::Now()), first);
  WriteTestFile(client_files_.ca, "no certificate");
  EXPECT_EQ((*keeper)->Current(absl::Now()), first);
  EXPECT_TRUE((*keeper)->reload_failed());
  WriteTestFile(client_files_.ca, TestAuthority().certificate);
  EXPECT_NE((*keeper)->Current(absl::Now()), first);
  EXPECT_FALSE((*keeper)->reload_failed());
}

}  // namespace
}  // namespace sonde::tls
