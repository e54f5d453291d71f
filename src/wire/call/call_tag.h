// Which request a call is, for the lines of logs that belong to it (work/request_tag.h).
#pragma once

#include "rpc/call.h"
#include "work/request_tag.h"

namespace sonde {

inline RequestTag TagOf(const rpc::Call& call) {
  return MakeRequestTag(call.FindMetadata("x-request-id").value_or(""),
                        call.FindMetadata("traceparent").value_or(""), call.name());
}

// While it lives, what the thread logs belongs to `call`, which must live as long.  Cost where nothing is logged: none.
class CallScope final : public RequestScope {
 public:
  explicit CallScope(const rpc::Call& call) : call_(call) {}
  RequestTag tag() const override { return TagOf(call_); }

 private:
  const rpc::Call& call_;
};

}  // namespace sonde
