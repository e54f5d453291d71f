// A gRPC service whose requests come as bytes, so that each is measured and admitted before anything is made
// of it.  A method that was not added is left to UnbuiltCalls (wire/not_built.h).
#pragma once

#include <grpcpp/impl/service_type.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "wire/calls.h"
#include "wire/reception.h"

namespace sonde {

class RawService : public grpc::Service {
 protected:
  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;
  // The request and the place for the response are the call's, and there until it is over.
  using UnaryMethod = std::function<grpc::ServerUnaryReactor*(Context*, Bytes* request, Bytes* response)>;
  using ListMethod = std::function<grpc::ServerWriteReactor<Bytes>*(Context*, Bytes* request)>;

  // `name`: "google.bigtable.v2.Bigtable".
  explicit RawService(std::string_view name) : name_(name) {}

  // In the constructor.  `method`: "MutateRow".  `receptions`: where its requests come in, which may be
  // large; null: gRPC takes them in.
  void AddUnary(std::string_view method, UnaryMethod answer, Receptions* receptions = nullptr);
  void AddList(std::string_view method, ListMethod answer, Receptions* receptions = nullptr);

  // The method that takes a `Request`, answered by AnswerUnary.
  template <typename Request, typename Response, typename Handle>
  void AddUnary(const CallKind& kind, RequestMetrics* metrics, Handle handle) {
    const auto answer = [=](Context* context, Bytes* in, Bytes* out) {
      return AnswerUnary<Request, Response>(context, in, out, kind, metrics, handle);
    };
    AddUnary(MethodOf<Request>(), answer, kind.receptions);
  }

 private:
  const char* PathOf(std::string_view method);
  void Add(std::string_view method, grpc::internal::RpcMethod::RpcType type,
           std::unique_ptr<grpc::internal::MethodHandler> handler, Receptions* receptions);

  const std::string name_;
  std::deque<std::string> paths_;  // where they are, gRPC's methods point
};

}  // namespace sonde
