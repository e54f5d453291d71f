#include "wire/admin/update_table.h"

#include <google/protobuf/util/time_util.h>
#include <spdlog/spdlog.h>

#include <optional>

#include "base/bytes.h"
#include "base/format.h"
#include "model/names.h"
#include "wire/admin/row_key_schemas.h"
#include "wire/admin/schemas.h"
#include "wire/admin/table_policies.h"
#include "wire/call/not_built.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;

absl::Status MaskError(std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("Error in field 'update_mask' : {}", what));
}

// The field of the table that a path is in.
std::string_view FieldOf(std::string_view path) { return path.substr(0, path.find('.')); }

absl::Status CheckPath(const std::string& path) {
  if (path == "deletion_protection" || path == "change_stream_config" ||
      path == "change_stream_config.retention_period" || path == "row_key_schema") {
    return absl::OkStatus();
  }
  if (path == "*") return MaskError("the wildcard '*' is not supported; name the fields to update");
  const std::string_view field = FieldOf(path);
  if (field == "column_families") {
    return NotBuilt("UpdateTable does not update column_families, ModifyColumnFamilies does");
  }
  if (field == "row_key_schema") return MaskError("'row_key_schema' is only set or removed as a whole");
  return MaskError(
      fmt::format("'{}' cannot be updated; deletion_protection, change_stream_config, row_key_schema, "
                  "automated_backup_policy and tiered_storage_config can",
                  Printable(path)));
}

// A row key schema as it is to be.
struct KeySchemaUpdate {
  std::optional<RowKeySchema> schema;  // nullopt: it is removed
  bool ignores_warnings = false;
};

absl::StatusOr<KeySchemaUpdate> ParseKeySchemaUpdate(const admin::UpdateTableRequest& request) {
  KeySchemaUpdate update{.ignores_warnings = request.ignore_warnings()};
  if (!request.table().has_row_key_schema()) return update;
  absl::StatusOr<RowKeySchema> schema = ParseRowKeySchema(request.table().row_key_schema());
  if (!schema.ok()) return schema.status();
  update.schema = *std::move(schema);
  return update;
}

absl::Status Apply(const KeySchemaUpdate& update, TableSchema* table) {
  std::optional<RowKeySchema>& schema = table->row_key_schema;
  if (update.schema.has_value() && schema.has_value() && *update.schema != *schema) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'row_key_schema' : table {} has a row key schema, which cannot be "
                    "replaced; it can be removed",
                    table->name));
  }
  if (!update.schema.has_value() && schema.has_value() && !update.ignores_warnings) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'row_key_schema' : without the row key schema of table {} queries of its "
                    "fields fail; set "
                    "ignore_warnings to remove it all the same",
                    table->name));
  }
  schema = update.schema;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Catalog::SchemaChange> ParseUpdateTable(const ChangeStreams* streams, int64_t now_micros,
                                                       const admin::UpdateTableRequest& request) {
  if (absl::Status status = CheckTableName(request.table().name()); !status.ok()) return status;
  if (request.update_mask().paths().empty()) return MaskError("must name the fields to update");
  std::optional<bool> deletion_protection;
  bool updates_stream = false;
  std::optional<int64_t> retention_micros;  // nullopt: the stream is disabled
  std::optional<KeySchemaUpdate> keys;
  PolicyUpdate policies(request.table(), now_micros);
  for (const std::string& path : request.update_mask().paths()) {
    if (PolicyUpdate::IsPath(path)) {
      if (absl::Status status = policies.Add(path); !status.ok()) return status;
      continue;
    }
    if (absl::Status status = CheckPath(path); !status.ok()) return status;
    if (path == "deletion_protection") {
      deletion_protection = request.table().deletion_protection();
    } else if (path == "row_key_schema") {
      absl::StatusOr<KeySchemaUpdate> update = ParseKeySchemaUpdate(request);
      if (!update.ok()) return update.status();
      keys = *std::move(update);
    } else if (path == "change_stream_config" && !request.table().has_change_stream_config()) {
      updates_stream = true;
    } else {
      absl::StatusOr<int64_t> retention = ParseRetention(request.table().change_stream_config());
      if (!retention.ok()) return retention.status();
      updates_stream = true;
      retention_micros = *retention;
    }
  }
  return [=](TableSchema* schema) {
    if (deletion_protection.has_value()) schema->deletion_protection = *deletion_protection;
    if (keys.has_value()) {
      if (absl::Status status = Apply(*keys, schema); !status.ok()) return status;
    }
    if (absl::Status status = policies.Apply(schema); !status.ok()) return status;
    if (!updates_stream) return absl::OkStatus();
    if (!retention_micros.has_value()) {
      schema->change_stream.reset();
    } else if (schema->change_stream.has_value()) {
      schema->change_stream->retention_micros = *retention_micros;
    } else {
      absl::StatusOr<ChangeStreamSchema> stream = streams->ForTable(*schema, *retention_micros);
      if (!stream.ok()) return stream.status();
      schema->change_stream = *std::move(stream);
    }
    return absl::OkStatus();
  };
}

absl::Status UpdateTable(Tables* tables, const ChangeStreams* streams, Operations* operations,
                         const admin::UpdateTableRequest& request, google::longrunning::Operation* response) {
  using google::protobuf::util::TimeUtil;
  absl::StatusOr<Catalog::SchemaChange> change =
      ParseUpdateTable(streams, tables->clock().NowMicros(), request);
  if (!change.ok()) return change.status();
  admin::UpdateTableMetadata metadata;
  metadata.set_name(request.table().name());
  *metadata.mutable_start_time() = TimeUtil::MicrosecondsToTimestamp(tables->clock().NowMicros());
  absl::StatusOr<TableSchemaRef> schema = tables->catalog().Update(request.table().name(), *change);
  if (!schema.ok()) return schema.status();
  spdlog::info("updated table {}", (*schema)->name);
  *metadata.mutable_end_time() = TimeUtil::MicrosecondsToTimestamp(tables->clock().NowMicros());
  admin::Table table;
  ToProto(**schema, admin::Table::SCHEMA_VIEW, admin::Table::SCHEMA_VIEW, &table);
  return operations->Done((*schema)->name, metadata, table, response);
}

}  // namespace sonde
