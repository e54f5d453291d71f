#include "wire/reception.h"

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpcpp/impl/call.h>

#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/time/clock.h"

namespace sonde {
namespace {

using grpc::internal::MethodHandler;

thread_local const absl::Status* refusal = nullptr;

}  // namespace

// Deleted when gRPC says that it has received what there is, whatever became of the call until then.
struct Receptions::Call : grpc_completion_queue_functor {
  Receptions* receptions;
  MethodHandler* handler;
  grpc::internal::Call* call;  // gRPC's, as the context: there until the handler has ended
  grpc::ServerContextBase* context;
  std::function<void()> requester;
  absl::Time came;
  std::list<Call*>::iterator place;
  bool is_refused = false;  // guarded by the mutex
  grpc_byte_buffer* bytes = nullptr;

  // The bytes are taken over; null: none came.
  static void Run(MethodHandler* handler, grpc::internal::Call* call, grpc::ServerContextBase* context,
                  std::function<void()> requester, grpc_byte_buffer* bytes) {
    grpc::Status status;
    void* handler_data = nullptr;
    void* const request = handler->Deserialize(call->call(), bytes, &status, &handler_data);
    handler->RunHandler({call, context, request, status, handler_data, std::move(requester)});
  }
};

class Receptions::Handler final : public MethodHandler {
 public:
  Handler(Receptions* receptions, std::unique_ptr<MethodHandler> inner)
      : receptions_(receptions), inner_(std::move(inner)) {}

  void RunHandler(const HandlerParameter& parameter) override {
    auto* const call = new Call();
    call->functor_run = &Done;
    call->inlineable = true;
    call->receptions = receptions_;
    call->handler = inner_.get();
    call->call = parameter.call;
    call->context = parameter.server_context;
    call->requester = parameter.call_requester;
    call->came = absl::Now();
    {
      std::lock_guard lock(receptions_->mutex_);
      call->place = receptions_->calls_.insert(receptions_->calls_.end(), call);
    }
    grpc_op receive{};
    receive.op = GRPC_OP_RECV_MESSAGE;
    receive.data.recv_message.recv_message = &call->bytes;
    // It fails for mistakes alone; the call must end all the same.
    if (grpc_call_start_batch(parameter.call->call(), &receive, 1, call, nullptr) != GRPC_CALL_OK) {
      Done(call, /*ok=*/0);
    }
  }

 private:
  static void Done(grpc_completion_queue_functor* functor, int /*ok*/) {
    const std::unique_ptr<Call> call(static_cast<Call*>(functor));
    if (call->receptions->Leave(call.get())) {
      Call::Run(call->handler, call->call, call->context, std::move(call->requester), call->bytes);
    } else if (call->bytes != nullptr) {
      grpc_byte_buffer_destroy(call->bytes);
    }
  }

  Receptions* const receptions_;
  const std::unique_ptr<MethodHandler> inner_;
};

std::unique_ptr<MethodHandler> Receptions::Receive(std::unique_ptr<MethodHandler> inner) {
  return std::make_unique<Handler>(this, std::move(inner));
}

bool Receptions::Leave(Call* call) {
  std::lock_guard lock(mutex_);
  if (call->is_refused) return false;
  calls_.erase(call->place);
  return true;
}

size_t Receptions::RefuseYoungest(absl::Duration age, bool keeps_oldest, const absl::Status& why) {
  struct Refused {
    MethodHandler* handler;
    grpc::internal::Call* call;
    grpc::ServerContextBase* context;
    std::function<void()> requester;
  };
  std::vector<Refused> refused;
  {
    const absl::Time before = absl::Now() - age;
    std::lock_guard lock(mutex_);
    size_t slow = 0;
    for (auto at = calls_.begin(); at != calls_.end() && (*at)->came <= before; ++at) ++slow;
    const size_t kept = (slow + (keeps_oldest ? 1 : 0)) / 2;
    auto at = std::next(calls_.begin(), static_cast<ptrdiff_t>(kept));
    while (refused.size() < slow - kept) {
      Call* const call = *at;
      at = calls_.erase(at);
      call->is_refused = true;
      refused.push_back({call->handler, call->call, call->context, std::move(call->requester)});
    }
  }
  // A call that ends makes gRPC give up what it receives for it.
  refusal = &why;
  for (Refused& one : refused)
    Call::Run(one.handler, one.call, one.context, std::move(one.requester), nullptr);
  refusal = nullptr;
  return refused.size();
}

const absl::Status* Receptions::Refusal() { return refusal; }

size_t Receptions::count() const {
  std::lock_guard lock(mutex_);
  return calls_.size();
}

}  // namespace sonde
