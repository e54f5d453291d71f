#include "wire/admin/table_admin_service.h"

#include <google/protobuf/util/time_util.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/format.h"
#include "model/limits.h"
#include "model/names.h"
#include "wire/admin/authorized_views.h"
#include "wire/admin/backups.h"
#include "wire/admin/schema_bundles.h"
#include "wire/admin/schemas.h"
#include "wire/admin/update_table.h"
#include "wire/call/calls.h"
#include "wire/call/requests.h"
#include "wire/call/service_names.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;

absl::StatusOr<TableSchemaRef> FindTable(const Catalog& catalog, const std::string& name) {
  if (absl::Status status = CheckTableName(name); !status.ok()) return status;
  return catalog.Find(name);
}

absl::Status CheckView(admin::Table::View view) {
  return admin::Table::View_IsValid(view) ? absl::OkStatus() : UnknownValue("view", view);
}

// The ids of the clusters of an instance; all tables are in all of them.
absl::StatusOr<std::vector<std::string>> ClusterIds(const InstanceStore& instances,
                                                    std::string_view instance) {
  const absl::StatusOr<std::vector<InstanceStore::Cluster>> clusters = instances.ListClusters(instance);
  if (!clusters.ok()) return clusters.status();
  std::vector<std::string> ids;
  for (const InstanceStore::Cluster& cluster : *clusters) ids.emplace_back(IdOfCluster(cluster.name()));
  return ids;
}

absl::Status GetTable(const Catalog& catalog, const InstanceStore& instances,
                      const admin::GetTableRequest& request, admin::Table* response) {
  if (absl::Status status = CheckView(request.view()); !status.ok()) return status;
  const absl::StatusOr<TableSchemaRef> schema = FindTable(catalog, request.name());
  if (!schema.ok()) return schema.status();
  ToProto(**schema, request.view(), admin::Table::SCHEMA_VIEW, response);
  if (!ShowsClusters(request.view())) return absl::OkStatus();
  const absl::StatusOr<std::vector<std::string>> ids = ClusterIds(instances, InstanceOfTable(request.name()));
  if (!ids.ok()) return ids.status();
  ClustersToProto(*ids, request.view(), response);
  return absl::OkStatus();
}

absl::Status ListTables(const Catalog& catalog, const InstanceStore& instances,
                        const admin::ListTablesRequest& request, admin::ListTablesResponse* response) {
  if (absl::Status status = CheckInstanceName(request.parent()); !status.ok()) return status;
  if (absl::Status status = CheckView(request.view()); !status.ok()) return status;
  if (request.page_size() < 0) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'page_size' : must not be negative, but is {}", request.page_size()));
  }
  // A page's token is the last table id before it.
  if (!request.page_token().empty() && !CheckTableId(request.page_token()).ok()) {
    return absl::InvalidArgumentError("Error in field 'page_token' : not one that ListTables gave");
  }
  const size_t page = request.page_size() == 0 ? kListTablesPageMax
                                               : std::min<size_t>(request.page_size(), kListTablesPageMax);
  std::vector<TableSchemaRef> tables = catalog.List(request.parent(), request.page_token(), page + 1);
  if (tables.size() > page) {
    tables.pop_back();
    response->set_next_page_token(std::string(IdOfTable(tables.back()->name)));
  }
  std::vector<std::string> cluster_ids;
  if (ShowsClusters(request.view()) && !tables.empty()) {
    absl::StatusOr<std::vector<std::string>> ids = ClusterIds(instances, request.parent());
    if (!ids.ok()) return ids.status();
    cluster_ids = *std::move(ids);
  }
  for (const TableSchemaRef& table : tables) {
    ToProto(*table, request.view(), admin::Table::NAME_ONLY, response->add_tables());
    ClustersToProto(cluster_ids, request.view(), response->mutable_tables(response->tables_size() - 1));
  }
  return absl::OkStatus();
}

