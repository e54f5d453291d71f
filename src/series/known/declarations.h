// The series that a store knows, kept in memory: what takes points and questions asks here for each.
//
// Declarations that other clients store are seen within seconds, and at once where a series is asked for that
// was not known (FindStored, Extend).
//
// Threads: all functions may be called at once.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/known/declaration_store.h"
#include "series/known/known_series.h"
#include "series/schema/schema.h"

namespace sonde::series {

constexpr size_t kSeriesMax = 100'000;
constexpr size_t kOpenLabelsMax = 200;     // of one series
constexpr size_t kOpenFieldsMax = 10'000;  // of one series
constexpr size_t kOpenNameBytesMax = 1'024;

struct OpenField {
  std::string_view name;
  FieldType type = FieldType::kDouble;
};

class Declarations {
 public:
  // Both must outlive this.
  Declarations(TableAccess* tables, const Clock* clock) : tables_(tables), clock_(clock) {}

  // Reads what the store has.  An error of the store; DATA_LOSS: a row that this build does not understand.
  absl::Status Load();

  // Null when there is none.
  KnownSeriesRef Find(std::string_view name);
  // The same, and looks into the store for one that is not known.  An error of the store, or DATA_LOSS.
  absl::StatusOr<KnownSeriesRef> FindStored(std::string_view name);
  std::vector<KnownSeriesRef> List();  // by name

  // Checks the declaration (RefuseErrors), makes its tables and keeps it, instead of an earlier one of the
  // same name.  FAILED_PRECONDITION: as CheckAgainstStored.
  absl::StatusOr<KnownSeriesRef> Declare(std::string_view yaml);

  // The open series `name` with at least these labels and fields, which are kept before this returns.
  // FAILED_PRECONDITION: it was declared.  INVALID_ARGUMENT: a name that is empty, too long, or not UTF-8; a
  // field that is known with another type.  RESOURCE_EXHAUSTED: more series, labels or fields than there may
  // be.
  absl::StatusOr<KnownSeriesRef> Extend(std::string_view name, const std::vector<std::string_view>& labels,
                                        const std::vector<OpenField>& fields);

 private:
  // Now and then: what other clients have declared, or dropped.
  void LookAgain();
  void TakeDeclarations(const std::vector<StoredSeries>& all) ABSL_EXCLUSIVE_LOCKS_REQUIRED(changing_);
  KnownSeriesRef Known(std::string_view name) const;
  KnownSeriesRef Keep(KnownSeries series) ABSL_EXCLUSIVE_LOCKS_REQUIRED(changing_);
  // Null when there is none.
  absl::StatusOr<KnownSeriesRef> ReadStored(std::string_view name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(changing_);
  absl::Status Store(const KnownSeries& series) ABSL_EXCLUSIVE_LOCKS_REQUIRED(changing_);  // an open one

  TableAccess* const tables_;
  const Clock* const clock_;
  // Held while a change is stored or read: changes come one after the other.
  absl::Mutex changing_;
  bool has_table_ ABSL_GUARDED_BY(changing_) = false;
  std::atomic<int64_t> next_look_micros_ = 0;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, KnownSeriesRef> series_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde::series
