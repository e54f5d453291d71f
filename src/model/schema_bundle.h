// The protocol buffers of a table's cells (source: google.bigtable.admin.v2.SchemaBundle).
#pragma once

#include <string>

namespace sonde {

struct SchemaBundle {
  std::string name;         // projects/P/instances/I/tables/T/schemaBundles/B
  std::string descriptors;  // a serialized google.protobuf.FileDescriptorSet, as the client gave it
  std::string etag = {};    // changes with the descriptors; the catalog makes it

  bool operator==(const SchemaBundle&) const = default;
};

}  // namespace sonde
