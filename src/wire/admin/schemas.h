// Converts tables and column families to and from the model.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <google/bigtable/admin/v2/table.pb.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "model/table_schema.h"

namespace sonde {

// Parses a family to be created.  INVALID_ARGUMENT: a bad name, rule or type.
absl::StatusOr<FamilySchema> ParseFamily(const std::string& name,
                                         const google::bigtable::admin::v2::ColumnFamily& family);
absl::StatusOr<GcRule> ParseGcRule(const google::bigtable::admin::v2::GcRule& rule);

// Parses a table to be created.  Only the retention period of its change stream is filled in, and its policy of automated
// backups begins at 0.  INVALID_ARGUMENT as the limits say.
absl::StatusOr<TableSchema> ParseCreateTable(const google::bigtable::admin::v2::CreateTableRequest& request);

absl::StatusOr<std::vector<FamilyModification>> ParseModifications(
    const google::bigtable::admin::v2::ModifyColumnFamiliesRequest& request);

// Returns microseconds.  INVALID_ARGUMENT: not from 1 to 7 days.
absl::StatusOr<int64_t> ParseRetention(const google::bigtable::admin::v2::ChangeStreamConfig& config);

void InfoToProto(const RestoredFrom& from, google::bigtable::admin::v2::BackupInfo* out);

// Writes the parts of a table that `view` shows, but for its clusters.  VIEW_UNSPECIFIED shows the parts that `unspecified` names.
void ToProto(const TableSchema& schema, google::bigtable::admin::v2::Table::View view,
             google::bigtable::admin::v2::Table::View unspecified, google::bigtable::admin::v2::Table* out);

bool ShowsClusters(google::bigtable::admin::v2::Table::View view);
// Writes the state of a table in these clusters, as far as `view`, of which ShowsClusters is true, shows it.  All have the rows.
void ClustersToProto(const std::vector<std::string>& cluster_ids,
                     google::bigtable::admin::v2::Table::View view, google::bigtable::admin::v2::Table* out);

}  // namespace sonde
