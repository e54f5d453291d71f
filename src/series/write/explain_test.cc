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

  row key                  m:pressure                 m:temp
  location1#0007#2021-w09  96 (2021-03-05T12:02:00Z)  9.7 (2021-03-05T12:02:00Z)
                           95 (2021-03-05T12:01:00Z)  9.6 (2021-03-05T12:01:00Z)
                           94 (2021-03-05T12:00:00Z)  9.5 (2021-03-05T12:00:00Z)

table balloon_now: a row for each series, its newest values

  row key         m:pressure                 m:temp
  location1#0007  96 (2021-03-05T12:02:00Z)  9.7 (2021-03-05T12:02:00Z)

A day of one series: 1440 points, 0.1429 rows, 2880 cells; a full row is about 423 kB before packing.
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

}  // namespace
}  // namespace sonde::series
