#include "client/read_request.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/limits.h"

namespace sonde {
namespace {

// The request on one line; "nothing" when there is nothing to read.
std::string Request(const RowRead& read, const std::optional<std::string>& last_row_key = std::nullopt,
                    int64_t rows_done = 0) {
  const auto request = MakeReadRowsRequest("t", read, last_row_key, rows_done);
  if (!request.ok()) return std::string(request.status().ToString());
  if (!request->has_value()) return "nothing";
  return (*request)->ShortDebugString();
}

RowRead ReadAll() {
  RowRead read;
  read.ranges = {RowRange::All()};
  return read;
}

TEST(PartsOf, NoRequestIsLargerThanAllowed) {
  RowRead read;
  read.family = "f";
  for (int i = 0; i < 1'000; ++i)
    read.ranges.push_back(RowRange::Single(std::to_string(1000 + i) + std::string(1'000, 'k')));
  read.ranges.push_back(RowRange{"3", ""});
  for (const bool reversed : {false, true}) {
    read.reversed = reversed;
    const std::vector<RowRead> parts = PartsOf(read);
    EXPECT_GE(parts.size(), 2);
    std::vector<RowRange> ranges;
    for (const RowRead& part : parts) {
      const auto request = MakeReadRowsRequest("t", part, std::nullopt, 0);
      ASSERT_TRUE(request.ok() && request->has_value());
      EXPECT_EQ((*request)->filter().family_name_regex_filter(), "f");
      EXPECT_LE((*request)->ByteSizeLong(), kReadRowsRequestBytesMax);
      ranges.insert(ranges.end(), part.ranges.begin(), part.ranges.end());
    }
    if (reversed) std::reverse(ranges.begin(), ranges.end());
    EXPECT_EQ(ranges, read.ranges);
  }
  EXPECT_EQ(PartsOf(ReadAll()).size(), 1);
  EXPECT_EQ(PartsOf(RowRead()).size(), 1);
}

TEST(MakeReadRowsRequest, AsksForAllRowsByAnOpenRange) {
  EXPECT_EQ(Request(ReadAll()), "table_name: \"t\" rows { row_ranges { } }");
}

TEST(MakeReadRowsRequest, AsksForNothingWithoutRanges) {
  EXPECT_EQ(Request(RowRead()), "nothing");
  RowRead read;
  read.ranges = {RowRange{"b", "a"}};
  EXPECT_EQ(Request(read), "nothing");
}

TEST(MakeReadRowsRequest, JoinsRangesAndNamesSingleRows) {
  RowRead read;
  read.ranges = {RowRange{"d", "f"}, RowRange::Single("a"), RowRange{"e", "g"}, RowRange{"x", ""}};
  EXPECT_EQ(
      Request(read),
      "table_name: \"t\" rows { row_keys: \"a\" "
      "row_ranges { start_key_closed: \"d\" end_key_open: \"g\" } row_ranges { start_key_closed: \"x\" } }");
}

TEST(MakeReadRowsRequest, GoesOnAfterTheLastRow) {
  RowRead read;
  read.ranges = {RowRange{"a", "c"}, RowRange{"d", "f"}};
  EXPECT_EQ(Request(read, "d"),
            "table_name: \"t\" rows { row_ranges { start_key_closed: \"d\\000\" end_key_open: \"f\" } }");
  EXPECT_EQ(Request(read, "f"), "nothing");
}

TEST(MakeReadRowsRequest, GoesOnBeforeTheLastRowWhenReversed) {
  RowRead read;
  read.ranges = {RowRange{"a", "c"}, RowRange{"d", ""}};
  read.reversed = true;
  EXPECT_EQ(Request(read, "e"),
            "table_name: \"t\" rows { row_ranges { start_key_closed: \"a\" end_key_open: \"c\" } "
            "row_ranges { start_key_closed: \"d\" end_key_open: \"e\" } } reversed: true");
  EXPECT_EQ(Request(read, "a"), "nothing");
}

TEST(MakeReadRowsRequest, CountsRowsThatAreDoneAgainstTheLimit) {
  RowRead read = ReadAll();
  read.rows_max = 10;
  EXPECT_EQ(Request(read, "k", 4),
            "table_name: \"t\" rows { row_ranges { start_key_closed: \"k\\000\" } } rows_limit: 6");
  EXPECT_EQ(Request(read, "k", 10), "nothing");
}

TEST(MakeReadRowsRequest, FiltersOneColumnByARange) {
  RowRead read = ReadAll();
  read.columns = {{"f", "a.b"}};
  EXPECT_EQ(Request(read),
            "table_name: \"t\" rows { row_ranges { } } filter { column_range_filter { family_name: \"f\" "
            "start_qualifier_closed: \"a.b\" end_qualifier_closed: \"a.b\" } }");
}

TEST(MakeReadRowsRequest, NamesColumnsOfOneFamilyEachOnce) {
  RowRead read = ReadAll();
  read.columns = {{"f", "b.c"}, {"f", "a"}, {"f", "b.c"}};
  EXPECT_EQ(Request(read),
            "table_name: \"t\" rows { row_ranges { } } filter { chain { "
            "filters { family_name_regex_filter: \"f\" } "
            "filters { column_qualifier_regex_filter: \"a|b\\\\.c\" } } }");
}

TEST(MakeReadRowsRequest, InterleavesColumnsOfSeveralFamilies) {
  RowRead read = ReadAll();
  read.columns = {{"g", "b"}, {"f", "a"}, {"g", "b"}};
  EXPECT_EQ(Request(read),
            "table_name: \"t\" rows { row_ranges { } } filter { interleave { "
            "filters { column_range_filter { family_name: \"f\" start_qualifier_closed: \"a\" "
            "end_qualifier_closed: \"a\" } } "
            "filters { column_range_filter { family_name: \"g\" start_qualifier_closed: \"b\" "
            "end_qualifier_closed: \"b\" } } } }");
}

TEST(MakeReadRowsRequest, BlocksColumnsOfOtherFamilies) {
  RowRead read = ReadAll();
  read.columns = {{"f", "b"}};
  read.family = std::string("g");
  EXPECT_EQ(Request(read), "table_name: \"t\" rows { row_ranges { } } filter { block_all_filter: true }");
}

TEST(MakeReadRowsRequest, ChainsKeyFamilyTimeAndVersions) {
  RowRead read = ReadAll();
  read.row_key_regex = std::string("a.*");
  read.family = std::string("my-family");
  read.start_micros = 1000;
  read.end_micros = 3000;
  read.cells_per_column_max = 2;
  EXPECT_EQ(
      Request(read),
      "table_name: \"t\" rows { row_ranges { } } filter { chain { "
      "filters { row_key_regex_filter: \"a.*\" } filters { family_name_regex_filter: \"my\\\\-family\" } "
      "filters { timestamp_range_filter { start_timestamp_micros: 1000 end_timestamp_micros: 3000 } } "
      "filters { cells_per_column_limit_filter: 2 } } }");
}

TEST(MakeReadRowsRequest, RefusesAFilterPastTheLimit) {
  RowRead read = ReadAll();
  for (int i = 0; i < 3000; ++i) read.columns.push_back({"f", std::to_string(i + 100000)});
  EXPECT_EQ(
      Request(read),
      "INVALID_ARGUMENT: the filter of 3000 columns needs 21016 bytes, the API allows 20480: ask for fewer "
      "columns, or for their whole family");
}

}  // namespace
}  // namespace sonde
