#include "web/http/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>

#include "web/health.h"

namespace sonde {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

// Sends the parts, with pauses between them, and returns all that comes until the server closes the
// connection, or nothing comes for a while.  `ends`: says behind them that nothing more comes.
std::string Exchange(int port, const std::vector<std::string>& parts, int patience_ms = 300,
                     bool ends = false) {
  const int fd = Connect(port);
  const timeval patience{patience_ms / 1000, patience_ms % 1000 * 1000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  for (const std::string& part : parts) {
    if (&part != parts.data()) usleep(50'000);
    send(fd, part.data(), part.size(), MSG_NOSIGNAL);  // the server may have closed it
  }
  if (ends) shutdown(fd, SHUT_WR);
  std::string answer;
  char buffer[4096];
  for (ssize_t n = 0; (n = recv(fd, buffer, sizeof(buffer), 0)) > 0;) answer.append(buffer, n);
  close(fd);
  return answer;
}

std::string Get(int port, const std::string& path, const std::string& headers = "Host: localhost\r\n") {
  return Exchange(port, {"GET " + path + " HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n"}, 5'000);
}

std::string Post(int port, const std::string& path, const std::string& body,
                 const std::string& headers = "") {
  const std::string head = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                           headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  return Exchange(port, {head + body}, 5'000);
}

nlohmann::json ErrorOf(const std::string& answer) {
  const size_t at = answer.find("\r\n\r\n");
  return nlohmann::json::parse(answer.substr(at + 4), nullptr, false)
      .value("error", nlohmann::json::object());
}

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() {
    Router router;
    AddHealth([this] { return ready_; }, &router);
    router.Add({"POST", "/count/{what}",
                [this](const HttpRequest& request, HttpBody* body, HttpResponse* response) {
                  ++posts_;
                  absl::StatusOr<std::string> all = body->ReadAll();
                  if (!all.ok()) return all.status();
                  response->body = request.parts.at("what") + " " + std::to_string(all->size()) + " " +
                                   request.Query("unit").value_or("?");
                  return absl::OkStatus();
                },
                1000});
    router.Add({"POST", "/own",
                [](const HttpRequest&, HttpBody* body, HttpResponse* response) {
                  absl::StatusOr<std::string> all = body->ReadAll();
                  if (all.ok()) response->body = *std::move(all);
                  return all.status();
                },
                1000, "snappy"});
    router.Add({"POST", "/large",
                [](const HttpRequest&, HttpBody* body, HttpResponse*) { return body->ReadAll().status(); },
                size_t{10} << 20});
    router.Add(
        {"POST", "/ignore", [](const HttpRequest&, HttpBody*, HttpResponse*) { return absl::OkStatus(); }});
    router.Add({"GET", "/throws", [](const HttpRequest&, HttpBody*, HttpResponse*) -> absl::Status {
                  throw std::runtime_error("oops");
                }});
    router.Add({"GET", "/stream", [](const HttpRequest&, HttpBody*, HttpResponse* response) {
                  response->stream = [i = 0](std::string* part) mutable -> absl::StatusOr<bool> {
                    *part = "part" + std::to_string(i) + ";";
                    return ++i < 3;
                  };
                  return absl::OkStatus();
                }});
    // Works until its client has gone, it may end, or for 10 seconds; says whether one left.
    router.Add({"GET", "/works", [this](const HttpRequest& request, HttpBody*, HttpResponse*) {
                  const auto interrupted = InterruptedWhenGone(request);
                  is_working_ = true;
                  for (int i = 0; i < 1'000 && !may_end_; ++i) {
                    if (!interrupted().ok()) {
                      was_left_ = true;
                      return interrupted();
                    }
                    usleep(10'000);
                  }
                  return absl::OkStatus();
                }});
    router.Add(
        {"POST", "/waits", [](const HttpRequest& request, HttpBody* body, HttpResponse*) -> absl::Status {
           const auto interrupted = InterruptedWhenGone(request);
           if (const auto all = body->ReadAll(); !all.ok()) return all.status();
           for (int i = 0; i < 20; ++i) {
             if (absl::Status status = interrupted(); !status.ok()) return status;
             usleep(10'000);
           }
           return absl::OkStatus();
         }});
    server_ = *HttpServer::Start({.requests = &requests_}, std::move(router));
  }

  absl::Status ready_;
  RequestMetrics requests_;
  int posts_ = 0;
  std::atomic<bool> is_working_ = false, was_left_ = false, may_end_ = false;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, SaysWhetherItIsReady) {
  EXPECT_THAT(Get(server_->port(), "/healthz"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Get(server_->port(), "/readyz"), StartsWith("HTTP/1.1 200"));
  ready_ = absl::InternalError("the disk is gone");
  const std::string answer = Get(server_->port(), "/readyz");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
  EXPECT_EQ(ErrorOf(answer).value("message", ""), "the disk is gone");
}

TEST_F(HttpServerTest, SlowRequestsOfItsRoutesAreListed) {
  requests_.slow_calls()->SetThreshold(absl::ZeroDuration());
  Get(server_->port(), "/none");  // no route
  Post(server_->port(), "/count/a", "abc");
  std::vector<SlowCall> calls;
  for (int i = 0; i < 500 && calls.empty(); ++i, usleep(10'000)) calls = requests_.slow_calls()->List();
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].method, "POST /count/{what}");
  EXPECT_EQ(calls[0].resource, "/count/a");
  EXPECT_EQ(calls[0].code, absl::StatusCode::kOk);
  EXPECT_GT(calls[0].cost.bytes, 0);
  EXPECT_NE(calls[0].request, "");
}

TEST_F(HttpServerTest, CountsRequestsByRouteAndStatus) {
  Get(server_->port(), "/stream");
  Get(server_->port(), "/throws");
  Get(server_->port(), "/none");
  Get(server_->port(), "/readyz");
  Post(server_->port(), "/count/a", std::string(1'001, 'x'));
  // An answer is counted after it was sent.
  std::string counted;
  for (int i = 0; i < 500; ++i, usleep(10'000)) {
    counted.clear();
    for (const RequestMetrics::Method& method : requests_.Snapshot()) {
      for (size_t code = 0; code < RequestMetrics::kCodes; ++code) {
        if (method.by_code[code] == 0) continue;
        counted += method.name + " " + absl::StatusCodeToString(static_cast<absl::StatusCode>(code)) + "; ";
      }
    }
    if (requests_.Snapshot().size() == 4) break;
  }
  EXPECT_EQ(
      counted,
      "GET /stream OK; GET /throws INTERNAL; POST /count/{what} RESOURCE_EXHAUSTED; other paths NOT_FOUND; ");
}

TEST_F(HttpServerTest, GivesBodyPartsAndQueryToTheHandler) {
  EXPECT_THAT(Post(server_->port(), "/count/some%20bytes?unit=B", "12345"), HasSubstr("some bytes 5 B"));
}

TEST_F(HttpServerTest, TellsAHandlerWhenItsClientHasGone) {
  const int fd = Connect(server_->port());
  // What was sent behind it and nobody has read does not hide that the client has gone.
  const std::string request = "GET /works HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\n";
  ASSERT_EQ(send(fd, request.data(), request.size(), 0), request.size());
  for (int i = 0; i < 500 && !is_working_; ++i) usleep(10'000);
  usleep(50'000);
  EXPECT_TRUE(is_working_);
  EXPECT_FALSE(was_left_);
  close(fd);
  for (int i = 0; i < 500 && !was_left_; ++i) usleep(10'000);
  EXPECT_TRUE(was_left_);
  // One that waits is there.
  EXPECT_THAT(Post(server_->port(), "/waits", "12345"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, RefusesABodyOverTheLimitOfTheRoute) {
  EXPECT_THAT(Post(server_->port(), "/count/it", std::string(1000, 'x')), StartsWith("HTTP/1.1 200"));
  const std::string answer = Post(server_->port(), "/count/it", std::string(1001, 'x'));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(ErrorOf(answer).value("message", ""), HasSubstr("1000 bytes"));
  // Chunks say nothing of the whole beforehand.
  std::string chunks;
  for (int i = 0; i < 200; ++i) chunks += "a\r\n0123456789\r\n";
  const std::string head = "POST /count/it HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string chunked = Exchange(server_->port(), {head + chunks + "0\r\n\r\n"});
  EXPECT_THAT(chunked, StartsWith("HTTP/1.1 413"));
}

TEST_F(HttpServerTest, AnswersErrorsAsJson) {
  std::string answer = Get(server_->port(), "/nothing/%00%ff");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 404"));
  EXPECT_EQ(ErrorOf(answer), nlohmann::json({{"code", 404},
                                             {"status", "NOT_FOUND"},
                                             {"message", R"(There is nothing at '/nothing/\x00\xff')"}}));
  answer = Get(server_->port(), "/ignore");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(answer, HasSubstr("Allow: POST"));
  answer = Get(server_->port(), "/throws");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500"));
  EXPECT_EQ(ErrorOf(answer).value("status", ""), "INTERNAL");
  EXPECT_THAT(answer, Not(HasSubstr("oops")));
}

TEST_F(HttpServerTest, RefusesOtherSites) {
  EXPECT_THAT(Get(server_->port(), "/healthz", "Host: evil.example\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Get(server_->port(), "/healthz", ""), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Post(server_->port(), "/count/it", "x", "Origin: http://evil.example\r\n"),
              StartsWith("HTTP/1.1 403"));
  EXPECT_EQ(posts_, 0);
}

TEST_F(HttpServerTest, ABodyThatNobodyReadIsNoNextRequest) {
  const std::string hidden = "POST /count/it HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx";
  const std::string length = "Content-Length: " + std::to_string(hidden.size()) + "\r\n\r\n";
  for (const std::string head :
       {"POST /count/it HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n",
        "POST /ignore HTTP/1.1\r\nHost: localhost\r\n", "POST /nothing HTTP/1.1\r\nHost: localhost\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", "DELETE /count/it HTTP/1.1\r\nHost: localhost\r\n"}) {
    const std::string answer = Exchange(server_->port(), {head + length, hidden});
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 ")) << head;
    EXPECT_EQ(posts_, 0) << head << answer;
  }
}

// Sends `part` again and again, as long as the server takes it, up to so many bytes; then reads the answer.
struct Flood {
  uint64_t taken_bytes = 0;
  std::string answer;
};
Flood SendWithoutEnd(int port, const std::string& start, const std::string& part, uint64_t bytes_max) {
  const int fd = Connect(port);
  const timeval patience{3, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  Flood flood;
  send(fd, start.data(), start.size(), MSG_NOSIGNAL);
  std::string block;
  while (block.size() < 100'000) block += part;
  // The answer comes when the limit is passed, not when all was sent.
  char buffer[4096];
  while (flood.taken_bytes < bytes_max && flood.answer.empty()) {
    const ssize_t sent = send(fd, block.data(), block.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;
    flood.taken_bytes += static_cast<uint64_t>(sent);
    const ssize_t got = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (got > 0) flood.answer.append(buffer, static_cast<size_t>(got));
  }
  for (ssize_t n = 0; (n = recv(fd, buffer, sizeof(buffer), 0)) > 0;) {
    flood.answer.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return flood;
}

TEST_F(HttpServerTest, AHeadHasAnEnd) {
  constexpr uint64_t kMuch = 100'000'000;
  const struct {
    const char* what;
    std::string start, part;
  } heads[] = {
      {"a header without end", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", "x"},
      {"headers without end", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", "X: y\r\n"},
      {"a first line without end", "GET /", "x"},
      {"no lines at all", "", "x"},
  };
  for (const auto& head : heads) {
    const Flood flood = SendWithoutEnd(server_->port(), head.start, head.part, kMuch);
    EXPECT_LT(flood.taken_bytes, kMuch / 2) << head.what;
    EXPECT_THAT(flood.answer, StartsWith("HTTP/1.1 431 ")) << head.what;
    EXPECT_THAT(ErrorOf(flood.answer).value("message", ""), HasSubstr("more than 65536 bytes")) << head.what;
  }
  // What is allowed is taken, line by line up to the library's own limit.
  std::string many = "Host: localhost\r\n";
  while (many.size() < 60'000) many += "X-Some: " + std::string(1'000, 'y') + "\r\n";
  EXPECT_THAT(Get(server_->port(), "/healthz", many), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Get(server_->port(), "/healthz"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, WhatFollowsAHeadThatCannotBeReadIsNoRequest) {
  const std::string next = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (const std::string& first :
       {"GET /healthz HTTP/1.1\r\nno colon\r\n" + std::string(70'000, 'x') + "\r\n\r\n",
        std::string("GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"),
        std::string("POST /count/it HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: "
                    "5\r\n\r\n")}) {
    const std::string answer = Exchange(server_->port(), {first + next});
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 4"));
    EXPECT_THAT(answer, Not(HasSubstr("200 OK")));
  }
}

TEST_F(HttpServerTest, TwoHostsAreNoRequest) {
  const std::string answer = Get(server_->port(), "/healthz", "Host: localhost\r\nHost: localhost\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_THAT(ErrorOf(answer).value("message", ""), HasSubstr("there is a second 'Host'"));
}

// "204" of a handler that has the body is the sender's only knowledge that it has come.
TEST_F(HttpServerTest, ABodyThatEndsEarlyIsNoRequest) {
  const std::string head = "POST /count/it HTTP/1.1\r\nHost: localhost\r\n";
  for (const std::string& cut :
       {std::string("Content-Length: 10\r\n\r\n12345"), std::string("Content-Length: 100000\r\n\r\n12345"),
        std::string("Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n"),
        std::string("Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n"),
        std::string("Transfer-Encoding: chunked\r\n\r\n5\r\n1234567\r\n0\r\n\r\n"),
        std::string("Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n")}) {
    const bool is_empty = cut.ends_with(": 0\r\n\r\n");
    EXPECT_THAT(Exchange(server_->port(), {head + cut}, 3'000, /*ends=*/true),
                StartsWith(is_empty ? "HTTP/1.1 200" : "HTTP/1.1 400"))
        << cut;
  }
}

TEST_F(HttpServerTest, UndoesCodingsAndRefusesOthers) {
  // "x", packed by gzip.
  const std::string member(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x00\x00\x83\x16\xdc\x8c\x01\x00\x00"
      "\x00",
      21);
  EXPECT_THAT(Post(server_->port(), "/count/it", member + member, "Content-Encoding: GZIP\r\n"),
              HasSubstr("it 2 ?"));
  const std::string cut = member.substr(0, member.size() - 1);
  std::string answer = Post(server_->port(), "/count/it", cut, "Content-Encoding: gzip\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 400"));
  EXPECT_EQ(ErrorOf(answer).value("message", ""), "Content-Encoding gzip: the gzip data ends early");
  answer = Post(server_->port(), "/count/it", member, "Content-Encoding: compress\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 415"));
  EXPECT_THAT(ErrorOf(answer).value("message", ""), StartsWith("Content-Encoding 'compress'; allowed: gzip"));
  EXPECT_THAT(Post(server_->port(), "/own", "raw", "Content-Encoding: Snappy\r\n"), HasSubstr("raw"));
  EXPECT_THAT(Post(server_->port(), "/own", member, "Content-Encoding: gzip\r\n"),
              testing::EndsWith("\r\n\r\nx"));
}

TEST_F(HttpServerTest, SaysThatABodyMayCome) {
  const std::string head =
      "POST /count/it HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
  EXPECT_THAT(Exchange(server_->port(), {head, "12345"}),
              StartsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200"));
  // Not when nobody wants it.
  EXPECT_THAT(
      Exchange(server_->port(), {"POST /ignore HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                                 "Content-Length: 5\r\n\r\n"}),
      StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, SpeaksHttp10) {
  const std::string stream =
      Exchange(server_->port(), {"GET /stream HTTP/1.0\r\nHost: localhost\r\n\r\n"}, 3'000);
  EXPECT_THAT(stream, testing::EndsWith("\r\n\r\npart0;part1;part2;"));
  EXPECT_THAT(Exchange(server_->port(), {"GET /healthz HTTP/1.0\r\nHost: a\r\n\r\n"}),
              StartsWith("HTTP/1.1 403"));
  const std::string head = Exchange(server_->port(), {"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"});
  EXPECT_THAT(head, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_THAT(head, testing::EndsWith("\r\n\r\n"));
}

// Connections that stay open, each after it has sent `bytes`.
class Clients {
 public:
  Clients(int port, int count, const std::string& bytes) {
    for (int i = 0; i < count; ++i) {
      sockets_.push_back(Connect(port));
      send(sockets_.back(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    usleep(100'000);
  }
  ~Clients() {
    for (const int socket : sockets_) close(socket);
  }
  Clients(const Clients&) = delete;

 private:
  std::vector<int> sockets_;
};

double SecondsOfHealthz(int port) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(Get(port, "/healthz"), StartsWith("HTTP/1.1 200"));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

constexpr double kSoonSeconds = 1;

TEST_F(HttpServerTest, ClientsThatSendNothingHoldNoThread) {
  const Clients idle(server_->port(), 300, "");
  const Clients in_head(server_->port(), 100, "GET /healthz HTTP/1.1\r\n");
  const Clients in_body(server_->port(), 100,
                        "POST /count/it HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nx");
  EXPECT_LT(SecondsOfHealthz(server_->port()), kSoonSeconds);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(Post(server_->port(), "/count/it", "12345"), HasSubstr("it 5"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

// A large body is read by its handler: those that stall hold all threads for a while, but not those of
// watchers.
TEST_F(HttpServerTest, WatchersAreAnsweredWhileAllOthersWait) {
  const Clients slow(server_->port(), 60,
                     "POST /large HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nx");
  EXPECT_LT(SecondsOfHealthz(server_->port()), kSoonSeconds);
  EXPECT_THAT(Get(server_->port(), "/readyz"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, AnIdleConnectionMakesWayForANewOne) {
  Router router;
  AddHealth([] { return absl::OkStatus(); }, &router);
  const auto server = *HttpServer::Start({.threads = 1, .connections_max = 10}, std::move(router));
  const Clients idle(server->port(), 50, "");
  EXPECT_LT(SecondsOfHealthz(server->port()), kSoonSeconds);
  // So does one whose request has begun.
  const Clients begun(server->port(), 50, "GET /");
  EXPECT_LT(SecondsOfHealthz(server->port()), kSoonSeconds);
}

TEST_F(HttpServerTest, ABodyHasALeastRate) {
  const int fd = Connect(server_->port());
  const std::string head = "POST /large HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n";
  send(fd, head.data(), head.size(), MSG_NOSIGNAL);
  std::string answer;
  const auto begin = std::chrono::steady_clock::now();
  // Never silent for long, and never done.
  while (answer.empty() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
    send(fd, "x", 1, MSG_NOSIGNAL);
    usleep(200'000);
    char buffer[4096];
    const ssize_t got = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (got > 0) answer.append(buffer, static_cast<size_t>(got));
  }
  close(fd);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(ErrorOf(answer).value("message", ""), StartsWith("The client was too slow"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

// Whoever does not take its answer holds no thread either.
TEST_F(HttpServerTest, AnAnswerThatNobodyTakesHoldsNoThread) {
  Router router;
  router.Add({"GET", "/much", [](const HttpRequest&, HttpBody*, HttpResponse* response) {
                response->body.assign(30 << 20, 'x');
                return absl::OkStatus();
              }});
  router.Add(
      {"GET", "/little", [](const HttpRequest&, HttpBody*, HttpResponse*) { return absl::OkStatus(); }});
  const auto server = *HttpServer::Start({.threads = 2}, std::move(router));
  const Clients readers(server->port(), 4, "GET /much HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(Get(server->port(), "/little"), StartsWith("HTTP/1.1 200"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  const std::string whole = Get(server->port(), "/much");
  EXPECT_EQ(whole.size() - whole.find("\r\n\r\n") - 4, 30 << 20);
}

TEST_F(HttpServerTest, KeepsConnectionsOpen) {
  const std::string request = "POST /count/it HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx";
  Exchange(server_->port(), {request, request});
  EXPECT_EQ(posts_, 2);
}

TEST_F(HttpServerTest, StreamsAnAnswer) {
  const std::string answer = Get(server_->port(), "/stream");
  EXPECT_THAT(answer, HasSubstr("part0;"));
  EXPECT_THAT(answer, HasSubstr("part2;"));
  EXPECT_THAT(answer, HasSubstr("Transfer-Encoding: chunked"));
}

TEST_F(HttpServerTest, CountsAnswersAndWhatItCutsOff) {
  Router router;
  AddHealth([] { return absl::OkStatus(); }, &router);
  router.Add({"GET", "/breaks", [](const HttpRequest&, HttpBody*, HttpResponse* response) {
                response->stream = [](std::string*) { return absl::UnavailableError("gone"); };
                return absl::OkStatus();
              }});
  const auto counts = std::make_shared<HttpCounts>();
  const auto server =
      *HttpServer::Start({.threads = 1, .connections_max = 10, .counts = counts}, std::move(router));
  const auto value = [&](const std::string& name, const std::string& label) {
    for (const Figure& figure : counts->Figures()) {
      for (const Figure::Sample& sample : figure.samples) {
        if (figure.name == name && (label.empty() || sample.labels[0].second == label)) return sample.value;
      }
    }
    return -1.0;
  };
  Get(server->port(), "/healthz");
  Get(server->port(), "/nothing");
  Get(server->port(), "/breaks");
  Exchange(server->port(), {"no request at all\r\n\r\n"});
  EXPECT_EQ(value("sonde_http_answers_total", "404"), 1);
  EXPECT_EQ(value("sonde_http_answers_total", "400"), 1);
  EXPECT_EQ(value("sonde_http_cut_total", "broken_off"), 1);
  EXPECT_EQ(value("sonde_http_cut_total", "connections"), 0);
  EXPECT_EQ(value("sonde_http_connections_total", ""), 4);
  const Clients idle(server->port(), 50, "");
  Get(server->port(), "/healthz");
  EXPECT_EQ(value("sonde_http_answers_total", "200"), 3);  // the one that broke off had begun well
  EXPECT_GE(value("sonde_http_cut_total", "connections"), 40);
  EXPECT_LE(value("sonde_http_connections", ""), 10);
}

TEST_F(HttpServerTest, ARequestUnderWayHasTheGraceAndNobodyElseIsLetIn) {
  std::string answer;
  std::thread asking([&] { answer = Get(server_->port(), "/works"); });
  while (!is_working_) usleep(1'000);
  std::thread ending([this] { server_->End(absl::Hours(1)); });
  usleep(200'000);
  const int late = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(server_->port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_NE(connect(late, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  close(late);
  may_end_ = true;
  asking.join();
  ending.join();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(HttpServerTest, AGraceThatIsCutShortCutsOffThoseUnderWay) {
  std::string answer;
  std::thread asking([&] { answer = Get(server_->port(), "/works"); });
  while (!is_working_) usleep(1'000);
  std::thread ending([this] { server_->End(absl::Hours(1)); });
  usleep(100'000);
  server_->HurryEnd();
  ending.join();
  asking.join();
  EXPECT_TRUE(was_left_);
  EXPECT_EQ(answer, "");
}

TEST_F(HttpServerTest, APortIsNotShared) {
  const absl::StatusOr<std::unique_ptr<HttpServer>> second =
      HttpServer::Start({.port = server_->port()}, Router());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace sonde
