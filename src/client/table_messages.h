// Tables and their garbage-collection rules as the messages of the administration.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/copy_access.h"

namespace sonde {

google::bigtable::admin::v2::GcRule GcRuleMessage(const GcRule& rule);
// Messages are not nested deeper than protocol buffers allow.
GcRule GcRuleOf(const google::bigtable::admin::v2::GcRule& proto);

// UNIMPLEMENTED: a family has a type whose cells this program cannot combine.
absl::StatusOr<CopyAccess::Described> DescribedOf(const std::string& name,
                                                  const google::bigtable::admin::v2::Table& table);
// All but the names.  `not_taken` gets the settings that are not in the request.  INTERNAL: the type of a family is no message.
absl::Status FillTable(const TableSchema& schema, google::bigtable::admin::v2::CreateTableRequest* request,
                       std::vector<std::string>* not_taken);

}  // namespace sonde
