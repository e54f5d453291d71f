// What the files that make and read messages share.  Only for them: it includes protobuf.
#pragma once

#include <hbase/wire/messages.pb.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace sonde::hbase {

inline absl::Status BadMessage(std::string_view what) {
  return absl::DataLossError("HBase sent a message that is wrong: " + std::string(what));
}

template <typename Message>
bool Parse(std::string_view bytes, Message* message) {
  return bytes.size() <= INT32_MAX && message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

inline void SetRegion(pb::RegionSpecifier* region, std::string_view name) {
  constexpr int kByName = 1;
  region->set_type(kByName);
  region->set_value(std::string(name));
}

}  // namespace sonde::hbase
