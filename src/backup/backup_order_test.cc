#include "backup/backup_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Backup Make(const std::string& name, int64_t start, int64_t size, bool is_ready = true) {
  Backup backup{.name = name, .start = absl::FromUnixSeconds(start), .size_bytes = size};
  if (is_ready) backup.end = absl::FromUnixSeconds(start + 1);
  return backup;
}

std::vector<std::string> Sorted(std::string_view text) {
  std::vector<Backup> backups = {Make("b", 1, 30), Make("a", 3, 10), Make("d", 2, 30, false),
                                 Make("c", 3, 20)};
  const absl::StatusOr<BackupOrder> order = BackupOrder::Parse(text);
  EXPECT_TRUE(order.ok()) << order.status();
  if (order.ok()) std::sort(backups.begin(), backups.end(), *order);
  std::vector<std::string> names;
  for (const Backup& backup : backups) names.push_back(backup.name);
  return names;
}

std::string OrderErrorOf(std::string_view text) {
  const absl::StatusOr<BackupOrder> order = BackupOrder::Parse(text);
  EXPECT_EQ(order.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(order.status().message());
}

TEST(BackupOrder, BeginsWithTheNewestIfEmpty) { EXPECT_THAT(Sorted(""), ElementsAre("a", "c", "d", "b")); }

TEST(BackupOrder, SortsByFieldsAndThenByName) {
  EXPECT_THAT(Sorted("name"), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(Sorted("name desc"), ElementsAre("d", "c", "b", "a"));
  EXPECT_THAT(Sorted(" size_bytes  DESC ,start_time asc"), ElementsAre("b", "d", "c", "a"));
  EXPECT_THAT(Sorted("end_time"), ElementsAre("d", "b", "a", "c"));
}

TEST(BackupOrder, TellsWhatIsWrong) {
  EXPECT_THAT(OrderErrorOf("colour"),
              HasSubstr("Error in field 'order_by' : must name one of name, source_table"));
  EXPECT_THAT(OrderErrorOf("name up"), HasSubstr("each with or without ' desc', but has 'name up'"));
  EXPECT_THAT(OrderErrorOf("name,,state"), HasSubstr("but has ''"));
  EXPECT_THAT(OrderErrorOf("name, name desc"), HasSubstr("names 'name' twice"));
}

}  // namespace
}  // namespace sonde
