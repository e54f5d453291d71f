#include "wire/mutate_row.h"

#include <google/bigtable/v2/bigtable.pb.h>

#include <memory>
#include <utility>
#include <vector>

#include "wire/data_target.h"
#include "wire/requests.h"
#include "wire/row_committer.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

// A request that was checked.  Its row views the message.
struct Write {
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

}  // namespace

grpc::ServerUnaryReactor* AnswerMutateRow(grpc::CallbackServerContext* context, grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response, Tables* tables,
                                          const CallResources& resources) {
  using Request = pb::MutateRowRequest;
  const CallKind kind = resources.Writes();
  const UnaryEnd end{context, resources.metrics, MethodOf<Request>()};
  absl::StatusOr<Admission::Place> place = Admit(kind, MethodOf<Request>(), request);
  if (!place.ok()) {
    end(place.status());
    return end.reactor;
  }
  auto write = std::make_unique<Write>();
  write->place = *std::move(place);
  const auto finish = [end, response](const absl::Status& status) {
    if (status.ok()) *response = ToByteBuffer(pb::MutateRowResponse());
    end(status);
  };
  const auto parse = [request, context, tables, room = kind.large_room](Write* parsed) {
    absl::Status status = TakeLargeRoom(*request, context, room, &parsed->place);
    if (status.ok()) status = parsed->request.Parse(request, &parsed->place);
    return status.ok() ? Check(parsed->request.message(), tables, parsed) : status;
  };
  // What takes long to parse, or reads before it writes, goes among the workers by itself.
  const absl::Time deadline = DeadlineOf(*context);
  const bool is_long = request->Length() > kUncountedBytesMax;
  absl::Status status = is_long ? absl::OkStatus() : parse(write.get());
  if (!status.ok()) {
    finish(status);
  } else if (is_long || write->row.idempotency.has_value()) {
    kind.workers->Submit(deadline, [=, write = std::move(write)](absl::Status turn) {
      if (turn.ok() && is_long) turn = parse(write.get());
      if (turn.ok()) turn = tables->MutateRow(*write->target.schema, write->row, write->target.view.get());
      finish(turn);
    });
  } else {
    const RowCommitter::Row row{write->target.schema, write->target.view, write->row};
    resources.committer->Add(
        row, deadline,
        [finish, write = std::move(write)](const absl::Status& committed) { finish(committed); });
  }
  return end.reactor;
}

}  // namespace sonde
