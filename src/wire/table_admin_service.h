// google.bigtable.admin.v2.BigtableTableAdmin.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h>

#include "table/change_streams.h"
#include "table/tables.h"
#include "wire/calls.h"
#include "wire/operations.h"
#include "wire/raw_service.h"

namespace sonde {

class TableAdminService final : public RawService {
 public:
  // Nothing is owned.
  TableAdminService(Tables* tables, const ChangeStreams* streams, Operations* operations,
                    const CallResources& resources);

 private:
  template <typename Request, typename Response, typename Handle>
  void Add(Handle handle);
  void AddTables();
  void AddAuthorizedViews();
  void AddConsistency();

  Tables* const tables_;
  const ChangeStreams* const streams_;
  Operations* const operations_;
  const CallResources resources_;
};

}  // namespace sonde
