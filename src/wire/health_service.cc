#include "wire/health_service.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "wire/call/grpc_status.h"
#include "wire/call/service_names.h"

namespace sonde {
namespace {

constexpr size_t kHealthRequestBytesMax = 4 << 10;
// The memory of a watch, with its call.
constexpr int64_t kWatchBytes = 4 << 10;

// HealthCheckResponse.ServingStatus.
enum class Health : uint8_t { kServing = 1, kServiceUnknown = 3 };

absl::StatusOr<std::string> ServiceOf(const rpc::MessageBytes& request) {
  google::protobuf::UnknownFieldSet fields;
  if (!fields.ParseFromArray(request.view().data(), static_cast<int>(request.size()))) {
    return absl::InvalidArgumentError("The request is not a grpc.health.v1.HealthCheckRequest");
  }
  std::string service;
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.number() == 1 && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      service = field.length_delimited();
    }
  }
  return service;
}

Health HealthOf(std::string_view service) {
  const bool is_known = service.empty() ||
                        std::find(kServiceNames.begin(), kServiceNames.end(), service) != kServiceNames.end();
  return is_known ? Health::kServing : Health::kServiceUnknown;
}

rpc::Message HealthMessage(Health health) {
  google::protobuf::UnknownFieldSet fields;
  fields.AddVarint(1, static_cast<uint64_t>(health));
  std::string bytes;
  fields.SerializeToString(&bytes);
  return bytes;
}

class HealthCheck final : public rpc::Handler {
 public:
  explicit HealthCheck(rpc::Call* call) : call_(call) {}

  void OnMessage(rpc::MessageBytes message) override {
    const absl::StatusOr<std::string> service = ServiceOf(message);
    if (!service.ok()) return call_->Finish(ToCallStatus(service.status()));
    const Health health = HealthOf(*service);
    if (health == Health::kServing) return call_->WriteAndFinish(HealthMessage(health), {});
    call_->Finish(
        {absl::StatusCode::kNotFound, fmt::format("There is no service '{}'", Printable(*service))});
  }

 private:
  rpc::Call* const call_;
};

class HealthWatch final : public rpc::Handler {
 public:
  HealthWatch(rpc::Call* call, Admission* watches) : call_(call), watches_(watches) {}

  void OnMessage(rpc::MessageBytes message) override {
    const absl::StatusOr<std::string> service = ServiceOf(message);
    if (!service.ok()) return call_->Finish(ToCallStatus(service.status()));
    absl::StatusOr<Admission::Place> place = watches_->Admit(kWatchBytes);
    if (!place.ok()) return call_->Finish(ToCallStatus(place.status()));
    place_ = *std::move(place);
    call_->Write(HealthMessage(HealthOf(*service)));
  }
  void OnCancel(const absl::Status& why) override { call_->Finish({why.code()}); }
  void OnServerEnding() override {
    call_->Finish(ToCallStatus(absl::UnavailableError("The server is ending; try again")));
  }

 private:
  rpc::Call* const call_;
  Admission* const watches_;
  Admission::Place place_;
};

}  // namespace

void AddHealthService(Admission* watches, rpc::Router* router) {
  router->Add("/grpc.health.v1.Health/Check",
              {.request_bytes_max = kHealthRequestBytesMax,
               .make = [](rpc::Call* call) { return std::make_unique<HealthCheck>(call); }});
  router->Add("/grpc.health.v1.Health/Watch",
              {.request_bytes_max = kHealthRequestBytesMax,
               .make = [watches](rpc::Call* call) { return std::make_unique<HealthWatch>(call, watches); }});
}

}  // namespace sonde
