// TLS as gRPC's own client sees it: which clients are let in, certificates that are rotated under load, and clients that
// never finish their handshakes.  TLS_ROTATIONS sets how many times certificates are rotated.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "rpc/server.h"
#include "tests/rpc/test_server.h"
#include "tls/certificate_keeper.h"
#include "tls/testing.h"

namespace sonde::rpc {
namespace {

grpc::ByteBuffer BufferOf(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string TextOf(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  if (!buffer.DumpToSingleSlice(&slice).ok()) return "";
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// Answers with the names in the client's certificate.
class CertificateHandler final : public NotingHandler {
 public:
  using NotingHandler::NotingHandler;
  void OnMessage(MessageBytes) override {
    const PeerCertificate* const certificate = call_->peer_certificate();
    call_->WriteAndFinish(
        certificate == nullptr ? "none" : certificate->subject + " " + certificate->emails.at(0), {});
  }
};

class TlsTest : public ::testing::Test {
 protected:
  TlsTest() {
    Write(tls::TestCertificate(authority_, {"DNS:localhost", "IP:127.0.0.1"}));
    tls::WriteTestFile(ca_file_, client_authority_.certificate);
  }
  void TearDown() override {
    for (const int socket : sockets_) close(socket);
  }

  void Write(const tls::Pair& pair) const {
    tls::WriteTestFile(files_.certificate, pair.certificate);
    tls::WriteTestFile(files_.key, pair.key);
  }
  void Start(ServerOptions options = {}) {
    keeper_ = *tls::CertificateKeeper::Open(files_, absl::Now());
    options.loops = 2;
    options.tls = [keeper = keeper_.get()] { return keeper->current(); };
    Router router = TestRouter(&diary_);
    Method method;
    method.request_bytes_max = 1'000;
    method.make = [this](Call* call) { return std::make_unique<CertificateHandler>(call, &diary_); };
    router.Add("/test.Test/Certificate", std::move(method));
    server_ = *Server::Start(options, std::move(router));
  }
  // Over a connection of its own.
  grpc::Status Do(const std::string& method, const std::string& message, std::string* answer,
                  std::shared_ptr<grpc::ChannelCredentials> credentials) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    grpc::GenericStub stub(
        grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(server_->port()), credentials, arguments));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    const grpc::ByteBuffer request = BufferOf(message);
    grpc::ByteBuffer response;
    std::promise<grpc::Status> done;
    stub.UnaryCall(&context, "/test.Test/" + method, {}, &request, &response,
                   [&](grpc::Status status) { done.set_value(std::move(status)); });
    grpc::Status status = done.get_future().get();
    if (status.ok()) *answer = TextOf(response);
    return status;
  }
  std::shared_ptr<grpc::ChannelCredentials> Credentials(const tls::Pair& own = {}) const {
    return grpc::SslCredentials({authority_.certificate, own.key, own.certificate});
  }
  int64_t Refused(Refusal reason) const { return server_->facts().refused[static_cast<size_t>(reason)]; }
  // Connects and says nothing.
  void ConnectSilently() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(server_->port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    sockets_.push_back(socket);
  }
  bool WaitUntil(const std::function<bool()>& is_so) const {
    for (int i = 0; i < 1'000 && !is_so(); ++i) absl::SleepFor(absl::Milliseconds(10));
    return is_so();
  }

  const tls::Pair authority_ = tls::TestAuthority();
  const tls::Pair client_authority_ = tls::TestAuthority("clients' CA");
  const std::string ca_file_ = tls::TemporaryFile("rpc_tls_ca.pem");
  tls::Files files_{.certificate = tls::TemporaryFile("rpc_tls.pem"),
                    .key = tls::TemporaryFile("rpc_tls.key")};
  Diary diary_;
  std::unique_ptr<tls::CertificateKeeper> keeper_;
  std::unique_ptr<Server> server_;
  std::vector<int> sockets_;
};

TEST_F(TlsTest, CarriesMessagesOfAllSizes) {
  Start();
  for (const size_t bytes : {0U, 1U, 16'384U, 66'000U, 20U << 20}) {
    std::string answer;
    const std::string message(bytes, 'x');
    ASSERT_TRUE(Do("Echo", message, &answer, Credentials()).ok());
    EXPECT_TRUE(answer == message) << bytes;
  }
  EXPECT_EQ(server_->facts().tls_handshakes, 0);
}

TEST_F(TlsTest, RefusesAClientWithoutTls) {
  Start();
  std::string answer;
  EXPECT_EQ(Do("Echo", "x", &answer, grpc::InsecureChannelCredentials()).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  EXPECT_GE(Refused(Refusal::kTlsHandshake), 1);
}

TEST_F(TlsTest, ACallKnowsItsClientsCertificate) {
  files_.client_ca = ca_file_;
  Start();
  std::string answer;
  ASSERT_TRUE(Do("Certificate", "", &answer, Credentials()).ok());
  EXPECT_EQ(answer, "none");
  const tls::Pair own = tls::TestCertificate(client_authority_, {"email:a@example.com"}, true);
  ASSERT_TRUE(Do("Certificate", "", &answer, Credentials(own)).ok());
  EXPECT_EQ(answer, "CN=client a@example.com");
  const tls::Pair foreign = tls::TestCertificate(authority_, {"email:a@example.com"}, true);
  EXPECT_FALSE(Do("Certificate", "", &answer, Credentials(foreign)).ok());
}

TEST_F(TlsTest, RefusesClientsWithoutTheCertificateThatItRequires) {
  files_.client_ca = ca_file_;
  files_.require_client_certificate = true;
  Start();
  std::string answer;
  EXPECT_FALSE(Do("Certificate", "", &answer, Credentials()).ok());
}

TEST_F(TlsTest, SilentClientsStopNobodyAndAreEnded) {
  ServerOptions options;
  options.tls_handshake_time_max = std::chrono::milliseconds(1'500);
  Start(options);
  for (int i = 0; i < 1'000; ++i) ConnectSilently();
  ASSERT_TRUE(WaitUntil(
      [&] { return server_->facts().tls_handshakes >= 1'000 || Refused(Refusal::kTlsHandshake) > 0; }));
  std::string answer;
  EXPECT_TRUE(Do("Echo", "x", &answer, Credentials()).ok());
  EXPECT_TRUE(WaitUntil([&] { return Refused(Refusal::kTlsHandshake) == 1'000; }))
      << Refused(Refusal::kTlsHandshake);
  EXPECT_TRUE(WaitUntil([&] { return server_->facts().tls_handshakes == 0; }));
}

TEST_F(TlsTest, BoundsHandshakesAtOnce) {
  ServerOptions options;
  options.tls_handshakes_max = 3;
  Start(options);
  for (int i = 0; i < 5; ++i) ConnectSilently();
  EXPECT_TRUE(WaitUntil([&] { return Refused(Refusal::kTlsHandshakes) == 2; }));
  EXPECT_EQ(server_->facts().tls_handshakes, 3);
}

TEST_F(TlsTest, BoundsHandshakesOfAnAddress) {
  ServerOptions options;
  options.tls_handshakes_of_peer_at_once_max = 3;
  options.tls_handshakes_of_peer_per_second_max = 1;
  Start(options);
  for (int i = 0; i < 10; ++i) ConnectSilently();
  EXPECT_TRUE(WaitUntil([&] { return Refused(Refusal::kTlsRate) >= 6; })) << Refused(Refusal::kTlsRate);
  EXPECT_GE(server_->facts().tls_handshakes, 3);
  // A client that tries again, as gRPC's own do, gets in when its address may again.
  std::string answer;
  bool is_in = false;
  EXPECT_TRUE(WaitUntil([&] { return is_in = is_in || Do("Echo", "x", &answer, Credentials()).ok(); }));
}

TEST_F(TlsTest, EndsWithHandshakesUnderWay) {
  Start();
  ConnectSilently();
  ASSERT_TRUE(WaitUntil([&] { return server_->facts().tls_handshakes == 1; }));
  EXPECT_EQ(server_->Shutdown(absl::Seconds(1)), 0);
}

TEST_F(TlsTest, RotatesItsCertificateUnderLoad) {
  Start();
  const char* const wanted = std::getenv("TLS_ROTATIONS");
  const int rotations = wanted == nullptr ? 50 : std::atoi(wanted);
  std::atomic<bool> is_over = false;
  std::atomic<int> asked = 0, failed = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back([&] {
      while (!is_over) {
        std::string answer;
        ++asked;
        if (!Do("Echo", "x", &answer, Credentials()).ok()) ++failed;
      }
    });
  }
  for (int i = 0; i < rotations; ++i) {
    const tls::Pair next = tls::TestCertificate(authority_, {"DNS:localhost", "IP:127.0.0.1"});
    tls::WriteTestFile(files_.certificate, next.certificate);
    EXPECT_FALSE(keeper_->Reload(absl::Now()).ok()) << "the key is still that of the certificate before";
    absl::SleepFor(absl::Milliseconds(2));
    tls::WriteTestFile(files_.key, next.key);
    EXPECT_TRUE(keeper_->Reload(absl::Now()).ok());
    absl::SleepFor(absl::Milliseconds(2));
  }
  is_over = true;
  for (std::thread& client : clients) client.join();
  EXPECT_GT(asked, 0);
  EXPECT_EQ(failed, 0) << "of " << asked;
}

}  // namespace
}  // namespace sonde::rpc
