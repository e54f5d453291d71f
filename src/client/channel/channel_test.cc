#include "client/channel/channel.h"

#include <fmt/format.h>
#include <google/bigtable/v2/bigtable.grpc.pb.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>

#include "client/channel/client_key.h"
#include "identity/proof/service_key.h"
#include "tls/testing.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

// Answers with the names of the accounts' key, as a caller's `authorization` shows it.
class ListeningBigtable final : public pb::Bigtable::Service {
 public:
  grpc::Status PingAndWarm(grpc::ServerContext* context, const pb::PingAndWarmRequest* /*request*/,
                           pb::PingAndWarmResponse* /*response*/) override {
    const auto found = context->client_metadata().find("authorization");
    seen_ = found == context->client_metadata().end()
                ? "none"
                : std::string(found->second.data(), found->second.size());
    return grpc::Status::OK;
  }
  std::string seen_;
};

class ChannelTest : public ::testing::Test {
 protected:
  void Serve(const std::shared_ptr<grpc::ServerCredentials>& credentials) {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", credentials, &port);
    builder.RegisterService(&bigtable_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    options_.endpoint = fmt::format("127.0.0.1:{}", port);
    options_.connect_timeout = std::chrono::milliseconds(2'000);
  }
  void ServeTls(const std::string& name) {
    const tls::Pair authority = tls::TestAuthority();
    const tls::Pair pair = tls::TestCertificate(authority, {name});
    grpc::SslServerCredentialsOptions options;
    options.pem_key_cert_pairs.push_back({pair.key, pair.certificate});
    Serve(grpc::SslServerCredentials(options));
    tls::WriteTestFile(ca_, authority.certificate);
  }
  void TearDown() override {
    if (server_ != nullptr) server_->Shutdown();
  }
  // What the server sees of a caller, or the error.
  std::string Ask() {
    const auto channels = OpenChannels(options_);
    if (!channels.ok()) return std::string(channels.status().message());
    grpc::ClientContext context;
    pb::PingAndWarmResponse response;
    const grpc::Status status = pb::Bigtable::NewStub(channels->data)->PingAndWarm(&context, {}, &response);
    return status.ok() ? bigtable_.seen_.substr(0, 10) : status.error_message();
  }
  std::string WriteKey() {
    tls::WriteTestFile(key_, MakeServiceKey("a@sonde.local", "p")->file);
    return key_;
  }

  const std::string ca_ = tls::TemporaryFile("ca.pem"), key_ = tls::TemporaryFile("key.json");
  ListeningBigtable bigtable_;
  std::unique_ptr<grpc::Server> server_;
  ChannelOptions options_;
};

TEST_F(ChannelTest, ShowsTheKeyOverTls) {
  ServeTls("IP:127.0.0.1");
  options_.ca_file = ca_;
  options_.key_file = WriteKey();
  EXPECT_EQ(Ask(), "Bearer eyJ");
}

TEST_F(ChannelTest, ShowsTheNamedKeyOnLoopbackWithoutTls) {
  Serve(grpc::InsecureServerCredentials());
  EXPECT_EQ(Ask(), "none");
  options_.key_file = WriteKey();
  EXPECT_EQ(Ask(), "Bearer eyJ");
}

TEST_F(ChannelTest, TakesNoCertificateOfAnotherHostOrAnotherCa) {
  ServeTls("DNS:db.example.com");
  options_.ca_file = ca_;
  EXPECT_NE(Ask().find("no Bigtable server answers by TLS at 127.0.0.1:"), std::string::npos) << Ask();
  tls::WriteTestFile(ca_, tls::TestAuthority().certificate);
  EXPECT_NE(Ask().find("--ca-file names the CA of the server's certificate"), std::string::npos) << Ask();
}

TEST_F(ChannelTest, SpeaksNoTlsWithAPlainServerAndNoPlainTextWithATlsServer) {
  Serve(grpc::InsecureServerCredentials());
  tls::WriteTestFile(ca_, tls::TestAuthority().certificate);
  options_.ca_file = ca_;
  options_.connect_timeout = std::chrono::milliseconds(500);
  EXPECT_NE(Ask().find(fmt::format("http://{} asks for plain text", options_.endpoint)), std::string::npos)
      << Ask();
}

TEST_F(ChannelTest, RefusesAFileWithoutACertificate) {
  options_.endpoint = "127.0.0.1:1";
  tls::WriteTestFile(ca_, "nothing");
  options_.ca_file = ca_;
  EXPECT_EQ(Ask(), ca_ + " has no certificate in PEM");
}

}  // namespace
}  // namespace sonde
