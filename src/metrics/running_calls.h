// What a server is working at, for people who look at it, and the way to end a call.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace sonde {

struct RunningCall {
  std::string name;       // what Cancel takes
  std::string port;       // "grpc", "http"
  std::string method;     // "ReadRows", "POST /api/v1/sql"
  std::string resource;   // the name of what is asked for; empty: not known
  std::string principal;  // as policies name it; empty: nobody was asked
  std::string client;     // its address
  absl::Time came;
};

// Threads: any.
struct RunningCallsAccess {
  // At most `calls_max`, the first to come first.
  std::function<std::vector<RunningCall>(size_t calls_max)> list;
  // Returns false if no call of this name is under way.
  std::function<bool(const std::string& name)> cancel;
};

}  // namespace sonde
