// The message of MutateRows, which brings cells by the million.
//
// Nearly all messages only set cells of well-formed rows; these are called plain.  A plain message is read
// straight from its bytes, in a pass or two.  Any other message is parsed by protobuf, which also finds what
// is wrong with it (mutate_rows_message_test.cc: both ways read the same).  Protobuf makes three messages and
// four strings for a cell, which took a fifth of the processor time of ingest.
//
// Not for several threads.
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

// The entries of a message, checked.  Views point into the message, spans into `mutations`.
struct MutateRowsEntries {
  std::vector<absl::Status> statuses;  // by entry: OK, or why the entry is no row
  std::vector<Mutation> mutations;     // the mutations of all rows
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

  // As ParseRequest.
  absl::Status Parse(rpc::MessageBytes* bytes, Admission::Place* place);

  const std::string& table_name() const { return plain_ ? table_name_ : parsed_->message().table_name(); }
  const std::string& authorized_view_name() const {
    return plain_ ? authorized_view_name_ : parsed_->message().authorized_view_name();
  }

  // To be called once, after Parse.  INVALID_ARGUMENT: the message has too many entries or mutations, or no
  // mutation in any entry.
  absl::StatusOr<MutateRowsEntries> TakeEntries();

  // Takes the place of Parse and TakeEntries where many messages are read one after the other in the same
  // memory; ReadPlainEntries follows.  `bytes` must outlive this.  Returns false if the message is too large
  // for that (kUncountedBytesMax) or not plain.  After true, table_name() and authorized_view_name() are
  // known.
  bool OpenPlain(std::string_view bytes);
  // Replaces *entries.  Returns false if the message is not plain.
  bool ReadPlainEntries(MutateRowsEntries* entries) const;

 private:
  // Returns false, and takes nothing, if the message is not plain.  Errors: as Parse.
  absl::StatusOr<bool> ReadPlain(std::string_view bytes, Admission::Place* place);
  bool ReadNames(std::string_view bytes);
  // `place` is null if parts are not counted.
  absl::StatusOr<bool> ReadEntries(Admission::Place* place, MutateRowsEntries* out) const;

  bool plain_ = false;
  rpc::MessageBytes bytes_;  // the message, if it is plain and came by Parse
  std::string table_name_, authorized_view_name_;
  std::vector<std::string_view> packed_entries_;  // views of the message
  MutateRowsEntries entries_;
  std::optional<ParsedRequest<google::bigtable::v2::MutateRowsRequest>> parsed_;  // if not plain
};

}  // namespace sonde
