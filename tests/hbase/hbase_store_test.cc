// A store in a cluster as it may be found: by several servers at once, altered by hand, beside tables of others, not there.
#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "cluster_under_test.h"
#include "engine/hbase/hbase_engine.h"
#include "engine/hbase/store_check.h"
#include "fmt/format.h"

namespace sonde {
namespace {

using hbase::InAMinute;
using testing::HasSubstr;

class HBaseStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* const master = std::getenv("SONDE_HBASE_MASTER");
    ASSERT_NE(master, nullptr) << "SONDE_HBASE_MASTER is not set: run this by tests/hbase/run";
    address_ = *ParseHBaseStore(fmt::format("hbase://{}/sonde_store_test", master));
    client_ = *hbase::Client::Create({.roots = address_.masters, .tls = hbase::TlsOfCluster()});
    DropAll();
  }
  void TearDown() override {
    if (client_ != nullptr) DropAll();
  }
  void DropAll() {
    const auto tables = client_->tables()->List(address_.space, InAMinute());
    if (!tables.ok()) return;  // there is no such namespace yet
    for (const hbase::TableSchema& table : *tables)
      EXPECT_TRUE(client_->tables()->Drop(table.table, InAMinute()).ok());
  }
  absl::StatusOr<std::unique_ptr<HBaseEngine>> Open() {
    return HBaseEngine::Open({.address = address_, .tls = hbase::TlsOfCluster()});
  }

  HBaseStoreAddress address_;
  std::unique_ptr<hbase::Client> client_;
};

std::string TextOf(const absl::Status& status) { return std::string(status.message()); }

TEST_F(HBaseStoreTest, AnAlteredTableIsRefused) {
  ASSERT_TRUE((*Open())->CreateTable({.id = 5}, InAMinute()).ok());
  EXPECT_TRUE(Open().ok());
  ASSERT_TRUE(client_->tables()
                  ->ModifyFamily(CellsTable(address_.space, 5), {"d", {{"VERSIONS", "3"}}}, InAMinute())
                  .ok());
  const absl::Status status = Open().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(TextOf(status),
              HasSubstr("Family 'd' of HBase's table sonde_store_test:t00000005 has VERSIONS 3 and not"));
}

TEST_F(HBaseStoreTest, ANamespaceOfOthersIsRefusedAndLeftAsItIs) {
  (void)client_->tables()->CreateNamespace(address_.space, InAMinute());
  const hbase::TableSchema other{{address_.space, "orders"}, {{"f", {}}}};
  ASSERT_TRUE(client_->tables()->Create(other, {}, InAMinute()).ok());
  const absl::Status status = Open().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(TextOf(status), HasSubstr("has a table that is not Sonde's: sonde_store_test:orders"));
  EXPECT_EQ(client_->tables()->List(address_.space, InAMinute())->size(), 1u);
}

TEST_F(HBaseStoreTest, AStoreWithoutItsCatalogIsRefused) {
  ASSERT_TRUE((*Open())->CreateTable({.id = 5}, InAMinute()).ok());
  ASSERT_TRUE(client_->tables()->Drop(CatalogTable(address_.space), InAMinute()).ok());
  const absl::Status status = Open().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(TextOf(status), HasSubstr("and no table sonde_store_test:catalog"));
}

// What `sonde check --store` finds; the records are understood as the test wants.
TEST_F(HBaseStoreTest, ACheckNamesWhatIsWrong) {
  const auto check = [&](const RecordedTables& recorded) {
    const auto read = [&](const std::vector<Record>&) { return recorded; };
    const absl::StatusOr<StoreCheck> done = CheckStore(client_.get(), address_, read, InAMinute());
    EXPECT_TRUE(done.ok()) << done.status();
    return done.ok() ? done->facts : StoreFacts();
  };
  EXPECT_TRUE(absl::IsNotFound(CheckStore(client_.get(), address_, {}, InAMinute()).status()));
  const std::unique_ptr<HBaseEngine> engine = *Open();
  for (const TableId id : {5, 6}) ASSERT_TRUE(engine->CreateTable({.id = id}, InAMinute()).ok());
  const RowChange put{"row", {.families = {{.family = 3, .puts = {{"q", 0, "v"}}}}}};
  ASSERT_EQ(engine->Apply(5, {put}, {.deadline = InAMinute()}), absl::OkStatus());
  RecordedTables recorded{.tables = {{5, {"five", {1, 3}}}, {6, {"six", {}}}}};
  const StoreFacts sound = check(recorded);
  EXPECT_THAT(sound.faults, testing::IsEmpty());
  EXPECT_THAT(sound.notices, testing::IsEmpty());
  EXPECT_THAT(sound.tables, testing::UnorderedElementsAre(5, 6));
  recorded.tables[5].families = {1, 2};
  recorded.tables.erase(6);
  recorded.tables[7] = {"seven", {}};
  recorded.faults = {"a record is broken"};
  ASSERT_TRUE(client_->tables()
                  ->ModifyFamily(CellsTable(address_.space, 6), {"d", {{"VERSIONS", "3"}}}, InAMinute())
                  .ok());
  const StoreFacts facts = check(recorded);
  EXPECT_THAT(
      facts.faults,
      testing::UnorderedElementsAre(
          HasSubstr("Family 'd' of HBase's table sonde_store_test:t00000006 has VERSIONS 3"),
          "a record is broken",
          "Row 'row' of table five (sonde_store_test:t00000005) has a cell of family 3, which the table "
          "does not have",
          "Table seven is in the records, and HBase has no table sonde_store_test:t00000007"));
  EXPECT_THAT(facts.notices, testing::ElementsAre(HasSubstr("t00000006 is in no record")));
}

