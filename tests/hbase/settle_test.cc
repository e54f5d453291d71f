// Tables of each kind in a cluster, and the settler's rounds over them.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cluster_under_test.h"
#include "engine/hbase/hbase_engine.h"
#include "engine/hbase/settle/settler.h"
#include "engine/hbase/store_check.h"
#include "fmt/format.h"

namespace sonde {
namespace {

using hbase::InAMinute;

constexpr FamilyId kFamily = 3;

class SettleTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* const master = std::getenv("SONDE_HBASE_MASTER");
    ASSERT_NE(master, nullptr) << "SONDE_HBASE_MASTER is not set: run this by tests/hbase/run";
    address_ = *ParseHBaseStore(fmt::format("hbase://{}/sonde_settle_test", master));
    client_ = *hbase::Client::Create({.roots = address_.masters, .tls = hbase::TlsOfCluster()});
    DropAll();
    engine_ = *HBaseEngine::Open({.address = address_, .tls = hbase::TlsOfCluster()});
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
  hbase::TableName NameOf(TableId table) const { return CellsTable(address_.space, table); }
  void Create(TableId table, CellStorage storage, std::vector<std::string> split_keys = {}) {
    ASSERT_EQ(engine_->CreateTable({.id = table, .split_keys = std::move(split_keys), .storage = storage},
                                   InAMinute()),
              absl::OkStatus());
  }
  void Put(TableId table, std::string_view row_key, int64_t micros, std::string_view value) {
    const RowChange put{row_key, {.families = {{.family = kFamily, .puts = {{"q", micros, value}}}}}};
    ASSERT_EQ(engine_->Apply(table, {put}, {.deadline = InAMinute()}), absl::OkStatus());
  }
  // How many cells of HBase's each of its families has.
  std::map<std::string, int> CountByFamily(TableId table) {
    const std::unique_ptr<hbase::RowScan> scan = client_->Scan(NameOf(table), {}, {}, {}, InAMinute());
    std::map<std::string, int> count;
    hbase::RowScan::Part part;
    while (true) {
      const absl::StatusOr<bool> more = scan->Next(&part);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) break;
      for (const hbase::Cell& cell : part.cells) ++count[std::string(cell.family)];
    }
    count.erase("v");
    return count;
  }
  // As ROW:TIME=VALUE.
  std::string Cells(TableId table, const ReadHints& hints = {}, bool reverse = false) {
    auto stream = engine_->Scan(table, {RowRange::All()},
                                {.reverse = reverse, .hints = hints, .deadline = InAMinute()});
    EXPECT_TRUE(stream.ok()) << stream.status();
    std::string text;
    RowPiece piece;
    while (true) {
      const absl::StatusOr<bool> more = (*stream)->Next(&piece);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) return text;
      for (const CellView& cell : piece.cells)
        text += fmt::format("{}:{}={} ", piece.row_key, cell.timestamp_micros, cell.value);
    }
  }

  HBaseStoreAddress address_;
  std::unique_ptr<hbase::Client> client_;
  std::unique_ptr<HBaseEngine> engine_;
};

using Count = std::map<std::string, int>;

TEST_F(SettleTest, ATableKeepsItsCellsAsItWasMade) {
  Create(5, CellStorage::kPlain);
  Create(6, CellStorage::kPacked);
  Create(7, CellStorage::kPackedAtOnce);
  // It stays so, whatever is said later.
  Create(5, CellStorage::kPacked);
  for (const TableId table : {5, 6, 7}) {
    Put(table, "row", 1, "a");
    Put(table, "row", 2, "b");
  }
  EXPECT_EQ(CountByFamily(5), (Count{{"d", 2}}));
  EXPECT_EQ(CountByFamily(6), (Count{{"d", 2}}));
  EXPECT_EQ(CountByFamily(7), (Count{{"c", 2}}));
  Settler settler(client_.get(), address_.space,
                  {.quiet = -absl::Hours(1), .pause = absl::ZeroDuration(), .cells_min = 1});
  ASSERT_EQ(settler.RunRound(), absl::OkStatus());
  EXPECT_EQ(CountByFamily(5), (Count{{"d", 2}}));
  EXPECT_EQ(CountByFamily(6), (Count{{"b", 1}}));
  EXPECT_EQ(CountByFamily(7), (Count{{"b", 1}}));
  for (const TableId table : {5, 6, 7}) {
    Put(table, "row", 3, "c");
    for (const bool reverse : {false, true}) EXPECT_EQ(Cells(table, {}, reverse), "row:3=c row:2=b row:1=a ");
    const RowDelta deletion{.families = {{.family = kFamily, .deletes = {{"q", {2, 3}}}}}};
    ASSERT_EQ(engine_->Apply(table, {{"row", deletion}}, {.deadline = InAMinute()}), absl::OkStatus());
    EXPECT_EQ(Cells(table), "row:3=c row:1=a ");
  }
  // A server that comes later finds what they are.
  engine_ = *HBaseEngine::Open({.address = address_, .tls = hbase::TlsOfCluster()});
  for (const TableId table : {5, 6, 7}) {
    EXPECT_EQ(Cells(table), "row:3=c row:1=a ");
    ASSERT_EQ(engine_->DropFamily(table, kFamily, InAMinute()), absl::OkStatus());
    EXPECT_EQ(CountByFamily(table), Count());
  }
}

