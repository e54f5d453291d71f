// The message of MutateRows, by which cells come in by the million.
//
// Nearly all of them set cells of well-formed rows and nothing else.  Such a message is read as it lies
// there, in a pass or two; any other is parsed by protobuf, and what is wrong with it is found there
// (mutate_rows_message_test.cc: both read the same).  Protobuf makes three messages and four strings of a
// cell, which took a fifth of the processor time of ingest.
#pragma once

#include <google/bigtable/v2/bigtable.pb.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/admission.h"
#include "model/mutation.h"
#include "rpc/message_reader.h"
#include "table/tables.h"
#include "wire/call/calls.h"

namespace sonde {

// What it asks for, checked.  Views point into the message, spans into `mutations`.
struct MutateRowsEntries {
  std::vector<absl::Status> statuses;  // of each entry: OK, or why it is no row
  std::vector<Mutation> mutations;     // of all rows
  std::vector<RowMutations> rows;
  std::vector<size_t> entry_of_row;

  void Clear() {
    statuses.clear();
    mutations.clear();
    rows.clear();
    entry_of_row.clear();
  }
};

class MutateRowsMessage {
 public:
  MutateRowsMessage() = default;
  MutateRowsMessage(const MutateRowsMessage&) = delete;
  MutateRowsMessage& operator=(const MutateRowsMessage&) = delete;

  // As ParsedRequest.
  absl::Status Parse(rpc::MessageBytes* bytes, Admission::Place* place);

  const std::string& table_name() const { return plain_ ? table_name_ : parsed_->message().table_name(); }
  const std::string& authorized_view_name() const {
    return plain_ ? authorized_view_name_ : parsed_->message().authorized_view_name();
  }

  // Once.  INVALID_ARGUMENT: there are too many, or no mutation in any.
  absl::StatusOr<MutateRowsEntries> TakeEntries();

  // Instead of both, for one of many that are read one after the other in the same memory.  `bytes` must
  // stay.  False: the message is too large for that (kUncountedBytesMax), or not plain.  Names are known then.
  bool OpenPlain(std::string_view bytes);
  // *entries: what there was before is gone.  False: the message is not plain.
  bool ReadPlainEntries(MutateRowsEntries* entries) const;

 private:
  // False: it is not plain, and nothing is taken.  Errors: as Parse.
  absl::StatusOr<bool> ReadPlain(std::string_view bytes, Admission::Place* place);
  bool ReadNames(std::string_view bytes);
  // `place`: null where it is not counted.
  absl::StatusOr<bool> ReadEntries(Admission::Place* place, MutateRowsEntries* out) const;

  bool plain_ = false;
  rpc::MessageBytes bytes_;  // plain, and parsed: the message
  std::string table_name_, authorized_view_name_;
  std::vector<std::string_view> packed_entries_;  // in the message
  MutateRowsEntries entries_;
  std::optional<ParsedRequest<google::bigtable::v2::MutateRowsRequest>> parsed_;  // else
};

}  // namespace sonde
