#include "cli/reach/admin_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "absl/cleanup/cleanup.h"
#include "server/admin_socket.h"

namespace sonde {
namespace {

constexpr size_t kAnswerBytesMax = size_t{64} << 20;  // the names of all tables fit

absl::Status AdminFailed(const std::string& what) {
  return absl::UnavailableError(fmt::format("{}: {}", what, std::strerror(errno)));
}

absl::StatusOr<nlohmann::json> ParseAnswer(const std::string& text) {
  const nlohmann::json answer = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (answer.is_object() && answer.contains("ok")) {
    nlohmann::json ok = answer["ok"];
    return ok;
  }
  try {
    const nlohmann::json& error = answer.at("error");
    return absl::Status(static_cast<absl::StatusCode>(error.at("code").get<int>()),
                        error.at("message").get<std::string>());
  } catch (const nlohmann::json::exception&) {
    return absl::UnavailableError(
        "The server closed the admin socket without an answer: it has ended, or is ending");
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<AdminClient>> AdminClient::Connect(const std::string& data_dir) {
  const int directory = open(data_dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return AdminFailed("Opening " + data_dir);
  const absl::Cleanup close_it = [directory] { close(directory); };
  const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (client < 0) return AdminFailed("Making a socket");
  std::unique_ptr<AdminClient> made(new AdminClient(client));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("/proc/self/fd/{}/{}", directory, kAdminSocketFile);
  std::memcpy(address.sun_path, name.data(), name.size());
  if (connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return made;
  if (errno == ENOENT || errno == ECONNREFUSED) {
    return absl::NotFoundError(fmt::format("No server uses {}", data_dir));
  }
  if (errno == EACCES) {
    return absl::PermissionDeniedError(
        fmt::format("{}/{} is for the server's own user and root", data_dir, kAdminSocketFile));
  }
  return AdminFailed(fmt::format("Connecting to {}/{}", data_dir, kAdminSocketFile));
}

AdminClient::~AdminClient() { close(socket_); }

absl::StatusOr<nlohmann::json> AdminClient::Call(const std::string& line) {
  const std::string sent = line + "\n";
  if (send(socket_, sent.data(), sent.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(sent.size())) {
    return AdminFailed("Asking the server");
  }
  std::string answer;
  std::array<char, 4096> buffer{};
  while (!answer.ends_with('\n')) {
    const ssize_t count = recv(socket_, buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    answer.append(buffer.data(), static_cast<size_t>(count));
    if (answer.size() > kAnswerBytesMax)
      return absl::ResourceExhaustedError("The server's answer has no end");
  }
  return ParseAnswer(answer);
}

}  // namespace sonde
