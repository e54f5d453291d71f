#include "rpc/message_reader.h"

#include <algorithm>
#include <cstring>

namespace sonde::rpc {

MessageReader::Step MessageReader::Next(std::string_view* bytes) {
  if (prefix_bytes_ < kPrefixBytes) {
    const size_t taken = std::min(bytes->size(), kPrefixBytes - prefix_bytes_);
    std::memcpy(prefix_.data() + prefix_bytes_, bytes->data(), taken);
    bytes->remove_prefix(taken);
    prefix_bytes_ = static_cast<uint8_t>(prefix_bytes_ + taken);
    if (prefix_bytes_ > 0 && prefix_[0] != 0) return Step::kBroken;
    if (prefix_bytes_ < kPrefixBytes) return Step::kMore;
    for (size_t i = 1; i < kPrefixBytes; ++i) length_ = length_ << 8 | static_cast<uint8_t>(prefix_[i]);
  }
  if (!has_room_) return Step::kLength;
  const size_t taken = std::min(bytes->size(), length_ - received_bytes_);
  if (taken > 0) std::memcpy(bytes_.get() + received_bytes_, bytes->data(), taken);
  bytes->remove_prefix(taken);
  received_bytes_ += taken;
  return received_bytes_ == length_ ? Step::kMessage : Step::kMore;
}

void MessageReader::MakeRoom() {
  has_room_ = true;
  bytes_ = std::make_unique_for_overwrite<char[]>(length_);
}

MessageBytes MessageReader::Take() {
  MessageBytes message(std::move(bytes_), length_);
  Drop();
  return message;
}

}  // namespace sonde::rpc
