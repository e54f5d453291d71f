#include "server/admin_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

#include "absl/cleanup/cleanup.h"
#include "base/bytes.h"

namespace sonde {
namespace {

constexpr int kLinePatienceMillis = 5'000;
constexpr int kPendingMax = 16;
constexpr timeval kSendPatience{5, 0};

absl::Status SocketFailed(std::string_view operation, const std::string& path) {
  return absl::ErrnoToStatus(errno, fmt::format("{} {}", operation, path));
}

// Through the directory's descriptor, since the name of a socket may have about a hundred bytes only.
absl::Status Bind(int socket, const std::string& data_dir) {
  const int directory = open(data_dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return SocketFailed("Opening", data_dir);
  const absl::Cleanup close_it = [directory] { close(directory); };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("/proc/self/fd/{}/{}", directory, kAdminSocketFile);
  std::memcpy(address.sun_path, name.data(), name.size());
  unlinkat(directory, kAdminSocketFile, 0);
  // The mode is set before anybody is let in.
  if (bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      fchmodat(directory, kAdminSocketFile, 0600, 0) != 0 || listen(socket, kPendingMax) != 0) {
    return SocketFailed("Listening on", data_dir + "/" + kAdminSocketFile);
  }
  return absl::OkStatus();
}

bool IsSameUserOrRoot(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return false;
  return peer.uid == 0 || peer.uid == geteuid();
}

void Send(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;  // the client is gone
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

void SendError(int socket, const absl::Status& status) {
  const nlohmann::json error = {
      {"error", {{"code", static_cast<int>(status.code())}, {"message", std::string(status.message())}}}};
  Send(socket, error.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace

absl::StatusOr<std::unique_ptr<AdminSocket>> AdminSocket::Start(
    const std::string& data_dir, std::map<std::string, AdminCall, std::less<>> calls) {
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int stop = eventfd(0, EFD_CLOEXEC);
  std::unique_ptr<AdminSocket> made(
      new AdminSocket(data_dir + "/" + kAdminSocketFile, listener, stop, std::move(calls)));
  if (listener < 0 || stop < 0) return SocketFailed("Making", made->path_);
  if (absl::Status status = Bind(listener, data_dir); !status.ok()) return status;
  made->thread_ = std::thread([raw = made.get()] { raw->Listen(); });
  return made;
}

AdminSocket::~AdminSocket() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    while (write(stop_, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
    thread_.join();
    unlink(path_.c_str());
  }
  for (Client& client : clients_) client.thread.join();
  if (listener_ >= 0) close(listener_);
  if (stop_ >= 0) close(stop_);
}

void AdminSocket::Listen() {
  std::array<pollfd, 2> watched{{{listener_, POLLIN, 0}, {stop_, POLLIN, 0}}};
  while (true) {
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    if (watched[1].revents != 0) return;
    if (watched[0].revents != 0) LetIn();
  }
}

void AdminSocket::LetIn() {
  const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) {
    // No descriptor is left, as a rule; the client waits.
    constexpr timespec kPause{0, 100'000'000};
    nanosleep(&kPause, nullptr);
    return;
  }
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &kSendPatience, sizeof(kSendPatience));
  clients_.remove_if([](Client& client) {
    if (!client.is_done) return false;
    client.thread.join();
    return true;
  });
  if (!IsSameUserOrRoot(socket)) {
    SendError(socket, absl::PermissionDeniedError("This socket is for the server's own user and root"));
    close(socket);
    return;
  }
  if (clients_.size() >= kAdminClientsMax) {
    SendError(socket, absl::ResourceExhaustedError(fmt::format(
                          "{} commands are connected, which is as many as may be: try again when one is done",
                          kAdminClientsMax)));
    close(socket);
    return;
  }
  Client& client = clients_.emplace_back();
  client.socket = socket;
  client.thread = std::thread([this, &client] {
    Serve(client.socket);
    close(client.socket);
    client.is_done = true;
  });
}

void AdminSocket::Serve(int socket) const {
  const absl::StatusOr<std::string> line = ReadLine(socket);
  if (!line.ok()) return SendError(socket, line.status());
  const absl::StatusOr<AdminAnswer> answer = Call(*line);
  if (!answer.ok()) return SendError(socket, answer.status());
  Send(socket, answer->json + "\n");
  AwaitEnd(socket);
  if (answer->release) answer->release();
}

absl::StatusOr<std::string> AdminSocket::ReadLine(int socket) const {
  std::string line;
  std::array<char, kAdminLineBytesMax> buffer{};
  while (true) {
    std::array<pollfd, 2> watched{{{socket, POLLIN, 0}, {stop_, POLLIN, 0}}};
    const int ready = poll(watched.data(), watched.size(), kLinePatienceMillis);
    if (ready == 0) return absl::DeadlineExceededError("No line came within 5 seconds");
    if (watched[1].revents != 0) return absl::UnavailableError("The server is ending");
    const ssize_t count = recv(socket, buffer.data(), buffer.size(), 0);
    if (count <= 0) return absl::InvalidArgumentError("The line has no end");
    line.append(buffer.data(), static_cast<size_t>(count));
    if (const size_t end = line.find('\n'); end != std::string::npos) return line.substr(0, end);
    if (line.size() > kAdminLineBytesMax) {
      return absl::InvalidArgumentError(
          fmt::format("The line has more than the {} bytes that it may have", kAdminLineBytesMax));
    }
  }
}

absl::StatusOr<AdminAnswer> AdminSocket::Call(std::string_view line) const {
  const size_t blank = std::min(line.find(' '), line.size());
  const auto call = calls_.find(line.substr(0, blank));
  if (call == calls_.end()) {
    return absl::UnimplementedError(
        fmt::format("This server has no call '{}'", Printable(line.substr(0, blank))));
  }
  return call->second(line.substr(std::min(blank + 1, line.size())));
}

void AdminSocket::AwaitEnd(int socket) const {
  std::array<char, 256> ignored{};
  while (true) {
    std::array<pollfd, 2> watched{{{socket, POLLIN, 0}, {stop_, POLLIN, 0}}};
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    if (watched[1].revents != 0) return;
    if (watched[0].revents != 0 && recv(socket, ignored.data(), ignored.size(), 0) <= 0) return;
  }
}

}  // namespace sonde
