// Which times the tables of a declaration can say, and the sentences for those that they can't.
//
// Calendar formats and reversed numbers say every time of the years 0001 to 9999.  Two things say less, and
// count from the declared origin (SeriesSchema::Origin), or from 1970-01-01 where none is declared:
//   numbers in row keys        as many digits as the part has a width, none of them negative
//   timestamps of cells        where they are the time of the point (SeriesSchema::IsTimeInTimestamps);
//                              Bigtable has none below 0
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "series/schema/schema.h"

namespace sonde::series {

struct TimeRange {  // [from, to)
  int64_t from_micros = kTimeBeginMicros;
  int64_t to_micros = kTimeEndMicros;

  bool Holds(int64_t time_micros) const { return time_micros >= from_micros && time_micros < to_micros; }
  bool operator==(const TimeRange&) const = default;
};

// Timestamps of cells count milliseconds: rounded down to one.
constexpr int64_t WholeMillis(int64_t micros) { return micros - micros % 1000; }

// The times that both ranges hold.
TimeRange Common(const TimeRange& a, const TimeRange& b);

// The times that a time or bucket part of a key can say.
TimeRange TimesOfPart(const SeriesSchema& schema, const KeyPart& part);

// The times that a table of this schema can say.  Derived tables and earlier versions are other tables.
TimeRange TimesOfTable(const SeriesSchema& schema);

// The times that the series can take: those that its own tables (each version's for its piece of time) and
// the derived tables can say.
TimeRange TimesOfSeries(const SeriesSchema& schema);

// INVALID_ARGUMENT, of a time that is not in TimeRange().
absl::Status RefuseYear(int64_t time_micros);
// INVALID_ARGUMENT, of a time that is not in TimesOfTable(schema): the time, the table, what ends there, and
// what takes such a time.  `part`: of the key, that can't say it; null: whatever it is.
absl::Status RefuseTime(const SeriesSchema& schema, int64_t time_micros, const KeyPart* part = nullptr);

// "times of the years 0001 to 9999", or from when to when, and for what reason.
std::string TimesText(const SeriesSchema& schema);

}  // namespace sonde::series
