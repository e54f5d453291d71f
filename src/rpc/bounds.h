// The bounds of a server, the reasons by which it counts refusals, and the figures of what is under way.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tls/context.h"
#include "tls/handshake_rates.h"

namespace sonde::rpc {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;      // 0: any free port
  size_t loops = 0;  // threads; 0: as many as there are processors, at least two

  // A connection over this number is accepted and closed at once.
  size_t connections_max = 10'000;
  size_t connections_per_peer_max = 5'000;  // connections from one address
  // Calls that a connection may have under way.  Further calls wait at the client.
  uint32_t calls_per_connection_max = 20'000;
  // Calls that all connections may have under way, with those that were reset while their handlers still
  // work.
  int64_t calls_max = 100'000;
  // Bytes of messages that have come in, whole or in part, and are not with their handlers yet.  A single
  // message may be longer.
  int64_t bytes_max = int64_t{512} << 20;
  // Bytes of one connection, out of bytes_max, that may wait for Admit or ReadNext.
  int64_t waiting_bytes_per_connection_max = int64_t{4} << 20;

  // Bytes of a block of headers (a call's, or the trailers behind its messages), as HTTP/2 counts them.
  // Beyond header_bytes_max the call ends with RESOURCE_EXHAUSTED.  Beyond header_bytes_hard_max the call is
  // reset, and the rest of the block is not looked at.
  size_t header_bytes_max = 8 << 10;
  size_t header_bytes_hard_max = 16 << 10;
  // Blocks of a connection beyond header_bytes_hard_max: the burst, and the rate a second.
  int64_t header_resets_at_once_max = 50;
  int64_t header_resets_per_second_max = 10;
  // Time of a block of headers, from its first frame to its last.
  std::chrono::milliseconds headers_time_max{5'000};

  // The certificate of a connection that begins now; it must not wait, and any thread calls it.  Empty: no TLS is spoken.
  std::function<std::shared_ptr<const tls::Context>()> tls;
  // Connections that may be in TLS's handshake at once, and the time of a handshake.
  int64_t tls_handshakes_max = 4'000;
  std::chrono::milliseconds tls_handshake_time_max{10'000};
  // Handshakes that an address may begin: the burst, and the rate a second.
  int64_t tls_handshakes_of_peer_at_once_max = tls::kHandshakesAtOnceMax;
  int64_t tls_handshakes_of_peer_per_second_max = tls::kHandshakesPerSecondMax;
  // Time in which a connection must prove to be a client's.
  std::chrono::milliseconds handshake_time_max{20'000};
  // A connection from which nothing came for keepalive_pause is asked whether it is there.  It has
  // keepalive_time_max to answer.
  std::chrono::milliseconds keepalive_pause{60'000};
  std::chrono::milliseconds keepalive_time_max{20'000};
  // A connection without calls is asked to go after this time.
  std::chrono::milliseconds idle_time_max{std::chrono::hours(1)};
  // Least time between two pings of a client with nothing sent to it in between.  Two pings may come earlier.
  std::chrono::milliseconds client_ping_pause_min{5'000};
  // A message that has begun must bring bytes within this time, and kBodyBytesPerSecondMin on the average.
  std::chrono::milliseconds body_pause_max{30'000};
  // After this time a message for whose room others wait must move at kAwaitedBytesPerSecondMin on the
  // average.  It may be a request's or an answer's.
  std::chrono::milliseconds awaited_pause_max{10'000};
  // A client that takes nothing of what was sent to it for this long is gone.
  std::chrono::milliseconds send_pause_max{120'000};
  // Bytes to be sent, of all connections, that sockets did not take.  Beyond it, a connection that waits
  // holds one frame instead of eight, and kUnsentPauseMax takes the place of send_pause_max if it is shorter.
  int64_t unsent_bytes_max = int64_t{64} << 20;
  // A call is cancelled if the client takes nothing of its message for this long.
  std::chrono::milliseconds message_pause_max{std::chrono::minutes(10)};
  // Calls that a client may reset before they are answered: the burst, and the rate a second.
  int64_t resets_at_once_max = 10'000;
  int64_t resets_per_second_max = 1'000;

  // Makes the google.rpc.Status that goes with the server's own UNAVAILABLE and tells clients when to come
  // back.  Empty: there is none.
  std::function<std::string()> busy_details;
};

// The bound, or the rule, by which a call or connection was refused.
enum class Refusal : uint8_t {
  kConnections,      // connections_max
  kPeerConnections,  // connections_per_peer_max
  kNoFiles,          // no descriptor was left for a connection
  kHandshake,        // handshake_time_max, or it does not speak HTTP/2
  kTlsHandshake,     // TLS's handshake failed, or took tls_handshake_time_max
  kTlsHandshakes,    // tls_handshakes_max
  kTlsRate,          // tls_handshakes_of_peer_per_second_max
  kKeepalive,        // keepalive_time_max
  kProtocol,         // a connection broke HTTP/2's rules
  kFlood,            // too many answers to pings and settings that the client does not take
  kPings,            // client_ping_pause_min
  kResets,           // resets_per_second_max
  kHeadersTime,      // headers_time_max
  kHeaderBytes,      // header_bytes_max, header_bytes_hard_max and header_resets_per_second_max
  kBadRequest,       // a call that is not gRPC's, or whose message is not gRPC's
  kUnknownPath,      // a call of a method that the server does not have
  kCalls,            // calls_max
  kMessageBytes,     // request_bytes_max of the method
  kBytes,            // bytes_max
  kWaitingBytes,     // waiting_bytes_per_connection_max
  kSlowBody,         // body_pause_max and awaited_pause_max
  kSlowReader,       // send_pause_max, message_pause_max and awaited_pause_max
  kDeadline,         // the call's own deadline
  kCount
};
// Returns the reason's name for metrics: "connections", "peer_connections".
std::string_view NameOf(Refusal reason);

// The server's figures: some of this moment ("now"), some since its start.
struct ServerFacts {
  int64_t connections = 0;     // now
  int64_t tls_handshakes = 0;  // now: connections that are in TLS's handshake
  int64_t calls = 0;           // now
  int64_t bytes = 0;           // now: of messages that are not with their handlers yet
  int64_t unsent_bytes = 0;    // now: not taken by sockets
  int64_t accepted = 0;        // since the start: connections
  int64_t begun = 0;           // since the start: calls
  std::array<int64_t, static_cast<size_t>(Refusal::kCount)> refused{};  // since the start
};

}  // namespace sonde::rpc
