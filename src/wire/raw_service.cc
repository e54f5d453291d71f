#include "wire/raw_service.h"

#include <fmt/format.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>

#include <memory>
#include <utility>

namespace sonde {
namespace {

using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

// gRPC hands requests out as constant, and keeps them until the call is over: for a stream that waits for
// days, too.  They are objects of its own that are not constant, and that it only destroys.
grpc::ByteBuffer* Owned(const grpc::ByteBuffer* request) { return const_cast<grpc::ByteBuffer*>(request); }

}  // namespace

const char* RawService::PathOf(std::string_view method) {
  return paths_.emplace_back(fmt::format("/{}/{}", name_, method)).c_str();
}

void RawService::AddUnary(std::string_view method, UnaryMethod answer) {
  const auto index = static_cast<int>(paths_.size());
  AddMethod(new RpcServiceMethod(PathOf(method), RpcMethod::NORMAL_RPC, nullptr));
  MarkMethodRawCallback(
      index, new grpc::internal::CallbackUnaryHandler<Bytes, Bytes>(
                 [answer = std::move(answer)](Context* context, const Bytes* request, Bytes* response) {
                   return answer(context, Owned(request), response);
                 }));
}

void RawService::AddList(std::string_view method, ListMethod answer) {
  const auto index = static_cast<int>(paths_.size());
  AddMethod(new RpcServiceMethod(PathOf(method), RpcMethod::SERVER_STREAMING, nullptr));
  MarkMethodRawCallback(index, new grpc::internal::CallbackServerStreamingHandler<Bytes, Bytes>(
                                   [answer = std::move(answer)](Context* context, const Bytes* request) {
                                     return answer(context, Owned(request));
                                   }));
}

}  // namespace sonde
