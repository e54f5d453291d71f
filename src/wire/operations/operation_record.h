// An operation's record: JSON, so that a person can read it (docs/formats/data-directory.md).
//
// The messages of the API in it are serialized, each beside the name of its type: as JSON some of them could not be written, such as
// a time that a client has set out of range.
#pragma once

#include <google/longrunning/operations.pb.h>
#include <google/protobuf/any.pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sonde {

struct OperationRecord {
  google::longrunning::Operation operation;
  std::string kind;               // the method that began it: "RestoreTable"
  uint64_t number = 0;            // the last part of its name; later operations have greater ones
  google::protobuf::Any request;  // empty: the operation was done at once
  int64_t start_micros = 0;
  std::optional<int64_t> end_micros = std::nullopt;  // nullopt: it runs
  bool is_cancelled = false;                         // somebody has asked for its end

  // The members that this version does not know, as JSON.  A newer version wrote them; they stay in the record.
  std::string unknown_members = {};
};

std::string EncodeOperationRecord(const OperationRecord& record);
// DATA_LOSS: the bytes are no record of an operation.
absl::StatusOr<OperationRecord> DecodeOperationRecord(std::string_view bytes);

}  // namespace sonde
