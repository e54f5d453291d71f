// Values of cells as numbers: what TO_INT64(cf['q']) or CAST(CAST(cf['q'] AS STRING) AS FLOAT64) make of them.
//
// Threads: not for several threads.
// Errors: those of these functions (OUT_OF_RANGE); NULL in place of them where the scan column is safe.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/arena.h"
#include "model/column.h"
#include "sql/function/call.h"
#include "sql/plan/plan.h"
#include "sql/value/type.h"

namespace sonde::sql {

class NumberValues {
 public:
  // `facts` must outlive this.  UNIMPLEMENTED: there is no function that makes such numbers.
  static absl::StatusOr<std::unique_ptr<NumberValues>> Create(const ScanColumn& column,
                                                              const StatementFacts& facts);

  // A column of INT64 or FLOAT64, of a column of BYTES.
  absl::StatusOr<ColumnView> Of(const ColumnView& bytes, Arena* arena);

 private:
  // A function of one argument.
  struct Step {
    Kernel kernel = nullptr;
    std::vector<Type> argument_types;
    Type result_type;
    Call::Site site;
  };

  explicit NumberValues(const StatementFacts& facts) : facts_(facts) {}
  bool AddStep(Kernel kernel, const Type& from, const Type& to, bool is_safe);

  const StatementFacts& facts_;
  std::vector<std::unique_ptr<Step>> steps_;
};

}  // namespace sonde::sql
