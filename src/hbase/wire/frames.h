// Calls and answers as bytes of a connection to one of HBase's servers.
//
// A connection begins with an opening, which is not answered.  Then calls go one way and answers the other, in any order:
//   4 bytes big-endian: length of the rest; varint, header; varint, parameter; cell block (cell_block.h)
//
// Pure: no state but what is not a whole frame yet, no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "hbase/wire/failure.h"

namespace sonde::hbase {

// A longer answer is not taken: a value has at most 100 MiB, and a scan's answer little more than was asked for.
constexpr size_t kAnswerBytesMax = size_t{256} << 20;

// What a connection begins with, for SIMPLE authentication: the server believes who we say we are.
std::string Opening(std::string_view service, std::string_view user);

// A call, whole.  `parameter` is a serialized message.  The server may drop the call when `timeout` has passed.
std::string CallFrame(uint32_t call_id, std::string_view method, std::string_view parameter,
                      std::string_view cells, absl::Duration timeout);

// An answer and its bytes.
class Answer {
 public:
  Answer() = default;

  uint32_t call_id() const { return call_id_; }
  // What the server could not do; nullopt: it has done it.
  const std::optional<Failure>& failure() const { return failure_; }
  std::string_view parameter() const {
    return std::string_view(frame_).substr(parameter_at_, parameter_bytes_);
  }
  std::string_view cells() const { return std::string_view(frame_).substr(cells_at_); }

 private:
  friend absl::StatusOr<Answer> ParseAnswer(std::string frame);

  std::string frame_;  // without its length
  uint32_t call_id_ = 0;
  std::optional<Failure> failure_;
  size_t parameter_at_ = 0;
  size_t parameter_bytes_ = 0;
  size_t cells_at_ = 0;
};

// DATA_LOSS: the bytes are no answer.
absl::StatusOr<Answer> ParseAnswer(std::string frame);

// Cuts what comes into frames.  It holds no more than came.
class FrameCutter {
 public:
  void Add(std::string_view bytes) { bytes_.append(bytes); }
  // The next frame, without its length; nullopt: it is not whole yet.  DATA_LOSS: a frame of this length is not taken.
  absl::StatusOr<std::optional<std::string>> Next();

 private:
  std::string bytes_;
  size_t taken_ = 0;  // from the front of bytes_
};

}  // namespace sonde::hbase
