// Which handler answers which method and path.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "web/http/http_message.h"

namespace sonde {

// An error becomes the JSON error of HttpCodeOf; a handler that wants other codes fills `response` itself and
// says OK. May be called by many threads at once.
using HttpHandler =
    std::function<absl::Status(const HttpRequest& request, HttpBody* body, HttpResponse* response)>;

struct Route {
  std::string method;  // GET, POST or PUT
  // "/api/v1/tables/{table}/rows": a {name} stands for one segment that is not empty; "{name...}", at the
  // end, for all that is left.
  std::string path;
  HttpHandler handler = {};
  // Bytes of the body, decoded.  A GET has none.
  size_t body_bytes_max = size_t{1} << 20;
  // A content coding that the handler undoes itself, in lower case.
  std::string own_coding = {};
  // Answered though requests or clients hold all other threads: for those that watch the server.  Its handler
  // must be quick.
  bool is_for_watchers = false;
  // The name by which its requests are counted; empty: "METHOD path".
  std::string counted_as = {};
  // False: its handler counts its requests by itself, or they are probes, which nobody wants to be counted.
  bool is_counted = true;
};

class Router {
 public:
  // Paths must differ in more than the names of their parts (CHECKed by the tests, not here): the first that
  // fits is taken.
  void Add(Route route);

  struct Match {
    const Route* route = nullptr;              // null: nothing is at this path, or not with this method
    std::map<std::string, std::string> parts;  // of the path
    std::vector<std::string> allowed_methods;  // at this path, when there is no route
  };
  // `target_path`: as the target has it.  Segments are decoded once they are told apart, so that a name may have any sign.
  Match Find(std::string_view method, std::string_view target_path) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace sonde
