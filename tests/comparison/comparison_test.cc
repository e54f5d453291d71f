// Random tables and requests: a server on RocksDB and servers on the memory engine must answer as the naive
// evaluator does.
//
//   sonde_comparison_test                                     some 2,000 requests
//   sonde_comparison_test --requests=100000 --seed=7          more, from another seed
// Where SONDE_HBASE_MASTER is set (tests/hbase/run), a server on HBase must do so, in place of these.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "compare.h"
#include "naive_bigtable.h"
#include "random_requests.h"
#include "temporary_directory.h"

namespace sonde {
namespace {

constexpr int kStepsPerHistory = 50;

uint64_t requests_count = 2'000;
uint64_t first_seed = 1;

TEST(Comparison, ServersAnswerAsTheCommentsSay) {
  const TemporaryDirectory directory;
  const char* const hbase_master = std::getenv("SONDE_HBASE_MASTER");
  Comparison comparison(directory.path(), hbase_master == nullptr ? "" : hbase_master);
  const uint64_t histories_count = (requests_count + kStepsPerHistory - 1) / kStepsPerHistory;
  std::cout << histories_count << " histories of " << kStepsPerHistory << " requests, seeds from "
            << first_seed << std::endl;
  for (uint64_t seed = first_seed; seed < first_seed + histories_count; ++seed) {
    const History history = MakeHistory(seed, kStepsPerHistory);
    std::optional<Difference> difference = comparison.Run(history);
    if (!difference.has_value()) continue;
    const History shrunk = comparison.Shrink(history, &*difference);
    FAIL() << "seed " << seed << '\n' << Describe(shrunk, *difference);
  }
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
