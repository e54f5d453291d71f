// The series that a store knows: those that somebody declared, and the open ones, which came in by a protocol
// that declares nothing (line protocol, Prometheus).
//
// They are kept in the table kDeclarationsTable, a row a series, so that any client of the store can read
// them: family `d`, column `yaml` for a declaration as it was written, or `open` for what is known of an open
// series, as JSON: {"labels": ["host", ...], "fields": {"usage": "double", ...}}.
//
// An open series is as if declared like this, with all labels in one tag and a field for each that has come:
//   series: cpu
//   table: timeseries
//   tags: { labels: string }          # host=a,region=b
//   fields: { usage: double, ... }
//   key: [{ const: cpu }, labels, bucket]
//   bucket: hour
//   retention: { max_versions: all }
// Labels stand in the order in which they first came, absent ones left out; so the text of a set of labels
// never changes when new ones come, and a query that fixes the first of them reads only those rows.  In names
// and values, and in the series' own name, the bytes below 0x21, 0x7F and , = % # are written as %XX.
//
// Threads: all functions may be called at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/schema/schema.h"
#include "series/write/declaration_store.h"

namespace sonde::series {

constexpr char kOpenSeriesTable[] = "timeseries";

constexpr size_t kSeriesMax = 100'000;
constexpr size_t kOpenLabelsMax = 200;     // of one series
constexpr size_t kOpenFieldsMax = 10'000;  // of one series
constexpr size_t kOpenNameBytesMax = 1'024;

struct KnownSeries {
  SeriesSchema schema;
  std::string yaml;                 // as declared; empty: an open series
  std::vector<std::string> labels;  // of an open series, in the order of its keys

  bool is_open() const { return yaml.empty(); }
};
// Never changes; a new one takes its place.
using KnownSeriesRef = std::shared_ptr<const KnownSeries>;

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
  KnownSeriesRef Find(std::string_view name) const;
  std::vector<KnownSeriesRef> List() const;  // by name

  // Checks the declaration (RefuseErrors), makes its tables and keeps it, instead of an earlier one of the
  // same name.  FAILED_PRECONDITION: an open series has this name.
  absl::StatusOr<KnownSeriesRef> Declare(std::string_view yaml);

  // The open series `name` with at least these labels and fields, which are kept before this returns.
  // FAILED_PRECONDITION: it was declared.  INVALID_ARGUMENT: a name that is empty or too long; a field that
  // is known with another type.  RESOURCE_EXHAUSTED: more series, labels or fields than there may be.
  absl::StatusOr<KnownSeriesRef> Extend(std::string_view name, const std::vector<std::string_view>& labels,
                                        const std::vector<OpenField>& fields);

 private:
  absl::Status Store(const KnownSeries& series);  // an open one
  absl::Status LoadRow(const ReadRow& row, KnownSeriesRef* series) const;

  TableAccess* const tables_;
  const Clock* const clock_;
  // Held while a change is stored: changes come one after the other.
  absl::Mutex changing_;
  bool has_table_ ABSL_GUARDED_BY(changing_) = false;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, KnownSeriesRef> series_ ABSL_GUARDED_BY(mutex_);
};

// The schema of a known series as queries see it: of an open one, each label is a tag.
SeriesSchema LabelsAsTags(const KnownSeries& series);

// Appends `name` or a value of an open series, as keys have it.
void AppendEscaped(std::string_view text, std::string* out);
// What the tag `labels` of an open series holds; labels with empty values are absent.  All names must be
// known.
std::string LabelsText(const KnownSeries& series,
                       const std::vector<std::pair<std::string_view, std::string_view>>& labels);
// The values of the known labels, "" for absent ones.  DATA_LOSS: LabelsText never writes this.
absl::Status ParseLabelsText(const KnownSeries& series, std::string_view text,
                             std::vector<std::string>* values);

}  // namespace sonde::series
