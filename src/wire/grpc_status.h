// Sonde's statuses as gRPC's: the only place of the server where they are converted.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace google::rpc {
class Status;
}

namespace sonde {

grpc::Status ToGrpc(const absl::Status& status);
void ToProto(const absl::Status& status, google::rpc::Status* out);

}  // namespace sonde
