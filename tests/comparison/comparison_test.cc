// Random tables and requests: a server on RocksDB and servers on the memory engine must answer as the naive
// evaluator does.
//
//   sonde_comparison_test                                     some 2,000 requests
//   sonde_comparison_test --requests=100000 --seed=7          more, from another seed
// Where SONDE_HBASE_MASTER is set (tests/hbase/run), a server on HBase must do so, in place of these.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string_view>
#include <thread>
#include <vector>

#include "compare.h"
#include "naive_bigtable.h"
#include "random_requests.h"
#include "temporary_directory.h"

namespace sonde {
namespace {

constexpr int kStepsPerHistory = 50;
constexpr uint64_t kHistoriesPerLine = 100;
// A history there mostly waits: for its table, and for the time of a lease after each change of the schema.
constexpr int kAtOnceOnHBase = 8;

uint64_t requests_count = 2'000;
uint64_t first_seed = 1;

// Runs histories that nobody else has taken, until all are taken or one differs.
void CompareSome(Comparison* comparison, uint64_t histories, std::atomic<uint64_t>* taken,
                 std::atomic<uint64_t>* agreed) {
  while (!testing::Test::HasFailure()) {
    const uint64_t place = (*taken)++;
    if (place >= histories) return;
    const uint64_t seed = first_seed + place;
    try {
      const History history = MakeHistory(seed, kStepsPerHistory);
      std::optional<Difference> difference = comparison->Run(history);
      if (!difference.has_value()) {
        const uint64_t done = ++*agreed;
        if (done % kHistoriesPerLine == 0) std::cout << fmt::format("{} agree\n", done) << std::flush;
        continue;
      }
      ADD_FAILURE() << "seed " << seed << " differs; it is being made smaller\n" << Describe({}, *difference);
      const History shrunk = comparison->Shrink(history, &*difference);
      ADD_FAILURE() << "seed " << seed << '\n' << Describe(shrunk, *difference);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what();
    }
  }
}

TEST(Comparison, ServersAnswerAsTheCommentsSay) {
  const TemporaryDirectory directory;
  const char* const hbase_master = std::getenv("SONDE_HBASE_MASTER");
  const int at_once = hbase_master == nullptr ? 1 : kAtOnceOnHBase;
  const uint64_t histories = (requests_count + kStepsPerHistory - 1) / kStepsPerHistory;
  std::cout << histories << " histories of " << kStepsPerHistory << " requests, seeds from " << first_seed
            << std::endl;
  std::atomic<uint64_t> taken = 0, agreed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < at_once; ++i) {
    threads.emplace_back([&, i] {
      Comparison comparison(fmt::format("{}/{}", directory.path(), i),
                            hbase_master == nullptr ? ""
                                                    : fmt::format("hbase://{}/sonde_comparison_{}_{}",
                                                                  hbase_master, getpid(), i));
      CompareSome(&comparison, histories, &taken, &agreed);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The comparison says little when requests are refused or find nothing.
TEST(Comparison, RequestsMostlyDoSomething) {
  std::map<std::string, int> requests, refused, with_answer;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const History history = MakeHistory(seed, kStepsPerHistory);
    NaiveBigtable naive(history.table.table());
    int64_t now_micros = history.start_micros;
    for (const Step& step : history.steps) {
      now_micros += step.advance_micros;
      const Outcome outcome = naive.Do(step.request, now_micros);
      const std::string kind = MessageOf(step.request).GetTypeName();
      ++requests[kind];
      refused[kind] += outcome.code != absl::StatusCode::kOk;
      with_answer[kind] += !outcome.answer.empty();
    }
  }
  EXPECT_EQ(requests.size(), std::variant_size_v<Request>);
  for (const auto& [kind, count] : requests) {
    EXPECT_GT(refused[kind], 0) << kind;
    EXPECT_LT(refused[kind], count * 3 / 4) << kind;
  }
  EXPECT_GT(with_answer["google.bigtable.v2.ReadRowsRequest"],
            requests["google.bigtable.v2.ReadRowsRequest"] / 3);
}

// "--name=NUMBER"
bool TakeNumber(std::string_view argument, std::string_view name, uint64_t* number) {
  if (!argument.starts_with(name)) return false;
  argument.remove_prefix(name.size());
  const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), *number);
  return error == std::errc() && end == argument.data() + argument.size();
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  spdlog::set_level(spdlog::level::warn);  // a line for each table that is made would hide what is found
  for (int i = 1; i < argc; ++i) {
    if (sonde::TakeNumber(argv[i], "--requests=", &sonde::requests_count)) continue;
    if (sonde::TakeNumber(argv[i], "--seed=", &sonde::first_seed)) continue;
    std::cerr << "unknown argument " << argv[i] << "; known: --requests=N --seed=N\n";
    return 2;
  }
  return RUN_ALL_TESTS();
}
