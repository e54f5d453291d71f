// google.bigtable.admin.v2.BigtableTableAdmin.  What is not overridden answers UNIMPLEMENTED.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h>

#include "table/change_streams.h"
#include "table/tables.h"
#include "wire/calls.h"
#include "wire/operations.h"

namespace sonde {

class TableAdminService final : public google::bigtable::admin::v2::BigtableTableAdmin::CallbackService {
 public:
  // Nothing is owned.
  TableAdminService(Tables* tables, const ChangeStreams* streams, Operations* operations,
                    const CallResources& resources)
      : tables_(tables), streams_(streams), operations_(operations), resources_(resources) {}

  using Context = grpc::CallbackServerContext;
  using Table = google::bigtable::admin::v2::Table;

  grpc::ServerUnaryReactor* CreateTable(Context* context,
                                        const google::bigtable::admin::v2::CreateTableRequest* request,
                                        Table* response) override;
  grpc::ServerUnaryReactor* ListTables(Context* context,
                                       const google::bigtable::admin::v2::ListTablesRequest* request,
                                       google::bigtable::admin::v2::ListTablesResponse* response) override;
  grpc::ServerUnaryReactor* GetTable(Context* context,
                                     const google::bigtable::admin::v2::GetTableRequest* request,
                                     Table* response) override;
  grpc::ServerUnaryReactor* UpdateTable(Context* context,
                                        const google::bigtable::admin::v2::UpdateTableRequest* request,
                                        google::longrunning::Operation* response) override;
  grpc::ServerUnaryReactor* DeleteTable(Context* context,
                                        const google::bigtable::admin::v2::DeleteTableRequest* request,
                                        google::protobuf::Empty* response) override;
  grpc::ServerUnaryReactor* ModifyColumnFamilies(
      Context* context, const google::bigtable::admin::v2::ModifyColumnFamiliesRequest* request,
      Table* response) override;
  grpc::ServerUnaryReactor* DropRowRange(Context* context,
                                         const google::bigtable::admin::v2::DropRowRangeRequest* request,
                                         google::protobuf::Empty* response) override;
  grpc::ServerUnaryReactor* CreateAuthorizedView(
      Context* context, const google::bigtable::admin::v2::CreateAuthorizedViewRequest* request,
      google::longrunning::Operation* response) override;
  grpc::ServerUnaryReactor* UpdateAuthorizedView(
      Context* context, const google::bigtable::admin::v2::UpdateAuthorizedViewRequest* request,
      google::longrunning::Operation* response) override;
  grpc::ServerUnaryReactor* ListAuthorizedViews(
      Context* context, const google::bigtable::admin::v2::ListAuthorizedViewsRequest* request,
      google::bigtable::admin::v2::ListAuthorizedViewsResponse* response) override;
  grpc::ServerUnaryReactor* GetAuthorizedView(
      Context* context, const google::bigtable::admin::v2::GetAuthorizedViewRequest* request,
      google::bigtable::admin::v2::AuthorizedView* response) override;
  grpc::ServerUnaryReactor* DeleteAuthorizedView(
      Context* context, const google::bigtable::admin::v2::DeleteAuthorizedViewRequest* request,
      google::protobuf::Empty* response) override;
  grpc::ServerUnaryReactor* GenerateConsistencyToken(
      Context* context, const google::bigtable::admin::v2::GenerateConsistencyTokenRequest* request,
      google::bigtable::admin::v2::GenerateConsistencyTokenResponse* response) override;
  grpc::ServerUnaryReactor* CheckConsistency(
      Context* context, const google::bigtable::admin::v2::CheckConsistencyRequest* request,
      google::bigtable::admin::v2::CheckConsistencyResponse* response) override;

 private:
  Tables* const tables_;
  const ChangeStreams* const streams_;
  Operations* const operations_;
  const CallResources resources_;
};

}  // namespace sonde
