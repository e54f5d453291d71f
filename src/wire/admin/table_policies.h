// The policies of a table by which other work is done on it: automated backups, and tiers of storage.  Checks them, and
// converts them to and from the model.
#pragma once

#include <google/bigtable/admin/v2/table.pb.h>

#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_schema.h"

namespace sonde {

// The policy begins at 0.  INVALID_ARGUMENT: `retention_period` is not from 3 to 90 days, `frequency` is not 24 hours (0: unset), or
// `locations` are named.
absl::StatusOr<AutomatedBackupPolicy> ParseAutomatedBackups(
    const google::bigtable::admin::v2::Table::AutomatedBackupPolicy& policy);
// Returns the age in microseconds.  INVALID_ARGUMENT: there is no rule, or its age is below 30 days.
absl::StatusOr<int64_t> ParseTieredStorage(const google::bigtable::admin::v2::TieredStorageConfig& config);

void PoliciesToProto(const TableSchema& schema, google::bigtable::admin::v2::Table* out);

// Changes of these policies, as the paths of an update mask name them.
class PolicyUpdate {
 public:
  // `now_micros`: when a policy that is new begins.
  PolicyUpdate(const google::bigtable::admin::v2::Table& wanted, int64_t now_micros)
      : wanted_(wanted), now_micros_(now_micros) {}

  // Whether a path is one of the fields here, or below one.
  static bool IsPath(std::string_view path);
  // INVALID_ARGUMENT: there is no such path.
  absl::Status Add(std::string_view path);
  // INVALID_ARGUMENT: the policy would be none that there may be, as above.
  absl::Status Apply(TableSchema* schema) const;

 private:
  absl::Status ApplyBackups(TableSchema* schema) const;

  google::bigtable::admin::v2::Table wanted_;
  int64_t now_micros_;
  bool backups_ = false;  // as a whole
  bool retention_ = false;
  bool frequency_ = false;
  bool locations_ = false;
  bool tiers_ = false;
};

}  // namespace sonde
