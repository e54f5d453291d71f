// The bounds of a server, how it counts what it refuses by them, and what it has under way.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sonde::rpc {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;      // 0: any that is free
  size_t loops = 0;  // threads; 0: as many as there are processors, at least two

  // What comes over it is accepted and closed at once.
  size_t connections_max = 10'000;
  size_t connections_per_peer_max = 5'000;  // of one address
  // What a connection may have under way; more wait with the client.
  uint32_t calls_per_connection_max = 20'000;
  // Under way in all, with those that were reset and whose handlers are at work still.
  int64_t calls_max = 100'000;
  // Of messages that have come in, as a whole or in part, and are not with their handlers yet; a message that
  // is alone may be longer.
  int64_t bytes_max = int64_t{512} << 20;
  // ... of these, of one connection, what waits for Admit or ReadNext.
  int64_t waiting_bytes_per_connection_max = int64_t{4} << 20;

  // Of a block of headers, of a call or behind its messages, as HTTP/2 counts them: beyond the first the
  // call that they begin ends with RESOURCE_EXHAUSTED; beyond the second it is reset, and the rest of the
  // block is not looked at.
  size_t header_bytes_max = 8 << 10;
  size_t header_bytes_hard_max = 16 << 10;
  // Blocks beyond the second, of a connection: so many at once, and so many a second.
  int64_t header_resets_at_once_max = 50;
  int64_t header_resets_per_second_max = 10;
  // From their first frame to their last.
  std::chrono::milliseconds headers_time_max{5'000};

  // A connection has been a client's by then.
  std::chrono::milliseconds handshake_time_max{20'000};
  // One from which nothing came for so long is asked whether it is there, and has so long to answer.
  std::chrono::milliseconds keepalive_pause{60'000};
  std::chrono::milliseconds keepalive_time_max{20'000};
  // One without calls is asked to go after so long.
  std::chrono::milliseconds idle_time_max{std::chrono::hours(1)};
  // Pings of a client between which nothing was sent to it come no more often, but for two.
  std::chrono::milliseconds client_ping_pause_min{5'000};
  // Of a message that has begun something comes within this time, and kBodyBytesPerSecondMin on the average.
  std::chrono::milliseconds body_pause_max{30'000};
  // Of a message, of a request or an answer, for whose room others wait, kAwaitedBytesPerSecondMin come or go
  // on the average after so long.
  std::chrono::milliseconds awaited_pause_max{10'000};
  // A client that takes nothing of what was sent to it for so long is gone.
  std::chrono::milliseconds send_pause_max{120'000};
  // Of what was to be sent and sockets did not take, all connections.  Beyond it a connection that waits has
  // a frame there, not eight, and kUnsentPauseMax instead of the above.
  int64_t unsent_bytes_max = int64_t{64} << 20;
  // A call of whose message the client takes nothing for so long is cancelled.
  std::chrono::milliseconds message_pause_max{std::chrono::minutes(10)};
  // Calls that a client resets before they are answered: so many at once, and so many a second.
  int64_t resets_at_once_max = 10'000;
  int64_t resets_per_second_max = 1'000;

  // google.rpc.Status to go with UNAVAILABLE that the server itself says, so that clients know when to come
  // back; empty: none.
  std::function<std::string()> busy_details;
};

enum class Refusal : uint8_t {
  kConnections,      // connections_max
  kPeerConnections,  // connections_per_peer_max
  kNoFiles,          // no descriptor was left for a connection
  kHandshake,        // handshake_time_max, or it does not speak HTTP/2
  kKeepalive,        // keepalive_time_max
  kProtocol,         // a connection broke HTTP/2's rules
  kFlood,            // answers to pings and settings that are not taken
  kPings,            // client_ping_pause_min
  kResets,           // resets_per_second_max
  kHeadersTime,      // headers_time_max
  kHeaderBytes,      // header_bytes_max, header_bytes_hard_max and header_resets_per_second_max
  kBadRequest,       // a call that is not gRPC's, or whose message is not
  kUnknownPath,      // a call of a method that is not there
  kCalls,            // calls_max
  kMessageBytes,     // request_bytes_max of the method
  kBytes,            // bytes_max
  kWaitingBytes,     // waiting_bytes_per_connection_max
  kSlowBody,         // body_pause_max and awaited_pause_max
  kSlowReader,       // send_pause_max, message_pause_max and awaited_pause_max
  kDeadline,         // the call's own
  kCount
};
// "connections", "peer_connections": for metrics.
std::string_view NameOf(Refusal reason);

struct ServerFacts {
  int64_t connections = 0;   // now
  int64_t calls = 0;         // now
  int64_t bytes = 0;         // now: of messages that are not with their handlers
  int64_t unsent_bytes = 0;  // now: of what sockets did not take
  int64_t accepted = 0;      // since the start: connections
  int64_t begun = 0;         // since the start: calls
  std::array<int64_t, static_cast<size_t>(Refusal::kCount)> refused{};  // since the start
};

}  // namespace sonde::rpc
