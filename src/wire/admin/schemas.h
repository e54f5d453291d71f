// Converts tables and column families to and from the model.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <google/bigtable/admin/v2/table.pb.h>

#include <string_view>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "model/table_schema.h"

namespace sonde {

// Parses a family to be created.  INVALID_ARGUMENT: a bad name, rule or type.
absl::StatusOr<FamilySchema> ParseFamily(const std::string& name,
                                         const google::bigtable::admin::v2::ColumnFamily& family);
absl::StatusOr<GcRule> ParseGcRule(const google::bigtable::admin::v2::GcRule& rule);

// Parses a table to be created.  Only the retention period of its change stream is filled in.
// INVALID_ARGUMENT as the limits say.  UNIMPLEMENTED: fields that are not built.
absl::StatusOr<TableSchema> ParseCreateTable(const google::bigtable::admin::v2::CreateTableRequest& request);

absl::StatusOr<std::vector<FamilyModification>> ParseModifications(
    const google::bigtable::admin::v2::ModifyColumnFamiliesRequest& request);

// Returns microseconds.  INVALID_ARGUMENT: not from 1 to 7 days.
absl::StatusOr<int64_t> ParseRetention(const google::bigtable::admin::v2::ChangeStreamConfig& config);

void InfoToProto(const RestoredFrom& from, google::bigtable::admin::v2::BackupInfo* out);

// Writes the parts of a table that `view` shows.  VIEW_UNSPECIFIED shows the parts that `unspecified` names.
void ToProto(const TableSchema& schema, google::bigtable::admin::v2::Table::View view,
             google::bigtable::admin::v2::Table::View unspecified, google::bigtable::admin::v2::Table* out);

}  // namespace sonde
