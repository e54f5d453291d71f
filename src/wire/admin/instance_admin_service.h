// The service google.bigtable.admin.v2.BigtableInstanceAdmin.
#pragma once

#include <google/bigtable/admin/v2/bigtable_instance_admin.pb.h>

#include "catalog/view_definitions.h"
#include "keyviz/key_visualizer.h"
#include "sql/bind/binder.h"
#include "table/tables.h"
#include "wire/call/calls.h"
#include "wire/operations/operation_runner.h"
#include "wire/operations/operation_waits.h"
#include "wire/operations/operations.h"
#include "wire/resources/instance_store.h"

namespace sonde {

// What the service works with.  Nothing is owned.
struct InstanceAdminParts {
  Tables* tables;
  InstanceStore* instances;
  Operations* operations;
  OperationRunner* runner;  // of SqlViewOperationKinds
  OperationWaits* waits;
  KeyVisualizer* key_visualizer = nullptr;  // null: nobody watches, and no tablet is hot
  sql::Dialect dialect = sql::Dialect::kSonde;
  ViewDefinitions* view_definitions = nullptr;  // null: materialized views are not built
};

void AddInstanceAdminService(const InstanceAdminParts& parts, const CallResources& resources,
                             rpc::Router* router);

// Answers ListHotTablets.  A tablet's keys are given as text, with bytes that are no UTF-8 as \xNN; its end
// key is the first key behind it.
// INVALID_ARGUMENT: the parent is no cluster's name;
//                  the time range ends before it starts, or is longer than 48 hours;
//                  the page token is not ours.
// NOT_FOUND:        the cluster is neither one of the instance's nor `-`.
absl::Status ListHotTablets(Tables* tables, const InstanceStore& instances, KeyVisualizer* key_visualizer,
                            const google::bigtable::admin::v2::ListHotTabletsRequest& request,
                            google::bigtable::admin::v2::ListHotTabletsResponse* response);

}  // namespace sonde
