// Makes request messages as they come from a connection.
#pragma once

#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "rpc/message_reader.h"

namespace sonde {

inline rpc::MessageBytes MessageOf(std::string_view bytes) {
  auto copy = std::make_unique<char[]>(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  return rpc::MessageBytes(std::move(copy), bytes.size());
}

}  // namespace sonde
