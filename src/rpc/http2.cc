#include "rpc/http2.h"

#include <array>
#include <string>

namespace sonde::rpc {
namespace {

// Of a block of headers, besides the first frame: 9 frames of 16 KiB.
constexpr size_t kContinuationsMax = 8;
// Answers to pings and settings that wait to be sent.
constexpr size_t kAnswersMax = 1'000;
// The server counts resets itself: Node's client resets each call when it has its answer, and nghttp2 counts
// these, too.
constexpr uint64_t kAnyNumber = uint64_t{1} << 40;

struct EndOption {
  void operator()(nghttp2_option* option) const { nghttp2_option_del(option); }
};

std::unique_ptr<nghttp2_option, EndOption> NewOption() {
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);
  nghttp2_option_set_max_continuations(option, kContinuationsMax);
  nghttp2_option_set_max_outbound_ack(option, kAnswersMax);
  nghttp2_option_set_stream_reset_rate_limit(option, kAnyNumber, kAnyNumber);
  return std::unique_ptr<nghttp2_option, EndOption>(option);
}

}  // namespace

Http2Session NewServerSession(const ServerOptions& options, const nghttp2_session_callbacks* callbacks,
                              void* user_data) {
  static const std::unique_ptr<nghttp2_option, EndOption> option = NewOption();
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new2(&session, callbacks, user_data, option.get());
  const std::array<nghttp2_settings_entry, 4> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options.calls_per_connection_max},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(options.header_bytes_max)},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
  }};
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kConnectionWindowBytes);
  return Http2Session(session);
}

void AddAnswerBegin(HeaderList* headers) {
  headers->AddStatic(":status", "200");
  headers->AddStatic("content-type", "application/grpc");
}

void AddStatus(const CallStatus& status, std::string* message, std::string* details, HeaderList* headers) {
  constexpr std::array<std::string_view, 17> kCodes = {"0", "1",  "2",  "3",  "4",  "5",  "6",  "7", "8",
                                                       "9", "10", "11", "12", "13", "14", "15", "16"};
  const auto code = static_cast<size_t>(status.code);
  headers->AddStatic("grpc-status", kCodes[code < kCodes.size() ? code : 2]);
  if (!status.message.empty()) {
    *message = PercentEncoded(status.message);
    headers->Add("grpc-message", *message);
  }
  if (!status.details.empty()) {
    *details = EncodeBinary(status.details);
    headers->Add("grpc-status-details-bin", *details);
  }
}

}  // namespace sonde::rpc
