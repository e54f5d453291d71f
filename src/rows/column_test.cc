#include "rows/column.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rows/batch.h"
#include "rows/rows_test_support.h"

namespace sonde::rows {
namespace {

TEST(Column, HoldsValuesOfItsTypeAndMissingOnes) {
  Column ints, doubles(ColumnType::kDouble), bytes(ColumnType::kBytes), times(ColumnType::kTime);
  for (const int64_t i : {1, 2, 3}) {
    ints.AppendInt(i);
    doubles.AppendDouble(0.5 * static_cast<double>(i));
    bytes.AppendBytes(std::string(static_cast<size_t>(i), 'x'));
    times.AppendInt(i * 1'000);
    if (i == 2) {
      for (Column* column : {&ints, &doubles, &bytes, &times}) column->AppendMissing();
    }
  }
  EXPECT_EQ(Text(ints.View()), "1 2 - 3");
  EXPECT_EQ(Text(doubles.View()), "0.5 1 - 1.5");
  EXPECT_EQ(Text(bytes.View()), "x xx - xxx");
  EXPECT_EQ(Text(times.View()), "1000 2000 - 3000");
  EXPECT_EQ(Text(ints.View().Part(1, 2)), "2 -");
  EXPECT_EQ(Text(bytes.View().Part(2, 2)), "- xxx");
  bytes.Clear();
  EXPECT_EQ(bytes.View().there(), nullptr);
  EXPECT_EQ(Text(bytes.View()), "");
}

TEST(Column, DoesNotGrowBelowWhatWasReserved) {
  Column column(ColumnType::kInt64);
  column.Reserve(1'000);
  const int64_t* const ints = column.ints();
  for (int64_t i = 0; i < 1'000; ++i) column.AppendInt(i);
  EXPECT_EQ(column.ints(), ints);
  EXPECT_EQ(column.size(), 1'000u);
}

TEST(Column, WidensForWhatLeaves64Bits) {
  Column column;
  column.AppendInt(INT64_MAX);
  column.AppendMissing();
  EXPECT_EQ(column.type(), ColumnType::kInt64);
  column.AppendWideInt(absl::int128(INT64_MAX) + 1);
  column.AppendInt(-1);
  column.AppendWideInt(5);
  EXPECT_EQ(column.type(), ColumnType::kInt128);
  EXPECT_EQ(Text(column.View()), "9223372036854775807 - 9223372036854775808 -1 5");
  // And so does one that is given a wide column.
  Column other;
  other.AppendInt(7);
  other.Append(column.View());
  EXPECT_EQ(Text(other.View()), "7 9223372036854775807 - 9223372036854775808 -1 5");
  column.Clear();
  EXPECT_EQ(column.type(), ColumnType::kInt64);
}

TEST(Column, TakesManyAtOnce) {
  const std::vector<int64_t> values = {1, 2, 3, 4};
  const std::vector<uint8_t> there = {1, 0, 1, 1};
  const ColumnView gaps = ColumnView::OfInts(values, there.data());
  for (const bool begins_with_gaps : {false, true}) {
    Column column;
    column.Append(begins_with_gaps ? gaps : ColumnView::OfInts(values));
    column.Append(begins_with_gaps ? ColumnView::OfInts(values) : gaps);
    EXPECT_EQ(Text(column.View()), begins_with_gaps ? "1 - 3 4 1 2 3 4" : "1 2 3 4 1 - 3 4");
    const std::vector<size_t> places = {7, 1, 0};
    Column some;
    some.AppendPlaces(column.View(), places);
    EXPECT_EQ(Text(some.View()), begins_with_gaps ? "4 - 1" : "4 2 1");
    Column those;
    those.AppendThose(column.View());
    EXPECT_EQ(those.size(), 7u);
    EXPECT_EQ(those.there(), nullptr);
  }
  const std::string_view host = "h";
  Column bytes(ColumnType::kBytes);
  bytes.Append(ColumnView::Constant(&host, 2));
  bytes.Append(ColumnView::Missing(ColumnType::kBytes, 1));
  EXPECT_EQ(Text(bytes.View()), "h h -");
}

TEST(Column, KeepsBytesWhereverItIsMoved) {
  std::vector<Column> columns;
  for (int i = 0; i < 100; ++i) {
    Column& column = columns.emplace_back(ColumnType::kBytes);
    std::string text = "some bytes " + std::to_string(i);
    column.AppendBytes(text);
    text.assign(text.size(), '?');
    column.AppendBytes("");
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Text(columns[i].View()), "some bytes " + std::to_string(i) + " ");
}

TEST(Batch, IsCutAndHeld) {
  HeldBatch held({ColumnType::kTime, ColumnType::kInt64});
  const std::string_view host = "h";
  const std::vector<int64_t> times = {1, 2, 3}, values = {10, 20, 30};
  Batch batch{3, {ColumnView::Constant(&host, 3), ColumnView::OfTimes(times), ColumnView::OfInts(values)}};
  held.Append(batch, 1);
  batch.Cut(1, 2);
  EXPECT_EQ(Text(batch), "h 2 20\nh 3 30\n");
  held.Append(batch, 1);
  Batch all;
  held.View(&all);
  EXPECT_EQ(Text(all), "1 10\n2 20\n3 30\n2 20\n3 30\n");
}

}  // namespace
}  // namespace sonde::rows
