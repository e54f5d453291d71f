#include "wire/grpc_status.h"

#include <google/rpc/status.pb.h>

namespace sonde {

// Both number their codes as google.rpc.Code does.
grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

void ToProto(const absl::Status& status, google::rpc::Status* out) {
  out->set_code(static_cast<int>(status.code()));
  if (!status.ok()) out->set_message(std::string(status.message()));
}

}  // namespace sonde
