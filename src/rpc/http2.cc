#include "rpc/http2.h"

#include <array>
#include <string>

#include "absl/container/inlined_vector.h"

namespace sonde::rpc {
namespace {

// Frames of a block of headers beside the first: 9 frames of 16 KiB in all.
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

// Headers to be submitted.  nghttp2 copies names and values then, but for those that are there for good.
class HeaderList {
 public:
  // For good: "content-type".
  void AddStatic(std::string_view name, std::string_view value) {
    Add(name, value, NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE);
  }
  // `metadata` must be there until the list is submitted.
  void AddAll(const Metadata& metadata) {
    metadata.ForEach(
        [this](std::string_view name, std::string_view value) { Add(name, value, NGHTTP2_NV_FLAG_NONE); });
  }
  void AddAnswerBegin() {
    AddStatic(":status", "200");
    AddStatic("content-type", "application/grpc");
  }
  void AddStatus(const CallStatus& status) {
    constexpr std::array<std::string_view, 17> kCodes = {"0", "1",  "2",  "3",  "4",  "5",  "6",  "7", "8",
                                                         "9", "10", "11", "12", "13", "14", "15", "16"};
    constexpr size_t kUnknown = 2;
    const auto code = static_cast<size_t>(status.code);
    AddStatic("grpc-status", kCodes[code < kCodes.size() ? code : kUnknown]);
    if (!status.message.empty()) {
      message_ = PercentEncoded(status.message);
      Add("grpc-message", message_, NGHTTP2_NV_FLAG_NO_COPY_NAME);
    }
    if (!status.details.empty()) {
      details_ = EncodeBinary(status.details);
      Add("grpc-status-details-bin", details_, NGHTTP2_NV_FLAG_NO_COPY_NAME);
    }
  }

  const nghttp2_nv* data() const { return headers_.data(); }
  size_t size() const { return headers_.size(); }

 private:
  void Add(std::string_view name, std::string_view value, uint8_t flags) {
    headers_.push_back({reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
                        reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(),
                        value.size(), flags});
  }

  absl::InlinedVector<nghttp2_nv, 12> headers_;
  std::string message_;
  std::string details_;
};

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

void SubmitAnswerHeaders(nghttp2_session* session, int32_t stream_id, const Metadata& metadata,
                         const nghttp2_data_provider* provider) {
  HeaderList headers;
  headers.AddAnswerBegin();
  headers.AddAll(metadata);
  if (provider != nullptr) {
    nghttp2_submit_response(session, stream_id, headers.data(), headers.size(), provider);
  } else {
    nghttp2_submit_headers(session, NGHTTP2_FLAG_NONE, stream_id, nullptr, headers.data(), headers.size(),
                           nullptr);
  }
}

void SubmitAnswerTrailers(nghttp2_session* session, int32_t stream_id, const CallStatus& status,
                          const Metadata& metadata) {
  HeaderList headers;
  headers.AddStatus(status);
  headers.AddAll(metadata);
  nghttp2_submit_trailer(session, stream_id, headers.data(), headers.size());
}

void SubmitTrailersOnly(nghttp2_session* session, int32_t stream_id, const CallStatus& status,
                        const Metadata& metadata) {
  HeaderList headers;
  headers.AddAnswerBegin();
  headers.AddStatus(status);
  headers.AddAll(metadata);
  nghttp2_submit_response(session, stream_id, headers.data(), headers.size(), nullptr);
}

void SubmitHttpAnswer(nghttp2_session* session, int32_t stream_id, std::string_view http_status,
                      const CallStatus& status) {
  HeaderList headers;
  headers.AddStatic(":status", http_status);
  headers.AddStatus(status);
  nghttp2_submit_response(session, stream_id, headers.data(), headers.size(), nullptr);
}

}  // namespace sonde::rpc
