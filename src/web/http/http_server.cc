#include "web/http/http_server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/bytes.h"
#include "base/format.h"
#include "web/http/connection.h"
#include "web/http/lobby.h"
#include "web/http/request_body.h"
#include "web/http/request_check.h"
#include "web/http/response_text.h"
#include "web/http/work_queue.h"

namespace sonde {
namespace {

constexpr int kListenBacklog = 128;
// For its next request a connection is waited for so long by the thread that has answered.
constexpr std::chrono::milliseconds kStay{5};
// For watchers: one may wait for the disk, and the other one still answers.
constexpr size_t kThreadsForWatchers = 2;
// Bytes of a body as it is sent, beyond those that the route allows: its framing, and the growth by packing.
constexpr uint64_t kFramingBytesMax = uint64_t{1} << 20;
// A shorter answer goes out with its head.
constexpr size_t kShortBodyBytesMax = 64 << 10;

std::vector<std::string> NamesOf(const std::string& host) {
  std::vector<std::string> names = {absl::AsciiStrToLower(host)};
  char machine[256] = {};
  if (gethostname(machine, sizeof(machine) - 1) == 0)
    names.push_back(absl::AsciiStrToLower(std::string(machine)));
  return names;
}

// A socket that listens, and its port.
struct Listener {
  int socket = -1;
  int port = 0;
};

std::optional<Listener> Listen(const std::string& host, int port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &wanted, &found) !=
      0) {
    return std::nullopt;
  }
  const auto free_found = absl::MakeCleanup([found] { freeaddrinfo(found); });
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int fd = socket(at->ai_family, at->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, at->ai_protocol);
    if (fd < 0) continue;
    // Not SO_REUSEPORT: two servers must not share a port.
    const int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, kListenBacklog) == 0 &&
        getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
      const in_port_t bound = address.ss_family == AF_INET6
                                  ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                  : reinterpret_cast<sockaddr_in*>(&address)->sin_port;
      return Listener{fd, ntohs(bound)};
    }
    close(fd);
  }
  return std::nullopt;
}

// Whether the other side has closed it, or will send nothing more.
bool IsClosed(int socket) {
  pollfd wanted{socket, POLLRDHUP, 0};
  return poll(&wanted, 1, 0) > 0;  // POLLHUP and POLLERR come unasked
}

// Sends the parts of an answer as they are made.  False: it broke off.
bool SendStream(const HttpResponse& response, const ResponseForm& form, const HttpRequest& request,
                Connection* connection, int64_t* body_bytes) {
  std::string part;
  for (bool has_more = true; has_more;) {
    part.clear();
    const absl::StatusOr<bool> more = response.stream(&part);
    if (!more.ok()) {
      spdlog::warn("http: a streamed answer broke off: {}", std::string(more.status().message()));
      return false;
    }
    has_more = *more;
    *body_bytes += static_cast<int64_t>(part.size());
    if (request.count_bytes) request.count_bytes(part.size());
    if (!part.empty() && form.is_http_1_0) connection->out += part;
    if (!part.empty() && !form.is_http_1_0) {
      fmt::format_to(std::back_inserter(connection->out), "{:x}\r\n", part.size());
      connection->out.append(part).append("\r\n");
    }
    if (!has_more && !form.is_http_1_0) connection->out += "0\r\n\r\n";
    if (!connection->SendAll().ok()) return false;
  }
  return true;
}

// Leaves in connection->out what the client has not taken at once.  `body_bytes`: of the answer's body.  False: an answer broke off.
bool SendResponse(HttpResponse response, const ResponseForm& form, const HttpRequest& request,
                  Connection* connection, int64_t* body_bytes) {
  *body_bytes = static_cast<int64_t>(response.body.size());
  connection->closes = form.closes;
  connection->out = ResponseHead(response, form);
  connection->out_at = 0;
  if (form.is_head_only) return true;
  if (response.stream) {
    if (SendStream(response, form, request, connection, body_bytes)) return true;
    connection->out.clear();
    connection->out_at = 0;
    connection->closes = true;
    return false;
  }
  if (response.code == 204 || response.code == 304) return true;
  if (request.count_bytes) request.count_bytes(response.body.size());
  if (response.body.size() > kShortBodyBytesMax && connection->Send() && connection->IsSent()) {
    connection->out = std::move(response.body);
  } else {
    connection->out += response.body;
  }
  return true;
}

