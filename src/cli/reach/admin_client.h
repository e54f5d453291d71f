// Asks the server that uses a data directory, through its admin socket (server/admin_socket.h).
//
// Threads: an object is for one thread.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/status/statusor.h"

namespace sonde {

class AdminClient {
 public:
  // NOT_FOUND: no server uses the directory.  PERMISSION_DENIED: the socket is another user's.
  static absl::StatusOr<std::unique_ptr<AdminClient>> Connect(const std::string& data_dir);
  // Closes the connection; the server releases what the answer holds.
  ~AdminClient();
  AdminClient(const AdminClient&) = delete;

  // Sends a line without its end, once; returns what is below "ok" in the answer.  An error is the server's, or UNAVAILABLE: the server
  // has ended.
  absl::StatusOr<nlohmann::json> Call(const std::string& line);

 private:
  explicit AdminClient(int socket) : socket_(socket) {}
  const int socket_;
};

}  // namespace sonde
