// What the client asks of HBase, asked of one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "cluster_under_test.h"
#include "hbase/row_version.h"
#include "tls/testing.h"

namespace sonde::hbase {
namespace {

RowChange Put(const std::string& row, const std::string& qualifier, int64_t time, std::string_view value) {
  RowChange change{.row = row};
  change.puts.push_back({row, "d", qualifier, time, CellType::kPut, value});
  return change;
}

// The cells of a change view its row: this makes it again where it lies.
struct OwnedPut {
  std::string row, qualifier, value;
  int64_t time = 1;
  RowChange Change() const {
    RowChange change{.row = row};
    change.puts.push_back({row, "d", qualifier, time, CellType::kPut, value});
    return change;
  }
};

class HBaseTest : public ClusterTest {
 protected:
  void Fill(int rows) {
    std::vector<OwnedPut> puts;
    for (int i = 0; i < rows; ++i)
      puts.push_back({std::to_string(1000 + i), "q", "value" + std::to_string(i)});
    std::vector<RowChange> changes;
    for (const OwnedPut& put : puts) changes.push_back(put.Change());
    for (const absl::Status& status : client_->rows()->Apply(table_, changes, InAMinute()))
      ASSERT_TRUE(status.ok()) << status;
  }
  // How many rows and cells a scan gives.
  std::pair<int, int> Count(const ScanRange& range, const ScanBounds& bounds = {}) {
    const std::unique_ptr<RowScan> scan =
        client_->Scan(table_, range, {.families = {"d"}}, bounds, InAMinute());
    int cells = 0;
    int rows = 0;
    std::string last;
    RowScan::Part part;
    while (true) {
      const absl::StatusOr<bool> more = scan->Next(&part);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) return {rows, cells};
      if (part.row != last) ++rows;
      last = std::string(part.row);
      cells += static_cast<int>(part.cells.size());
    }
  }
};

TEST_F(HBaseTest, TellsOfItself) {
  const absl::StatusOr<ClusterState> state = client_->tables()->State(InAMinute());
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_THAT(state->version, testing::StartsWith("2."));
  EXPECT_GE(state->servers.size(), 1u);
  EXPECT_GT(state->servers[0].heap_bytes_max, 0u);
  const absl::StatusOr<std::vector<std::string>> spaces = client_->tables()->Namespaces(InAMinute());
  ASSERT_TRUE(spaces.ok()) << spaces.status();
  EXPECT_THAT(*spaces, testing::Contains("sonde_test"));
}

TEST_F(HBaseTest, MakesDescribesAndDropsTables) {
  EXPECT_TRUE(absl::IsNotFound(client_->tables()->Describe(table_, InAMinute()).status()));
  EXPECT_TRUE(absl::IsNotFound(client_->rows()->Get(table_, "a", {}, InAMinute()).status()));
  Create({"g", "p"});
  const absl::Status again = client_->tables()->Create({table_, {Family("d")}}, {}, InAMinute());
  EXPECT_TRUE(absl::IsAlreadyExists(again)) << again;
  const absl::StatusOr<TableSchema> schema = client_->tables()->Describe(table_, InAMinute());
  ASSERT_TRUE(schema.ok()) << schema.status();
  ASSERT_EQ(schema->families.size(), 2u);
  EXPECT_EQ(schema->families[0].name, "d");
  EXPECT_EQ(schema->families[0].attributes.at("NEW_VERSION_BEHAVIOR"), "true");
  const absl::StatusOr<std::vector<Regions::Place>> places = client_->regions()->All(table_, InAMinute());
  ASSERT_TRUE(places.ok()) << places.status();
  ASSERT_EQ(places->size(), 3u);
  EXPECT_EQ((*places)[1]->start_key, "g");
  EXPECT_EQ((*places)[1]->end_key, "p");
  EXPECT_EQ(client_->tables()->List("sonde_test", InAMinute())->size(), 1u);
  ASSERT_TRUE(client_->tables()->ModifyFamily(table_, {"v", {{"VERSIONS", "3"}}}, InAMinute()).ok());
  EXPECT_EQ(client_->tables()->Describe(table_, InAMinute())->families[1].attributes.at("VERSIONS"), "3");
}

TEST_F(HBaseTest, MissingFamilyIsRefused) {
  Create({});
  RowChange change{.row = "a"};
  change.puts.push_back({"a", "other", "q", 1, CellType::kPut, "v"});
  const absl::Status status = Apply(change);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
}

TEST_F(HBaseTest, ReadsTheCellsThatWereChosen) {
  Create({});
  RowChange change{.row = "a"};
  for (const char* qualifier : {"p", "q", "r"}) {
    for (int64_t time : {1, 2, 3, 9})
      change.puts.push_back({"a", "d", qualifier, time, CellType::kPut, "value"});
  }
  ASSERT_TRUE(Apply(change).ok());
  CellChoice choice{.families = {"d"},
                    .qualifiers = {{"p", "q"}, {"r", ""}},
                    .time_start = 1,
                    .time_end = 4,
                    .newest_per_column = 2};
  choice.keys_only = true;
  const absl::StatusOr<RowCells> row = client_->rows()->Get(table_, "a", choice, InAMinute());
  ASSERT_TRUE(row.ok()) << row.status();
  const std::vector<Cell> expected = {
      {"a", "d", "p", 3}, {"a", "d", "p", 2}, {"a", "d", "r", 3}, {"a", "d", "r", 2}};
  EXPECT_EQ(row->cells(), expected);
}

TEST_F(HBaseTest, ScansOverRegionsInBothDirections) {
  Create({"1100", "1200"});
  Fill(300);
  EXPECT_EQ(Count({}), std::make_pair(300, 300));
  EXPECT_EQ(Count({.reverse = true}), std::make_pair(300, 300));
  EXPECT_EQ(Count({.start = "1050", .stop = "1250"}), std::make_pair(200, 200));
  EXPECT_EQ(Count({.start = "1250", .stop = "1050", .reverse = true}, {.rows_max = 7}),
            std::make_pair(200, 200));
  EXPECT_EQ(Count({.start = "1100", .stop = "1050", .with_start = false, .reverse = true}),
            std::make_pair(49, 49));
}

// A row of many parts is one snapshot, whatever is written while it is read.
TEST_F(HBaseTest, LongRowIsOneSnapshot) {
  Create({});
  constexpr int kCells = 20'000;
  const auto write = [&](std::string_view value) {
    RowChange change{.row = "long"};
    std::vector<std::string> qualifiers;
    for (int i = 0; i < kCells; ++i) qualifiers.push_back(std::to_string(100'000 + i));
    for (const std::string& qualifier : qualifiers)
      change.puts.push_back({"long", "d", qualifier, 1, CellType::kPut, value});
    ASSERT_TRUE(Apply(change).ok());
  };
  write("old");
  const std::unique_ptr<RowScan> scan =
      client_->Scan(table_, {}, {.families = {"d"}}, {.bytes_max = 64 << 10}, InAMinute());
  RowScan::Part part;
  int parts = 0;
  int cells = 0;
  while (true) {
    const absl::StatusOr<bool> more = scan->Next(&part);
    ASSERT_TRUE(more.ok()) << more.status();
    if (!*more) break;
    cells += static_cast<int>(part.cells.size());
    for (const Cell& cell : part.cells) ASSERT_EQ(cell.value, "old");
    if (++parts == 2) write("new");
  }
  EXPECT_EQ(cells, kCells);
  EXPECT_GT(parts, 5);
}

TEST_F(HBaseTest, LargeValuePasses) {
  Create({});
  const std::string value(20 << 20, 'v');
  ASSERT_TRUE(Apply(Put("a", "q", 1, value)).ok());
  const absl::StatusOr<RowCells> row = client_->rows()->Get(table_, "a", {}, InAMinute());
  ASSERT_TRUE(row.ok()) << row.status();
  ASSERT_EQ(row->cells().size(), 1u);
  EXPECT_EQ(row->cells()[0].value, value);
}

// Rows that come with one whose cell is too large are written all the same.
TEST_F(HBaseTest, TooLargeCellsAreRefusedAlone) {
  const TableSchema schema{
      table_, {Family("d"), Family("v", "1")}, {{"hbase.server.keyvalue.maxsize", "100000"}}};
  ASSERT_TRUE(client_->tables()->Create(schema, {}, InAMinute()).ok());
  EXPECT_EQ(client_->tables()->Describe(table_, InAMinute())->attributes.at("hbase.server.keyvalue.maxsize"),
            "100000");
  const std::string large(200'000, 'v');
  const std::vector<RowChange> changes = {Put("a", "q", 1, "small"), Put("b", "q", 1, large),
                                          Put("c", "q", 1, std::string_view(large).substr(0, 90'000))};
  const std::vector<absl::Status> statuses = client_->rows()->Apply(table_, changes, InAMinute());
  EXPECT_EQ(statuses[0], absl::OkStatus());
  EXPECT_EQ(statuses[1],
            absl::InvalidArgumentError("HBase takes cells of at most 100000 bytes here, keys and names "
                                       "included (hbase.server.keyvalue.maxsize)"));
  EXPECT_EQ(statuses[2], absl::OkStatus());
  EXPECT_EQ(Count({}), std::make_pair(2, 2));
  const absl::StatusOr<bool> guarded =
      client_->rows()->ApplyGuarded(table_, {"v", "n"}, {Put("b", "q", 1, large), ""}, InAMinute());
  EXPECT_TRUE(absl::IsInvalidArgument(guarded.status())) << guarded.status();
}

TEST_F(HBaseTest, ChangesOfTheirRegions) {
  Create({"1100", "1200"});
  Fill(300);
  ASSERT_TRUE(client_->tables()->Flush(table_, InAMinute()).ok());
  ASSERT_TRUE(client_->tables()->Compact(table_, true, InAMinute()).ok());
  const absl::Status split = client_->tables()->Split(table_, "1250", InAMinute());
  ASSERT_TRUE(split.ok()) << split;
  const absl::StatusOr<std::vector<Regions::Place>> places = client_->regions()->All(table_, InAMinute());
  ASSERT_TRUE(places.ok()) << places.status();
  EXPECT_EQ(places->size(), 4u);
  const absl::Status moved = client_->tables()->Move(table_, "1000", std::nullopt, InAMinute());
  ASSERT_TRUE(moved.ok()) << moved;
  EXPECT_EQ(Count({}).first, 300);
  const absl::Status truncated = client_->tables()->TruncateRegion(table_, "1150", InAMinute());
  ASSERT_TRUE(truncated.ok()) << truncated;
  EXPECT_EQ(Count({}).first, 200);
  const absl::Status whole = client_->tables()->Truncate(table_, true, InAMinute());
  ASSERT_TRUE(whole.ok()) << whole;
  EXPECT_EQ(Count({}).first, 0);
}

TEST_F(HBaseTest, TakesSnapshots) {
  Create({});
  Fill(3);
  const absl::Status taken = client_->tables()->Snapshot("sonde_test_snapshot", table_, InAMinute());
  EXPECT_TRUE(taken.ok() || absl::IsAlreadyExists(taken)) << taken;
  EXPECT_TRUE(absl::IsAlreadyExists(client_->tables()->Snapshot("sonde_test_snapshot", table_, InAMinute())));
  const hbase::TableName copy{table_.space, table_.name + "_copy"};
  client_->tables()->Drop(copy, InAMinute()).IgnoreError();
  const absl::StatusOr<std::vector<SnapshotFacts>> listed = client_->tables()->ListSnapshots(InAMinute());
  ASSERT_TRUE(listed.ok()) << listed.status();
  EXPECT_THAT(*listed, testing::Contains(SnapshotFacts{"sonde_test_snapshot", table_}));
  const absl::Status cloned = client_->tables()->CloneSnapshot("sonde_test_snapshot", copy, InAMinute());
  EXPECT_TRUE(cloned.ok()) << cloned;
  EXPECT_TRUE(client_->tables()->DropSnapshot("sonde_test_snapshot", InAMinute()).ok());
  EXPECT_TRUE(client_->tables()->Drop(copy, InAMinute()).ok());
  const absl::Status dropped_again = client_->tables()->DropSnapshot("sonde_test_snapshot", InAMinute());
  EXPECT_TRUE(absl::IsNotFound(dropped_again)) << dropped_again;
}

// Two clients increment one row, guarded, while its region moves.
TEST_F(HBaseTest, GuardedIncrementsAreAppliedOnce) {
  Create({});
  const VersionColumn version{"v", "n"};
  std::atomic<int> acknowledged = 0;
  std::atomic<int> unknown = 0;
  std::atomic<bool> has_ended = false;
  const auto increment = [&](Client* client) {
    for (int i = 0; i < 100; ++i) {
      while (true) {
        const absl::StatusOr<RowCells> row =
            client->rows()->Get(table_, "row", {.newest_per_column = 1}, InAMinute());
        ASSERT_TRUE(row.ok()) << row.status();
        std::string seen;
        int number = 0;
        for (const Cell& cell : row->cells()) {
          if (cell.family == "v") seen = std::string(cell.value);
          if (cell.family == "d") number = std::stoi(std::string(cell.value));
        }
        const std::string next = std::to_string(number + 1);
        const absl::StatusOr<bool> applied =
            client->rows()->ApplyGuarded(table_, version, {Put("row", "n", 1, next), seen}, InAMinute());
        if (!applied.ok()) {
          ASSERT_TRUE(absl::IsUnknown(applied.status())) << applied.status();
          ++unknown;
          break;
        }
        if (!*applied) continue;
        ++acknowledged;
        break;
      }
    }
  };
  std::thread mover([&] {
    while (!has_ended) {
      EXPECT_TRUE(client_->tables()->Move(table_, "row", std::nullopt, InAMinute()).ok());
      absl::SleepFor(absl::Milliseconds(300));
    }
  });
  const std::unique_ptr<Client> other = Connect();
  std::thread second([&] { increment(other.get()); });
  increment(client_.get());
  second.join();
  has_ended = true;
  mover.join();
  const absl::StatusOr<RowCells> row =
      client_->rows()->Get(table_, "row", {.families = {"d"}, .newest_per_column = 1}, InAMinute());
  ASSERT_TRUE(row.ok());
  const int counter = std::stoi(std::string(row->cells()[0].value));
  EXPECT_GE(counter, acknowledged);
  EXPECT_LE(counter, acknowledged + unknown);
  EXPECT_LE(unknown, 10);
}

TEST_F(HBaseTest, IsSaidToSpeakNoTls) {
  if (TlsOfCluster().has_value()) GTEST_SKIP() << "this cluster speaks TLS";
  ClientOptions options = RootsOfCluster();
  options.tls = TlsToServers{.files = {.ca = tls::TemporaryFile("cluster_ca.pem")}};
  tls::WriteTestFile(options.tls->files.ca, tls::TestAuthority().certificate);
  const std::unique_ptr<Client> client = *Client::Create(options);
  EXPECT_EQ(client->tables()->State(InAMinute()).status(),
            absl::FailedPreconditionError("The TLS handshake with " + options.roots.front().Text() +
                                          " failed: the server speaks no TLS"));
}

// HBase closes the connection without a word.
TEST_F(HBaseTest, IsSaidToWantTls) {
  if (!TlsOfCluster().has_value()) GTEST_SKIP() << "this cluster speaks plain text";
  const ClientOptions options = RootsOfCluster();
  const std::unique_ptr<Client> client = *Client::Create(options);
  EXPECT_THAT(std::string(client->tables()->State(absl::Now() + absl::Seconds(2)).status().message()),
              testing::StartsWith(
                  "The server " + options.roots.front().Text() +
                  " closed the connection before it answered anything, as HBase does where it wants TLS"));
}

}  // namespace
}  // namespace sonde::hbase
