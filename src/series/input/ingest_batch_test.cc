#include "series/input/ingest_batch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/clock.h"
#include "base/random.h"
#include "model/limits.h"
#include "series/write/memory_tables_test_support.h"

namespace sonde::series {
namespace {

using Texts = std::vector<std::string>;

const SystemClock kClock;

// Adds lines (times in seconds) and flushes; the problems of refused ones.
Texts Write(std::string_view text, Declarations* declarations, MemoryTables* tables,
            IngestSettings settings = {}) {
  Texts problems;
  IngestBatch batch(declarations, tables, settings);
  LineProtocolParser parser(text);
  LinePoint line;
  while (parser.Next(&line) == LineProtocolParser::Step::kPoint) {
    const std::string_view identity = parser.line_text().substr(0, parser.line_text().find(' '));
    const absl::Status status =
        batch.Add({line.measurement, identity, &line.tags, &line.fields, *line.timestamp * kMicrosPerSecond});
    if (!status.ok()) problems.emplace_back(status.message());
  }
  EXPECT_TRUE(batch.Flush().ok());
  return problems;
}

Texts Keys(MemoryTables& tables, const std::string& table) {
  Texts keys;
  for (const auto& [key, row] : tables.tables[table].rows) keys.push_back(key);
  return keys;
}

TEST(IngestBatch, SeesWhatOthersDeclareMeanwhile) {
  MemoryTables tables;
  Declarations declarations(&tables, &kClock);
  ASSERT_TRUE(declarations.Load().ok());
  Declarations other(&tables, &kClock);
  ASSERT_TRUE(other
                  .Declare("series: cpu\ntags: { host: string }\nfields: { usage: double }\nbucket: hour\n"
                           "key: [host, bucket]\nretention: { max_age: 100y }\n")
                  .ok());
  EXPECT_EQ(Write("cpu,host=a usage=1.5 3600\ncpu,zone=z usage=1 3600\n", &declarations, &tables,
                  {.takes_undeclared = false}),
            Texts{"tag 'zone' is not declared for series 'cpu'"});
  EXPECT_EQ(Keys(tables, "cpu"), Texts{"a#1970-01-01-01"});
}

TEST(IngestBatch, RefusesNamesThatCouldNotBeKept) {
  MemoryTables tables;
  Declarations declarations(&tables, &kClock);
  EXPECT_EQ(
      Write("a\xFF f=1 1\nb,x\xFF=1 f=1 1\nc f\xFF=1 1\nd,x=\xFF f=1 1\n", &declarations, &tables),
      (Texts{"series 'a\\xff' is not UTF-8", "label 'x\\xff' is not UTF-8", "field 'f\\xff' is not UTF-8"}));
}

TEST(IngestBatch, OpensSeriesAsTheyCome) {
  MemoryTables tables;
  Declarations declarations(&tables, &kClock);
  EXPECT_EQ(
      Write("cpu,host=a,region=b usage=1.5,n=3i 3600\ncpu,host=a usage=2 3601\n"
            "cpu,zone=z,host=a,region=b usage=3 3602\nmy\\ disk,path=/a\\,b used=1i,ok=true 0\nup v=1i 0",
            &declarations, &tables),
      Texts{});
  EXPECT_EQ(Keys(tables, "timeseries"), (Texts{"cpu#host=a#1970010101", "cpu#host=a,region=b#1970010101",
                                               "cpu#host=a,region=b,zone=z#1970010101",
                                               "my%20disk#path=/a%2Cb#1970010100", "up#,#1970010100"}));
  auto& row = tables.tables["timeseries"].rows["cpu#host=a,region=b#1970010101"];
  EXPECT_EQ((row[{"m", "usage"}][3600 * kMicrosPerSecond]), "1.5");
  EXPECT_EQ((row[{"m", "n"}][3600 * kMicrosPerSecond]), "3");

  // What is known of them is kept, and read again.
  Declarations again(&tables, &kClock);
  ASSERT_TRUE(again.Load().ok());
  const KnownSeriesRef cpu = again.Find("cpu");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->labels, (Texts{"host", "region", "zone"}));
  EXPECT_EQ(cpu->schema.fields.size(), 2);
  EXPECT_EQ(again.List().size(), 3);
  Texts values;
  EXPECT_TRUE(ParseLabelsText(*cpu, "host=a,zone=%2Cz", &values).ok());
  EXPECT_EQ(values, (Texts{"a", "", ",z"}));
  EXPECT_TRUE(absl::IsDataLoss(ParseLabelsText(*cpu, "zone=z,host=a", &values)));
}

TEST(IngestBatch, LabelsInAnyOrderAreTheSameRow) {
  MemoryTables tables;
  Declarations declarations(&tables, &kClock);
  EXPECT_EQ(Write("m,a=1,b=2 v=1,w=1 5\nm,b=2,a=1 v=2 5\nm,a=1,b=2 v=3 7200\nm,b=2,a=1,d=4 v=4 5\nm v=5 5\n"
                  "m,b=2,a=1 v=6 7201\nm,a=1,b=2 v=7 5\nm,b=2,a=1 w=8 5\n",
                  &declarations, &tables),
            Texts{});
  EXPECT_EQ(Keys(tables, "timeseries"), (Texts{"m#,#1970010100", "m#a=1,b=2#1970010100",
                                               "m#a=1,b=2#1970010102", "m#a=1,b=2,d=4#1970010100"}));
  auto& row = tables.tables["timeseries"].rows["m#a=1,b=2#1970010100"];
  EXPECT_EQ((row[{"m", "v"}][5 * kMicrosPerSecond]), "7");  // the last line, however the labels stand
  EXPECT_EQ((row[{"m", "w"}][5 * kMicrosPerSecond]), "8");
  EXPECT_EQ((tables.tables["timeseries"].rows["m#a=1,b=2#1970010102"][{"m", "v"}].size()), 2);
}

TEST(IngestBatch, SaysWhatItRefusesAndKeepsTheRest) {
  MemoryTables tables;
  Declarations declarations(&tables, &kClock);
  EXPECT_EQ(
      Write("cpu,host=a usage=1.5 1\ncpu,host=a usage=\"much\" 2\ncpu,host=a usage=2i 3\ncpu,a=b,a=c x=1 4\n"
            "cpu,host=a usage=1 -1\ncpu,host=a big=18446744073709551615u 5\ncpu,host=a,host=b usage=1 6",
            &declarations, &tables),
      (Texts{
          "field type conflict: input field \"usage\" on measurement \"cpu\" is type string, already exists "
          "as type float",
          "tag 'a' comes twice",
          "time 1969-12-31T23:59:59Z: a series that nobody declared takes times from 1970-01-01T00:00:00Z "
          "on; "
          "earlier ones take a declaration with time: { origin: 0001-01-01 }",
          "field 'big': 18446744073709551615 is more than 9223372036854775807, the largest integer",
          "tag 'host' comes twice"}));
  EXPECT_EQ((tables.tables["timeseries"].rows["cpu#host=a#1970010100"][{"m", "usage"}].size()), 2);
}

TEST(IngestBatch, ALabelWithoutAValueIsNone) {
  MemoryTables tables;
  Declarations declarations(&tables, &kClock);
  ASSERT_EQ(Write("cpu,host=a,zone=z usage=1 1\n", &declarations, &tables), Texts{});
  IngestBatch batch(&declarations, &tables, {});
  const std::vector<std::pair<std::string_view, std::string_view>> labels = {
      {"zone", ""}, {"host", ""}, {"host", "b"}};
  const std::vector<LineField> fields = {{"usage", LineValueType::kInt, "2"}};
  ASSERT_TRUE(batch.Add({"cpu", "cpu,host=b", &labels, &fields, kMicrosPerSecond}).ok());
  ASSERT_TRUE(batch.Flush().ok());
  EXPECT_EQ(Keys(tables, "timeseries"), (Texts{"cpu#host=a,zone=z#1970010100", "cpu#host=b#1970010100"}));
}

// Else it would count towards the series, labels and fields that there may be, and questions would find it.
TEST(IngestBatch, ARefusedPointOpensNothing) {
  MemoryTables tables;
  Declarations declarations(&tables, &kClock);
  const std::string long_value(kRowKeyBytesMax, 'v');
  EXPECT_EQ(Write("a x=18446744073709551615u 1\nb,t=1,t=2 x=1 1\nc x=1,x=\"z\" 1\nd,t=" + long_value +
                      " x=1 1\ne,t=1 x=1 -1\nf,t=1 x=1 400000000000\n",
                  &declarations, &tables)
                .size(),
            6);
  EXPECT_TRUE(declarations.List().empty());
  // Neither a label nor a field, of a series that is there.
  EXPECT_EQ(Write("m,t=1 x=1,s=\"z\" 1\n", &declarations, &tables), Texts{});
  EXPECT_EQ(Write("m,t=1,u=1 y=1,x=\"z\" 1\nm,t=1 y=1,s=1 1\nm,t=1 y=1,z=18446744073709551615u 1\nm,u=" +
                      long_value + " y=1 1\nm,t=1 y=1,z=1,z=\"z\" 1\n",
                  &declarations, &tables)
                .size(),
            5);
  Declarations again(&tables, &kClock);
  ASSERT_TRUE(again.Load().ok());
  ASSERT_EQ(again.List().size(), 1);
  EXPECT_EQ(again.Find("m")->labels, Texts{"t"});
  EXPECT_EQ(again.Find("m")->schema.fields.size(), 2);
}

TEST(IngestBatch, WritesEmptyTextsOfDeclaredSeries) {
  MemoryTables tables;
  Declarations declarations(&tables, &kClock);
  ASSERT_TRUE(declarations
                  .Declare("series: m\ntags: { a: string }\nfields: { s: string, x: double }\nkey: [a, "
                           "bucket]\nbucket: day\n")
                  .ok());
  EXPECT_EQ(Write("m,a=p s=\"\" 1\nm,a=p,a=q s=\"z\" 1\n", &declarations, &tables),
            Texts{"tag 'a' comes twice"});
  ASSERT_EQ(Keys(tables, "m"), Texts{"p#19700101"});
  auto& row = tables.tables["m"].rows["p#19700101"];
  ASSERT_EQ(row.size(), 1);
  EXPECT_EQ((row[{"m", "s"}][kMicrosPerSecond]), "");
}

TEST(IngestBatch, WritesDeclaredSeriesAsDeclared) {
  MemoryTables tables;
  Declarations declarations(&tables, &kClock);
  const auto declared = declarations.Declare(
      "series: cpu\ntags: { host: string }\nfields: { usage: double, n: int }\nkey: [host, bucket]\nbucket: "
      "day\n");
  ASSERT_TRUE(declared.ok()) << declared.status();
  EXPECT_EQ(
      Write("cpu,host=a usage=1i,n=2i 5\ncpu,host=a,region=b usage=1 6\ncpu usage=1 7\ncpu,host=a other=1 8\n"
            "cpu,host=a n=1.5 9\nmem,host=a free=1 10",
            &declarations, &tables, {.takes_undeclared = false}),
      (Texts{"tag 'region' is not declared for series 'cpu'", "tag 'host': value '' is empty",
             "field 'other' is not declared for series 'cpu'",
             "field type conflict: input field \"n\" on measurement \"cpu\" is type float, already exists as "
             "type "
             "integer",
             "series 'mem' is not declared, and this server takes declared ones only"}));
  EXPECT_EQ(Keys(tables, "cpu"), Texts{"a#19700101"});
  EXPECT_TRUE(absl::IsFailedPrecondition(declarations.Extend("cpu", {}, {}).status()));
}

// Whatever the order, the repeats and the requests: the same cells.
TEST(IngestBatch, OrderAndRepeatsDoNotMatter) {
  SeededRandom random(5);
  Texts lines;
  for (int i = 0; i < 500; ++i) {
    lines.push_back(fmt::format("m,host=h{} a={}i,b={} {}\n", random.Uniform(5), i, i, 20 * i));
  }
  MemoryTables ordered;
  Declarations of_ordered(&ordered, &kClock);
  std::string text;
  for (const std::string& line : lines) text += line;
  EXPECT_EQ(Write(text, &of_ordered, &ordered), Texts{});
  MemoryTables shuffled;
  Declarations of_shuffled(&shuffled, &kClock);
  for (size_t i = lines.size(); i > 1; --i) std::swap(lines[i - 1], lines[random.Uniform(i)]);
  for (size_t begin = 0; begin < lines.size(); begin += 40) {
    text.clear();
    for (size_t i = begin; i < std::min(begin + 50, lines.size()); ++i) text += lines[i];
    EXPECT_EQ(Write(text, &of_shuffled, &shuffled), Texts{});
  }
  EXPECT_EQ(ordered.tables["timeseries"].rows, shuffled.tables["timeseries"].rows);
}

}  // namespace
}  // namespace sonde::series
