// Which instances there may be: pure checks of google.bigtable.admin.v2.Instance.
//
// INVALID_ARGUMENT of all functions: a field is not as its comment in the API says; the text names the field, the rule and
// the value.
#pragma once

#include <google/bigtable/admin/v2/instance.pb.h>
#include <google/protobuf/field_mask.pb.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace sonde {

constexpr size_t kInstanceLabelsMax = 64;

// Of an instance that is created by name: 6 to 33 of [a-z][a-z0-9-]+[a-z0-9].
absl::Status CheckNewInstanceId(std::string_view id);

// Checks the fields that a client sets, and fills in what it left out: the type, the edition.  Clears fields that are only
// written or only read.
absl::Status CompleteInstance(google::bigtable::admin::v2::Instance* instance);

// Sets the fields that `mask` names (display_name, type, labels) to those of `wanted`, and checks the result.
absl::Status UpdateInstanceFields(const google::bigtable::admin::v2::Instance& wanted,
                                  const google::protobuf::FieldMask& mask,
                                  google::bigtable::admin::v2::Instance* instance);

// An instance that nobody created: one of its tables was.
google::bigtable::admin::v2::Instance ImplicitInstance(std::string_view name);

}  // namespace sonde
