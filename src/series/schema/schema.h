// A declared series: what its points are, and how they become rows and cells.
//
// Made by schema_parser.h, which has checked everything that one declaration can say wrong; whoever builds
// one by hand (a test) keeps the same promises.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gc_rule.h"
#include "series/schema/calendar.h"
#include "series/schema/slot_format.h"
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
  // For sizes and measures: how many values it has within one combination of the tags before it, and how many
  // of these have how much of all points.
  std::optional<int64_t> count;
  int64_t busy_count = 0;  // 0: all are equally busy
  double busy_share = 0;
  std::string column;  // each row has a copy of the value in this column, for other readers; empty: none
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
  // Short on the wire: the column's name (kCells, kRow), what stands in the key and in front of a slot
  // (kColumns, kOffsets), or the name in the JSON (kBlob).
  std::string qualifier;
  std::string family;
  FieldType type = FieldType::kDouble;
  FieldEncoding encoding = FieldEncoding::kText;
  std::optional<int64_t> value_bytes;  // of one value, about; for sizes only
  std::string unit;                    // of its values, for people: "ms", "bytes", "%"; empty: not said
  int line = 0;
};

struct KeyPart {
  enum class Kind : uint8_t { kTag, kConst, kTime, kBucket, kField, kSalt };
  Kind kind = Kind::kTag;
  size_t tag = 0;                                // kTag: index into SeriesSchema::tags
  int salts = 0;                                 // kSalt: 0 to salts - 1, in as many digits as that has
  std::vector<size_t> salt_tags;                 // kSalt: a hash of these; empty: of the row's time
  std::string text;                              // kConst
  TimeFormat format = TimeFormat::kEpochMillis;  // kTime; kBucket: of the bucket's start
  int width_bytes = 0;                           // kTime, kBucket, kSalt: always this many
  bool reverse = false;                          // epoch formats only: Long.MAX_VALUE - number
  int line = 0;

  bool IsTime() const { return kind == Kind::kTime || kind == Kind::kBucket; }
};

// Beyond the widest piece of a roll-up: how much later than its points came a piece may be computed anew.
constexpr int64_t kRollupSlackMicros = kMicrosPerHour;

// The kind of rows; source: the documents' patterns.  A cell's timestamp is the time of its event, unless
// SeriesSchema::keeps_corrections.
enum class Layout : uint8_t {
  kCells,    // a row per series and bucket; a column per field; a cell per event
  kColumns,  // a row per series, field and bucket; the reading is the qualifier, its value empty; a cell per
             // event (equal readings are versions of one column)
  kOffsets,  // a row per series and bucket; a column per field and slot of the bucket
  kRow,      // a row per event; a column per field
  kBlob,     // all fields of an event in one value: a row per event, or (with a bucket) a cell per event
};

enum class BlobFormat : uint8_t { kJson, kProtobuf };

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

// A copy of each period's points in a table of its own, as SENSOR_YYYYMMDD of the documents; made when its
// first point comes.
struct PeriodTable {
  std::string prefix;  // the table's name is prefix, the start of its period, suffix
  std::string suffix;
  TimeFormat format = TimeFormat::kDayCompact;
  BucketWidth every;
  std::optional<int64_t> max_age_micros;  // dropped when all of it is older
  int line = 0;

  std::string TableAt(int64_t time_micros) const;
  std::string Pattern() const;  // as declared: SENSOR_{yyyymmdd}
  // The start of the period of one of its tables; nothing for other names.
  std::optional<int64_t> PeriodOf(std::string_view table) const;
};

// The same points under another key, for the queries that the first key is not made for.
struct OrderTable {
  std::string table;
  std::vector<KeyPart> key;
  std::optional<BucketWidth> bucket;
  Layout layout = Layout::kCells;
  std::optional<Retention> retention;  // none: that of the series
  int line = 0;
};

enum class RollupAggregate : uint8_t { kCount, kSum, kMin, kMax, kFirst, kLast };

