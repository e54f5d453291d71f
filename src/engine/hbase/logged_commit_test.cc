// Logged changes over an HBase in this process: they get their records with them, and a process that stood still tells them again.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "engine/hbase/guarded_commit.h"
#include "engine/hbase/log/hbase_log.h"
#include "hbase/fake_hbase_test_support.h"

namespace sonde {
namespace {

using hbase::FakeAnswer;
using hbase::FakeCall;
using hbase::FakeHBase;

absl::Time Soon() { return absl::Now() + absl::Seconds(30); }

// The one table is the catalog's, too.
class LoggedCommitTest : public testing::Test {
 protected:
  void SetUp() override {
    hbase_.SetInterceptor([this](const FakeCall& call) -> std::optional<FakeAnswer> {
      const bool is_beat = call.method == "Multi" && call.cells.find("change logs") != std::string::npos;
      if (is_beat && stands_still_)
        return FakeAnswer{.exception = "org.apache.hadoop.hbase.RegionTooBusyException"};
      if (call.method != "GetTableDescriptors") return std::nullopt;
      hbase::pb::GetTableDescriptorsResponse response;
      hbase::pb::TableSchema* const schema = response.add_table_schema();
      schema->mutable_table_name()->set_namespace_("space");
      schema->mutable_table_name()->set_qualifier("table");
      schema->add_column_families()->set_name(kLogFamily);
      return FakeAnswer{.parameter = response.SerializeAsString()};
    });
  }

  std::unique_ptr<HBaseLog> Open() {
    return std::make_unique<HBaseLog>(
        client_.get(), FakeHBase::kTableName, [](TableId) { return FakeHBase::kTableName; },
        LogPositionsOptions{.beat = absl::Milliseconds(30),
                            .send_time = absl::Milliseconds(300),
                            .call_time = absl::Milliseconds(300),
                            .bytes_a_second_min = 1e12});
  }

  // Puts a value into a row, with a record.
  absl::Status Put(HBaseLog* log, const std::string& row_key, const std::string& value) {
    const std::vector<std::string> pieces = {value};
    std::atomic<uint64_t> conflicts = 0;
    LoggedCommit logged(log, &FakeHBase::kTableName, Soon());
    const auto parts = [](RowEdit* edit) {
      return LoggedCommit::Edit{&edit->change, &edit->bytes, &edit->time_to_send};
    };
    // A scan of this HBase gives all families, a Get does not.
    const auto read = [&]() -> absl::StatusOr<StoredRow> {
      const absl::StatusOr<hbase::RowCells> cells =
          client_->rows()->Get(FakeHBase::kTableName, row_key, {.families = {kVersionFamily}}, Soon());
      if (!cells.ok()) return cells.status();
      StoredRow row;
      for (const hbase::Cell& cell : cells->cells()) {
        if (absl::Status status = row.Add(cell); !status.ok()) return status;
      }
      return row;
    };
    const auto make = [&](const StoredRow& row, RowEdit* edit) -> absl::StatusOr<Made> {
      const FamilyDelta delta{.family = 1, .puts = {{"q", 1, edit->bytes.emplace_back(value)}}};
      const absl::Status made = MakeEdit(row_key, {.families = {delta}}, row, edit);
      if (!made.ok()) return made;
      const absl::Status added = logged.Add({.pieces = pieces}, row.newest_record(), parts(edit));
      if (!added.ok()) return added;
      // It has looked at the watch, and sends the change when it goes on.
      if (stands_still_) {
        edit->time_to_send = [] { return absl::Seconds(10); };
        absl::SleepFor(absl::Milliseconds(1'500));
        stands_still_ = false;
      }
      return Made::kEdit;
    };
    const auto again = [&](const StoredRow& row, RowEdit* edit) -> absl::StatusOr<Made> {
      edit->change.row = row_key;
      const absl::Status added = logged.AddAgain(row.newest_record(), parts(edit));
      if (!added.ok()) return added;
      return Made::kEdit;
    };
    const auto commit = [&](const GuardedMake& change) {
      return CommitGuarded(client_.get(), FakeHBase::kTableName, row_key, read, change, Soon(), &conflicts);
    };
    return logged.Run([&] { return commit(make); }, [&] { return commit(again); });
  }

  // The records by position; this HBase keeps deleted ones as empty cells.
  std::map<int64_t, std::string> Records(HBaseLog* log) {
    std::map<int64_t, std::string> records;
    const absl::Status status = log->Read(
        1, RowRange::All(), 0, 0, INT64_MAX,
        [&](const RowLog::Piece& piece) {
          if (!piece.bytes.empty()) records[piece.position] = std::string(piece.bytes);
          return true;
        },
        Soon());
    EXPECT_TRUE(status.ok()) << status;
    return records;
  }

  std::atomic<bool> stands_still_ =
      false;  // longer than its lease, between its look at the watch and the call
  FakeHBase hbase_;
  std::unique_ptr<hbase::Client> client_ =
      *hbase::Client::Create({.roots = hbase_.roots(), .timeout = absl::Seconds(5)});
};

TEST_F(LoggedCommitTest, ARecordComesWithItsChange) {
  const std::unique_ptr<HBaseLog> log = Open(), other = Open();
  std::vector<std::string> wanted;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(Put(i % 3 == 0 ? other.get() : log.get(), "row", std::to_string(i)), absl::OkStatus());
    wanted.push_back(std::to_string(i));
  }
  std::vector<std::string> values;
  for (const auto& [position, value] : Records(log.get())) values.push_back(value);
  EXPECT_EQ(values, wanted) << "in the order of the row, whichever server wrote";
  EXPECT_EQ(hbase_.ValueOf("row", UsualColumn(1, "q")), "19");
  EXPECT_EQ(log->told_again() + other->told_again(), 0u);
}

TEST_F(LoggedCommitTest, WhoStoodStillTellsItsRecordsAgain) {
  const std::unique_ptr<HBaseLog> log = Open();
  ASSERT_EQ(Put(log.get(), "row", "before"), absl::OkStatus());
  stands_still_ = true;
  ASSERT_EQ(Put(log.get(), "row", "late"), absl::OkStatus());
  EXPECT_EQ(log->told_again(), 1u);
  const std::map<int64_t, std::string> records = Records(log.get());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records.rbegin()->second, "late");
}

}  // namespace
}  // namespace sonde
