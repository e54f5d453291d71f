// The service google.bigtable.v2.Bigtable.
#pragma once

#include "table/tables.h"
#include "wire/call/calls.h"
#include "wire/data/change_streams.h"

namespace sonde {

// Nothing is owned.
void AddDataService(Tables* tables, ChangeStreamCalls* change_streams, const CallResources& resources,
                    rpc::Router* router);

}  // namespace sonde
