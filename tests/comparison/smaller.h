// Every message that is one step smaller than a message: a field cleared, an element of a list left out, a
// filter replaced by one of those in it.
#pragma once

#include <google/protobuf/message.h>

#include <memory>
#include <vector>

namespace sonde {

std::vector<std::unique_ptr<google::protobuf::Message>> SmallerThan(const google::protobuf::Message& message);

}  // namespace sonde
