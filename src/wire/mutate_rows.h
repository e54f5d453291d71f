// MutateRows.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "table/tables.h"
#include "wire/calls.h"

namespace sonde {

grpc::ServerWriteReactor<grpc::ByteBuffer>* AnswerMutateRows(grpc::CallbackServerContext* context,
                                                             grpc::ByteBuffer* request, Tables* tables,
                                                             const CallResources& resources);

}  // namespace sonde
