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

// Nothing is owned.  `keeps_deleted`: the rows of a table that DeleteTable deletes are kept for UndeleteTable.
void AddTableAdminService(Tables* tables, InstanceStore* instances, Backups* backups,
                          const ChangeStreams* streams, Operations* operations, OperationRunner* runner,
                          bool keeps_deleted, const CallResources& resources, rpc::Router* router);

}  // namespace sonde
