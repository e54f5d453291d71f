// What to answer to what is not built: UNIMPLEMENTED, with the name of the call or field and of the page that
// lists what is.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <string_view>

#include "absl/status/status.h"

namespace sonde {

// UNIMPLEMENTED: `field`, or a value of it, of the call ("ReadRows").
absl::Status FieldNotBuilt(std::string_view field, std::string_view call);
// UNIMPLEMENTED, with a text of its own and the page.
absl::Status NotBuilt(std::string_view text);

// Answers every call that no service has, of built services or of others.  Its request is not read.
class UnbuiltCalls final : public grpc::CallbackGenericService {
 private:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override;
};

}  // namespace sonde
