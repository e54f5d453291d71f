// Which series a table holds, as its instance declares it (series/known/declaration_store.h): for findings
// and pages.
//
// Declarations are read again every kDeclarationsFor, or less often if there are many; so a new declaration
// is seen a little later.  No observer is told of these reads.
//
// Threads: all functions may be called at once; who comes while declarations are read waits for them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "keyviz/findings.h"
#include "series/schema/schema.h"
#include "table/tables.h"
#include "web/row_meaning.h"

namespace sonde {

constexpr absl::Duration kDeclarationsFor = absl::Seconds(2);

class TableDeclarations {
 public:
  // `tables` must outlive it.
  explicit TableDeclarations(Tables* tables);

  // `table_name`: projects/P/instances/I/tables/T; also of tables that are derived from a series' own.
  // Nothing: it holds none that is declared, or what was declared cannot be read.
  std::optional<DeclaredSeries> Find(std::string_view table_name);
  // The same, to read its rows by; null where Find finds nothing.
  std::unique_ptr<RowMeaning> MeaningOf(std::string_view table_name);
  // Whether it is one in which Sonde keeps its own records, as those declarations.
  static bool IsOwnTable(std::string_view table_name);

 private:
  using SchemaRef = std::shared_ptr<const series::SeriesSchema>;
  struct OfInstance {
    std::vector<SchemaRef> schemas;
    absl::Time read_again = absl::InfinitePast();
  };
  struct Found {
    SchemaRef schema;     // the series'
    bool is_own = false;  // the table is the series' own, and not derived from it
  };
  std::optional<Found> FindSchema(std::string_view table_name) ABSL_LOCKS_EXCLUDED(mutex_);
  const std::vector<SchemaRef>& DeclaredIn(const std::string& instance) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Tables tables_;  // without an observer
  absl::Mutex mutex_;
  std::map<std::string, OfInstance> instances_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
