#include "hbase/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <thread>
#include <vector>

#include "base/random.h"
#include "hbase/fake_hbase_test_support.h"
#include "hbase/row_version.h"

namespace sonde::hbase {
namespace {

constexpr absl::Duration kLong = absl::Seconds(60);
const VersionColumn kVersion{"v", "n"};

absl::Time Soon() { return absl::Now() + kLong; }

class ClientTest : public testing::Test {
 protected:
  // Views what it keeps for the thread.
  static RowChange Put(const std::string& row, const std::string& qualifier, const std::string& value) {
    thread_local std::deque<std::string> kept;
    const std::string& kept_qualifier = kept.emplace_back(qualifier);
    const std::string& kept_value = kept.emplace_back(value);
    RowChange change{.row = row};
    change.puts.push_back({{}, "d", kept_qualifier, 1, CellType::kPut, kept_value});
    return change;
  }
  // The rows of a scan, each as ROW:QUALIFIER=VALUE...
  static std::vector<std::string> RowsOf(RowScan* scan, absl::Status* status) {
    std::vector<std::string> rows;
    bool is_new = true;
    RowScan::Part part;
    while (true) {
      const absl::StatusOr<bool> more = scan->Next(&part);
      *status = more.status();
      if (!more.ok() || !*more) return rows;
      if (is_new || rows.back().substr(0, rows.back().find(':')) != part.row)
        rows.push_back(std::string(part.row) + ":");
      for (const Cell& cell : part.cells)
        rows.back() += std::string(cell.qualifier) + "=" + std::string(cell.value) + ";";
      is_new = part.is_last_of_row;
    }
  }
  std::vector<std::string> Scan(const ScanRange& range) {
    const std::unique_ptr<RowScan> scan = client_->Scan(FakeHBase::kTableName, range, {}, {}, Soon());
    absl::Status status;
    std::vector<std::string> rows = RowsOf(scan.get(), &status);
    EXPECT_TRUE(status.ok()) << status;
    return rows;
  }

