#include "wire/raw_service.h"

#include <fmt/format.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>

#include <memory>
#include <utility>

namespace sonde {
namespace {

using grpc::internal::MethodHandler;
using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

// gRPC hands requests out as constant, and keeps them until the call is over: for a stream that waits for
// days, too.  They are objects of its own that are not constant, and that it only destroys.
grpc::ByteBuffer* Owned(const grpc::ByteBuffer* request) { return const_cast<grpc::ByteBuffer*>(request); }

}  // namespace

const char* RawService::PathOf(std::string_view method) {
  return paths_.emplace_back(fmt::format("/{}/{}", name_, method)).c_str();
}

void RawService::Add(std::string_view method, RpcMethod::RpcType type, std::unique_ptr<MethodHandler> handler,
                     Receptions* receptions) {
  const auto index = static_cast<int>(paths_.size());
  if (receptions != nullptr) {
    // On the wire it is the same.
    type = RpcMethod::BIDI_STREAMING;
    handler = receptions->Receive(std::move(handler));
  }
  AddMethod(new RpcServiceMethod(PathOf(method), type, nullptr));
  MarkMethodRawCallback(index, handler.release());
}

void RawService::AddUnary(std::string_view method, UnaryMethod answer, Receptions* receptions) {
  auto handler = std::make_unique<grpc::internal::CallbackUnaryHandler<Bytes, Bytes>>(
      [answer = std::move(answer)](Context* context, const Bytes* request, Bytes* response) {
        if (const absl::Status* why = Receptions::Refusal(); why != nullptr) {
          AddServerMetadata(context, absl::Now(), *why);
          grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
          reactor->Finish(ToGrpc(*why));
          return reactor;
        }
        return answer(context, Owned(request), response);
      });
  Add(method, RpcMethod::NORMAL_RPC, std::move(handler), receptions);
}

void RawService::AddList(std::string_view method, ListMethod answer, Receptions* receptions) {
  auto handler = std::make_unique<grpc::internal::CallbackServerStreamingHandler<Bytes, Bytes>>(
      [answer = std::move(answer)](Context* context,
                                   const Bytes* request) -> grpc::ServerWriteReactor<Bytes>* {
        if (const absl::Status* why = Receptions::Refusal(); why != nullptr) {
          AddServerMetadata(context, absl::Now(), *why);
          auto* reactor = new ListReactor();
          reactor->Answer(*why, {}, {});
          return reactor;
        }
        return answer(context, Owned(request));
      });
  Add(method, RpcMethod::SERVER_STREAMING, std::move(handler), receptions);
}

}  // namespace sonde