// Aggregates of each numeric field over pieces of time, kept longer than the points themselves.
struct RollupTable {
  std::string table;
  BucketWidth every;
  std::vector<RollupAggregate> aggregates;
  Retention retention;
  int line = 0;
};

// A query that the tables are to be good at; the first is the most important.
struct DeclaredQuery {
  enum class Range : uint8_t { kDuration, kLatest, kAll };
  std::string text;
  bool is_text_only = false;  // what follows is not declared
  std::vector<size_t> tags;   // that it names one value of
  Range range = Range::kAll;
  int64_t range_micros = 0;             // kDuration
  std::vector<size_t> fields;           // empty: all
  std::optional<BucketWidth> every;     // aggregated over these
  std::optional<double> times_per_day;  // how often it is asked
  int line = 0;
};

// How CSV files of this series look; a call can say otherwise.
struct CsvDefaults {
  std::string time_column;                       // empty: time, timestamp, datetime or date
  std::string time_format;                       // empty: RFC 3339; else as write/time_parser.h
  std::map<std::string, std::string> columns;    // column to tag or field, where the names differ
  std::map<std::string, std::string> constants;  // tag to the value that all lines have
};

struct SeriesSchema;

// One version of a declaration, and the piece of time that is asked for and held by it.
struct VersionSpan {
  const SeriesSchema* schema = nullptr;
  int64_t from_micros = kTimeBeginMicros;
  int64_t to_micros = kTimeEndMicros;
};

struct SeriesSchema {
  std::string file;  // for messages
  std::string text;  // the declaration as it was read; empty for schemas that were made otherwise
  std::string name;
  std::string table;
  std::vector<Tag> tags;
  std::vector<Field> fields;
  int64_t resolution_micros = 1000;  // times are rounded down to a multiple of it
  // Numbers in row keys count from it, and so do timestamps of cells that are the times of points; none: from
  // 1970-01-01.  A multiple of the resolution and of a minute.
  std::optional<int64_t> origin_micros;
  std::optional<int64_t> interval_micros;  // between two points of one series, for sizes only
  bool assume_utc = false;                 // a time that names no zone is UTC
  std::vector<KeyPart> key;
  std::optional<BucketWidth> bucket;
  Layout layout = Layout::kCells;
  // kOffsets: how long a slot is, and how it is written.
  int64_t slot_micros = 0;
  SlotFormat slot_format = SlotFormat::kIndex;
  // kBlob: how, and in which column.
  BlobFormat blob_format = BlobFormat::kJson;
  std::string blob_column = "blob";
  // Cells have the time when they were written, so that an amended value stays as an older version.  For
  // layouts whose rows or columns say the time of the event (all but kCells, kColumns, kBlob with a bucket).
  bool keeps_corrections = false;
  // Its entities (sets of tags) are in the index of series (known/indexed_series.h).  Of the series as declared; its derived tables and
  // earlier versions, as schemas of their own, are not indexed.
  bool is_indexed = false;
  int index_line = 0;
  std::string time_column;      // each row has its time in this column too, epoch ms; empty: none
  std::string delimiter = "#";  // one byte, or none
  std::string family = "m";     // of fields that name no other, of copies and blobs
  Retention retention;
  std::map<std::string, Retention> family_retention;  // of families that have a rule of their own
  // How much longer than max_age the series' own tables keep its points: so that each piece of a roll-up
  // which a living point may fall into can be computed anew.  0: there are no roll-ups.  Queries do not
  // answer with what is kept so.
  int64_t kept_longer_micros = 0;
  std::vector<LatestTable> latest;
  std::vector<PeriodTable> periods;
  std::vector<OrderTable> orders;
  std::vector<RollupTable> rollups;
  std::vector<DeclaredQuery> queries;
  CsvDefaults csv;
  int key_line = 0;
  int layout_line = 0;
  int retention_line = 0;

  // Earlier versions of the declaration, the oldest first: points before until_micros of one (and not before
  // that of the one before it) are in its table, under its key.  Points from the last one on are in `table`.
  std::vector<SeriesSchema> earlier;
  int64_t until_micros = kTimeEndMicros;

