#include "web/http_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "base/bytes.h"
#include "web/bounded_server.h"
#include "web/request_check.h"

namespace sonde {
namespace {

constexpr int kListenBacklog = 128;
constexpr size_t kRequestsPerConnectionMax = 100'000;
// What the library itself enforces, before decoding; routes have their own limits.
constexpr size_t kBodyBytesMax = size_t{1} << 30;

// Connections for a fixed number of threads.  When too many wait, the one that accepts connections does, too.
class BoundedQueue final : public httplib::TaskQueue {
 public:
  BoundedQueue(size_t threads, size_t waiting_max) : waiting_max_(waiting_max) {
    for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
  }

  void enqueue(std::function<void()> task) override {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [this] { return tasks_.size() < waiting_max_; });
    tasks_.push_back(std::move(task));
    has_task_.notify_one();
  }

  void shutdown() override {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
    }
    has_task_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void Run() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        has_task_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      has_room_.notify_one();
      task();
    }
  }

  const size_t waiting_max_;
  std::mutex mutex_;
  std::condition_variable has_task_, has_room_;
  std::deque<std::function<void()>> tasks_;  // guarded by mutex_
  bool ending_ = false;                      // guarded by mutex_
  std::vector<std::thread> threads_;
};

// `from` must outlive it.
HttpRequest FromLibrary(const httplib::Request& from) {
  HttpRequest request;
  request.method = from.method == "HEAD" ? "GET" : from.method;
  request.path = from.path;
  // The library takes the last '=' of a pair for the end of its name.
  request.query = ParseQueryOfTarget(from.target);
  for (const auto& [name, value] : from.headers) request.headers.emplace(absl::AsciiStrToLower(name), value);
  request.peer = from.remote_addr;
  if (from.progress) request.is_client_gone = [&from] { return !from.progress(0, 0); };
  return request;
}

bool HasBody(const HttpRequest& request) {
  return request.Header("content-length").value_or("0") != "0" ||
         request.Header("transfer-encoding").has_value();
}

// The library would go on with what follows on the connection, which is a body that nobody has read: a page
// could hide a request in it that says nothing of its origin.  When the provider fails, the connection is
// closed; by then all has been written.
void EndConnection(httplib::Response* to) {
  auto body = std::make_shared<std::string>(std::move(to->body));
  to->body.clear();
  const std::string type = to->get_header_value("Content-Type");
  to->headers.erase("Content-Type");
  to->set_header("Connection", "close");
  to->set_content_provider(body->size(), type, [body](size_t, size_t, httplib::DataSink& sink) {
    sink.write(body->data(), body->size());
    return false;
  });
}

void ToLibrary(HttpResponse response, httplib::Response* to) {
  to->status = response.code;
  for (auto& [name, value] : response.headers) to->set_header(name, value);
  if (!response.stream) {
    to->set_content(response.body, response.content_type);
    return;
  }
  to->set_chunked_content_provider(
      response.content_type,
      [stream = std::move(response.stream), part = std::string()](size_t, httplib::DataSink& sink) mutable {
        part.clear();
        const absl::StatusOr<bool> more = stream(&part);
        if (!more.ok()) {
          spdlog::warn("http: a streamed answer broke off: {}", std::string(more.status().message()));
          return false;
        }
        if (!part.empty() && !sink.write(part.data(), part.size())) return false;
        if (!*more) sink.done();
        return true;
      });
}

std::vector<std::string> NamesOf(const std::string& host) {
  std::vector<std::string> names = {absl::AsciiStrToLower(host)};
  char machine[256] = {};
  if (gethostname(machine, sizeof(machine) - 1) == 0)
    names.push_back(absl::AsciiStrToLower(std::string(machine)));
  return names;
}

}  // namespace

struct HttpServer::Parts {
  Router router;
  std::vector<std::string> names;
  std::string host;  // an IPv6 address without brackets
  int listening_socket = -1;
  int port = 0;
  BoundedServer server;
  std::thread thread;

  // Answers what can be answered without the body; false if a handler is to be called with it.
  bool AnswerEarly(const HttpRequest& request, Router::Match* match, HttpResponse* response) const {
    if (absl::Status status = CheckHostAndOrigin(request, names); !status.ok()) {
      *response = ErrorResponse(status);
      return true;
    }
    if (request.path.size() > kPathBytesMax) {
      *response = ErrorResponse(
          414, "INVALID_ARGUMENT",
          fmt::format("The path has {} bytes; at most {} are allowed", request.path.size(), kPathBytesMax));
      return true;
    }
    *match = router.Find(request.method, request.path);
    if (match->route != nullptr) {
      if (request.Header("content-type").value_or("").starts_with("multipart/")) {
        *response =
            ErrorResponse(415, "INVALID_ARGUMENT", "multipart bodies are not taken: send the data itself");
        return true;
      }
      return false;
    }
    if (match->allowed_methods.empty()) {
      *response =
          ErrorResponse(404, "NOT_FOUND", fmt::format("There is nothing at '{}'", Printable(request.path)));
      return true;
    }
    const std::string allowed = fmt::format("{}", fmt::join(match->allowed_methods, ", "));
    *response =
        ErrorResponse(405, "INVALID_ARGUMENT",
                      fmt::format("'{}' takes {}, not {}", Printable(request.path), allowed, request.method));
    response->headers.emplace_back("Allow", allowed);
    return true;
  }

