#include "engine/hbase/log/slot.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "engine/hbase/log/stored_log.h"

namespace sonde {
namespace {

using std::chrono::seconds;

Slot SlotOf(char owner, int64_t low) {
  return {.owner = std::string(kSlotOwnerBytes, owner), .changes = 7, .low = low, .lease = absl::Seconds(20)};
}

TEST(SlotTest, ComesBackAsItWasWritten) {
  const Slot slot = SlotOf('a', 1'234'567);
  EXPECT_EQ(*DecodeSlot(EncodeSlot(slot)), slot);
  const Slot free{.changes = 9, .low = 5};
  EXPECT_EQ(*DecodeSlot(EncodeSlot(free)), free);
  const std::string value = EncodeSlot(slot);
  for (size_t size = 0; size < value.size(); ++size)
    EXPECT_TRUE(absl::IsDataLoss(DecodeSlot(value.substr(0, size)).status())) << size;
  EXPECT_TRUE(absl::IsDataLoss(DecodeSlot(value + "x").status()));
}

TEST(SlotTest, NamesAreNumbers) {
  for (int number = 0; number < kSlotsMax; ++number) EXPECT_EQ(SlotNumber(SlotName(number)), number);
  for (const char* name : {"", "slot", "slot64", "slot-1", "slotx", "lease5"})
    EXPECT_EQ(SlotNumber(name), std::nullopt) << name;
}

TEST(SlotTest, PositionsOfASlotAreItsOwn) {
  for (const int64_t min : {0, 1, 63, 64, 100, 1'000'000'007}) {
    for (const int slot : {0, 5, 63}) {
      const int64_t position = PositionOf(slot, min);
      EXPECT_GE(position, min);
      EXPECT_LT(position, min + kSlotsMax);
      EXPECT_EQ(position % kSlotsMax, slot);
    }
  }
}

TEST(SlotTest, TheFrontierIsTheLowestOfThoseWhoAreThere) {
  EXPECT_EQ(LookAtSlots({})->frontier, std::nullopt);
  Board::Entries entries;
  entries["slot03"] = {EncodeSlot(SlotOf('a', 300)), seconds(1)};
  entries["slot05"] = {EncodeSlot(SlotOf('b', 200)), seconds(19)};
  entries["slot06"] = {EncodeSlot({.changes = 1, .low = 900}), seconds(1)};
  entries["other"] = {"x", seconds(1)};
  EXPECT_EQ(LookAtSlots(entries)->frontier, 200);
  EXPECT_EQ(LookAtSlots(entries)->low_max, 900);
  entries["slot05"].unchanged = seconds(20);
  EXPECT_EQ(LookAtSlots(entries)->frontier, 300) << "a server that says the same for its lease is gone";
  entries["slot03"].unchanged = seconds(100);
  EXPECT_EQ(LookAtSlots(entries)->frontier, std::nullopt);
  entries["slot07"] = {"damaged", seconds(0)};
  EXPECT_TRUE(absl::IsDataLoss(LookAtSlots(entries).status()));
}

TEST(StoredLogTest, PlacesAreInTheOrderOfTheirQualifiers) {
  const LogPlace places[] = {{0, 0}, {0, 1}, {1, 0}, {255, 70'000}, {256, 0}, {INT64_MAX, 5}};
  for (size_t i = 0; i < std::size(places); ++i) {
    EXPECT_EQ(*ParseLogQualifier(LogQualifier(places[i])), places[i]);
    EXPECT_LT(i == 0 ? "" : LogQualifier(places[i - 1]), LogQualifier(places[i]));
  }
  EXPECT_TRUE(absl::IsDataLoss(ParseLogQualifier("too short").status()));
  EXPECT_TRUE(absl::IsDataLoss(ParseLogQualifier(std::string(12, '\xff')).status()));
}

TEST(StoredLogTest, ARecordIsPutBesideTheNewestPositionOfItsRow) {
  const std::vector<std::string> pieces = {"one", ""};
  hbase::RowChange change;
  std::deque<std::string> bytes;
  PutRecord({.pieces = pieces}, 1'700'000'000'123'456, &change, &bytes);
  ASSERT_EQ(change.puts.size(), 3u);
  EXPECT_EQ(change.puts[0].family, kLogFamily);
  EXPECT_EQ(change.puts[0].timestamp, 1'700'000'000'123) << "HBase forgets by milliseconds";
  EXPECT_EQ(change.puts[1].value, "");
  EXPECT_EQ((*ParseLogQualifier(change.puts[1].qualifier)), (LogPlace{1'700'000'000'123'456, 1}));
  EXPECT_EQ(*ParseNewestRecord(change.puts[2].value), 1'700'000'000'123'456);
  EXPECT_TRUE(absl::IsDataLoss(ParseNewestRecord("x").status()));
}

}  // namespace
}  // namespace sonde
