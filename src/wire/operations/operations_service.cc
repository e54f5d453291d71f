#include "wire/operations/operations_service.h"

#include <fmt/format.h>
#include <google/protobuf/empty.pb.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "wire/call/service_names.h"

namespace sonde {
namespace {

namespace lro = google::longrunning;
using google::protobuf::util::TimeUtil;

// Left of a call's deadline, so that its client gets the answer.
constexpr absl::Duration kBeforeDeadline = absl::Milliseconds(100);

absl::StatusOr<absl::Duration> TimeoutOf(const lro::WaitOperationRequest& request) {
  if (!request.has_timeout()) return absl::InfiniteDuration();
  const google::protobuf::Duration& timeout = request.timeout();
  constexpr int32_t kNanosMax = 999'999'999;
  if (timeout.seconds() >= 0 && timeout.seconds() <= TimeUtil::kDurationMaxSeconds && timeout.nanos() >= 0 &&
      timeout.nanos() <= kNanosMax) {
    return absl::Seconds(timeout.seconds()) + absl::Nanoseconds(timeout.nanos());
  }
  return absl::InvalidArgumentError(
      fmt::format("Error in field 'timeout' : must be a duration that is not negative, but is {} s and {} ns",
                  timeout.seconds(), timeout.nanos()));
}

// Waits for an operation, and ends the call with it.
void AwaitOperation(const OperationsParts& parts, const CallEnd& end, rpc::MessageBytes in,
                    Admission::Place place) {
  ParsedRequest<lro::WaitOperationRequest> request;
  if (absl::Status status = request.Parse(&in, &place); !status.ok()) return end(status);
  const std::string name = request.message().name();
  if (absl::Status status = parts.operations->Get(name).status(); !status.ok()) return end(status);
  const absl::StatusOr<absl::Duration> timeout = TimeoutOf(request.message());
  if (!timeout.ok()) return end(timeout.status());
  EndWithOperation(end, parts.operations, parts.waits, name, *timeout, std::move(place));
}

}  // namespace

void EndWithOperation(const CallEnd& end, const Operations* operations, OperationWaits* waits,
                      const std::string& name, absl::Duration timeout, Admission::Place place) {
  const absl::Duration left = end.call()->deadline() - absl::Now() - kBeforeDeadline;
  // A function that is called must be one that can be copied.
  const auto held = std::make_shared<Admission::Place>(std::move(place));
  waits->Add({.name = name,
              .timeout = std::min(timeout, left),
              .is_given_up = [end] { return end.call()->IsCancelled(); },
              .answer =
                  [end, name, held, operations] {
                    const absl::StatusOr<lro::Operation> operation = operations->Get(name);
                    end(operation.status(), operation.ok() ? ToMessage(*operation) : rpc::Message());
                  }});
}

void AddOperationsService(const OperationsParts& parts, const CallResources& resources, rpc::Router* router) {
  Service service(kOperationsService, resources.metrics, router);
  const CallKind short_kind = resources.ShortAdministration();
  const CallKind kind = resources.Administration();
  CallKind waiting_kind = short_kind;
  waiting_kind.admission = parts.waits_admission;
  Operations* const operations = parts.operations;
  service.AddUnary<lro::GetOperationRequest, lro::Operation>(
      short_kind, [operations](const auto& in, auto* out) {
        absl::StatusOr<lro::Operation> operation = operations->Get(in.name());
        if (operation.ok()) *out = *std::move(operation);
        return operation.status();
      });
  service.AddUnary<lro::ListOperationsRequest, lro::ListOperationsResponse>(
      short_kind, [operations](const auto& in, auto* out) { return operations->List(in, out); });
  service.Add("WaitOperation", waiting_kind,
              [parts](const CallEnd& end, rpc::MessageBytes in, Admission::Place place) {
                AwaitOperation(parts, end, std::move(in), std::move(place));
              });
  service.AddUnary<lro::CancelOperationRequest, google::protobuf::Empty>(
      kind, [runner = parts.runner](const auto& in, auto*) { return runner->Cancel(in.name()); });
  service.AddUnary<lro::DeleteOperationRequest, google::protobuf::Empty>(
      kind, [operations](const auto& in, auto*) { return operations->Delete(in.name()); });
}

}  // namespace sonde
