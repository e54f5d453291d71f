// google.bigtable.admin.v2.BigtableInstanceAdmin.
#pragma once

#include <google/bigtable/admin/v2/bigtable_instance_admin.pb.h>

#include "keyviz/key_visualizer.h"
#include "table/tables.h"
#include "wire/call/calls.h"

namespace sonde {

// Nothing is owned.  `key_visualizer`: null when nobody watches; then no tablet is hot.
void AddInstanceAdminService(Tables* tables, KeyVisualizer* key_visualizer, const CallResources& resources,
                             rpc::Router* router);

// The answer to ListHotTablets.  A tablet's keys are given as text: bytes that are no UTF-8 as \xNN; its end
// is the first key after it.  INVALID_ARGUMENT: a parent that is no cluster's name, a time range of more than
// 48 hours or that ends before it starts, a page token that is not ours; NOT_FOUND: another cluster than the
// one there is (or -).
absl::Status ListHotTablets(Tables* tables, KeyVisualizer* key_visualizer,
                            const google::bigtable::admin::v2::ListHotTabletsRequest& request,
                            google::bigtable::admin::v2::ListHotTabletsResponse* response);

}  // namespace sonde