TEST_F(SettleTest, ReadersAskOfHBaseWhatTheyWant) {
  Create(6, CellStorage::kPacked);
  Create(7, CellStorage::kPackedAtOnce);
  for (const TableId table : {6, 7}) {
    for (int64_t micros = 1; micros <= 4; ++micros) Put(table, "row", micros, "v");
    ASSERT_TRUE(Settler(client_.get(), address_.space, {})
                    .SettleRange(
                        NameOf(table), table == 6 ? CellStorage::kPacked : CellStorage::kPackedAtOnce,
                        RowRange::All(), {}, SIZE_MAX, [] { return true; }, InAMinute())
                    .ok());
    for (int64_t micros = 5; micros <= 6; ++micros) Put(table, "row", micros, "w");
    for (const bool reverse : {false, true}) {
      const std::vector<ReadHints::ColumnRange> columns = {{"q", "r"}};
      // Hints are advice: what is asked for is there.
      const auto has = [&](const ReadHints& hints, const std::string& text) {
        return Cells(table, hints, reverse).find(text) != std::string::npos;
      };
      EXPECT_TRUE(has({.families = {{kFamily}}, .columns = columns}, "row:2=v row:1=v "));
      EXPECT_TRUE(has({.time_range = {2, 6}}, "row:5=w row:4=v row:3=v row:2=v "));
      EXPECT_TRUE(has({.newest_per_column = 1}, "row:6=w "));
      // A reverse scan asks for all up to these columns.
      if (!reverse) {
        EXPECT_EQ(Cells(table, {.families = {{kFamily + 1}}}), "");
      }
      EXPECT_TRUE(has({.keys_only = true}, "row:1="));
      EXPECT_TRUE(has({.keys_only = true}, "row:6="));
      EXPECT_TRUE(has({.families = {{kFamily}}, .columns = columns, .keys_only = true}, "row:1="));
    }
  }
}

TEST_F(SettleTest, TheRoomOfPackedCellsIsGivenBack) {
  Create(6, CellStorage::kPacked);
  constexpr int kRows = 40, kCells = 250, kValueBytes = 1'000;
  for (int row = 0; row < kRows; ++row) {
    std::vector<std::string> values;
    RowDelta delta{.families = {{.family = kFamily}}};
    for (int i = 0; i < kCells; ++i) values.push_back(fmt::format("{:0{}}", row * kCells + i, kValueBytes));
    for (int i = kCells; i > 0; --i) delta.families[0].puts.push_back({"q", i, values[i - 1]});
    ASSERT_EQ(engine_->Apply(6, {{fmt::format("row{:02}", row), delta}}, {.deadline = InAMinute()}),
              absl::OkStatus());
  }
  ASSERT_TRUE(client_->tables()->Flush(NameOf(6), InAMinute()).ok());
  // As the master tells it, seconds later.
  const auto bytes = [&] {
    const absl::StatusOr<std::vector<RangeStats>> ranges = engine_->Ranges(6, InAMinute());
    EXPECT_TRUE(ranges.ok()) << ranges.status();
    return ranges.ok() ? ranges->front().bytes : 0;
  };
  const auto await = [&](const auto& is_wanted) {
    for (const absl::Time end = InAMinute(); !is_wanted(bytes());) {
      ASSERT_LT(absl::Now(), end) << bytes() << " bytes";
      absl::SleepFor(absl::Seconds(1));
    }
  };
  constexpr uint64_t kWritten = uint64_t{kRows} * kCells * kValueBytes;
  await([](uint64_t now) { return now >= kWritten * 8 / 10; });
  Settler settler(client_.get(), address_.space,
                  {.quiet = -absl::Hours(1),
                   .pause = absl::ZeroDuration(),
                   .compactor = {.bytes_min = kWritten, .pause = absl::ZeroDuration()}});
  ASSERT_EQ(settler.RunRound(), absl::OkStatus());
  EXPECT_EQ(CountByFamily(6), (Count{{"b", kRows}}));
  await([](uint64_t now) { return now <= kWritten / 5; });
  const std::vector<Figure> figures = settler.Figures();
  const auto begun = std::find_if(figures.begin(), figures.end(), [](const Figure& figure) {
    return figure.name == "sonde_hbase_settle_compactions_total";
  });
  ASSERT_NE(begun, figures.end());
  EXPECT_EQ(begun->samples.front().value, 1);
}

