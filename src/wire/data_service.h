// google.bigtable.v2.Bigtable.
#pragma once

#include <google/bigtable/v2/bigtable.grpc.pb.h>

#include "table/tables.h"
#include "wire/calls.h"
#include "wire/change_streams.h"
#include "wire/raw_service.h"

namespace sonde {

class DataService final : public RawService {
 public:
  // Nothing is owned.
  DataService(Tables* tables, ChangeStreamCalls* change_streams, const CallResources& resources);

 private:
  Tables* const tables_;
  const CallResources resources_;
};

}  // namespace sonde
