// What a comparison is made of: a table, and requests to it one after the other at known times.
#pragma once

#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <google/bigtable/v2/bigtable.pb.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"

namespace sonde {

// Without the table's name, which is given when they are sent.
using Request =
    std::variant<google::bigtable::v2::MutateRowRequest, google::bigtable::v2::MutateRowsRequest,
                 google::bigtable::v2::CheckAndMutateRowRequest,
                 google::bigtable::v2::ReadModifyWriteRowRequest, google::bigtable::v2::ReadRowsRequest,
                 google::bigtable::admin::v2::DropRowRangeRequest,
                 google::bigtable::admin::v2::ModifyColumnFamiliesRequest>;

struct Step {
  int64_t advance_micros = 0;  // the clock's, before the request
  bool compact = false;        // engines that rest their data somewhere bring it there, before the request
  Request request;
};

struct History {
  google::bigtable::admin::v2::CreateTableRequest table;
  int64_t start_micros = 0;  // the clock, at the beginning
  std::vector<Step> steps;
};

// What a request came to: the code, and everything that the answer says, as text.  Texts of errors are not in
// it.
struct Outcome {
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string answer;

  bool operator==(const Outcome&) const = default;
};

inline google::protobuf::Message& MessageOf(Request& request) {
  return std::visit([](auto& message) -> google::protobuf::Message& { return message; }, request);
}
inline const google::protobuf::Message& MessageOf(const Request& request) {
  return std::visit([](const auto& message) -> const google::protobuf::Message& { return message; }, request);
}

}  // namespace sonde
