#include "server/service_notices.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace sonde {
namespace {

constexpr absl::Duration kSoon = absl::Seconds(20);

// A service manager of the test's own.
class Manager {
 public:
  Manager() : path_(absl::StrCat(testing::TempDir(), "/sonde_notices_", getpid())) {
    std::filesystem::remove(path_);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    descriptor_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Manager() {
    close(descriptor_);
    std::filesystem::remove(path_);
  }
  const std::string& path() const { return path_; }
  // Empty when there is none in time.
  std::string Next(absl::Duration wait = kSoon) {
    pollfd wanted{descriptor_, POLLIN, 0};
    if (poll(&wanted, 1, static_cast<int>(absl::ToInt64Milliseconds(wait))) != 1) return "";
    char bytes[512];
    const ssize_t count = recv(descriptor_, bytes, sizeof(bytes), 0);
    return count < 0 ? "" : std::string(bytes, static_cast<size_t>(count));
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

TEST(ServiceNotices, TellsTheManagerWhatHappens) {
  Manager manager;
  ServiceNotices notices(manager.path(), absl::ZeroDuration());
  notices.Status("opening\nREADY=1");
  EXPECT_EQ(manager.Next(), "STATUS=opening READY=1");
  notices.Ready();
  EXPECT_EQ(manager.Next(), "READY=1\nSTATUS=serving");
  notices.Reloading();
  EXPECT_EQ(manager.Next(), "RELOADING=1\nSTATUS=loading settings again");
  notices.Stopping();
  EXPECT_EQ(manager.Next(), "STOPPING=1\nSTATUS=ending");
}

TEST(ServiceNotices, TellsNobodyWithoutASocketOrWithOneThatCannotBe) {
  for (const std::string& name : {std::string(), std::string("relative"), "/" + std::string(200, 'x')}) {
    ServiceNotices notices(name, absl::Seconds(1));
    EXPECT_FALSE(notices.has_listener()) << name;
    notices.Ready();
    notices.Watch([] { FAIL() << "there is nobody to watch"; });
  }
}

TEST(ServiceNotices, GoesOnWhenTheManagerIsGone) {
  ServiceNotices notices("/nonexistent/notify", absl::ZeroDuration());
  EXPECT_TRUE(notices.has_listener());
  notices.Ready();
  notices.Stopping();
}

TEST(ServiceNotices, ReadsTheEnvironment) {
  Manager manager;
  setenv("NOTIFY_SOCKET", manager.path().c_str(), 1);
  setenv("WATCHDOG_USEC", "30000", 1);
  setenv("WATCHDOG_PID", absl::StrCat(getpid()).c_str(), 1);
  {
    ServiceNotices notices = ServiceNotices::FromEnvironment();
    notices.Watch([] {});
    EXPECT_EQ(manager.Next(), "WATCHDOG=1");
    EXPECT_EQ(manager.Next(), "WATCHDOG=1");
  }
  while (!manager.Next(absl::ZeroDuration()).empty()) {
  }
  setenv("WATCHDOG_PID", "1", 1);  // another process is meant
  ServiceNotices notices = ServiceNotices::FromEnvironment();
  notices.Watch([] {});
  EXPECT_EQ(manager.Next(absl::Milliseconds(200)), "");
  notices.Ready();
  EXPECT_EQ(manager.Next(), "READY=1\nSTATUS=serving");
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
}

TEST(ServiceNotices, AWatchedServerThatHangsIsSilent) {
  Manager manager;
  absl::Notification hangs, may_go_on;
  int asked = 0;
  ServiceNotices notices(manager.path(), absl::Milliseconds(30));
  notices.Watch([&] {
    if (++asked < 2) return;
    if (!hangs.HasBeenNotified()) hangs.Notify();
    may_go_on.WaitForNotification();
  });
  EXPECT_EQ(manager.Next(), "WATCHDOG=1");
  ASSERT_TRUE(hangs.WaitForNotificationWithTimeout(kSoon));
  EXPECT_EQ(manager.Next(absl::Milliseconds(300)), "");
  may_go_on.Notify();
  EXPECT_EQ(manager.Next(), "WATCHDOG=1");
}

}  // namespace
}  // namespace sonde
