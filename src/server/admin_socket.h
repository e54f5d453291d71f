// The socket by which commands of the same machine reach the server: DATA_DIR/admin.sock, for the server's user and root alone.
//
// A client sends one line: the name of a call, then a blank and its argument if it has one.  The server answers with one line of JSON:
// {"ok": ...} or {"error": {"code": 5, "message": "..."}}, where the code is absl::StatusCode's number.  An answer may hold something
// until the client closes the connection, however the client ends.
//
// Threads: one that lets clients in, and one a client, kAdminClientsMax at most.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sonde {

constexpr char kAdminSocketFile[] = "admin.sock";
constexpr size_t kAdminClientsMax = 8;
constexpr size_t kAdminLineBytesMax = 4096;

struct AdminAnswer {
  std::string json;                         // one line
  std::function<void()> release = nullptr;  // called when the client has closed the connection.  May be null
};
// Called by a thread of the client's.
using AdminCall = std::function<absl::StatusOr<AdminAnswer>(std::string_view argument)>;

class AdminSocket {
 public:
  // Replaces a socket that a crash has left; the caller has the directory's lock.  Errors: the socket cannot be made.
  static absl::StatusOr<std::unique_ptr<AdminSocket>> Start(
      const std::string& data_dir, std::map<std::string, AdminCall, std::less<>> calls);
  // Ends all connections; waits for the calls that are under way, and releases what they hold.
  ~AdminSocket();
  AdminSocket(const AdminSocket&) = delete;

 private:
  struct Client {
    int socket = -1;
    std::atomic<bool> is_done = false;
    std::thread thread;
  };

  AdminSocket(std::string path, int listener, int stop, std::map<std::string, AdminCall, std::less<>> calls)
      : path_(std::move(path)), listener_(listener), stop_(stop), calls_(std::move(calls)) {}
  void Listen();
  void LetIn();
  void Serve(int socket) const;
  absl::StatusOr<std::string> ReadLine(int socket) const;
  absl::StatusOr<AdminAnswer> Call(std::string_view line) const;
  // Waits until the client closes its side, or the server stops.
  void AwaitEnd(int socket) const;

  const std::string path_;
  const int listener_;
  const int stop_;  // becomes readable when all is to end
  const std::map<std::string, AdminCall, std::less<>> calls_;
  std::list<Client> clients_;  // of the thread below
  std::thread thread_;
};

}  // namespace sonde
