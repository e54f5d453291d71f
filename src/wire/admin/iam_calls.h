// GetIamPolicy, SetIamPolicy and TestIamPermissions of both services of the administration.
//
// Whether the caller may is decided at the door (wire/call/door.h).  With authentication off policies are stored and not enforced,
// which the log says once.
#pragma once

#include <string_view>

#include "access/access_control.h"
#include "access/policies/policy_store.h"
#include "backup/store/backups.h"
#include "table/tables.h"
#include "wire/call/calls.h"
#include "wire/resources/instance_store.h"

namespace sonde {

// What the calls work with.  Nothing is owned.
struct IamStores {
  Tables* tables;
  const InstanceStore* instances;
  const Backups* backups;
  PolicyStore* policies;
  const AccessControl* access;  // null: authentication is off
};

// Adds the three methods to the service, for resources of its kinds: of BigtableTableAdmin tables, backups, authorized views and
// schema bundles; of BigtableInstanceAdmin instances, logical and materialized views.
void AddIamCalls(std::string_view service, const IamStores& stores, const CallResources& resources,
                 rpc::Router* router);

}  // namespace sonde