TEST_F(HBaseStoreTest, AClusterThatIsAwayIsTold) {
  HBaseEngineOptions options{
      .address = address_, .tls = hbase::TlsOfCluster(), .open_timeout = absl::Seconds(2)};
  options.address.masters = {{"127.0.0.1", 9}};  // nobody listens there
  const absl::Status status = HBaseEngine::Open(options).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(TextOf(status), HasSubstr("The HBase cluster at 127.0.0.1:9 does not answer: "));
}

// Both make the same tables, write the same records by compare-and-set, and increment the same rows.
TEST_F(HBaseStoreTest, TwoServersUseOneStore) {
  std::vector<std::unique_ptr<HBaseEngine>> engines;
  for (int i = 0; i < 2; ++i) engines.push_back(*Open());
  constexpr TableId kTable = 9;
  constexpr int kSteps = 60;
  std::atomic<int> numbers_taken = 0;
  const auto work = [&](HBaseEngine* engine) {
    ASSERT_TRUE(engine->CreateTable({.id = kTable}, InAMinute()).ok());
    for (int i = 0; i < kSteps; ++i) {
      const auto records = engine->ReadRecords("number", InAMinute());
      ASSERT_TRUE(records.ok()) << records.status();
      const int64_t version = records->empty() ? 0 : records->front().version;
      const int number = records->empty() ? 0 : std::stoi(records->front().value);
      const absl::Status written =
          engine->WriteRecords({{"number", std::to_string(number + 1), version}}, InAMinute());
      ASSERT_TRUE(written.ok() || absl::IsAborted(written)) << written;
      if (written.ok()) ++numbers_taken;
      const RowChange add{
          "row", {.families = {{.family = 3, .aggregate = AggregateKind::kSum, .adds = {{"q", 0, 1}}}}}};
      ASSERT_EQ(engine->Apply(kTable, {add}), absl::OkStatus());
    }
  };
  std::thread other([&] { work(engines[1].get()); });
  work(engines[0].get());
  other.join();
  EXPECT_EQ(engines[0]->ReadRecords("number", InAMinute())->front().value, std::to_string(numbers_taken));
  std::string sum;
  const auto look = [&](const std::vector<RowFamily>& row) -> absl::StatusOr<std::optional<RowDelta>> {
    sum = row.empty() ? "" : std::string(row[0].cells[0].value);
    return std::nullopt;
  };
  ASSERT_EQ(engines[1]->Update(kTable, "row", {}, look, {}), absl::OkStatus());
  EXPECT_EQ(sum, std::string("\0\0\0\0\0\0\0", 7) + static_cast<char>(2 * kSteps));
  // A table that one server dropped is gone for the other one, too, which knows where it was.
  ASSERT_EQ(engines[0]->DropTable(kTable, InAMinute()), absl::OkStatus());
  const RowChange put{"row", {.families = {{.family = 1, .puts = {{"q", 0, "v"}}}}}};
  EXPECT_TRUE(absl::IsNotFound(engines[1]->Apply(kTable, {put}, {.deadline = InAMinute()})));
}

TEST_F(HBaseStoreTest, ATableIsSplitWhereItIsAskedToBe) {
  const std::unique_ptr<HBaseEngine> engine = *Open();
  ASSERT_EQ(engine->CreateTable({.id = 4, .split_keys = {"b", "m"}}, InAMinute()), absl::OkStatus());
  const absl::StatusOr<std::vector<RangeStats>> ranges = engine->Ranges(4, InAMinute());
  ASSERT_TRUE(ranges.ok()) << ranges.status();
  std::vector<std::string> ends;
  for (const RangeStats& range : *ranges) ends.push_back(range.end_key);
  EXPECT_EQ(ends, (std::vector<std::string>{"b", "m", ""}));
}

TEST_F(HBaseStoreTest, ManyRowsOfARegionAreTruncated) {
  const std::unique_ptr<HBaseEngine> engine = *Open();
  ASSERT_EQ(engine->CreateTable({.id = 4, .split_keys = {"b", "c"}}, InAMinute()), absl::OkStatus());
  constexpr int kRows = 36'000;
  std::vector<std::string> row_keys;
  for (int i = 0; i < kRows; ++i)
    row_keys.push_back(fmt::format("{}{:06}", static_cast<char>('a' + i % 3), i));
  std::vector<RowChange> changes;
  for (const std::string& row_key : row_keys)
    changes.push_back({row_key, {.families = {{.family = 1, .puts = {{"q", 0, "v"}}}}}});
  ASSERT_EQ(engine->Apply(4, changes), absl::OkStatus());
  // The last rows of a, all of b, the first rows of c.
  const RowRange range{fmt::format("a{:06}", kRows - 30), fmt::format("c{:06}", 30)};
  ASSERT_EQ(engine->DropRange(4, range, InAMinute()), absl::OkStatus());
  auto stream = engine->Scan(4, {RowRange::All()}, {.deadline = InAMinute()});
  ASSERT_TRUE(stream.ok()) << stream.status();
  std::set<std::string> left;
  RowPiece piece;
  while (true) {
    const absl::StatusOr<bool> more = (*stream)->Next(&piece);
    ASSERT_TRUE(more.ok()) << more.status();
    if (!*more) break;
    left.insert(piece.row_key);
  }
  size_t wanted = 0;
  for (const std::string& row_key : row_keys) {
    if (range.Contains(row_key)) continue;
    ++wanted;
    ASSERT_TRUE(left.contains(row_key)) << row_key;
  }
  EXPECT_EQ(left.size(), wanted);
}

}  // namespace
}  // namespace sonde