// By this name the route's requests are counted.
std::string NameOf(const Route& route) {
  return route.counted_as.empty() ? route.method + " " + route.path : route.counted_as;
}

// The text of an error: of our own form, of Prometheus' and Influx' (an "error" that is a text), or as it is.
std::string MessageOf(const HttpResponse& response) {
  const auto json = nlohmann::json::parse(response.body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("error")) return response.body;
  const auto& error = json["error"];
  if (error.is_string()) return error.get<std::string>();
  if (error.is_object() && error.contains("message") && error["message"].is_string())
    return error["message"].get<std::string>();
  return response.body;
}

class HttpScope final : public RequestScope {
 public:
  explicit HttpScope(const HttpRequest& request) : request_(request) {}
  RequestTag tag() const override { return request_.tag; }

 private:
  const HttpRequest& request_;
};

}  // namespace

struct HttpServer::Parts {
  Router router;
  std::vector<std::string> names;
  std::string host;  // an IPv6 address without brackets
  int port = 0;
  const HttpDoor* door = nullptr;
  bool has_tls = false;
  std::shared_ptr<HttpCounts> counts;
  std::shared_ptr<RunningRequests> running;
  RequestMetrics* requests = nullptr;
  std::unique_ptr<Lobby> lobby;
  std::unique_ptr<WorkQueue> queue;
  // Requests are named by numbers that count on from the time in microseconds at the start, so that no server before it had the name.
  mutable std::atomic<uint64_t> next_request = static_cast<uint64_t>(absl::ToUnixMicros(absl::Now()));

