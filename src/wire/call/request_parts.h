// How much memory a serialized message takes when it is parsed.  Two bytes on the wire can become a message
// or a string of a hundred bytes in memory, so the parts of a large message are counted before it is parsed.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <cstddef>

namespace sonde {

// A part takes memory beyond its own bytes: a message in the message, an element of a repeated field of
// strings or bytes, a field that `type` does not have.
struct RequestParts {
  size_t count = 0;
  bool is_deep = false;  // it nests deeper than protocol buffers parse
};

// Counting ends early at more than `count_max` parts, at too deep a message, and where the bytes are no
// message of `type` (parsing finds that, too).
RequestParts CountParts(const google::protobuf::Descriptor& type,
                        google::protobuf::io::ZeroCopyInputStream* bytes, size_t count_max);

}  // namespace sonde
