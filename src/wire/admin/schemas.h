// Table and column family resources, to and from the model.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <google/bigtable/admin/v2/table.pb.h>

#include <string_view>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "model/table_schema.h"

namespace sonde {

// Of a family that is to be made.  INVALID_ARGUMENT: a bad name, rule or type.
absl::StatusOr<FamilySchema> ParseFamily(const std::string& name,
                                         const google::bigtable::admin::v2::ColumnFamily& family);
absl::StatusOr<GcRule> ParseGcRule(const google::bigtable::admin::v2::GcRule& rule);

// The table to make; of its change stream, only the retention period.  INVALID_ARGUMENT as the limits say;
// UNIMPLEMENTED for fields that are not built.
absl::StatusOr<TableSchema> ParseCreateTable(const google::bigtable::admin::v2::CreateTableRequest& request);

absl::StatusOr<std::vector<FamilyModification>> ParseModifications(
    const google::bigtable::admin::v2::ModifyColumnFamiliesRequest& request);

// In microseconds.  INVALID_ARGUMENT unless from 1 to 7 days.
absl::StatusOr<int64_t> ParseRetention(const google::bigtable::admin::v2::ChangeStreamConfig& config);

// The parts of a table that a view shows; VIEW_UNSPECIFIED shows what `unspecified` names.
void ToProto(const TableSchema& schema, google::bigtable::admin::v2::Table::View view,
             google::bigtable::admin::v2::Table::View unspecified, google::bigtable::admin::v2::Table* out);

}  // namespace sonde
