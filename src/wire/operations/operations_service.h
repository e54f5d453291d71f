// google.longrunning.Operations: the calls by which clients ask for operations again, wait for them, and end them.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "base/admission.h"
#include "wire/call/calls.h"
#include "wire/operations/operation_runner.h"
#include "wire/operations/operation_waits.h"
#include "wire/operations/operations.h"

namespace sonde {

// WaitOperation answers the operation as it is when its timeout, or the call's deadline, has passed.  The calls that wait hold a
// place in `waits_admission`, and no thread.  Nothing is owned.
struct OperationsParts {
  Operations* operations;
  OperationRunner* runner;
  OperationWaits* waits;
  Admission* waits_admission;
};

// Ends a call with an operation, once it has ended; or as it is when `timeout` or the call's deadline has passed.  `place` is held until
// then, and no thread.
void EndWithOperation(const CallEnd& end, const Operations* operations, OperationWaits* waits,
                      const std::string& name, absl::Duration timeout, Admission::Place place);

void AddOperationsService(const OperationsParts& parts, const CallResources& resources, rpc::Router* router);

}  // namespace sonde
