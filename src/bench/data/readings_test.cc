#include "bench/data/readings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace sonde::bench {
namespace {

constexpr DataKind kKinds[] = {DataKind::kCpu,      DataKind::kDevops, DataKind::kIot,
                               DataKind::kMachines, DataKind::kMeters, DataKind::kMarket};

using Line = std::tuple<int, int, int64_t, std::string>;  // entity, group, time, fields and values

std::vector<Line> Collect(const DataShape& shape, int begin, int end, int64_t steps, int64_t first_step = 0) {
  std::vector<Line> lines;
  Readings readings(shape, begin, end);
  readings.SkipTo(first_step);
  while (readings.Next(steps)) {
    for (const Reading& reading : readings.readings()) {
      std::string text;
      for (const ReadingCell& cell : reading.cells) {
        text += std::to_string(cell.field) + "=" + std::string(cell.value()) + " ";
      }
      lines.emplace_back(readings.entity(), reading.group, reading.micros, text);
    }
  }
  EXPECT_EQ(readings.steps_done(), steps);
  return lines;
}

TEST(Readings, AreTheSameHoweverEntitiesAreShared) {
  for (const DataKind kind : kKinds) {
    const DataShape shape{.kind = kind, .hosts = 20};
    std::vector<Line> whole = Collect(shape, 0, 20, 40);
    std::vector<Line> parts = Collect(shape, 0, 7, 40);
    const std::vector<Line> rest = Collect(shape, 7, 20, 40);
    parts.insert(parts.end(), rest.begin(), rest.end());
    std::sort(whole.begin(), whole.end());
    std::sort(parts.begin(), parts.end());
    EXPECT_EQ(whole, parts) << kDataKindNames[static_cast<size_t>(kind)];
    EXPECT_NE(whole, Collect({.kind = kind, .hosts = 20, .seed = 2}, 0, 20, 40));
  }
}

TEST(Readings, GoOnWhereTheyAreToldTo) {
  for (const DataKind kind : kKinds) {
    const DataShape shape{.kind = kind, .hosts = 20};
    std::vector<Line> whole = Collect(shape, 0, 20, 15);
    const std::vector<Line> late = Collect(shape, 0, 20, 40, 15);
    whole.insert(whole.end(), late.begin(), late.end());
    EXPECT_EQ(whole, Collect(shape, 0, 20, 40));
  }
}

TEST(Readings, HaveAboutTheCellsThatTheModelPromises) {
  for (const DataKind kind : kKinds) {
    const DataShape shape{.kind = kind, .hosts = 200};
    const DataModel model = ModelOf(shape);
    Readings readings(shape, 0, 200);
    uint64_t cells = 0;
    while (readings.Next(100)) {
      for (const Reading& reading : readings.readings()) cells += reading.cells.size();
    }
    const double wanted = 200 * 100 * model.cells_per_step;
    EXPECT_NEAR(static_cast<double>(cells), wanted, model.regular ? 0 : 0.05 * wanted)
        << kDataKindNames[static_cast<size_t>(kind)];
    EXPECT_EQ(StepsFor(shape, static_cast<int64_t>(wanted)), 100);
  }
}

TEST(Readings, OfDevopsHave101FieldsInNineGroups) {
  const DataModel model = ModelOf({.kind = DataKind::kDevops});
  EXPECT_EQ(model.groups.size(), 9);
  std::set<std::string> names;
  for (const FieldGroup& group : model.groups) {
    for (const Field& field : group.fields) names.insert(group.name + "." + field.name);
  }
  EXPECT_EQ(names.size(), 101);
  EXPECT_EQ(model.cells_per_step, 101);
}

TEST(Readings, OfDevopsFollowEachOther) {
  const DataShape shape{.kind = DataKind::kDevops, .hosts = 1};
  Readings readings(shape, 0, 1);
  ASSERT_TRUE(readings.Next(1));
  const Reading& mem = readings.readings()[4];
  const auto number = [&](int field) {
    return std::strtod(std::string(mem.cells[field].value()).c_str(), nullptr);
  };
  EXPECT_EQ(number(2), number(0) - number(1));            // available
  EXPECT_EQ(mem.cells[3].value(), mem.cells[2].value());  // free
  EXPECT_EQ(number(6), 100.0 * number(1) / number(0));    // used_percent, with all its digits
}

TEST(Readings, OfIotAreMissingAndLate) {
  std::map<std::tuple<int, int>, int64_t> newest;
  int late = 0;
  const std::vector<Line> lines = Collect({.kind = DataKind::kIot, .hosts = 100}, 0, 100, 500);
  std::set<std::tuple<int, int, int64_t>> times;
  int incomplete = 0;
  for (const auto& [entity, group, micros, text] : lines) {
    EXPECT_TRUE(times.insert({entity, group, micros}).second) << "twice";
    int64_t& last = newest[{entity, group}];
    late += micros < last;
    last = std::max(last, micros);
    incomplete += std::count(text.begin(), text.end(), '=') != (group == 0 ? 7 : 3);
  }
  const auto share = [&](int count) { return count / static_cast<double>(lines.size()); };
  EXPECT_NEAR(share(late), 0.25,
              0.05);  // fewer than are delayed: the next one may be missing, or delayed as well
  EXPECT_NEAR(share(incomplete), 0.1, 0.02);
}

TEST(Readings, OfMarketAreMostlyOfFewTickers) {
  const std::vector<Line> lines = Collect({.kind = DataKind::kMarket, .hosts = 3'000}, 0, 3'000, 50);
  std::map<int, int> messages;
  for (const Line& line : lines) ++messages[std::get<0>(line)];
  int busy = 0;
  int busy_messages = 0;
  for (const auto& [ticker, count] : messages) {
    if (count < 20) continue;
    ++busy;
    busy_messages += count;
  }
  EXPECT_EQ(busy, 300);
  EXPECT_NEAR(busy_messages / static_cast<double>(lines.size()), 0.9, 0.02);
}

TEST(RowKeys, HaveGroupsAndTheTimesOfTheirKind) {
  const int64_t micros = 1'451'610'123'456'000;
  const auto key = [&](DataKind kind, Schema schema) {
    return RowKeys({.kind = kind, .schema = schema}).RowKey(7, 0, micros);
  };
  EXPECT_EQ(key(DataKind::kCpu, Schema::kTall), "host_00007#1451610123");
  EXPECT_EQ(key(DataKind::kCpu, Schema::kBucket), "host_00007#1451610000");
  EXPECT_EQ(key(DataKind::kDevops, Schema::kBucket), "host_00007#cpu#1451610000");
  EXPECT_EQ(key(DataKind::kMeters, Schema::kBucket), "meter_00007#1451606400");
  EXPECT_EQ(key(DataKind::kMarket, Schema::kTall), "ticker_00007#1451610123456");
  EXPECT_EQ(key(DataKind::kMarket, Schema::kBucket), "ticker_00007#1451610000000");
}

}  // namespace
}  // namespace sonde::bench