  // Answers what can be answered without the body; false if a handler is to be called with it.
  bool AnswerEarly(HttpRequest* asked, Router::Match* match, HttpResponse* response) const {
    const HttpRequest& request = *asked;
    if (absl::Status status = CheckHostAndOrigin(request, names, has_tls); !status.ok()) {
      *response = ErrorResponse(status);
      return true;
    }
    if (request.path.size() > kPathBytesMax) {
      *response = ErrorResponse(
          414, "INVALID_ARGUMENT",
          fmt::format("The path has {} bytes; at most {} are allowed", request.path.size(), kPathBytesMax));
      return true;
    }
    *match = router.Find(request.method, request.target_path);
    if (door != nullptr) {
      if (std::optional<HttpResponse> refusal = door->Refuse(asked, *match); refusal.has_value()) {
        *response = *std::move(refusal);
        return true;
      }
    }
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

  // `form->closes` is set where the body was not read.  `number`: the request's number in the list, once a handler works at it.
  HttpResponse Answer(RequestHead* head, Connection* connection, ResponseForm* form,
                      std::optional<uint64_t>* number) const {
    HttpRequest& request = head->request;
    request.peer = connection->peer();
    request.peer_certificate = connection->peer_certificate();
    const auto is_cancelled = std::make_shared<std::atomic<bool>>(false);
    request.is_client_gone = [socket = connection->socket(), is_cancelled] {
      return is_cancelled->load(std::memory_order_acquire) || IsClosed(socket);
    };
    HttpResponse response;
    Router::Match match;
    bool body_is_read = !head->HasBody();
    if (!AnswerEarly(&request, &match, &response)) {
      const Route& route = *match.route;
      request.parts = std::move(match.parts);
      *number = running->Enter({.name = request.tag.id,
                                .method = NameOf(route),
                                .peer = request.peer,
                                .principal = request.principal == nullptr ? "" : request.principal->member,
                                .came = absl::Now()},
                               is_cancelled);
      absl::StatusOr<ByteSource> source = BodyOf(*head, route, connection, request.count_bytes);
      if (!source.ok()) {
        response = ErrorResponse(415, "INVALID_ARGUMENT", std::string(source.status().message()));
      } else {
        HttpBody body(*std::move(source), route.body_bytes_max);
        const bool takes_body = request.method == "POST" || request.method == "PUT";
        const absl::Status status = route.handler(request, takes_body ? &body : nullptr, &response);
        if (!status.ok()) {
          const bool body_too_large = absl::IsResourceExhausted(status) && takes_body && !body.complete();
          response = ErrorResponse(body_too_large ? 413 : HttpCodeOf(status.code()),
                                   std::string(absl::StatusCodeToString(status.code())),
                                   std::string(status.message()));
        }
        body_is_read = body_is_read || body.complete();
      }
    }
    // The rest of the body would else be taken for the connection's next request: a page could hide a request
    // in a body, and the hidden request would not tell its origin.
    form->closes = form->closes || !body_is_read;
    return response;
  }

  // `count_bytes`: as HttpRequest's.
  static absl::StatusOr<ByteSource> BodyOf(const RequestHead& head, const Route& route,
                                           Connection* connection,
                                           const std::function<void(size_t)>& count_bytes) {
    connection->BeginBody();
    ByteSource wire = [connection, count_bytes, must_ask = head.expects_continue](
                          char* buffer, size_t bytes_max) mutable -> absl::StatusOr<size_t> {
      if (std::exchange(must_ask, false) && connection->unread().empty()) {
        connection->out = "HTTP/1.1 100 Continue\r\n\r\n";
        if (absl::Status status = connection->SendAll(); !status.ok()) return status;
      }
      absl::StatusOr<size_t> bytes = connection->Read(buffer, bytes_max);
      if (bytes.ok() && count_bytes) count_bytes(*bytes);
      return bytes;
    };
    ByteSource body = Unframed(head, std::move(wire), 2 * route.body_bytes_max + kFramingBytesMax);
    const std::string coding = head.request.Header("content-encoding").value_or("");
    if (!head.HasBody() || (!coding.empty() && absl::AsciiStrToLower(coding) == route.own_coding))
      return body;
    return Decoded(coding, std::move(body));
  }

  static HttpResponse AnswerMistake(const HttpRequest& request, std::string_view thrown) {
    spdlog::error("http: {} {} threw: {}", request.method, Printable(request.path), thrown);
    return ErrorResponse(500, "INTERNAL", "The server made a mistake; its log says more");
  }

  // Runs on a working thread.  A client that asks one question after the other keeps its thread while there
  // are other threads, which is quicker than to be handed over for each question.
  void Serve(std::unique_ptr<Connection> connection, bool is_urgent) const {
    do {
      AnswerOne(connection.get());
    } while (!is_urgent && !connection->closes && connection->IsSent() && !lobby->ends() &&
             queue->IsQuiet() && connection->AwaitHead(kStay));
    lobby->Return(std::move(connection));
  }

  void AnswerOne(Connection* connection) const {
    RequestHead head = *std::move(connection->head);
    connection->head.reset();
    const auto begin = std::chrono::steady_clock::now();
    head.request.tag = MakeRequestTag(
        head.request.Header("x-request-id").value_or(""), head.request.Header("traceparent").value_or(""),
        fmt::format("{:x}", next_request.fetch_add(1, std::memory_order_relaxed)));
    const HttpScope scope(head.request);
    ResponseForm form{head.is_http_1_0, head.is_head_only, !head.keeps_open};
    std::optional<uint64_t> number;
    const auto leave = absl::MakeCleanup([&] {
      if (number.has_value()) running->Leave(*number);
    });
    HttpResponse response;
    try {
      response = Answer(&head, connection, &form, &number);
    } catch (const std::exception& error) {
      response = AnswerMistake(head.request, error.what());
      form.closes = true;
    } catch (...) {
      response = AnswerMistake(head.request, "unknown");
      form.closes = true;
    }
    form.closes = form.closes || (response.stream && form.is_http_1_0);
    counts->AddAnswer(response.code);
    const int http_code = response.code;
    const std::string message = http_code >= 400 ? MessageOf(response) : std::string();
    int64_t body_bytes = 0;
    if (!SendResponse(std::move(response), form, head.request, connection, &body_bytes))
      counts->AddCut(HttpCounts::Cut::kBrokenOff);
    connection->Send();
    const Answered answered{.http_code = http_code,
                            .message = message,
                            .took = absl::FromChrono(std::chrono::steady_clock::now() - begin),
                            .body_bytes = body_bytes};
    Count(head.request, answered);
  }

  // A request that was answered.
  struct Answered {
    int http_code;
    std::string message;  // of a failure
    absl::Duration took;
    int64_t body_bytes;  // of the answer
  };

  // An answer that is made as it is sent has ended only now.
  void Count(const HttpRequest& request, const Answered& answered) const {
    if (requests == nullptr) return;
    const Router::Match match = router.Find(request.method, request.target_path);
    if (match.route != nullptr && !match.route->is_counted) return;
    const std::string name = match.route == nullptr ? "other paths" : NameOf(*match.route);
    const absl::StatusCode code = CodeOfHttp(answered.http_code);
    const absl::Time now = absl::Now();
    const std::string principal = request.principal == nullptr ? "" : request.principal->member;
    requests->Record(name, code, absl::ToInt64Microseconds(answered.took));
    // A path that nobody knows may be anything.
    if (match.route != nullptr && requests->slow_calls()->Wants(answered.took, now)) {
      requests->slow_calls()->Record({.ended = now,
                                      .took = answered.took,
                                      .method = name,
                                      .code = code,
                                      .request = request.tag.id,
                                      .trace = request.tag.trace,
                                      .resource = match.parts.empty() ? "" : request.path,
                                      .principal = principal,
                                      .cost = {.bytes = answered.body_bytes}});
    }
    const uint64_t calls = match.route == nullptr ? 0 : requests->callers()->Weigh(now);
    if (calls > 0) {
      requests->callers()->Add({.method = name,
                                .resource = match.parts.empty() ? "" : request.path,
                                .principal = principal,
                                .client = request.peer,
                                .agent = request.Header("user-agent").value_or("")},
                               calls, now);
    }
    if (answered.http_code < 400) return;
    requests->failed_calls()->Record({.ended = now,
                                      .method = name,
                                      .code = code,
                                      .message = answered.message,
                                      .request = request.tag.id,
                                      .principal = principal,
                                      .client = request.peer});
  }

  bool IsForWatchers(const HttpRequest& request) const {
    const Router::Match match = router.Find(request.method, request.target_path);
    return match.route != nullptr && match.route->is_for_watchers;
  }

  void Start(const HttpServerOptions& options, int listening_socket) {
    queue = std::make_unique<WorkQueue>(options.threads, kThreadsForWatchers);
    Lobby::Options lobby_options;
    lobby_options.counts = counts.get();
    lobby_options.tls = options.tls;
    lobby_options.connections_max = options.connections_max;
    lobby_options.idle_max = std::chrono::seconds(kIdleSeconds);
    lobby_options.serve = [this](std::unique_ptr<Connection> connection) {
      const bool is_urgent = IsForWatchers(connection->head->request);
      // A function must be able to be copied.
      queue->Add([this, shared = std::make_shared<std::unique_ptr<Connection>>(std::move(connection)),
                  is_urgent] { Serve(std::move(*shared), is_urgent); },
                 is_urgent);
    };
    lobby_options.refuse = [](int http_code, const absl::Status& why) {
      const HttpResponse response = ErrorResponse(
          http_code, std::string(absl::StatusCodeToString(why.code())), std::string(why.message()));
      return ResponseHead(response, {.closes = true}) + response.body;
    };
    lobby = std::make_unique<Lobby>(listening_socket, std::move(lobby_options));
    lobby->Begin();
  }
};

HttpServer::HttpServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpServerOptions& options,
                                                              Router router) {
  auto parts = std::make_unique<Parts>();
  parts->router = std::move(router);
  parts->counts = options.counts;
  parts->running = options.running;
  parts->requests = options.requests;
  parts->door = options.door;
  parts->has_tls = static_cast<bool>(options.tls);
  parts->names = NamesOf(options.host);
  // gRPC takes IPv6 addresses with or without brackets; the system, without.
  std::string& host = parts->host = options.host;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::optional<Listener> listener = Listen(host, options.port);
  if (!listener) {
    return absl::FailedPreconditionError(
        fmt::format("Cannot listen on {}:{}: the port is in use, or the address is not this machine's",
                    options.host, options.port));
  }
  parts->port = listener->port;
  parts->Start(options, listener->socket);
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(parts)));
}

HttpServer::~HttpServer() {
  // The lobby first: it waits for all that it has given to the threads, which give that back to it.
  parts_->lobby->End();
  parts_->queue.reset();
}

void HttpServer::End(absl::Duration grace) { parts_->lobby->End(absl::ToChronoMilliseconds(grace)); }

void HttpServer::HurryEnd() { parts_->lobby->HurryEnd(); }

int HttpServer::port() const { return parts_->port; }

std::string HttpServer::url() const {
  const bool is_ipv6 = parts_->host.find(':') != std::string::npos;
  return fmt::format("{}://{}:{}/", parts_->has_tls ? "https" : "http",
                     is_ipv6 ? "[" + parts_->host + "]" : parts_->host, parts_->port);
}

}  // namespace sonde
