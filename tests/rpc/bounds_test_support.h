// A server with bounds, and the frames of HTTP/2 by which tests try them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"
#include "rpc/server.h"
#include "tests/rpc/http2_client.h"
#include "tests/rpc/test_server.h"

namespace sonde::rpc {

inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

inline std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  const size_t bytes = payload.size();
  std::string frame{
      static_cast<char>(bytes >> 16),  static_cast<char>(bytes >> 8),  static_cast<char>(bytes),
      static_cast<char>(type),         static_cast<char>(flags),       static_cast<char>(stream >> 24),
      static_cast<char>(stream >> 16), static_cast<char>(stream >> 8), static_cast<char>(stream)};
  return frame.append(payload);
}
inline constexpr uint8_t kHeaders = 1, kSettings = 4, kPing = 6, kContinuation = 9;
inline constexpr uint8_t kEndStream = 1, kEndHeaders = 4;
inline constexpr Http2Client::Options kRaw{
    .window_bytes = 65'535, .takes_data = true, .says_settings = false};

class BoundsTest : public ::testing::Test {
 protected:
  void Start(const std::function<void(ServerOptions*)>& set) {
    ServerOptions options;
    options.loops = 2;
    set(&options);
    auto server = Server::Start(std::move(options), TestRouter(&diary_));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  int port() const { return server_->port(); }
  int64_t Refused(Refusal reason) const { return server_->facts().refused[static_cast<size_t>(reason)]; }
  static bool Comes(const std::function<bool()>& is_true) {
    for (int i = 0; i < 1'000 && !is_true(); ++i) absl::SleepFor(absl::Milliseconds(10));
    return is_true();
  }
  bool RefusedIs(Refusal reason, int64_t count) {
    return Comes([&] { return Refused(reason) == count; });
  }
  // The server is well, and nothing is left of what was done to it.
  void ExpectWell() {
    EXPECT_EQ(Http2Client(port()).Do("/test.Test/Echo", "well").data, Framed("well"));
    EXPECT_TRUE(Comes([&] { return server_->facts().calls == 0 && server_->facts().connections == 0; }))
        << server_->facts().calls << " calls, " << server_->facts().connections << " connections";
    EXPECT_EQ(server_->facts().bytes, 0);
  }

  Diary diary_;
  std::unique_ptr<Server> server_;
};

}  // namespace sonde::rpc
