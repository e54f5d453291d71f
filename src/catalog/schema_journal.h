// The journal of the catalog's changes: each change of its records leaves an event, in one step with the change.
//
// An event has a position, as the records of the tables' change logs have (engine/row_log.h): a time in microseconds, or the first free
// number above it.  Events ascend strictly.  A change of a table comes after the rows that were written before it, and rows that are
// written by the new schema come after the change, also if the clock is set back.
//
// Events are the engine's records `journal/event/POSITION` (docs/formats/data-directory.md).  They are forgotten after `keep_micros`, or if there are
// more than kSchemaEventsMax.
//
// Threads: all functions may be called at once; the catalog makes changes one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "model/cell.h"

namespace sonde {

constexpr std::string_view kJournalRecords = "journal/";  // all records of the journal begin so
constexpr size_t kSchemaEventsMax = 100'000;
// The use of a table's log (LogUse::name).
constexpr char kJournalUse[] = "journal";

// A table whose log went with it.
struct DroppedLog {
  TableId table = 0;
  int64_t deleted_micros = 0;  // since then nobody has written to it

  bool operator==(const DroppedLog&) const = default;
};

struct SchemaEvent {
  int64_t position = 0;
  std::vector<RecordChange> changes;  // without versions
  std::optional<DroppedLog> dropped = std::nullopt;
};

// An event but for its position.
std::string EncodeSchemaEvent(const SchemaEvent& event);
// DATA_LOSS: the bytes are no event.
absl::StatusOr<SchemaEvent> DecodeSchemaEvent(int64_t position, std::string_view bytes);
// The key of the record of an event.
std::string SchemaEventKey(int64_t position);

class SchemaJournal {
 public:
  struct Options {
    int64_t keep_micros = 0;
    // Whether the rows of a table that is created under this name are journaled.
    std::function<bool(std::string_view table_name)> wants;
  };
  // Engine and clock must outlive this.  FAILED_PRECONDITION: several servers share the store.  DATA_LOSS: a record is damaged.
  static absl::StatusOr<std::unique_ptr<SchemaJournal>> Open(Engine* engine, const Clock* clock,
                                                             Options options);

  bool Wants(std::string_view table_name) const { return options_.wants(table_name); }
  int64_t keep_micros() const { return options_.keep_micros; }
  const Clock& clock() const { return *clock_; }

  // Writes the changes and their event.  Errors: those of the engine.
  absl::Status Write(std::vector<RecordChange> changes, std::optional<DroppedLog> dropped);
  // To be called when the engine has a new table, before anybody writes to it.
  absl::Status Pass(TableId table);

  // No event will appear at or below this position, which never goes back.  It is at least `frontier_min`, unless a change is under
  // way below that.
  int64_t FindFrontier(int64_t frontier_min);
  // The events with positions in (after, through], ascending.
  absl::StatusOr<std::vector<SchemaEvent>> Read(int64_t after, int64_t through) const;
  // All events above this position are there.
  int64_t forgotten_through() const;

 private:
  SchemaJournal(Engine* engine, const Clock* clock, Options options)
      : engine_(engine), clock_(clock), options_(std::move(options)) {}
  // Gives the event a position above the rows of the changed tables.
  int64_t Begin(const std::vector<RecordChange>& changes);
  void End();
  // The changes that forget events.
  void AddForgotten(int64_t now_micros, std::vector<RecordChange>* changes, size_t* count);

  Engine* const engine_;
  const Clock* const clock_;
  const Options options_;
  mutable absl::Mutex mutex_;
  int64_t last_ ABSL_GUARDED_BY(mutex_) =
      0;  // the last position that was given, or passed over for a frontier
  std::optional<int64_t> under_way_ ABSL_GUARDED_BY(mutex_);
  std::deque<int64_t> events_ ABSL_GUARDED_BY(mutex_);  // the positions of all events
  int64_t forgotten_through_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sonde
