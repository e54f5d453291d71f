#include "server/admin_socket.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class AdminSocketTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    Start();
  }
  void TearDown() override {
    for (const int client : clients_) close(client);
    socket_.reset();
    fs::remove_all(directory_);
  }
  void Start() {
    auto started = AdminSocket::Start(
        directory_,
        {{"echo", [](std::string_view argument) { return AdminAnswer{.json = std::string(argument)}; }},
         {"hold",
          [this](std::string_view) {
            ++held_;
            return AdminAnswer{.json = "{}", .release = [this] { --held_; }};
          }},
         {"fail", [](std::string_view) -> absl::StatusOr<AdminAnswer> {
            return absl::NotFoundError("no \"table\"");
          }}});
    ASSERT_TRUE(started.ok()) << started.status();
    socket_ = *std::move(started);
  }
  int Connect() {
    const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = directory_ + "/" + kAdminSocketFile;
    std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
    EXPECT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    clients_.push_back(client);
    return client;
  }
  std::string Ask(int client, const std::string& line) {
    (void)send(client, line.data(), line.size(), MSG_NOSIGNAL);  // a refusal may come before
    std::string answer;
    char byte = 0;
    while (recv(client, &byte, 1, 0) == 1 && byte != '\n') answer.push_back(byte);
    return answer;
  }
  void Close(int client) {
    close(client);
    std::erase(clients_, client);
  }
  bool Becomes(int held) {
    for (int i = 0; i < 500 && held_ != held; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return held_ == held;
  }

  const std::string directory_ = fmt::format("/tmp/sonde_admin_{}", getpid());
  std::atomic<int> held_ = 0;
  std::vector<int> clients_;
  std::unique_ptr<AdminSocket> socket_;
};

TEST_F(AdminSocketTest, AnswersALine) {
  EXPECT_EQ(Ask(Connect(), "echo {\"a\": 1}\n"), "{\"a\": 1}");
  EXPECT_EQ(Ask(Connect(), "fail\n"), R"({"error":{"code":5,"message":"no \"table\""}})");
  EXPECT_THAT(Ask(Connect(), "nothing\n"), HasSubstr(R"("code":12)"));
}

TEST_F(AdminSocketTest, IsForItsOwnerAlone) {
  struct stat facts{};
  ASSERT_EQ(stat((directory_ + "/" + kAdminSocketFile).c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0600u);
}

TEST_F(AdminSocketTest, HoldsUntilTheClientIsGone) {
  const int client = Connect();
  Ask(client, "hold\n");
  EXPECT_EQ(held_, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(held_, 1);
  Close(client);
  EXPECT_TRUE(Becomes(0));
}

TEST_F(AdminSocketTest, ReleasesWhatIsHeldWhenItEnds) {
  Ask(Connect(), "hold\n");
  Ask(Connect(), "hold\n");
  EXPECT_EQ(held_, 2);
  socket_.reset();
  EXPECT_EQ(held_, 0);
  EXPECT_FALSE(fs::exists(directory_ + "/" + kAdminSocketFile));
}

TEST_F(AdminSocketTest, RefusesMoreClientsThanThereMayBe) {
  for (size_t i = 0; i < kAdminClientsMax; ++i) Ask(Connect(), "hold\n");
  EXPECT_THAT(Ask(Connect(), "echo 1\n"), HasSubstr(R"("code":8)"));
  const int first = clients_.front();
  Close(first);
  EXPECT_TRUE(Becomes(static_cast<int>(kAdminClientsMax) - 1));
  std::string answer;
  for (int i = 0; i < 100 && answer != "1"; ++i) {  // its thread is about to end
    answer = Ask(Connect(), "echo 1\n");
    if (answer != "1") std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(answer, "1");
}

TEST_F(AdminSocketTest, RefusesALineWithoutAnEnd) {
  const int client = Connect();
  EXPECT_THAT(Ask(client, std::string(kAdminLineBytesMax + 1, 'x')), HasSubstr(R"("code":3)"));
}

TEST_F(AdminSocketTest, TakesThePlaceOfASocketThatACrashHasLeft) {
  const std::string path = directory_ + "/" + kAdminSocketFile, aside = path + ".aside";
  fs::create_hard_link(path, aside);
  socket_.reset();
  fs::rename(aside, path);
  Start();
  EXPECT_EQ(Ask(Connect(), "echo 1\n"), "1");
}

}  // namespace
}  // namespace sonde
