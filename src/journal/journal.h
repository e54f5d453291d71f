// The journal of a store: which tables' changes are logged for it, and their segments (backup/journal/segment.h), by which the store can be
// brought to any moment behind a copy of it.
//
// A journal has an id.  The changes of each of its tables are in it from the table's creation on, or from the journal's beginning.  If an
// existing table is to come into it or to leave it, a new journal begins, which takes another copy of the store.  A store that was
// restored has no journal until a server opens it.
//
// Threads: all functions may be called at once.
// Errors: those of the engine and of the files.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backup/journal/follower.h"
#include "backup/repository/file_system.h"
#include "backup/repository/manifest.h"
#include "base/clock.h"
#include "base/random.h"
#include "catalog/catalog.h"
#include "catalog/schema_journal.h"
#include "engine/engine.h"
#include "metrics/figure.h"

namespace sonde {

// Whether a table's name fits one of the patterns, which commas separate.  `*` stands for any letters.  A pattern without a slash is
// compared with the last part of the name.  Blanks around patterns do not count.
bool FitsPatterns(std::string_view patterns, std::string_view table_name);

// A segment ends when it has so many bytes, behind the last change of that position.
constexpr uint64_t kCutBytesMax = uint64_t{8} << 20;

class Journal {
 public:
  struct Options {
    std::string tables;   // patterns; not empty
    absl::Duration keep;  // how long the store keeps changes for those who follow
    uint64_t cut_bytes_max = kCutBytesMax;
  };
  // Begins a journal, or goes on with the one that is there.  The catalog leaves its changes in it until this ends.  All arguments must
  // outlive this.  FAILED_PRECONDITION: several servers share the store.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(Engine* engine, Catalog* catalog, const Clock* clock,
                                                       RandomSource* random, Options options);
  // Ends the journal of a store, if it has one: its tables are not logged for it any more.
  static absl::Status TurnOff(Engine* engine, Catalog* catalog);
  // Removes what a copied store knows of the journal that it was copied from.
  static absl::Status Forget(Engine* engine);
  ~Journal();
  Journal(const Journal&) = delete;

  const std::string& id() const { return id_; }

  // Runs `copy`, which copies the store, while the catalog does not change.  Returns the copy's place in the journal.
  absl::StatusOr<JournalPlace> Surround(absl::FunctionRef<absl::Status()> copy);

  // Writes a segment of the changes behind `after` to a new file.  FAILED_PRECONDITION: `journal` is another one.  OUT_OF_RANGE: changes
  // behind `after` are not kept any more.  UNAVAILABLE: a table was dropped meanwhile; try again.
  absl::StatusOr<CutSegment> Cut(FileSystem* files, const std::string& path, std::string_view journal,
                                 int64_t after, bool starts);

  // How far those who follow are behind, by what they asked for.
  std::vector<Figure> Figures() const;

 private:
  Journal(Engine* engine, Catalog* catalog, const Clock* clock, Options options)
      : engine_(engine), catalog_(catalog), clock_(clock), options_(std::move(options)) {}
  absl::Status Begin(RandomSource* random);
  // Brings the tables' uses of their logs in step with the options; *changed: a table comes or leaves.
  absl::Status Adopt(bool is_dry_run, bool* changed);
  // The tables that are journaled, deleted ones included.
  std::vector<TableSchema> ListTables() const;
  // No change of the tables will appear at or below it.
  absl::StatusOr<int64_t> FindFrontier(int64_t schema_frontier, const std::vector<TableSchema>& tables);
  absl::Status CheckIsKept(std::string_view journal, int64_t after) const;

  Engine* const engine_;
  Catalog* const catalog_;
  const Clock* const clock_;
  const Options options_;
  std::unique_ptr<SchemaJournal> schema_;
  std::string id_;
  int64_t begin_micros_ = 0;
  std::atomic<int64_t> taken_through_ = 0;  // the greatest `after` of Cut
};

}  // namespace sonde
