// google.longrunning.Operations: the answers to long calls of the administration, which clients ask for
// again.
//
// Nothing in Sonde takes long: an operation is done when it is handed out, and an error fails the call
// itself. Operations are remembered so that a client which asks again finds its own.  Past kOperationsMax or
// kOperationsBytesMax the oldest are forgotten; when the server ends, all are.  A forgotten operation is
// NOT_FOUND.
#pragma once

#include <google/longrunning/operations.pb.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "wire/call/calls.h"

namespace sonde {

// The operations of one server.
//
// Threads: all functions may be called at once.
class Operations {
 public:
  static constexpr size_t kOperationsMax = 1'000;
  static constexpr size_t kOperationsBytesMax = 16 << 20;
  static constexpr size_t kPageMax = 100;

  // Operations are numbered from `first_id`, which is a time, so that no name is given again after a restart.
  explicit Operations(uint64_t first_id) : next_id_(first_id) {}

  // Makes an operation that is done.  Its name is `operations/RESOURCE/operations/ID`; the resource is what
  // the operation was about (projects/P/instances/I/tables/T).
  google::longrunning::Operation Done(std::string_view resource, const google::protobuf::Message& metadata,
                                      const google::protobuf::Message& response);

  // NOT_FOUND: it is forgotten, or never was.  INVALID_ARGUMENT: the name is no operation's.
  absl::StatusOr<google::longrunning::Operation> Get(const std::string& name) const;
  absl::Status Delete(const std::string& name);
  // Lists the operations below `request.name` (operations/projects/P[/instances/I[...]]), oldest first.
  // INVALID_ARGUMENT: a name, page size or page token that cannot be.  UNIMPLEMENTED: a filter.
  absl::Status List(const google::longrunning::ListOperationsRequest& request,
                    google::longrunning::ListOperationsResponse* response) const;

 private:
  struct Entry {
    uint64_t id = 0;
    size_t bytes = 0;
    google::longrunning::Operation operation;
  };
  std::deque<Entry>::const_iterator Find(const std::string& name) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_);
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // oldest first
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Nothing is owned.
void AddOperationsService(Operations* operations, const CallResources& resources, rpc::Router* router);

}  // namespace sonde
