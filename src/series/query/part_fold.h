// What becomes of the points that idle processors read in parts (divided_fold.h).
#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rows/batch.h"
#include "rows/work_check.h"

namespace sonde::series {

// What becomes of the points of a part.  Not for several threads.
class PartFold {
 public:
  virtual ~PartFold() = default;
  // Errors end the part, and whoever takes the parts never meets them.
  virtual absl::Status Add(const rows::Batch& batch) = 0;
  // Forgets all points.
  virtual void Clear() = 0;
};

// Called by several threads at once.
using MakeFold = std::function<std::unique_ptr<PartFold>(const rows::Interrupted& interrupted)>;
// Takes what a part folded, which is cleared when this returns.  False: no more parts are wanted.
using TakePart = std::function<absl::StatusOr<bool>(PartFold* part)>;

}  // namespace sonde::series