absl::Status UndeleteTable(Tables* tables, InstanceStore* instances, Operations* operations,
                           const admin::UndeleteTableRequest& request,
                           google::longrunning::Operation* response) {
  using google::protobuf::util::TimeUtil;
  if (absl::Status status = CheckTableName(request.name()); !status.ok()) return status;
  admin::UndeleteTableMetadata metadata;
  metadata.set_name(request.name());
  *metadata.mutable_start_time() = TimeUtil::MicrosecondsToTimestamp(tables->clock().NowMicros());
  const absl::StatusOr<TableSchemaRef> schema = tables->catalog().Undelete(request.name());
  if (!schema.ok()) return schema.status();
  if (absl::Status status = instances->EnsureInstance(InstanceOfTable(request.name())); !status.ok())
    return status;
  spdlog::info("undeleted table {}", request.name());
  *metadata.mutable_end_time() = TimeUtil::MicrosecondsToTimestamp(tables->clock().NowMicros());
  admin::Table table;
  ToProto(**schema, admin::Table::SCHEMA_VIEW, admin::Table::SCHEMA_VIEW, &table);
  return operations->Done(request.name(), metadata, table, response);
}

absl::Status DropRowRange(Tables* tables, const admin::DropRowRangeRequest& request) {
  absl::StatusOr<TableSchemaRef> schema = FindTable(tables->catalog(), request.name());
  if (!schema.ok()) return schema.status();
  switch (request.target_case()) {
    case admin::DropRowRangeRequest::kRowKeyPrefix:
      if (absl::Status status = CheckRowKey(request.row_key_prefix()); !status.ok()) return status;
      return tables->DropRowRange(**schema, RowRange::Prefix(request.row_key_prefix()));
    case admin::DropRowRangeRequest::kDeleteAllDataFromTable:
      if (!request.delete_all_data_from_table()) return absl::OkStatus();
      return tables->DropRowRange(**schema, RowRange::All());
    case admin::DropRowRangeRequest::TARGET_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("Neither row_key_prefix nor delete_all_data_from_table is set");
}

// A single server is always consistent: a token says only which table it is of.
std::string ConsistencyToken(const TableSchema& schema) { return fmt::format("sonde-table-{}", schema.id); }

absl::Status CheckConsistency(const Catalog& catalog, const admin::CheckConsistencyRequest& request,
                              admin::CheckConsistencyResponse* response) {
  absl::StatusOr<TableSchemaRef> schema = FindTable(catalog, request.name());
  if (!schema.ok()) return schema.status();
  if (request.consistency_token() != ConsistencyToken(**schema)) {
    return absl::InvalidArgumentError("Error in field 'consistency_token' : not one of this table");
  }
  response->set_consistent(true);
  return absl::OkStatus();
}

// The parts that the calls work with.  Nothing is owned.
struct AdminParts {
  Tables* tables;
  InstanceStore* instances;
  const ChangeStreams* streams;
  Operations* operations;
  bool keeps_deleted;
};

class AdminService {
 public:
  AdminService(const CallResources& resources, rpc::Router* router)
      : service_(kTableAdminService, resources.metrics, router), kind_(resources.Administration()) {}

  template <typename Request, typename Response, typename Handle>
  void Add(Handle handle) {
    service_.AddUnary<Request, Response>(kind_, std::move(handle));
  }

 private:
  Service service_;
  const CallKind kind_;
};

absl::Status CreateTable(const AdminParts& parts, const admin::CreateTableRequest& request,
                         admin::Table* response) {
  absl::StatusOr<TableSchema> parsed = ParseCreateTable(request);
  if (!parsed.ok()) return parsed.status();
  if (absl::Status status = parts.instances->CheckMayHaveTables(request.parent()); !status.ok())
    return status;
  if (parsed->infrequent_access_micros.has_value()) {
    if (absl::Status status = parts.instances->CheckMayHaveTiers(request.parent()); !status.ok())
      return status;
  }
  if (parsed->change_stream.has_value()) {
    parsed->change_stream = parts.streams->ForNewTable(*parsed, parsed->change_stream->retention_micros);
  }
  if (parsed->automated_backups.has_value()) {
    parsed->automated_backups->since_micros = parts.tables->clock().NowMicros();
  }
  absl::StatusOr<TableSchemaRef> schema = parts.tables->catalog().Create(*std::move(parsed));
  if (!schema.ok()) return schema.status();
  if (absl::Status status = parts.instances->EnsureInstance(request.parent()); !status.ok()) return status;
  spdlog::info("created table {}", (*schema)->name);
  ToProto(**schema, admin::Table::SCHEMA_VIEW, admin::Table::SCHEMA_VIEW, response);
  return absl::OkStatus();
}

absl::Status DeleteTable(const AdminParts& parts, const admin::DeleteTableRequest& request) {
  if (absl::Status status = CheckTableName(request.name()); !status.ok()) return status;
  std::optional<int64_t> keep_from_micros;
  if (parts.keeps_deleted) keep_from_micros = parts.tables->clock().NowMicros();
  absl::Status status = parts.tables->catalog().Delete(request.name(), keep_from_micros);
  if (status.ok()) spdlog::info("deleted table {}", request.name());
  return status;
}

void AddTables(const AdminParts& parts, AdminService* service) {
  service->Add<admin::CreateTableRequest, admin::Table>(
      [parts](const auto& in, auto* out) { return CreateTable(parts, in, out); });
  service->Add<admin::ListTablesRequest, admin::ListTablesResponse>([parts](const auto& in, auto* out) {
    return ListTables(parts.tables->catalog(), *parts.instances, in, out);
  });
  service->Add<admin::GetTableRequest, admin::Table>([parts](const auto& in, auto* out) {
    return GetTable(parts.tables->catalog(), *parts.instances, in, out);
  });
  service->Add<admin::UpdateTableRequest, google::longrunning::Operation>([parts](const auto& in, auto* out) {
    const bool sets_tiers =
        std::any_of(in.update_mask().paths().begin(), in.update_mask().paths().end(),
                    [](std::string_view path) { return path.starts_with("tiered_storage_config"); });
    if (sets_tiers && in.table().has_tiered_storage_config() && CheckTableName(in.table().name()).ok()) {
      absl::Status status = parts.instances->CheckMayHaveTiers(InstanceOfTable(in.table().name()));
      if (!status.ok()) return status;
    }
    return UpdateTable(parts.tables, parts.streams, parts.operations, in, out);
  });
  service->Add<admin::DeleteTableRequest, google::protobuf::Empty>(
      [parts](const auto& in, auto*) { return DeleteTable(parts, in); });
  service->Add<admin::UndeleteTableRequest, google::longrunning::Operation>(
      [parts](const auto& in, auto* out) {
        return UndeleteTable(parts.tables, parts.instances, parts.operations, in, out);
      });
  service->Add<admin::ModifyColumnFamiliesRequest, admin::Table>([parts](const auto& in, auto* out) {
    if (absl::Status status = CheckTableName(in.name()); !status.ok()) return status;
    absl::StatusOr<std::vector<FamilyModification>> modifications = ParseModifications(in);
    if (!modifications.ok()) return modifications.status();
    absl::StatusOr<TableSchemaRef> schema = parts.tables->catalog().Modify(in.name(), *modifications);
    if (schema.ok()) ToProto(**schema, admin::Table::SCHEMA_VIEW, admin::Table::SCHEMA_VIEW, out);
    return schema.status();
  });
  service->Add<admin::DropRowRangeRequest, google::protobuf::Empty>(
      [parts](const auto& in, auto*) { return DropRowRange(parts.tables, in); });
}

void AddAuthorizedViews(const AdminParts& parts, AdminService* service) {
  service->Add<admin::CreateAuthorizedViewRequest, google::longrunning::Operation>(
      [parts](const auto& in, auto* out) {
        return CreateAuthorizedView(parts.tables, parts.operations, in, out);
      });
  service->Add<admin::UpdateAuthorizedViewRequest, google::longrunning::Operation>(
      [parts](const auto& in, auto* out) {
        return UpdateAuthorizedView(parts.tables, parts.operations, in, out);
      });
  service->Add<admin::ListAuthorizedViewsRequest, admin::ListAuthorizedViewsResponse>(
      [parts](const auto& in, auto* out) { return ListAuthorizedViews(parts.tables->catalog(), in, out); });
  service->Add<admin::GetAuthorizedViewRequest, admin::AuthorizedView>(
      [parts](const auto& in, auto* out) { return GetAuthorizedView(parts.tables->catalog(), in, out); });
  service->Add<admin::DeleteAuthorizedViewRequest, google::protobuf::Empty>(
      [parts](const auto& in, auto*) { return DeleteAuthorizedView(&parts.tables->catalog(), in); });
}

void AddSchemaBundles(const AdminParts& parts, AdminService* service) {
  service->Add<admin::CreateSchemaBundleRequest, google::longrunning::Operation>(
      [parts](const auto& in, auto* out) {
        return CreateSchemaBundle(parts.tables, parts.operations, in, out);
      });
  service->Add<admin::UpdateSchemaBundleRequest, google::longrunning::Operation>(
      [parts](const auto& in, auto* out) {
        return UpdateSchemaBundle(parts.tables, parts.operations, in, out);
      });
  service->Add<admin::ListSchemaBundlesRequest, admin::ListSchemaBundlesResponse>(
      [parts](const auto& in, auto* out) { return ListSchemaBundles(parts.tables->catalog(), in, out); });
  service->Add<admin::GetSchemaBundleRequest, admin::SchemaBundle>(
      [parts](const auto& in, auto* out) { return GetSchemaBundle(parts.tables->catalog(), in, out); });
  service->Add<admin::DeleteSchemaBundleRequest, google::protobuf::Empty>(
      [parts](const auto& in, auto*) { return DeleteSchemaBundle(&parts.tables->catalog(), in); });
}

void AddBackups(const BackupParts& parts, const InstanceStore* instances, AdminService* service) {
  service->Add<admin::CreateBackupRequest, google::longrunning::Operation>(
      [parts](const auto& in, auto* out) { return CreateBackup(parts, in, out); });
  service->Add<admin::CopyBackupRequest, google::longrunning::Operation>(
      [parts](const auto& in, auto* out) { return CopyBackup(parts, in, out); });
  service->Add<admin::GetBackupRequest, admin::Backup>(
      [parts](const auto& in, auto* out) { return GetBackup(parts, in, out); });
  service->Add<admin::UpdateBackupRequest, admin::Backup>(
      [parts](const auto& in, auto* out) { return UpdateBackup(parts, in, out); });
  service->Add<admin::DeleteBackupRequest, google::protobuf::Empty>(
      [parts](const auto& in, auto*) { return DeleteBackup(parts, in); });
  service->Add<admin::ListBackupsRequest, admin::ListBackupsResponse>(
      [parts](const auto& in, auto* out) { return ListBackups(parts, in, out); });
  service->Add<admin::RestoreTableRequest, google::longrunning::Operation>(
      [parts, instances](const auto& in, auto* out) {
        if (CheckInstanceName(in.parent()).ok()) {
          if (absl::Status status = instances->CheckMayHaveTables(in.parent()); !status.ok()) return status;
        }
        return RestoreTable(parts, in, out);
      });
}

void AddConsistency(const AdminParts& parts, AdminService* service) {
  service->Add<admin::GenerateConsistencyTokenRequest, admin::GenerateConsistencyTokenResponse>(
      [parts](const auto& in, auto* out) {
        absl::StatusOr<TableSchemaRef> schema = FindTable(parts.tables->catalog(), in.name());
        if (schema.ok()) out->set_consistency_token(ConsistencyToken(**schema));
        return schema.status();
      });
  service->Add<admin::CheckConsistencyRequest, admin::CheckConsistencyResponse>(
      [parts](const auto& in, auto* out) { return CheckConsistency(parts.tables->catalog(), in, out); });
}

}  // namespace

void AddTableAdminService(Tables* tables, InstanceStore* instances, Backups* backups,
                          const ChangeStreams* streams, Operations* operations, OperationRunner* runner,
                          bool keeps_deleted, const CallResources& resources, rpc::Router* router) {
  const AdminParts parts{tables, instances, streams, operations, keeps_deleted};
  AdminService service(resources, router);
  AddTables(parts, &service);
  AddAuthorizedViews(parts, &service);
  AddSchemaBundles(parts, &service);
  AddBackups({backups, runner, &tables->clock()}, instances, &service);
  AddConsistency(parts, &service);
}

}  // namespace sonde
