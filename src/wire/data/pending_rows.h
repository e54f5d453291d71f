// A request of MutateRows as a write of the line (table/commit_line.h).  Threads: as PendingWrite says.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/admission.h"
#include "rpc/message_reader.h"
#include "table/commit_line.h"
#include "wire/data/mutate_rows_message.h"

namespace sonde {

class PendingRows final : public PendingWrite {
 public:
  // Called once, with the status of each entry, or why there are none.  The place of the request comes along,
  // to be kept or given back, and PendingWrite::begun.
  using Finish =
      absl::AnyInvocable<void(absl::StatusOr<std::vector<absl::Status>>, Admission::Place, absl::Time) &&>;

  // `tables` must outlive this.  `bytes` is a google.bigtable.v2.MutateRowsRequest.  `interrupted` returns an
  // error once nobody waits for the answer any more.
  PendingRows(Tables* tables, rpc::MessageBytes bytes, Admission::Place place, absl::Time deadline,
              Priority priority, std::function<absl::Status()> interrupted, Finish finish)
      : PendingWrite(deadline, bytes.size(), priority),
        tables_(tables),
        bytes_(std::move(bytes)),
        place_(std::move(place)),
        interrupted_(std::move(interrupted)),
        finish_(std::move(finish)) {}

  // Adds the write to the line.  It goes together with others unless it takes long to read.
  static void Add(CommitLine* line, std::unique_ptr<PendingRows> rows);

  WhyAlone Open() override;
  std::optional<absl::Span<const RowMutations>> ReadTogether(std::unique_ptr<Memory>* memory) override;
  absl::StatusOr<absl::Span<const RowMutations>> ReadAlone() override;
  absl::Status Interrupted() const override { return interrupted_(); }
  void Done(absl::StatusOr<std::vector<absl::Status>> statuses) override;

 private:
  struct Entries;
  absl::Status FindTheTarget();

  Tables* const tables_;
  rpc::MessageBytes bytes_;
  Admission::Place place_;
  const std::function<absl::Status()> interrupted_;
  Finish finish_;
  std::optional<MutateRowsMessage> message_;
  MutateRowsEntries entries_;  // entries of a message that was read alone, or is of a logged table
};

}  // namespace sonde
