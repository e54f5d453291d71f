// A declared series: what its points are, and how they become rows and cells.
//
// Made by schema_parser.h, which has checked everything that one declaration can say wrong; whoever builds
// one by hand (a test) keeps the same promises.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gc_rule.h"
#include "series/schema/calendar.h"
#include "series/schema/time_format.h"

namespace sonde::series {

enum class TagType : uint8_t { kString, kInt };

// One value a point; all tags of a point together name its series.
struct Tag {
  std::string name;
  TagType type = TagType::kString;
  // Bytes in the key: an int is filled from the left with zeros, a string from the right with `pad`.
  std::optional<int> width_bytes;
  char pad = ' ';
  int line = 0;
};

enum class FieldType : uint8_t { kInt, kDouble, kString };

enum class FieldEncoding : uint8_t {
  kText,              // decimal text, as it was given
  kInt64BigEndian,    // 8 bytes, two's complement
  kFloat64BigEndian,  // 8 bytes, IEEE 754
};

// A measurement: a column.
struct Field {
  std::string name;
  std::string qualifier;  // the column's name in the table
  FieldType type = FieldType::kDouble;
  FieldEncoding encoding = FieldEncoding::kText;
  int line = 0;
};

struct KeyPart {
  enum class Kind : uint8_t { kTag, kConst, kTime, kBucket };
  Kind kind = Kind::kTag;
  size_t tag = 0;                                // kTag: index into SeriesSchema::tags
  std::string text;                              // kConst
  TimeFormat format = TimeFormat::kEpochMillis;  // kTime; kBucket: of the bucket's start
  int width_bytes = 0;                           // kTime, kBucket: always this many
  bool reverse = false;                          // epoch formats only: Long.MAX_VALUE - number
  int line = 0;

  bool IsTime() const { return kind == Kind::kTime || kind == Kind::kBucket; }
};

enum class Layout : uint8_t {
  kCells,  // a row per series and bucket; a column per field; a cell per event, its timestamp the event's
           // time
  kRow,    // a row per event; a column per field; the cells' timestamp is the event's time too
};

struct Retention {
  std::optional<int64_t> max_age_micros;
  std::optional<int32_t> max_versions;
  bool is_declared = false;  // "keep everything" said aloud counts
};

// A table with one row a series that holds its newest values, as CURRENT_METRIC of the documents.
struct LatestTable {
  std::string table;
  int line = 0;
};

// How CSV files of this series look; a call can say otherwise.
struct CsvDefaults {
  std::string time_column;                       // empty: time, timestamp, datetime or date
  std::string time_format;                       // empty: RFC 3339; else as write/time_parser.h
  std::map<std::string, std::string> columns;    // column to tag or field, where the names differ
  std::map<std::string, std::string> constants;  // tag to the value that all lines have
};

struct SeriesSchema {
  std::string file;  // for messages
  std::string name;
  std::string table;
  std::vector<Tag> tags;
  std::vector<Field> fields;
  int64_t resolution_micros = 1000;        // times are rounded down to a multiple of it
  std::optional<int64_t> interval_micros;  // between two points of one series, for sizes only
  bool assume_utc = false;                 // a time that names no zone is UTC
  std::vector<KeyPart> key;
  std::optional<BucketWidth> bucket;
  Layout layout = Layout::kCells;
  std::string delimiter = "#";  // one byte, or none
  std::string family = "m";
  Retention retention;
  std::vector<LatestTable> latest;
  std::vector<std::string> queries;
  CsvDefaults csv;
  int key_line = 0;
  int layout_line = 0;
  int queries_line = 0;

  std::optional<size_t> FindTag(std::string_view tag) const;
  std::optional<size_t> FindField(std::string_view field) const;
  // The rule of `family`: forgets by age or by count, whichever comes first.
  GcRule MakeGcRule() const;
  // The part that says a point's time most exactly; null when the key has none.
  const KeyPart* FinestTimePart() const;
};

// The schema of the rows of a table of newest values: the tags and constants of the key, nothing of the time.
SeriesSchema MakeLatestSchema(const SeriesSchema& schema, const LatestTable& latest);

}  // namespace sonde::series
