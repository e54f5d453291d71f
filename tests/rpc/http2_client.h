// A client of HTTP/2 for tests, which does what it is told and nothing by itself: nghttp2's client side on a
// socket.  Not for several threads.
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::rpc {

inline std::string Framed(std::string_view message, char flags = 0) {
  const size_t bytes = message.size();
  std::string framed{flags, static_cast<char>(bytes >> 24), static_cast<char>(bytes >> 16),
                     static_cast<char>(bytes >> 8), static_cast<char>(bytes)};
  return framed.append(message);
}

class Http2Client {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;
  struct Options {
    int32_t window_bytes = 65'535;
    bool takes_data = true;     // opens windows again for what it has got
    bool says_settings = true;  // otherwise it says only what SendRaw says
  };
  struct Answer {
    std::map<std::string, std::string> headers;   // of the first block
    std::map<std::string, std::string> trailers;  // of the second
    std::string data;
    bool is_closed = false;
    uint32_t error = 0;
    int blocks = 0;

    std::string Of(const std::string& name) const {
      const auto& of = blocks > 1 ? trailers : headers;
      const auto found = of.find(name);
      return found == of.end() ? "" : found->second;
    }
    std::string status() const { return Of("grpc-status"); }
  };
  static constexpr std::chrono::milliseconds kPatience{10'000};

  explicit Http2Client(int port) : Http2Client(port, Options()) {}
  Http2Client(int port, Options options) : options_(options) {
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    const int yes = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_peer_max_concurrent_streams(option, 1'000'000);
    nghttp2_session_client_new2(&session_, Callbacks(), this, option);
    nghttp2_option_del(option);
    if (!options.says_settings) return;
    const nghttp2_settings_entry setting = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                            static_cast<uint32_t>(options.window_bytes)};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &setting, 1);
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, 1 << 30);
    Flush();
  }
  ~Http2Client() {
    nghttp2_session_del(session_);
    if (socket_ >= 0) close(socket_);
  }
  Http2Client(const Http2Client&) = delete;

  bool is_connected() const { return is_connected_; }
  bool is_ended() const { return is_ended_; }  // by the server
  int socket_descriptor() const { return socket_; }
  nghttp2_session* session() const { return session_; }
  int64_t goaway() const { return goaway_; }  // error code; -1: none
  const std::string& goaway_text() const { return goaway_text_; }
  int pings() const { return pings_; }

  // A call whose body begins with `body`; without `ends`, more may follow.  An empty value leaves a usual
  // header out.
  int32_t Begin(const std::string& path, std::string body, bool ends = true, const Headers& more = {}) {
    Headers headers = {{":method", "POST"}, {":scheme", "http"},
                       {":path", path},     {":authority", "localhost"},
                       {"te", "trailers"},  {"content-type", "application/grpc"}};
    for (const auto& header : more) {
      std::erase_if(headers, [&](const auto& usual) { return usual.first == header.first; });
    }
    for (const auto& header : more) {
      if (!header.second.empty()) {
        headers.insert(header.first.starts_with(':') ? headers.begin() : headers.end(), header);
      }
    }
    std::vector<nghttp2_nv> list;
    for (auto& [name, value] : headers) {
      list.push_back({reinterpret_cast<uint8_t*>(name.data()), reinterpret_cast<uint8_t*>(value.data()),
                      name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    nghttp2_data_provider provider;
    provider.source.ptr = nullptr;
    provider.read_callback = &ReadBody;
    const bool has_body = !body.empty() || !ends;
    const int32_t stream = nghttp2_submit_request(session_, nullptr, list.data(), list.size(),
                                                  has_body ? &provider : nullptr, nullptr);
    bodies_[stream] = {std::move(body), ends};
    answers_[stream];
    if (flushes) Flush();
    return stream;
  }
  void Continue(int32_t stream, std::string_view body, bool ends) {
    bodies_[stream].bytes.append(body);
    bodies_[stream].ends = ends;
    nghttp2_session_resume_data(session_, stream);
    Flush();
  }
  void Reset(int32_t stream, uint32_t error = NGHTTP2_CANCEL) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, error);
    if (flushes) Flush();
  }
  void Ping() {
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    Flush();
  }
  bool flushes = true;  // Begin and Reset
  void Flush() {
    const uint8_t* bytes = nullptr;
    std::string out;
    for (ssize_t count = 0; (count = nghttp2_session_mem_send(session_, &bytes)) > 0;) {
      out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(count));
    }
    SendRaw(out);
  }
  // False: the server takes no more.
  bool SendRaw(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // Takes what comes until `is_done`, or for `patience`.
  bool WaitUntil(const std::function<bool()>& is_done, std::chrono::milliseconds patience = kPatience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!is_done()) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      if (left.count() <= 0) return false;
      Turn(std::min(left, std::chrono::milliseconds(20)));
    }
    return true;
  }
  void Turn(std::chrono::milliseconds patience) {
    pollfd wanted{socket_, POLLIN, 0};
    if (is_ended_ || poll(&wanted, 1, static_cast<int>(patience.count())) <= 0) {
      if (is_ended_) usleep(1'000);
      return;
    }
    char buffer[65'536];
    const ssize_t got = recv(socket_, buffer, sizeof(buffer), 0);
    if (got <= 0) {
      is_ended_ = true;
      return;
    }
    if (nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(buffer),
                                 static_cast<size_t>(got)) < 0) {
      is_ended_ = true;
    }
    if (options_.says_settings) Flush();
  }
  const Answer& answer(int32_t stream) { return answers_[stream]; }
  // The answer when its stream is closed; as far as it has come when it is not for too long.
  const Answer& Wait(int32_t stream, std::chrono::milliseconds patience = kPatience) {
    WaitUntil([&] { return answers_[stream].is_closed || is_ended_; }, patience);
    return answers_[stream];
  }
  const Answer& Do(const std::string& path, std::string_view message, const Headers& more = {}) {
    return Wait(Begin(path, Framed(message), true, more));
  }
  bool WaitForEnd(std::chrono::milliseconds patience = kPatience) {
    return WaitUntil([&] { return is_ended_; }, patience);
  }
  // So many bytes of it may be sent now.
  int32_t WindowOf(int32_t stream) const {
    return nghttp2_session_get_stream_remote_window_size(session_, stream);
  }
  // Of a body that has not gone.
  size_t UnsentOf(int32_t stream) { return bodies_[stream].bytes.size() - bodies_[stream].sent; }
  // The client takes what it has got of a stream.
  void Take(int32_t stream, size_t bytes) {
    nghttp2_session_consume_stream(session_, stream, bytes);
    Flush();
  }

 private:
  struct Body {
    std::string bytes;
    bool ends = false;
    size_t sent = 0;
  };

  static Http2Client* Self(void* user_data) { return static_cast<Http2Client*>(user_data); }
  static ssize_t ReadBody(nghttp2_session*, int32_t stream, uint8_t* buffer, size_t bytes_max,
                          uint32_t* flags, nghttp2_data_source*, void* self) {
    Body& body = Self(self)->bodies_[stream];
    const size_t bytes = body.bytes.copy(reinterpret_cast<char*>(buffer), bytes_max, body.sent);
    body.sent += bytes;
    if (body.sent == body.bytes.size() && body.ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return bytes == 0 && !body.ends ? static_cast<ssize_t>(NGHTTP2_ERR_DEFERRED)
                                    : static_cast<ssize_t>(bytes);
  }
  static const nghttp2_session_callbacks* Callbacks() {
    static const nghttp2_session_callbacks* const callbacks = [] {
      nghttp2_session_callbacks* made = nullptr;
      nghttp2_session_callbacks_new(&made);
      nghttp2_session_callbacks_set_on_header_callback(
          made, [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_bytes,
                   const uint8_t* value, size_t value_bytes, uint8_t, void* self) {
            Answer& answer = Self(self)->answers_[frame->hd.stream_id];
            (answer.blocks == 0
                 ? answer.headers
                 : answer.trailers)[std::string(reinterpret_cast<const char*>(name), name_bytes)] =
                std::string(reinterpret_cast<const char*>(value), value_bytes);
            return 0;
          });
      nghttp2_session_callbacks_set_on_frame_recv_callback(
          made, [](nghttp2_session*, const nghttp2_frame* frame, void* self) {
            if (frame->hd.type == NGHTTP2_HEADERS) ++Self(self)->answers_[frame->hd.stream_id].blocks;
            if (frame->hd.type == NGHTTP2_PING) ++Self(self)->pings_;
            if (frame->hd.type == NGHTTP2_GOAWAY) {
              Self(self)->goaway_ = frame->goaway.error_code;
              Self(self)->goaway_text_.assign(reinterpret_cast<const char*>(frame->goaway.opaque_data),
                                              frame->goaway.opaque_data_len);
            }
            return 0;
          });
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
          made, [](nghttp2_session* session, uint8_t, int32_t stream, const uint8_t* bytes, size_t count,
                   void* self) {
            Self(self)->answers_[stream].data.append(reinterpret_cast<const char*>(bytes), count);
            nghttp2_session_consume_connection(session, count);
            if (Self(self)->options_.takes_data) nghttp2_session_consume_stream(session, stream, count);
            return 0;
          });
      nghttp2_session_callbacks_set_on_stream_close_callback(
          made, [](nghttp2_session*, int32_t stream, uint32_t error, void* self) {
            Self(self)->answers_[stream].is_closed = true;
            Self(self)->answers_[stream].error = error;
            return 0;
          });
      return made;
    }();
    return callbacks;
  }

  const Options options_;
  int socket_ = -1;
  bool is_connected_ = false;
  bool is_ended_ = false;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, Body> bodies_;
  std::map<int32_t, Answer> answers_;
  int64_t goaway_ = -1;
  std::string goaway_text_;
  int pings_ = 0;
};

}  // namespace sonde::rpc