  std::optional<size_t> FindTag(std::string_view tag) const;
  std::optional<size_t> FindField(std::string_view field) const;
  const Retention& RetentionOf(const std::string& of_family) const;
  // The family that values of a field are written to.
  const std::string& FamilyOf(size_t field) const {
    return layout == Layout::kBlob ? family : fields[field].family;
  }
  // The rule of `family`: forgets by age (max_age and kept_longer_micros) or by count, whichever comes first.
  // The age is that of timestamps: what is max_age old has one that is TimestampOrigin older.
  GcRule MakeGcRule() const { return MakeGcRule(family); }
  GcRule MakeGcRule(const std::string& of_family) const;
  // All families, each once, sorted.
  std::vector<std::string> Families() const;
  // The part that says a point's time most exactly; null when the key has none.
  const KeyPart* FinestTimePart() const;
  // The first part of this kind; null when the key has none.
  const KeyPart* FindPart(KeyPart::Kind kind) const;
  int64_t Origin() const { return origin_micros.value_or(0); }
  // The bytes of a number of an epoch format in the key: as many as take all times from the declared origin
  // on; without one, those that do until 2286.
  int EpochWidthBytes(TimeFormat format) const;
  // Whether only the timestamp of its cell says the time of a point.
  bool IsTimeInTimestamps() const { return !IsRowPerPoint() && layout != Layout::kOffsets; }
  // Whether rows of the two, which are the same otherwise, say the same times.
  bool CountsAsDoes(const SeriesSchema& other) const;
  // The time that the timestamps of cells count from.  If something else says the time, too, timestamps count
  // from 1970, for other readers and for max_age; earlier times are 0.
  int64_t TimestampOrigin() const { return IsTimeInTimestamps() ? Origin() : 0; }
  // The timestamp of a point's cells, without keeps_corrections: its time in whole milliseconds from
  // TimestampOrigin.
  int64_t TimestampOf(int64_t time_micros) const {
    return std::max<int64_t>(0, FloorMicros(time_micros - TimestampOrigin(), 1000));
  }
  // Whether a row has one event (kRow, and kBlob with a time in its key).
  bool IsRowPerPoint() const;
  // The start and end of the piece of time whose points are in the row of `time_micros`.
  int64_t RowStart(int64_t time_micros) const;
  int64_t RowEnd(int64_t time_micros) const;
  // The versions that hold points of [from, to), the oldest first; they point into *this.
  std::vector<VersionSpan> VersionsIn(int64_t from_micros, int64_t to_micros) const;
};

// Schemas of derived tables: series like any other, to be written and read as such.  They have neither
// derived tables nor earlier versions. Newest values: the tags and constants of the key, nothing of the time.
SeriesSchema MakeLatestSchema(const SeriesSchema& schema, const LatestTable& latest);
SeriesSchema MakePeriodSchema(const SeriesSchema& schema, const PeriodTable& period, int64_t time_micros);
SeriesSchema MakeOrderSchema(const SeriesSchema& schema, const OrderTable& order);
// A row for each series and piece of time, fields FIELD_count, FIELD_sum and so on (as AS_count); the count
// is an int, all others are as the field.  All are decimal texts; of an int, a sum that leaves 64 bits has
// all of its digits, and earlier versions wrote ints as doubles (1e+16).
SeriesSchema MakeRollupSchema(const SeriesSchema& schema, const RollupTable& rollup);

// All of these but periods', which are as the series' own.
std::vector<SeriesSchema> MakeDerivedSchemas(const SeriesSchema& schema);

// The schema of the table, as any of the tables above, or as one of an earlier version; nothing for other
// tables.
std::optional<SeriesSchema> SchemaOfTable(const SeriesSchema& schema, std::string_view table);

std::string_view RollupAggregateName(RollupAggregate aggregate);
std::string_view LayoutName(Layout layout);
// cells, columns, offsets, row, blob; nothing for others.
std::optional<Layout> LayoutOfName(std::string_view name);

}  // namespace sonde::series
