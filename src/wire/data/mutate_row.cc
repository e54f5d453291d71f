#include "wire/data/mutate_row.h"

#include <google/bigtable/v2/bigtable.pb.h>

#include <memory>
#include <utility>
#include <vector>

#include "wire/call/data_target.h"
#include "wire/call/requests.h"
#include "wire/data/row_committer.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

// A request that was checked.  Its row views the message.
struct Write {
  rpc::MessageBytes bytes;
  Admission::Place place;
  ParsedRequest<pb::MutateRowRequest> request;
  DataTarget target;
  std::vector<Mutation> mutations;
  RowMutations row;
};

absl::Status Check(const pb::MutateRowRequest& request, Tables* tables, Write* write) {
  absl::StatusOr<DataTarget> target = FindTarget(tables->catalog(), request);
  if (!target.ok()) return target.status();
  write->target = *std::move(target);
  if (absl::Status status = CheckRowKey(request.row_key()); !status.ok()) return status;
  absl::Status status = ParseMutations(request.mutations(), /*may_be_empty=*/false, &write->mutations);
  if (!status.ok()) return status;
  write->row = {request.row_key(), write->mutations};
  if (!request.has_idempotency()) return absl::OkStatus();
  return ParseIdempotency(request.idempotency(), &write->row.idempotency);
}

absl::Status ParseWrite(Tables* tables, Write* write) {
  absl::Status status = write->request.Parse(&write->bytes, &write->place);
  return status.ok() ? Check(write->request.message(), tables, write) : status;
}

}  // namespace

// The answer has no fields.
AnswerRequest AnswerMutateRow(Tables* tables, const CallResources& resources) {
  return [tables, workers = resources.workers, committer = resources.committer](
             const CallEnd& end, rpc::MessageBytes request, Admission::Place place) {
    auto write = std::make_unique<Write>();
    write->bytes = std::move(request);
    write->place = std::move(place);
    const absl::Time deadline = end.call()->deadline();
    // What takes long to parse, or reads before it writes, goes among the workers by itself.
    const bool is_long = write->bytes.size() > kUncountedBytesMax;
    absl::Status status = is_long ? absl::OkStatus() : ParseWrite(tables, write.get());
    if (!status.ok()) {
      end(status);
    } else if (is_long || write->row.idempotency.has_value()) {
      workers->Submit(deadline, [=, write = std::move(write)](absl::Status turn) {
        if (turn.ok() && is_long) turn = ParseWrite(tables, write.get());
        if (turn.ok()) turn = tables->MutateRow(*write->target.schema, write->row, write->target.view.get());
        end(turn);
      });
    } else {
      const RowCommitter::Row row{write->target.schema, write->target.view, write->row};
      committer->Add(row, deadline,
                     [end, write = std::move(write)](const absl::Status& committed) { end(committed); });
    }
  };
}

}  // namespace sonde
