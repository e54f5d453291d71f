// A server with four times the load that it can bear goes on as if it had what it can bear: what it lets in
// is answered in time, what it refuses is UNAVAILABLE with RetryInfo and nothing of it is done, and some
// seconds later all is as before.  One that others leave little of the processors is slow, and refuses
// nothing.
//
//   sonde_overload_test                         some seconds, beside other tests
//   sonde_overload_test --alone --seconds=300   five minutes of overload, on a machine that does nothing else
#include <google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "base/busy_processes.h"
#include "catalog/catalog.h"
#include "engine/rocks/rocks_engine.h"
#include "load.h"
#include "table/tables.h"
#include "wire/grpc_server.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;

constexpr char kTable[] = "projects/p/instances/i/tables/t";
constexpr int kRows = 64;
constexpr int kCells = 32'000;  // so that the server has far more to do for a request than its client
constexpr int kClosedLoop = 64;
constexpr int kUnderWayMax = 20'000;

int64_t overload_seconds = 4;
// What else the machine does slows down the client, too, and makes what was measured before an overload
// worth little in it.
bool is_alone = false;

// Under a sanitizer only what is answered counts, not how fast.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMeasures = false;
#else
constexpr bool kMeasures = true;
#endif

void Show(const char* phase, const LoadResult& result) {
  std::cout << phase << ": sent " << result.sent << " in " << result.seconds << " s, answered "
            << result.Goodput() << "/s (p50 " << Quantile(result.latency_us, 0.5) / 1000.0 << " ms, p99 "
            << Quantile(result.latency_us, 0.99) / 1000.0 << " ms), refused " << result.refused << " (p50 "
            << Quantile(result.refused_us, 0.5) / 1000.0 << " ms), of the last second "
            << result.refused_at_the_end << '\n';
  for (const auto& [status, count] : result.other) std::cout << "  " << count << " x " << status << '\n';
}

class LoadedServer : public testing::Test {
 protected:
  void Start(int cells) {
    std::string name = testing::TempDir() + "sonde_overload_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    auto engine = RocksEngine::Open({.data_dir = name, .memory_bytes = 256 << 20, .sync = true});
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    auto catalog = Catalog::Open(engine_.get());
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    catalog_ = *std::move(catalog);
    tables_ = std::make_unique<Tables>(engine_.get(), catalog_.get(), &clock_, /*seed=*/1);
    auto server = GrpcServer::Start({}, tables_.get());
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    const std::string address = "127.0.0.1:" + std::to_string(server_->port());
    const auto stub =
        admin::BigtableTableAdmin::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    admin::CreateTableRequest request;
    request.set_parent("projects/p/instances/i");
    request.set_table_id("t");
    for (const char* family : {"data", "marks"})
      (*request.mutable_table()->mutable_column_families())[family];
    grpc::ClientContext context;
    admin::Table made;
    const grpc::Status status = stub->CreateTable(&context, request, &made);
    ASSERT_TRUE(status.ok()) << status.error_message();
    driver_ = std::make_unique<LoadDriver>(address, kTable, kRows);
    driver_->FillRows(cells);
  }

  void TearDown() override {
    driver_.reset();
    server_.reset();
    tables_.reset();
    catalog_.reset();
    engine_.reset();
    std::filesystem::remove_all(directory_);
  }

  LoadResult RunOf(LoadKind kind, const char* phase, double per_second, int under_way_max,
                   std::chrono::milliseconds time) {
    LoadResult result = driver_->Run({kind, per_second, under_way_max, time});
    Show(phase, result);
    answered_.merge(result.answered_ids);
    refused_.merge(result.refused_ids);
    return result;
  }

  SystemClock clock_;
  std::filesystem::path directory_;
  std::unique_ptr<RocksEngine> engine_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<LoadDriver> driver_;
  std::set<uint64_t> answered_, refused_;
};

class Overload : public LoadedServer, public testing::WithParamInterface<LoadKind> {
 protected:
  void SetUp() override { Start(kCells); }
  LoadResult Run(const char* phase, double per_second, int under_way_max, std::chrono::milliseconds time) {
    return RunOf(GetParam(), phase, per_second, under_way_max, time);
  }
};

TEST_P(Overload, AnswersAsManyAsBefore) {
  using std::chrono::milliseconds;
  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  Run("warm", kUnlimited, kClosedLoop, milliseconds(500));
  const double peak = Run("peak", kUnlimited, kClosedLoop, milliseconds(2'000)).Goodput();
  const LoadResult calm = Run("0.7x", 0.7 * peak, kUnderWayMax, milliseconds(2'000));
  const LoadResult over = Run("4x", 4 * peak, kUnderWayMax, milliseconds(1'000 * overload_seconds));
  const LoadResult after = Run("0.5x", 0.5 * peak, kUnderWayMax, milliseconds(5'000));

  for (const LoadResult* result : {&calm, &over, &after}) EXPECT_TRUE(result->other.empty());
  EXPECT_GT(over.refused, 0);
  EXPECT_EQ(after.refused_at_the_end, 0);
  if (kMeasures) {
    EXPECT_GE(over.Goodput(), (is_alone ? 0.9 : 0.2) * peak);
    if (is_alone) {
      EXPECT_LE(Quantile(over.latency_us, 0.99), 1'000'000);  // it may wait half as long for its turn
    }
  }
  if (GetParam() == LoadKind::kWrite) {
    EXPECT_EQ(driver_->WrittenIds(), answered_);
  }
}

// A server of one processor, which many others want: eight clients, each of which waits for its answer, are
// no overload.  The official clients do not send such a request again.
TEST_F(LoadedServer, OfFewProcessorsIsSlowAndRefusesNothing) {
  constexpr int kClients = 8;
  constexpr int kPrograms = 40;
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
  }
  if (sched_setaffinity(0, sizeof one, &one) != 0) GTEST_SKIP() << "no processor can be chosen here";
  Start(/*cells=*/100);
  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  LoadResult result;
  {
    const BusyProcesses others(kPrograms);
    result = RunOf(LoadKind::kWrite, "starved", kUnlimited, kClients, std::chrono::milliseconds(8'000));
  }
  sched_setaffinity(0, sizeof all, &all);
  EXPECT_TRUE(result.other.empty());
  EXPECT_EQ(result.refused, 0);
  EXPECT_GT(result.answered, 0);
  EXPECT_EQ(driver_->WrittenIds(), answered_);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Overload, testing::Values(LoadKind::kRead, LoadKind::kWrite),
                         [](const auto& kind) { return kind.param == LoadKind::kRead ? "Reads" : "Writes"; });

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  constexpr std::string_view kSeconds = "--seconds=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--alone") {
      sonde::is_alone = true;
      continue;
    }
    if (argument.starts_with(kSeconds) &&
        std::from_chars(argument.data() + kSeconds.size(), argument.data() + argument.size(),
                        sonde::overload_seconds)
                .ec == std::errc())
      continue;
    std::cerr << "unknown argument " << argument << "; known: --alone --seconds=N\n";
    return 2;
  }
  return RUN_ALL_TESTS();
}
