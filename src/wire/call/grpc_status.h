// Sonde's statuses as gRPC's: the only place of the server where they are converted.
#pragma once

#include "absl/status/status.h"
#include "rpc/call.h"

namespace google::protobuf {
class Message;
}
namespace google::rpc {
class Status;
}

namespace sonde {

// A status's payloads become google.rpc.Status.details, where clients look for them.
rpc::CallStatus ToCallStatus(const absl::Status& status);
void ToProto(const absl::Status& status, google::rpc::Status* out);

// Adds a message to the status, for the client: ErrorInfo, RetryInfo...
void AddDetail(const google::protobuf::Message& detail, absl::Status* status);

}  // namespace sonde
