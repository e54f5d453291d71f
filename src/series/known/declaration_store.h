// The facts about series, kept with the tables that they are in, so that any client of the server can ask for
// them.
//
// Declarations have a table of their own, and so work on any Bigtable: table kDeclarationsTable, row key: the
// name of the series, family "d".  A declared series has column "yaml": the text of the declaration; and
// column "tables": the names of its tables, a line each.  A cell's timestamp is the time when it was stored;
// the newest kDeclarationsKept of each column stay.  An open series (known_series.h) has column "open": its
// record, always at time 0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/known/known_series.h"
#include "series/schema/schema.h"

namespace sonde::series {

constexpr char kDeclarationsTable[] = "sonde_series";
constexpr int32_t kDeclarationsKept = 100;

struct StoredSeries {
  std::string series;
  std::string text;  // of its declaration; empty: an open series
  std::vector<std::string> tables;
  int64_t stored_micros = 0;
  std::string open_record;  // empty: a declared series
};

absl::Status EnsureDeclarationsTable(TableAccess* tables);

// All of them, by the name of the series; none when nothing was ever stored.
absl::StatusOr<std::vector<StoredSeries>> ListStored(TableAccess* tables);
// Only declared ones.
absl::StatusOr<std::vector<StoredSeries>> ListDeclarations(TableAccess* tables);
// DATA_LOSS: this build does not understand it.
absl::StatusOr<KnownSeries> ParseStored(const StoredSeries& stored);

// Nothing when nobody has declared or sent it; `tables` of what it gives is empty.
absl::StatusOr<std::optional<StoredSeries>> FindStoredSeries(std::string_view series, TableAccess* tables);
// Nothing when nobody has declared or sent it.  DATA_LOSS as ParseStored.
absl::StatusOr<std::optional<KnownSeries>> FindKnownSeries(std::string_view series, TableAccess* tables);
absl::Status StoreOpenSeries(const KnownSeries& series, TableAccess* tables);

// FAILED_PRECONDITION: the series is an open one, and what is asked for takes a declaration.
absl::Status NotDeclared(std::string_view series);

// The declaration of a series.  NOT_FOUND: there is none; the message names those that there are.
// NotDeclared: an open series.
absl::StatusOr<SeriesSchema> FindDeclaration(std::string_view series, TableAccess* tables);

// The texts of the declarations of a series that are kept, the newest first.
absl::StatusOr<std::vector<std::string>> ListHistory(const std::string& series, TableAccess* tables);

// Stores the declaration (SeriesSchema::text) unless it is the one that is stored already.
absl::Status StoreDeclaration(const SeriesSchema& schema, TableAccess* tables, const Clock& clock);

// Notes about one table of a series, kept in the row of its declaration: column KIND:TABLE.
constexpr char kCopiedToNote[] = "copied_to";  // the last row key that `sonde series rewrite` has copied
constexpr char kCopiedNote[] = "copied";       // all was copied; the declaration that had the table
constexpr char kCopiedTablePrefix[] = "sonde_copied_";  // of tables that a rewrite keeps; derive/rewrite.h
absl::Status StoreNote(const std::string& series, std::string_view kind, const std::string& table,
                       const std::string& text, TableAccess* tables, const Clock& clock);
// Empty: there is none.
absl::StatusOr<std::string> FindNote(const std::string& series, std::string_view kind,
                                     const std::string& table, TableAccess* tables);
// Lists the notes of one kind, by table.
absl::StatusOr<std::map<std::string, std::string>> ListNotes(const std::string& series, std::string_view kind,
                                                             TableAccess* tables);
absl::Status DeleteNote(const std::string& series, std::string_view kind, const std::string& table,
                        TableAccess* tables);
// Those of a rewrite.
absl::Status DeleteNotes(const std::string& series, const std::string& table, TableAccess* tables);

}  // namespace sonde::series