TEST_F(SettleTest, ACheckFindsPackedCellsOfOtherFamilies) {
  Create(7, CellStorage::kPackedAtOnce);
  Put(7, "row", 1, "v");
  const auto faults = [&](std::set<FamilyId> families) {
    const RecordedTables recorded{.tables = {{7, {"seven", std::move(families)}}}};
    const auto read = [&](const std::vector<Record>&) { return recorded; };
    const absl::StatusOr<StoreCheck> done = CheckStore(client_.get(), address_, read, InAMinute());
    EXPECT_TRUE(done.ok()) << done.status();
    return done.ok() ? done->facts.faults : std::vector<std::string>();
  };
  const auto fault = testing::ElementsAre(
      testing::HasSubstr("Row 'row' of table seven (sonde_settle_test:t00000007) has a cell of family 3"));
  EXPECT_THAT(faults({1, kFamily}), testing::IsEmpty());
  EXPECT_THAT(faults({1, 2}), fault);
  ASSERT_EQ(Settler(client_.get(), address_.space, {.quiet = -absl::Hours(1)}).RunRound(), absl::OkStatus());
  EXPECT_EQ(CountByFamily(7), (Count{{"b", 1}}));
  EXPECT_THAT(faults({1, kFamily}), testing::IsEmpty());
  EXPECT_THAT(faults({1, 2}), fault);
}

TEST_F(SettleTest, ARegionIsSettledByOneServer) {
  SettleLeases a(client_.get(), address_.space, 1), b(client_.get(), address_.space, 2);
  const absl::Time now = absl::Now();
  const auto take = [&](SettleLeases* leases, absl::Time at) {
    const auto taken = leases->Take(9, "start", absl::Minutes(1), at, InAMinute());
    EXPECT_TRUE(taken.ok()) << taken.status();
    return taken.ok() ? *taken : std::nullopt;
  };
  EXPECT_EQ(take(&a, now), "");
  EXPECT_EQ(take(&b, now), std::nullopt);
  EXPECT_TRUE(*a.Renew(9, "start", InAMinute()));
  EXPECT_FALSE(*b.Renew(9, "start", InAMinute()));
  // It was renewed since b saw it.
  EXPECT_EQ(take(&b, now + SettleLeases::kLease), std::nullopt);
  // Nothing has come of it for the time of a lease.
  EXPECT_EQ(take(&b, now + 2 * SettleLeases::kLease), "");
  EXPECT_FALSE(*a.Renew(9, "start", InAMinute()));
  // A region that is not done is gone on with at once, one that is after a pause.
  ASSERT_EQ(b.Give(9, "start", "row", now, InAMinute()), absl::OkStatus());
  EXPECT_EQ(take(&a, now), "row");
  ASSERT_EQ(a.Give(9, "start", "", now, InAMinute()), absl::OkStatus());
  EXPECT_EQ(take(&b, now + absl::Seconds(59)), std::nullopt);
  EXPECT_EQ(take(&b, now + absl::Minutes(1)), "");
}

TEST_F(SettleTest, SeveralServersShareTheWork) {
  Create(6, CellStorage::kPacked, {"g", "n"});
  for (const char* const row_key : {"a", "h", "z"}) Put(6, row_key, 1, "v");
  const SettlerOptions options{.quiet = -absl::Hours(1), .pause = absl::Minutes(1), .cells_min = 1};
  Settler one(client_.get(), address_.space, options), other(client_.get(), address_.space, options);
  ASSERT_EQ(one.RunRound(), absl::OkStatus());
  ASSERT_EQ(other.RunRound(), absl::OkStatus());
  EXPECT_EQ(one.cells_settled(), 3u);
  EXPECT_EQ(other.cells_settled(), 0u);  // all regions were settled a moment ago
  EXPECT_EQ(CountByFamily(6), (Count{{"b", 3}}));
}

}  // namespace
}  // namespace sonde
