#include "hbase/wire/frames.h"

#include <hbase/wire/messages.pb.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/varint.h"

namespace sonde::hbase {
namespace {

constexpr size_t kFrameLengthBytes = 4;
constexpr size_t kIdleBytesMax = size_t{1} << 20;  // that a connection keeps for answers to come
// Of HBase, whose RPC is spoken as its own clients of this version do.
constexpr char kSpokenVersion[] = "2.6.4";
constexpr uint32_t kSpokenMajor = 2;
constexpr uint32_t kSpokenMinor = 6;
constexpr char kVersion = 0;
constexpr char kSimpleAuthentication = 0x50;
constexpr char kCellCodec[] = "org.apache.hadoop.hbase.codec.KeyValueCodec";

absl::Status NoAnswer(std::string_view why) {
  return absl::DataLossError("HBase sent bytes that are no answer: " + std::string(why));
}

}  // namespace

std::string Opening(std::string_view service, std::string_view user) {
  pb::ConnectionHeader header;
  header.mutable_user_info()->set_effective_user(std::string(user));
  header.set_service_name(std::string(service));
  header.set_cell_block_codec_class(kCellCodec);
  // Clients before 1.3 get cells inside of messages, and exceptions of other classes.
  pb::VersionInfo* const version = header.mutable_version_info();
  version->set_version(kSpokenVersion);
  version->set_url("");
  version->set_revision("sonde");
  version->set_user("");
  version->set_date("");
  version->set_src_checksum("");
  version->set_version_major(kSpokenMajor);
  version->set_version_minor(kSpokenMinor);
  std::string opening = "HBas";
  opening.push_back(kVersion);
  opening.push_back(kSimpleAuthentication);
  PutFixed32(&opening, static_cast<uint32_t>(header.ByteSizeLong()));
  header.AppendToString(&opening);
  return opening;
}

std::string CallFrame(uint32_t call_id, std::string_view method, std::string_view parameter,
                      std::string_view cells, absl::Duration timeout) {
  pb::RequestHeader header;
  header.set_call_id(call_id);
  header.set_method_name(std::string(method));
  header.set_request_param(true);
  if (!cells.empty()) header.mutable_cell_block_meta()->set_length(static_cast<uint32_t>(cells.size()));
  const int64_t timeout_ms = std::clamp<int64_t>(absl::ToInt64Milliseconds(timeout), 1, INT32_MAX);
  header.set_timeout(static_cast<uint32_t>(timeout_ms));

  std::string head;
  PutBytes(&head, header.SerializeAsString());
  PutVarint(&head, parameter.size());
  const size_t frame_bytes = head.size() + parameter.size() + cells.size();
  CHECK(frame_bytes <= INT32_MAX);
  std::string frame;
  frame.reserve(kFrameLengthBytes + frame_bytes);
  PutFixed32(&frame, static_cast<uint32_t>(frame_bytes));
  frame.append(head);
  frame.append(parameter);
  frame.append(cells);
  return frame;
}

absl::StatusOr<Answer> ParseAnswer(std::string frame) {
  Answer answer;
  answer.frame_ = std::move(frame);
  std::string_view rest = answer.frame_;
  const auto at = [&] { return answer.frame_.size() - rest.size(); };
  std::string_view header_bytes;
  pb::ResponseHeader header;
  if (!GetBytes(&rest, &header_bytes) ||
      !header.ParseFromArray(header_bytes.data(), static_cast<int>(header_bytes.size()))) {
    return NoAnswer("the header does not parse");
  }
  answer.call_id_ = header.call_id();
  answer.parameter_at_ = answer.cells_at_ = answer.frame_.size();
  if (header.has_exception()) {
    answer.failure_ =
        FailureOfException(header.exception().exception_class_name(), header.exception().stack_trace());
    return answer;
  }
  std::string_view parameter;
  if (!GetBytes(&rest, &parameter)) return NoAnswer("the message ends too early");
  answer.parameter_at_ = at() - parameter.size();
  answer.parameter_bytes_ = parameter.size();
  answer.cells_at_ = at();
  if (header.cell_block_meta().length() != rest.size()) return NoAnswer("the cell block has another length");
  return answer;
}

absl::StatusOr<std::optional<std::string>> FrameCutter::Next() {
  std::string_view rest = std::string_view(bytes_).substr(taken_);
  uint32_t frame_bytes = 0;
  if (!GetFixed32(&rest, &frame_bytes)) return std::nullopt;
  if (frame_bytes > kAnswerBytesMax) {
    return absl::DataLossError("HBase sent an answer of " + std::to_string(frame_bytes) + " bytes; at most " +
                               std::to_string(kAnswerBytesMax) + " are taken");
  }
  if (rest.size() < frame_bytes) return std::nullopt;
  std::string frame(rest.substr(0, frame_bytes));
  taken_ += kFrameLengthBytes + frame_bytes;
  if (taken_ == bytes_.size()) {  // as after most answers
    bytes_.clear();
    taken_ = 0;
    if (bytes_.capacity() > kIdleBytesMax) bytes_.shrink_to_fit();
  } else if (taken_ > kIdleBytesMax) {
    bytes_.erase(0, taken_);
    taken_ = 0;
  }
  return frame;
}

}  // namespace sonde::hbase