  FakeHBase hbase_;
  std::unique_ptr<Client> client_ = *Client::Create({.roots = hbase_.roots(), .timeout = absl::Seconds(2)});
};

TEST_F(ClientTest, WantsRoots) {
  EXPECT_EQ(Client::Create({}).status(), absl::InvalidArgumentError("No master of HBase is named"));
}

TEST_F(ClientTest, WritesAndReadsRowsOfSeveralRegions) {
  hbase_.Split("g", 1);
  hbase_.Split("p", 0);
  const std::string values[] = {"1", "2", "3"};
  const RowChange changes[] = {Put("a", "q", values[0]), Put("h", "q", values[1]), Put("z", "q", values[2])};
  for (const absl::Status& status : client_->rows()->Apply(FakeHBase::kTableName, changes, Soon()))
    EXPECT_TRUE(status.ok()) << status;
  for (size_t i = 0; i < 3; ++i) {
    const absl::StatusOr<RowCells> row =
        client_->rows()->Get(FakeHBase::kTableName, changes[i].row, {}, Soon());
    ASSERT_TRUE(row.ok()) << row.status();
    ASSERT_EQ(row->cells().size(), 1u);
    EXPECT_EQ(row->cells()[0].value, values[i]);
  }
  EXPECT_TRUE(client_->rows()->Get(FakeHBase::kTableName, "nobody", {}, Soon())->cells().empty());
  EXPECT_EQ(client_->regions()->lookups(), 3u);
}

TEST_F(ClientTest, FollowsRegionsThatMove) {
  hbase_.Put("a", "q", "1");
  ASSERT_TRUE(client_->rows()->Get(FakeHBase::kTableName, "a", {}, Soon()).ok());
  hbase_.Move("", 1);
  const absl::StatusOr<RowCells> row = client_->rows()->Get(FakeHBase::kTableName, "a", {}, Soon());
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->cells()[0].value, "1");
  EXPECT_EQ(client_->regions()->lookups(), 2u);
}

TEST_F(ClientTest, ListsRegionsAsTheyAre) {
  hbase_.Split("g", 1);
  absl::StatusOr<std::vector<Regions::Place>> places = client_->regions()->All(FakeHBase::kTableName, Soon());
  ASSERT_TRUE(places.ok()) << places.status();
  ASSERT_EQ(places->size(), 2u);
  EXPECT_EQ((*places)[0]->end_key, "g");
  EXPECT_EQ((*places)[1]->server, hbase_.address(1));
  hbase_.Split("p", 0);
  EXPECT_EQ(client_->regions()->All(FakeHBase::kTableName, Soon())->size(), 3u);
  EXPECT_EQ((*client_->regions()->FindBefore(FakeHBase::kTableName, "p", Soon()))->start_key, "g");
  EXPECT_EQ((*client_->regions()->FindBefore(FakeHBase::kTableName, "", Soon()))->start_key, "p");
  EXPECT_EQ((*client_->regions()->Find(FakeHBase::kTableName, "p", Soon()))->start_key, "p");
}

TEST_F(ClientTest, MissingTableIsNotFound) {
  const TableName missing{"space", "none"};
  EXPECT_EQ(client_->rows()->Get(missing, "a", {}, Soon()).status(),
            absl::NotFoundError("HBase has no table space:none"));
  EXPECT_TRUE(absl::IsNotFound(client_->regions()->All(missing, Soon()).status()));
  const RowChange change = Put("a", "q", "1");
  EXPECT_TRUE(absl::IsNotFound(client_->rows()->Apply(missing, {&change, 1}, Soon())[0]));
}

TEST_F(ClientTest, ATableIsThereThoughNoRegionIsOpen) {
  EXPECT_TRUE(absl::IsNotFound(client_->regions()->CheckTable({"space", "none"}, Soon())));
  hbase_.Close("");
  EXPECT_EQ(client_->regions()->CheckTable(FakeHBase::kTableName, Soon()), absl::OkStatus());
  EXPECT_EQ(client_->regions()->lookups(), 2u);
}

// Rows of other regions wait neither for the table's first region, nor for hbase:meta.
TEST_F(ClientTest, ATableOfWhichARegionIsKnownIsNotAskedFor) {
  hbase_.Split("g", 1);
  hbase_.Close("");
  ASSERT_TRUE(client_->rows()->Get(FakeHBase::kTableName, "h", {}, Soon()).ok());
  const uint64_t lookups = client_->regions()->lookups();
  EXPECT_EQ(client_->regions()->CheckTable(FakeHBase::kTableName, Soon()), absl::OkStatus());
  EXPECT_EQ(client_->regions()->lookups(), lookups);
}

// A root whose machine is away neither takes the time of a whole try, nor is it asked first again.
TEST_F(ClientTest, ASilentRootIsAskedOnce) {
  std::atomic<int> asked = 0;
  FakeServer silent(0, [&](const FakeCall&) {
    ++asked;
    return FakeAnswer{.deed = FakeAnswer::Deed::kStaySilent};
  });
  const std::unique_ptr<Client> client =
      *Client::Create({.roots = {silent.address(), hbase_.address(0)}, .timeout = kLong});
  const absl::Time begun = absl::Now();
  for (int i = 0; i < 5; ++i) {
    client->regions()->ForgetMaster();
    const absl::StatusOr<ServerAddress> master = client->regions()->Master(Soon());
    ASSERT_TRUE(master.ok()) << master.status();
    EXPECT_EQ(*master, hbase_.address(0));
  }
  EXPECT_EQ(asked, 1);
  EXPECT_LT(absl::Now() - begun, kLong / 2);
}

TEST_F(ClientTest, DeadlineEndsTheTries) {
  hbase_.SetFaults({.refusals = 1'000});
  const RowChange change = Put("a", "q", "1");
  const absl::Status status =
      client_->rows()->Apply(FakeHBase::kTableName, {&change, 1}, absl::Now() + absl::Milliseconds(300))[0];
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("RegionTooBusyException"));
  EXPECT_EQ(hbase_.ValueOf("a", "q"), "");
}

TEST_F(ClientTest, BlindChangeWhoseAnswerIsLostIsUnknownAndNotRepeated) {
  ASSERT_TRUE(client_->regions()->Find(FakeHBase::kTableName, "a", Soon()).ok());
  hbase_.SetFaults({.lost_answers = 1'000});
  std::atomic<int> multis = 0;
  hbase_.SetInterceptor([&](const FakeCall& call) -> std::optional<FakeAnswer> {
    if (call.method == "Multi") ++multis;
    return std::nullopt;
  });
  const RowChange change = Put("a", "q", "1");
  EXPECT_TRUE(absl::IsUnknown(client_->rows()->Apply(FakeHBase::kTableName, {&change, 1}, Soon())[0]));
  EXPECT_EQ(multis, 1);
  EXPECT_EQ(hbase_.ValueOf("a", "q"), "1");
}

TEST_F(ClientTest, ReadsAreRepeatedWhateverIsLost) {
  for (int i = 0; i < 50; ++i) hbase_.Put("row" + std::to_string(i), "q", std::to_string(i));
  hbase_.SetFaults({.lost_calls = 150, .lost_answers = 150, .refusals = 100, .moves = 100});
  for (int i = 0; i < 50; ++i) {
    const absl::StatusOr<RowCells> row =
        client_->rows()->Get(FakeHBase::kTableName, "row" + std::to_string(i), {}, Soon());
    ASSERT_TRUE(row.ok()) << row.status();
    ASSERT_EQ(row->cells().size(), 1u);
    EXPECT_EQ(row->cells()[0].value, std::to_string(i));
  }
}

TEST_F(ClientTest, GuardedChangeHoldsItsGuard) {
  RowChange change = Put("a", "q", "1");
  ASSERT_TRUE(*client_->rows()->ApplyGuarded(FakeHBase::kTableName, kVersion, {change, ""}, Soon()));
  EXPECT_FALSE(*client_->rows()->ApplyGuarded(FakeHBase::kTableName, kVersion, {change, ""}, Soon()));
}

TEST_F(ClientTest, AGuardedChangeIsSentInItsTimeOnly) {
  GuardedChange change{Put("a", "q", "1"), "", [] { return absl::ZeroDuration(); }};
  const absl::Status over =
      client_->rows()->ApplyGuarded(FakeHBase::kTableName, kVersion, change, Soon()).status();
  EXPECT_TRUE(absl::IsUnavailable(over)) << over;
  EXPECT_EQ(hbase_.ValueOf("a", "q"), "");
  // Its time is short, and longer each time that it is asked for.
  const absl::Time busy_until = absl::Now() + absl::Milliseconds(400);
  hbase_.SetInterceptor([busy_until](const FakeCall& call) -> std::optional<FakeAnswer> {
    if (call.method != "Multi" || absl::Now() >= busy_until) return std::nullopt;
    return FakeAnswer{.exception = "org.apache.hadoop.hbase.RegionTooBusyException"};
  });
  change.time_to_send = [] { return absl::Milliseconds(60); };
  EXPECT_TRUE(*client_->rows()->ApplyGuarded(FakeHBase::kTableName, kVersion, change, Soon()));
  EXPECT_EQ(hbase_.ValueOf("a", "q"), "1");
  // An answer that was lost is looked for, though nothing may be sent any more.
  hbase_.SetInterceptor(nullptr);
  hbase_.SetFaults({.lost_answers = 400});
  int found = 0;
  for (int i = 0; i < 30; ++i) {
    const std::string row = "b" + std::to_string(i);
    int asked = 0;
    GuardedChange once{Put(row, "q", "1"), "",
                       [&asked] { return asked++ == 0 ? absl::Seconds(1) : absl::ZeroDuration(); }};
    const auto applied = client_->rows()->ApplyGuarded(FakeHBase::kTableName, kVersion, once, Soon());
    if (applied.ok()) {
      EXPECT_TRUE(*applied);
      ++found;
    } else {
      EXPECT_TRUE(absl::IsUnknown(applied.status())) << applied.status();
    }
    EXPECT_EQ(hbase_.ValueOf(row, "q"), "1");
  }
  EXPECT_EQ(found, 30);
}

// Threads increment one row under lost calls, lost answers, busy and moving regions.  What was acknowledged was applied once.
TEST_F(ClientTest, GuardedIncrementsAreAppliedExactlyOnce) {
  hbase_.Put("row", "n", "0");
  hbase_.SetFaults({.lost_calls = 50, .lost_answers = 200, .refusals = 20, .moves = 10});
  std::atomic<int> acknowledged = 0;
  std::atomic<int> unknown = 0;
  std::vector<std::thread> threads;
  constexpr int kThreads = 4;
  constexpr int kIncrements = 40;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kIncrements; ++i) {
        while (true) {
          const absl::StatusOr<RowCells> row = client_->rows()->Get(FakeHBase::kTableName, "row", {}, Soon());
          ASSERT_TRUE(row.ok()) << row.status();
          std::string seen;
          std::string number;
          for (const Cell& cell : row->cells())
            (cell.family == "v" ? seen : number) = std::string(cell.value);
          const std::string next = std::to_string(std::stoi(number) + 1);
          const absl::StatusOr<bool> applied = client_->rows()->ApplyGuarded(
              FakeHBase::kTableName, kVersion,
              {Put("row", "n", next), seen, [] { return absl::Milliseconds(50); }}, Soon());
          if (!applied.ok()) {
            ASSERT_TRUE(absl::IsUnknown(applied.status())) << applied.status();
            ++unknown;
            break;
          }
          if (*applied) {
            ++acknowledged;
            break;
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const int counter = std::stoi(hbase_.ValueOf("row", "n"));
  EXPECT_GE(counter, acknowledged);
  EXPECT_LE(counter, acknowledged + unknown);
  EXPECT_LE(unknown, kThreads * kIncrements / 20);
  EXPECT_GT(client_->rows()->settled(), 0u);
}

TEST_F(ClientTest, ScansRangesInBothDirections) {
  hbase_.Split("c", 1);
  hbase_.Split("e", 0);
  for (const char* row : {"a", "b", "c", "d", "e", "f"}) hbase_.Put(row, "q", row);
  EXPECT_THAT(Scan({}), testing::ElementsAre("a:q=a;", "b:q=b;", "c:q=c;", "d:q=d;", "e:q=e;", "f:q=f;"));
  EXPECT_THAT(Scan({.start = "b", .stop = "e"}), testing::ElementsAre("b:q=b;", "c:q=c;", "d:q=d;"));
  EXPECT_THAT(Scan({.start = "bb", .stop = "bc"}), testing::ElementsAre());
  EXPECT_THAT(Scan({.reverse = true}),
              testing::ElementsAre("f:q=f;", "e:q=e;", "d:q=d;", "c:q=c;", "b:q=b;", "a:q=a;"));
  EXPECT_THAT(Scan({.start = "e", .stop = "b", .with_start = false, .reverse = true}),
              testing::ElementsAre("d:q=d;", "c:q=c;"));
  EXPECT_THAT(Scan({.start = "e", .stop = "b", .reverse = true}),
              testing::ElementsAre("e:q=e;", "d:q=d;", "c:q=c;"));
}

// Random rows, regions, parts, ranges, against what a map gives.
TEST_F(ClientTest, ScansGiveWhatAMapGives) {
  SeededRandom random(5);
  std::map<std::string, std::string> expected;
  for (int i = 0; i < 60; ++i) {
    const std::string row = std::to_string(100 + random.Uniform(900));
    std::string cells;
    for (uint64_t q = 0; q <= random.Uniform(6); ++q) {
      const std::string qualifier = std::string(1, static_cast<char>('a' + q));
      hbase_.Put(row, qualifier, qualifier);
    }
    for (char q = 'a'; q < 'h'; ++q) {
      const std::string name(1, q);
      if (!hbase_.ValueOf(row, name).empty()) cells += name + "=" + name + ";";
    }
    expected[row] = cells;
  }
  for (int i = 0; i < 5; ++i)
    hbase_.Split(std::to_string(100 + random.Uniform(900)), static_cast<int>(random.Uniform(2)));
  for (int round = 0; round < 60; ++round) {
    hbase_.SetCellsOfPart(1 + random.Uniform(4));
    hbase_.SetHeartbeats(random.Uniform(2) == 0);
    // With faults a scan may end where a row was cut off; what it gave until then must be right.
    const bool has_faults = random.Uniform(2) == 0;
    hbase_.SetFaults(
        has_faults ? FakeHBase::Faults{.lost_calls = 20, .lost_answers = 20, .refusals = 10, .moves = 20}
                   : FakeHBase::Faults{});
    std::string low = std::to_string(100 + random.Uniform(900));
    std::string high = std::to_string(100 + random.Uniform(900));
    if (low > high) std::swap(low, high);
    const bool reverse = random.Uniform(2) == 0;
    std::vector<std::string> wanted;
    for (const auto& [row, cells] : expected) {
      const bool is_in = reverse ? row > low && row <= high : row >= low && row < high;
      if (is_in) wanted.push_back(row + ":" + cells);
    }
    if (reverse) std::reverse(wanted.begin(), wanted.end());
    const ScanRange range = reverse ? ScanRange{.start = high, .stop = low, .reverse = true}
                                    : ScanRange{.start = low, .stop = high};
    const std::unique_ptr<RowScan> scan = client_->Scan(FakeHBase::kTableName, range, {}, {}, Soon());
    absl::Status status;
    std::vector<std::string> rows = RowsOf(scan.get(), &status);
    if (status.ok()) {
      ASSERT_EQ(rows, wanted);
      continue;
    }
    ASSERT_TRUE(has_faults && absl::IsUnavailable(status)) << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("cut off in its middle"));
    ASSERT_FALSE(rows.empty());
    rows.pop_back();
    ASSERT_TRUE(std::equal(rows.begin(), rows.end(), wanted.begin()));
  }
}

TEST_F(ClientTest, ScannerIsRenewedWhileNobodyAsks) {
  for (const char* row : {"a", "b", "c"}) hbase_.Put(row, "q", row);
  hbase_.SetLease(1'000);
  const std::unique_ptr<RowScan> scan = client_->Scan(FakeHBase::kTableName, {}, {}, {}, Soon());
  RowScan::Part part;
  ASSERT_TRUE(*scan->Next(&part));
  for (int i = 0; i < 100 && hbase_.renewals() == 0; ++i) absl::SleepFor(absl::Milliseconds(50));
  EXPECT_GT(hbase_.renewals(), 0);
  ASSERT_TRUE(*scan->Next(&part));
  EXPECT_EQ(part.row, "b");
}

TEST_F(ClientTest, ScannerIsClosedWhenItsScanEndsEarly) {
  for (const char* row : {"a", "b", "c", "d"}) hbase_.Put(row, "q", row);
  std::unique_ptr<RowScan> scan = client_->Scan(FakeHBase::kTableName, {}, {}, {}, Soon());
  RowScan::Part part;
  ASSERT_TRUE(*scan->Next(&part));
  scan.reset();
  for (int i = 0; i < 200 && hbase_.open_scanners() > 0; ++i) absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(hbase_.open_scanners(), 0);
}

// The next rows are asked for before anybody wants them, and HBase refuses to close a scanner meanwhile.
TEST_F(ClientTest, ScannerIsClosedBehindTheCallThatIsUnderWay) {
  for (const char* row : {"a", "b", "c", "d"}) hbase_.Put(row, "q", row);
  hbase_.SetInterceptor([](const FakeCall& call) -> std::optional<FakeAnswer> {
    pb::ScanRequest request;
    const bool asks_for_more = call.method == "Scan" && request.ParseFromString(call.parameter) &&
                               request.has_scanner_id() && !request.close_scanner();
    if (asks_for_more) absl::SleepFor(absl::Milliseconds(100));
    return std::nullopt;
  });
  std::unique_ptr<RowScan> scan = client_->Scan(FakeHBase::kTableName, {}, {}, {}, Soon());
  RowScan::Part part;
  ASSERT_TRUE(*scan->Next(&part));
  scan.reset();
  for (int i = 0; i < 50 && hbase_.open_scanners() > 0; ++i) absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(hbase_.open_scanners(), 0);
}

TEST_F(ClientTest, DamagedAnswerIsDataLoss) {
  hbase_.Put("a", "q", "1");
  hbase_.SetInterceptor([](const FakeCall& call) -> std::optional<FakeAnswer> {
    if (call.method != "Get") return std::nullopt;
    return FakeAnswer{.parameter = {}, .cells = "no cell"};
  });
  EXPECT_TRUE(absl::IsDataLoss(client_->rows()->Get(FakeHBase::kTableName, "a", {}, Soon()).status()));
}

TEST_F(ClientTest, ClusterThatIsAwayIsUnavailable) {
  ServerAddress nobody;
  {
    FakeServer gone(0, [](const FakeCall&) { return FakeAnswer{}; });
    nobody = gone.address();
  }
  const std::unique_ptr<Client> client = *Client::Create({.roots = {nobody}});
  const absl::StatusOr<ServerAddress> master =
      client->regions()->Master(absl::Now() + absl::Milliseconds(200));
  EXPECT_TRUE(absl::IsDeadlineExceeded(master.status())) << master.status();
  EXPECT_THAT(std::string(master.status().message()), testing::HasSubstr("Connection refused"));
}

}  // namespace
}  // namespace sonde::hbase