  void Answer(const httplib::Request& from, httplib::Response* to, const HttpBody::Source& source) const {
    HttpRequest request = FromLibrary(from);
    // Else the library would compress what it likes, by Brotli at its slowest.
    const_cast<httplib::Request&>(from).headers.erase("Accept-Encoding");
    Router::Match match;
    HttpResponse response;
    bool body_is_read = !HasBody(request);
    if (!AnswerEarly(request, &match, &response)) {
      request.parts = std::move(match.parts);
      HttpBody body(source, source ? match.route->body_bytes_max : 0);
      absl::Status status = match.route->handler(request, source ? &body : nullptr, &response);
      if (!status.ok()) {
        const bool body_too_large = absl::IsResourceExhausted(status) && source && !body.complete();
        response = ErrorResponse(body_too_large ? 413 : HttpCodeOf(status.code()),
                                 std::string(absl::StatusCodeToString(status.code())),
                                 std::string(status.message()));
      }
      body_is_read = body_is_read || body.complete();
    }
    ToLibrary(std::move(response), to);
    if (!body_is_read && !to->content_provider_) EndConnection(to);
  }

  void SetUp(const HttpServerOptions& options) {
    names = NamesOf(options.host);
    server.new_task_queue = [options] {
      return new BoundedQueue(options.threads, options.connections_waiting_max);
    };
    server.set_socket_options([this](int socket) {
      // Not SO_REUSEPORT, which the library would set: two servers must not share a port.
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
      listening_socket = socket;
    });
    server.set_tcp_nodelay(true);
    server.set_keep_alive_max_count(kRequestsPerConnectionMax);
    server.set_keep_alive_timeout(kIdleSeconds);
    server.set_read_timeout(kStallSeconds);
    server.set_write_timeout(kStallSeconds);
    server.set_payload_max_length(kBodyBytesMax);
    server.set_default_headers(
        {{"X-Content-Type-Options", "nosniff"},
         {"X-Frame-Options", "DENY"},
         {"Referrer-Policy", "no-referrer"},
         {"Cross-Origin-Resource-Policy", "same-origin"},
         {"Content-Security-Policy",
          "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
          "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"}});
    // Requests with a body go to the handlers that can read it as it comes; all others are answered before
    // the library looks for a handler of its own.
    server.set_pre_routing_handler([this](const httplib::Request& from, httplib::Response& to) {
      if (from.method == "POST" || from.method == "PUT") return httplib::Server::HandlerResponse::Unhandled;
      Answer(from, &to, nullptr);
      return httplib::Server::HandlerResponse::Handled;
    });
    const auto with_body = [this](const httplib::Request& from, httplib::Response& to,
                                  const httplib::ContentReader& reader) {
      Answer(from, &to, [&reader](const HttpBody::Take& take) {
        return reader([&take](const char* data, size_t size) { return take({data, size}); });
      });
    };
    server.Post(R"([\s\S]*)", with_body);
    server.Put(R"([\s\S]*)", with_body);
    server.set_exception_handler(
        [](const httplib::Request& from, httplib::Response& to, std::exception_ptr thrown) {
          std::string what = "unknown";
          try {
            std::rethrow_exception(thrown);
          } catch (const std::exception& e) {
            what = e.what();
          } catch (...) {
          }
          spdlog::error("http: {} {} threw: {}", from.method, Printable(from.path), what);
          ToLibrary(ErrorResponse(500, "INTERNAL", "The server made a mistake; its log says more"), &to);
          EndConnection(&to);
        });
    // What the library refuses by itself: a request that it cannot read.
    server.set_error_handler([](const httplib::Request&, httplib::Response& to) {
      if (!to.body.empty() || to.content_provider_) return;
      ToLibrary(ErrorResponse(to.status, "INVALID_ARGUMENT", "The request cannot be read as HTTP/1.1"), &to);
    });
  }
};

HttpServer::HttpServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpServerOptions& options,
                                                              Router router) {
  auto parts = std::make_unique<Parts>();
  parts->router = std::move(router);
  parts->SetUp(options);
  // gRPC takes IPv6 addresses with or without brackets; the library, without.
  std::string& host = parts->host = options.host;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (options.port == 0) {
    parts->port = parts->server.bind_to_any_port(host);
  } else if (parts->server.bind_to_port(host, options.port)) {
    parts->port = options.port;
  }
  if (parts->port <= 0) {
    return absl::FailedPreconditionError(
        fmt::format("Cannot listen on {}:{}: the port is in use, or the address is not this machine's",
                    options.host, options.port));
  }
  listen(parts->listening_socket, kListenBacklog);  // the library's own queue is of 5
  parts->thread = std::thread([server = &parts->server] { server->listen_after_bind(); });
  // Before this, stop() would do nothing.
  while (!parts->server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(parts)));
}

HttpServer::~HttpServer() {
  parts_->server.stop();
  parts_->thread.join();
}

int HttpServer::port() const { return parts_->port; }

std::string HttpServer::url() const {
  const bool is_ipv6 = parts_->host.find(':') != std::string::npos;
  return fmt::format("http://{}:{}/", is_ipv6 ? "[" + parts_->host + "]" : parts_->host, parts_->port);
}

}  // namespace sonde
