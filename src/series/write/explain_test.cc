#include "series/write/explain.h"

#include <gtest/gtest.h>

#include "series/schema/schema_parser.h"

namespace sonde::series {
namespace {

std::string Explain(std::string_view text) {
  return ExplainSchema(ParseSchema(text, "x.yaml").value()).value();
}

TEST(Explain, DrawsCellsAsTheDocumentsDo) {
  EXPECT_EQ(
      Explain("series: balloon\ntags: { location: string, id: { type: int, width: 4 } }\n"
              "fields: { pressure: int, temp: double }\nkey: [location, id, bucket]\nbucket: week\n"
              "time: { resolution: 1m }\nretention: { max_age: 90d }\nderive: [ latest: balloon_now ]\n"),
      R"(series balloon, layout cells: a row for each series and week, a column for each field, a cell for each point
table balloon, family m: forgets cells older than 90d
takes times from 1970-01-01T00:00:00Z to the end of the year 9999; table 'balloon' has the times in the timestamps of its cells, which count from 1970-01-01T00:00:00Z

  row key                  m:pressure                 m:temp
  location1#0007#2021-w09  96 (2021-03-05T12:02:00Z)  9.7 (2021-03-05T12:02:00Z)
                           95 (2021-03-05T12:01:00Z)  9.6 (2021-03-05T12:01:00Z)
                           94 (2021-03-05T12:00:00Z)  9.5 (2021-03-05T12:00:00Z)

table balloon_now: a row for each series, its newest values

  row key         m:pressure                 m:temp
  location1#0007  96 (2021-03-05T12:02:00Z)  9.7 (2021-03-05T12:02:00Z)

A day of one series: 1440 points, 0.1429 rows, 2880 cells; a full row is about 423 kB before packing; names are 56.2 kB of what the API sends.
One range of row keys, for a query that names:
  location
  location + id
  location + id + time
Reads the whole table: a query that does not name location.
)");
}

TEST(Explain, DrawsARowForEachEvent) {
  EXPECT_EQ(Explain("series: q\ntags: { symbol: { width: 5 } }\nfields: { bid: double }\nlayout: row\n"
                    "key: [symbol, { time: epoch_s }]\n"),
            R"(series q, layout row: a row for each point, a column for each field
table q, family m: keeps every cell
takes times from 1970-01-01T00:00:00Z to 2286-11-20T17:46:39.999999Z; the keys of table 'q' have epoch_s of width 10, which counts from 1970-01-01T00:00:00Z

  row key           m:bid
  symbo#1614945600  9.5 (2021-03-05T12:00:00Z)
  symbo#1614945660  9.6 (2021-03-05T12:01:00Z)
  symbo#1614945720  9.7 (2021-03-05T12:02:00Z)

Declare time: { interval: 5s }, the time between two points of a series, to see what a day costs.
One range of row keys, for a query that names:
  symbol
  symbol + time
Reads the whole table: a query that does not name symbol.
)");
}

TEST(Explain, ShowsDerivedTablesAndWhatQueriesRead) {
  EXPECT_EQ(
      Explain("series: SENSOR\ntags: { meter: { type: int, width: 10, count: 10000000 } }\nfields: { kwh: "
              "double }\n"
              "time: { interval: 15m }\nlayout: offsets\nslot: 15m\nbucket: day\nfamily: M\nkey: [meter, "
              "bucket]\n"
              "derive: [ period: { table: 'S_{yyyymmdd}' }, rollup: { table: R, every: day, aggregates: "
              "[sum] } ]\n"
              "queries: [ { ask: one meter, tags: meter, range: day }, { ask: all meters, range: day } ]\n"),
      R"(series SENSOR, layout offsets: a row for each series and day, a column for each slot of 15m
table SENSOR, family M: keeps every cell
takes times from 1970-01-01T00:00:00Z to 2286-11-20T17:46:39.999999Z; the keys of table 'R' have epoch_ms of width 13, which counts from 1970-01-01T00:00:00Z

  row key              M:1200                      M:1215                      M:1230
  0000000007#20210305  9.5 (2021-03-05T12:00:00Z)  9.6 (2021-03-05T12:15:00Z)  9.7 (2021-03-05T12:30:00Z)

table S_20210305: the rows of one day

  row key              M:1200                      M:1215                      M:1230
  0000000007#20210305  9.5 (2021-03-05T12:00:00Z)  9.6 (2021-03-05T12:15:00Z)  9.7 (2021-03-05T12:30:00Z)

table R: a row for each series and day, its aggregates

  row key                   M:kwh_sum
  0000000007#1614902400000  28.799999999999997 (2021-03-05T13:00:00Z)

A day of one series: 96 points, 1 rows, 96 cells; a full row is about 1.44 kB before packing; names are 2.02 kB of what the API sends.
A day of all 10 M series: 960 M points, 10 M rows, 960 M cells, 20.2 GB of names.
One range of row keys, for a query that names:
  meter
  meter + time
Reads the whole table: a query that does not name meter.
What the queries read:
  'one meter': 1 range, from 0000000007#20210304, about 2 rows
  'all meters': a table of each day, S_{yyyymmdd}, about 20 M rows
)");
  EXPECT_NE(
      Explain("series: s\ntags: { host: { count: 10 } }\nfields: { x: int }\ntime: { interval: 1h }\n"
              "bucket: day\nkey: [host, bucket]\nderive: [ order: { table: by_time, key: [time, host] } ]\n"
              "queries: [ { ask: all hosts, range: 1h } ]\n")
          .find("  'all hosts': 1 range of table by_time, from 16149"),
      std::string::npos);
}

TEST(Explain, SaysWhatIsKeptForRollups) {
  const std::string text = Explain(
      "series: s\ntags: { h: string }\nfields: { x: int }\nkey: [h, bucket]\nbucket: day\nretention: { "
      "max_age: 30d }\nderive: [ rollup: { table: r, every: 1h } ]\n");
  EXPECT_NE(
      text.find("family m: forgets cells older than 30d; the table keeps them 2h longer for the roll-ups, "
                "where queries do not find them\n"),
      std::string::npos)
      << text;
}

}  // namespace
}  // namespace sonde::series
