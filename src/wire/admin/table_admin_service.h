// The service google.bigtable.admin.v2.BigtableTableAdmin.
#pragma once

#include "backup/store/backups.h"
#include "table/change_streams.h"
#include "table/tables.h"
#include "wire/call/calls.h"
#include "wire/operations/operation_runner.h"
#include "wire/operations/operations.h"
#include "wire/resources/instance_store.h"

namespace sonde {

// Nothing is owned.
void AddTableAdminService(Tables* tables, InstanceStore* instances, Backups* backups,
                          const ChangeStreams* streams, Operations* operations, OperationRunner* runner,
                          const CallResources& resources, rpc::Router* router);

}  // namespace sonde
