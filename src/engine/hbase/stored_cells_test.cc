#include "engine/hbase/stored_cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

using std::string_literals::operator""s;

struct Place {
  FamilyId family;
  std::string qualifier;
  int64_t micros;
};

// In the order of a row's cells.
std::vector<Place> AllPlaces() {
  const std::vector<std::string> qualifiers = {
      "",  "\0"s,  "\0\0"s, "\0\1"s, "\0\2"s, "\1"s,  "\1\0"s, "\2"s,    "\2\0"s, "\2\2"s, "\2\3"s,    "\3"s,
      "a", "a\0"s, "a\1"s,  "a\1b"s, "a\2"s,  "a\3"s, "ab",    "a\xff"s, "b",     "\xff"s, "\xff\xff"s};
  std::vector<Place> places;
  for (const FamilyId family :
       {1u, 2u, 255u, 256u, 0x01020001u, kExpiringFamilies - 1, kExpiringFamilies + 7}) {
    for (const std::string& qualifier : qualifiers) {
      for (const int64_t micros :
           {INT64_MAX, INT64_MAX - 1, int64_t{1} << 50, int64_t{1001}, int64_t{1000}, int64_t{0}})
        places.push_back({family, qualifier, micros});
    }
  }
  return places;
}

hbase::Cell Stored(const StoredPlace& place) { return {"row", place.family, place.qualifier, place.time}; }

TEST(StoredCells, ComeBackAsTheyWere) {
  for (const Place& place : AllPlaces()) {
    const StoredPlace stored = PlaceOf(place.family, place.qualifier, place.micros);
    EXPECT_LE(stored.time, hbase::kTimestampMax);
    std::deque<std::string> bytes;
    SeamCell cell;
    ASSERT_TRUE(ReadStoredCell(Stored(stored), &bytes, &cell).ok());
    EXPECT_EQ(cell.family, place.family);
    EXPECT_EQ(cell.cell.qualifier, place.qualifier);
    EXPECT_EQ(cell.cell.timestamp_micros, place.micros);
  }
}

// HBase sorts by family and qualifier, ascending, and time, descending.
TEST(StoredCells, HBaseSortsThemAsSondeDoes) {
  const std::vector<Place> places = AllPlaces();
  for (size_t i = 0; i + 1 < places.size(); ++i) {
    const StoredPlace a = PlaceOf(places[i].family, places[i].qualifier, places[i].micros);
    const StoredPlace b = PlaceOf(places[i + 1].family, places[i + 1].qualifier, places[i + 1].micros);
    EXPECT_LT(std::make_tuple(std::string(a.family), a.qualifier, -a.time),
              std::make_tuple(std::string(b.family), b.qualifier, -b.time))
        << i;
  }
}

TEST(StoredCells, RangesHaveTheirColumnsAndNoOther) {
  const std::vector<Place> places = AllPlaces();
  const auto has = [](const hbase::QualifierRange& range, const Place& place) {
    const std::string qualifier = PlaceOf(place.family, place.qualifier, place.micros).qualifier;
    return qualifier >= range.start && (range.end.empty() || qualifier < range.end);
  };
  SeededRandom random(1);
  for (int i = 0; i < 300; ++i) {
    const Place& a = places[random.Uniform(places.size())];
    const Place& b = places[random.Uniform(places.size())];
    const ReadHints::ColumnRange columns{a.qualifier, random.Uniform(4) == 0 ? std::string() : b.qualifier};
    for (const Place& place : places) {
      const bool is_family = place.family == a.family;
      EXPECT_EQ(has(StoredFamilyRange(a.family), place), is_family);
      EXPECT_EQ(has(StoredColumnRange(a.family, a.qualifier), place),
                is_family && place.qualifier == a.qualifier);
      EXPECT_EQ(has(StoredColumnsRange(a.family, columns), place),
                is_family && place.qualifier >= columns.start &&
                    (columns.end.empty() || place.qualifier < columns.end));
      EXPECT_FALSE(has(VersionRange(), place));
    }
  }
}

TEST(StoredCells, TimesHaveAllOfTheRange) {
  for (const TimeRange range :
       {TimeRange{}, TimeRange{0, INT64_MAX}, TimeRange{5, 7}, TimeRange{INT64_MAX, 0},
        TimeRange{INT64_MAX - 1, INT64_MAX}, TimeRange{1, INT64_MAX - 1}}) {
    hbase::CellChoice choice;
    SetStoredTimes(range, &choice);
    for (const int64_t micros : {int64_t{0}, int64_t{4}, int64_t{5}, int64_t{6}, int64_t{7}, INT64_MAX - 2,
                                 INT64_MAX - 1, INT64_MAX}) {
      const int64_t time = PlaceOf(1, "q", micros).time;
      const bool is_asked_for = time >= choice.time_start && time < choice.time_end;
      EXPECT_TRUE(is_asked_for || !range.Contains(micros)) << range.start_micros << " " << micros;
    }
  }
}

TEST(StoredCells, OthersAreDataLoss) {
  const std::string id = "\0\0\0\1"s;
  for (const auto& [family, qualifier] :
       std::vector<std::pair<std::string, std::string>>{{"d", ""},
                                                        {"d", "abc"},
                                                        {"d", id},
                                                        {"d", id + "a"},
                                                        {"d", id + "a\2\1"s},
                                                        {"d", id + "\1a\1"s},
                                                        {"x", id + "a\1"s},
                                                        {"d", "\x80\0\0\0a\1"s},
                                                        {"x", "\x80\0\0\0a\1"s}}) {
    std::deque<std::string> bytes;
    SeamCell cell;
    EXPECT_TRUE(absl::IsDataLoss(ReadStoredCell({"row", family, qualifier, 1}, &bytes, &cell)))
        << family << " " << qualifier.size();
  }
}

}  // namespace
}  // namespace sonde
