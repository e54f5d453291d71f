// grpc.reflection.v1.ServerReflection, and v1alpha, which is the same: the API's descriptors, for tools that
// show or call it without having its files.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "base/admission.h"
#include "rpc/call.h"

namespace sonde {

// Calls over the limits of `calls`, which must outlive the router, are UNAVAILABLE.
void AddReflectionServices(Admission* calls, rpc::Router* router);

// The ServerReflectionResponse, serialized, to a ServerReflectionRequest: a file of that name, or with that
// symbol or extension, and all that it imports; the numbers of a type's extensions; the names of services.
// What is not there, or was not asked for at all, is an error within the response.  INVALID_ARGUMENT: it is
// no such message.
absl::StatusOr<std::string> AnswerReflection(std::string_view request);

}  // namespace sonde
