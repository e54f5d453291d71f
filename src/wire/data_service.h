// google.bigtable.v2.Bigtable.
#pragma once

#include "table/tables.h"
#include "wire/calls.h"
#include "wire/change_streams.h"

namespace sonde {

// Nothing is owned.
void AddDataService(Tables* tables, ChangeStreamCalls* change_streams, const CallResources& resources,
                    rpc::Router* router);

}  // namespace sonde
