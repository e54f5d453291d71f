#include "wire/admin/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "wire/call/grpc_status.h"
#include "wire/call/not_built.h"
#include "wire/call/service_names.h"

namespace sonde {
namespace {

namespace lro = google::longrunning;

constexpr std::string_view kPrefix = "operations/projects/";

absl::Status CheckName(std::string_view name) {
  if (name.starts_with(kPrefix) && name.size() > kPrefix.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("Error in field 'name' : must begin with '{}', but is '{}'", kPrefix, Printable(name)));
}

}  // namespace

lro::Operation Operations::Done(std::string_view resource, const google::protobuf::Message& metadata,
                                const google::protobuf::Message& response) {
  Entry entry;
  entry.operation.set_done(true);
  entry.operation.mutable_metadata()->PackFrom(metadata);
  entry.operation.mutable_response()->PackFrom(response);
  const absl::MutexLock lock(&mutex_);
  entry.id = next_id_++;
  entry.operation.set_name(fmt::format("operations/{}/operations/{}", resource, entry.id));
  entry.bytes = entry.operation.ByteSizeLong();
  bytes_ += entry.bytes;
  entries_.push_back(entry);
  while (entries_.size() > 1 && (entries_.size() > kOperationsMax || bytes_ > kOperationsBytesMax)) {
    bytes_ -= entries_.front().bytes;
    entries_.pop_front();
  }
  return std::move(entry.operation);
}

std::deque<Operations::Entry>::const_iterator Operations::Find(const std::string& name) const {
  return std::find_if(entries_.begin(), entries_.end(),
                      [&](const Entry& entry) { return entry.operation.name() == name; });
}

absl::StatusOr<lro::Operation> Operations::Get(const std::string& name) const {
  if (absl::Status status = CheckName(name); !status.ok()) return status;
  const absl::MutexLock lock(&mutex_);
  const auto found = Find(name);
  if (found != entries_.end()) return found->operation;
  return absl::NotFoundError(fmt::format("Operation not found: {}", Printable(name)));
}

absl::Status Operations::Delete(const std::string& name) {
  if (absl::Status status = CheckName(name); !status.ok()) return status;
  const absl::MutexLock lock(&mutex_);
  const auto found = Find(name);
  if (found == entries_.end()) {
    return absl::NotFoundError(fmt::format("Operation not found: {}", Printable(name)));
  }
  bytes_ -= found->bytes;
  entries_.erase(found);
  return absl::OkStatus();
}

absl::Status Operations::List(const lro::ListOperationsRequest& request,
                              lro::ListOperationsResponse* response) const {
  if (absl::Status status = CheckName(request.name()); !status.ok()) return status;
  if (!request.filter().empty()) return FieldNotBuilt("filter", "ListOperations");
  if (request.page_size() < 0) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'page_size' : must not be negative, but is {}", request.page_size()));
  }
  // A page's token is the last id before it.
  const std::string& token = request.page_token();
  uint64_t after_id = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), after_id);
  if (!token.empty() && (error != std::errc() || end != token.data() + token.size())) {
    return absl::InvalidArgumentError("Error in field 'page_token' : not one that ListOperations gave");
  }
  const size_t page = request.page_size() == 0 ? kPageMax : std::min<size_t>(request.page_size(), kPageMax);
  const std::string prefix = request.name() + "/";
  uint64_t last_id = 0;
  const absl::MutexLock lock(&mutex_);
  for (const Entry& entry : entries_) {
    if (entry.id <= after_id || !entry.operation.name().starts_with(prefix)) continue;
    if (static_cast<size_t>(response->operations_size()) == page) {
      response->set_next_page_token(std::to_string(last_id));
      break;
    }
    *response->add_operations() = entry.operation;
    last_id = entry.id;
  }
  return absl::OkStatus();
}

void AddOperationsService(Operations* operations, const CallResources& resources, rpc::Router* router) {
  Service service(kOperationsService, resources.metrics, router);
  const CallKind kind = resources.ShortAdministration();
  const auto get = [operations](const auto& in, lro::Operation* out) {
    absl::StatusOr<lro::Operation> operation = operations->Get(in.name());
    if (operation.ok()) *out = *std::move(operation);
    return operation.status();
  };
  service.AddUnary<lro::GetOperationRequest, lro::Operation>(kind, get);
  // At once: there is nothing left to wait for.
  service.AddUnary<lro::WaitOperationRequest, lro::Operation>(kind, get);
  service.AddUnary<lro::ListOperationsRequest, lro::ListOperationsResponse>(
      kind, [operations](const auto& in, auto* out) { return operations->List(in, out); });
  // Without effect: there is nothing left to cancel.
  service.AddUnary<lro::CancelOperationRequest, google::protobuf::Empty>(
      kind, [operations](const auto& in, auto*) { return operations->Get(in.name()).status(); });
  service.AddUnary<lro::DeleteOperationRequest, google::protobuf::Empty>(
      kind, [operations](const auto& in, auto*) { return operations->Delete(in.name()); });
}

}  // namespace sonde
