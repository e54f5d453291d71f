#include "wire/table_admin_service.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "model/limits.h"
#include "model/names.h"
#include "wire/authorized_views.h"
#include "wire/calls.h"
#include "wire/requests.h"
#include "wire/schemas.h"
#include "wire/update_table.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;

absl::StatusOr<TableSchemaRef> FindTable(const Catalog& catalog, const std::string& name) {
  if (absl::Status status = CheckTableName(name); !status.ok()) return status;
  return catalog.Find(name);
}

absl::Status ListTables(const Catalog& catalog, const admin::ListTablesRequest& request,
                        admin::ListTablesResponse* response) {
  if (absl::Status status = CheckInstanceName(request.parent()); !status.ok()) return status;
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
  for (const TableSchemaRef& table : tables) {
    ToProto(*table, request.view(), admin::Table::NAME_ONLY, response->add_tables());
  }
  return absl::OkStatus();
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

}  // namespace

grpc::ServerUnaryReactor* TableAdminService::CreateTable(Context* context,
                                                         const admin::CreateTableRequest* request,
                                                         Table* response) {
  return AnswerTyped(context, request, response, resources_, [this](const auto& in, Table* out) {
    absl::StatusOr<TableSchema> parsed = ParseCreateTable(in);
    if (!parsed.ok()) return parsed.status();
    if (parsed->change_stream.has_value()) {
      parsed->change_stream = streams_->ForNewTable(*parsed, parsed->change_stream->retention_micros);
    }
    absl::StatusOr<TableSchemaRef> schema = tables_->catalog().Create(*std::move(parsed));
    if (!schema.ok()) return schema.status();
    spdlog::info("created table {}", (*schema)->name);
    ToProto(**schema, Table::SCHEMA_VIEW, Table::SCHEMA_VIEW, out);
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* TableAdminService::ListTables(Context* context,
                                                        const admin::ListTablesRequest* request,
                                                        admin::ListTablesResponse* response) {
  return AnswerTyped(context, request, response, resources_, [this](const auto& in, auto* out) {
    return sonde::ListTables(tables_->catalog(), in, out);
  });
}

grpc::ServerUnaryReactor* TableAdminService::GetTable(Context* context, const admin::GetTableRequest* request,
                                                      Table* response) {
  return AnswerTyped(context, request, response, resources_, [this](const auto& in, Table* out) {
    absl::StatusOr<TableSchemaRef> schema = FindTable(tables_->catalog(), in.name());
    if (schema.ok()) ToProto(**schema, in.view(), Table::SCHEMA_VIEW, out);
    return schema.status();
  });
}

grpc::ServerUnaryReactor* TableAdminService::UpdateTable(Context* context,
                                                         const admin::UpdateTableRequest* request,
                                                         google::longrunning::Operation* response) {
  return AnswerTyped(context, request, response, resources_, [this](const auto& in, auto* out) {
    return sonde::UpdateTable(tables_, streams_, operations_, in, out);
  });
}

grpc::ServerUnaryReactor* TableAdminService::DeleteTable(Context* context,
                                                         const admin::DeleteTableRequest* request,
                                                         google::protobuf::Empty* response) {
  return AnswerTyped(context, request, response, resources_, [this](const auto& in, auto*) {
    if (absl::Status status = CheckTableName(in.name()); !status.ok()) return status;
    absl::Status status = tables_->catalog().Delete(in.name());
    if (status.ok()) spdlog::info("deleted table {}", in.name());
    return status;
  });
}

grpc::ServerUnaryReactor* TableAdminService::ModifyColumnFamilies(
    Context* context, const admin::ModifyColumnFamiliesRequest* request, Table* response) {
  return AnswerTyped(context, request, response, resources_, [this](const auto& in, Table* out) {
    if (absl::Status status = CheckTableName(in.name()); !status.ok()) return status;
    absl::StatusOr<std::vector<FamilyModification>> modifications = ParseModifications(in);
    if (!modifications.ok()) return modifications.status();
    absl::StatusOr<TableSchemaRef> schema = tables_->catalog().Modify(in.name(), *modifications);
    if (schema.ok()) ToProto(**schema, Table::SCHEMA_VIEW, Table::SCHEMA_VIEW, out);
    return schema.status();
  });
}

grpc::ServerUnaryReactor* TableAdminService::DropRowRange(Context* context,
                                                          const admin::DropRowRangeRequest* request,
                                                          google::protobuf::Empty* response) {
  return AnswerTyped(context, request, response, resources_,
                     [this](const auto& in, auto*) { return sonde::DropRowRange(tables_, in); });
}

grpc::ServerUnaryReactor* TableAdminService::CreateAuthorizedView(
    Context* context, const admin::CreateAuthorizedViewRequest* request,
    google::longrunning::Operation* response) {
  return AnswerTyped(context, request, response, resources_, [this](const auto& in, auto* out) {
    return sonde::CreateAuthorizedView(tables_, operations_, in, out);
  });
}

grpc::ServerUnaryReactor* TableAdminService::UpdateAuthorizedView(
    Context* context, const admin::UpdateAuthorizedViewRequest* request,
    google::longrunning::Operation* response) {
  return AnswerTyped(context, request, response, resources_, [this](const auto& in, auto* out) {
    return sonde::UpdateAuthorizedView(tables_, operations_, in, out);
  });
}

grpc::ServerUnaryReactor* TableAdminService::ListAuthorizedViews(
    Context* context, const admin::ListAuthorizedViewsRequest* request,
    admin::ListAuthorizedViewsResponse* response) {
  return AnswerTyped(context, request, response, resources_, [this](const auto& in, auto* out) {
    return sonde::ListAuthorizedViews(tables_->catalog(), in, out);
  });
}

grpc::ServerUnaryReactor* TableAdminService::GetAuthorizedView(Context* context,
                                                               const admin::GetAuthorizedViewRequest* request,
                                                               admin::AuthorizedView* response) {
  return AnswerTyped(context, request, response, resources_, [this](const auto& in, auto* out) {
    return sonde::GetAuthorizedView(tables_->catalog(), in, out);
  });
}

grpc::ServerUnaryReactor* TableAdminService::DeleteAuthorizedView(
    Context* context, const admin::DeleteAuthorizedViewRequest* request, google::protobuf::Empty* response) {
  return AnswerTyped(context, request, response, resources_, [this](const auto& in, auto*) {
    return sonde::DeleteAuthorizedView(&tables_->catalog(), in);
  });
}

grpc::ServerUnaryReactor* TableAdminService::GenerateConsistencyToken(
    Context* context, const admin::GenerateConsistencyTokenRequest* request,
    admin::GenerateConsistencyTokenResponse* response) {
  return AnswerTyped(context, request, response, resources_, [this](const auto& in, auto* out) {
    absl::StatusOr<TableSchemaRef> schema = FindTable(tables_->catalog(), in.name());
    if (schema.ok()) out->set_consistency_token(ConsistencyToken(**schema));
    return schema.status();
  });
}

grpc::ServerUnaryReactor* TableAdminService::CheckConsistency(Context* context,
                                                              const admin::CheckConsistencyRequest* request,
                                                              admin::CheckConsistencyResponse* response) {
  return AnswerTyped(context, request, response, resources_, [this](const auto& in, auto* out) {
    return sonde::CheckConsistency(tables_->catalog(), in, out);
  });
}

}  // namespace sonde
