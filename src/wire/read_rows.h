// ReadRows: rows streamed while they are scanned.  At most one message waits for the client, so a slow reader
// costs its message and its scan, whatever the size of the result.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "table/tables.h"
#include "wire/calls.h"

namespace sonde {

// The call's reactor; it deletes itself.
grpc::ServerWriteReactor<grpc::ByteBuffer>* AnswerReadRows(grpc::CallbackServerContext* context,
                                                           grpc::ByteBuffer* request, Tables* tables,
                                                           const CallResources& resources);

}  // namespace sonde
