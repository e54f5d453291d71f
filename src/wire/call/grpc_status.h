// Converts Sonde's statuses to gRPC's.  No other file of the server does so.
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

// Adds a message for the client to the status: ErrorInfo, RetryInfo...
void AddDetail(const google::protobuf::Message& detail, absl::Status* status);

}  // namespace sonde
