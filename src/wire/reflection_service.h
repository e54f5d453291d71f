// grpc.reflection.v1.ServerReflection, and v1alpha, which is the same service: the API's descriptors, for
// tools that show or call the API without having its files.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "base/admission.h"
#include "rpc/call.h"

namespace sonde {

// A call over the limits of `calls` is UNAVAILABLE.  `calls` must outlive the router.
void AddReflectionServices(Admission* calls, rpc::Router* router);

// Answers a serialized ServerReflectionRequest with a serialized ServerReflectionResponse: a file of a name,
// or with a symbol or extension, and all that it imports; the numbers of a type's extensions; the names of
// services.  An answer that does not exist, or a request that asks nothing, is an error within the response.
// INVALID_ARGUMENT: the bytes are no ServerReflectionRequest.
absl::StatusOr<std::string> AnswerReflection(std::string_view request);

}  // namespace sonde
