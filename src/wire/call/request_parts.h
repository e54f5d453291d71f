// How much a serialized message becomes when it is parsed.  Two bytes on the wire can be a message or a
// string of a hundred in memory; so what is large is counted before it is parsed.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <cstddef>

namespace sonde {

// A part is whatever takes memory beyond its own bytes: a message in the message, an element of a repeated
// field of strings or bytes, a field that `type` does not have.
struct RequestParts {
  size_t count = 0;
  bool is_deep = false;  // it nests deeper than protocol buffers are parsed
};

// Ends where more than `count_max` were counted, where it is deep, and where it is no message of `type`,
// which parsing will find, too.
RequestParts CountParts(const google::protobuf::Descriptor& type,
                        google::protobuf::io::ZeroCopyInputStream* bytes, size_t count_max);

}  // namespace sonde
