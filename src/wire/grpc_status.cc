#include "wire/grpc_status.h"

#include <google/rpc/status.pb.h>

namespace sonde {

// Both number their codes as google.rpc.Code does.
grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const auto code = static_cast<grpc::StatusCode>(status.code());
  google::rpc::Status details;
  ToProto(status, &details);
  if (details.details().empty()) return {code, std::string(status.message())};
  return {code, std::string(status.message()), details.SerializeAsString()};
}

void ToProto(const absl::Status& status, google::rpc::Status* out) {
  out->set_code(static_cast<int>(status.code()));
  if (!status.ok()) out->set_message(std::string(status.message()));
  status.ForEachPayload([out](absl::string_view type_url, const absl::Cord& payload) {
    google::protobuf::Any* detail = out->add_details();
    detail->set_type_url(std::string(type_url));
    detail->set_value(std::string(payload));
  });
}

void AddDetail(const google::protobuf::Message& detail, absl::Status* status) {
  status->SetPayload("type.googleapis.com/" + detail.GetDescriptor()->full_name(),
                     absl::Cord(detail.SerializeAsString()));
}

}  // namespace sonde
