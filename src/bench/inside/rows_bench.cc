// What do the operators of rows take for a value, and what does it cost to know which values are missing?
//
// Prints Markdown tables of CPU nanoseconds a value, the least of many repetitions on one thread.  The values
// are walks of whole numbers in batches of 360, the points of an hour at a step of ten seconds.  The second
// table sums ints of which some are missing: as a byte each says which, as a bitmap does, and as the
// operators do it (which copies those that are there in front of each other, whatever is then calculated).  A
// hash of all results is printed, so that two builds can be compared.
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/hash.h"
#include "base/random.h"
#include "rows/accumulators.h"
#include "rows/bucket_fold.h"
#include "rows/change.h"
#include "rows/top.h"

namespace sonde::bench {
namespace {

using namespace rows;  // NOLINT(google-build-using-namespace): they are what this is about

constexpr size_t kRows = 360;
constexpr int64_t kStepMicros = 10'000'000;
double seconds_min = 0.3;  // a measured step is repeated until it has taken so long
uint64_t hash = 0;

void Note(uint64_t result) {
  hash = HashBytes({reinterpret_cast<const char*>(&result), sizeof(result)}, hash);
}

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The least CPU nanoseconds a value of `step`, which looks at so many.
template <typename Step>
double NanosOf(size_t values, const Step& step) {
  double least = 0, total = 0;
  do {
    const double start = CpuSeconds();
    step();
    const double seconds = CpuSeconds() - start;
    least = total == 0 ? seconds : std::min(least, seconds);
    total += seconds;
  } while (total < seconds_min);
  return least * 1e9 / static_cast<double>(values);
}

// Batches of one group each.
struct Data {
  std::vector<std::string> hosts;
  std::vector<std::string_view> host_views;
  std::vector<int64_t> times;
  std::vector<std::vector<int64_t>> ints;
  std::vector<std::vector<double>> doubles;
  std::vector<std::vector<uint8_t>> there;
  std::vector<std::vector<uint64_t>> bits;

  size_t Values() const { return ints.size() * kRows; }
  Batch Get(size_t i, bool are_doubles, bool have_gaps) const {
    const uint8_t* const some = have_gaps ? there[i].data() : nullptr;
    return {kRows,
            {ColumnView::Constant(&host_views[i], kRows), ColumnView::OfTimes(times),
             are_doubles ? ColumnView::OfDoubles(doubles[i], some) : ColumnView::OfInts(ints[i], some)}};
  }
};

// `missing_share`: in percent.
Data MakeData(size_t batches, uint64_t missing_share) {
  Data data;
  SeededRandom random(1);
  for (size_t i = 0; i < kRows; ++i) data.times.push_back(static_cast<int64_t>(i) * kStepMicros);
  for (size_t batch = 0; batch < batches; ++batch) {
    data.hosts.push_back(fmt::format("host_{:05}", batch));
    auto& ints = data.ints.emplace_back();
    auto& there = data.there.emplace_back();
    auto& bits = data.bits.emplace_back((kRows + 63) / 64);
    int64_t value = 50;
    for (size_t row = 0; row < kRows; ++row) {
      value += static_cast<int64_t>(random.Uniform(5)) - 2;
      there.push_back(random.Uniform(100) >= missing_share ? 1 : 0);
      bits[row / 64] |= static_cast<uint64_t>(there.back()) << (row % 64);
      ints.push_back(there.back() != 0 ? value : 0);
    }
    data.doubles.emplace_back(ints.begin(), ints.end());
  }
  data.host_views.assign(data.hosts.begin(), data.hosts.end());
  return data;
}

double Accumulate(const Data& data, bool are_doubles, bool have_gaps,
                  const std::vector<Aggregate>& aggregates) {
  Accumulators some(are_doubles ? ColumnType::kDouble : ColumnType::kInt64, AggregateNeeds::Of(aggregates));
  double result = 0;
  const double nanos = NanosOf(data.Values(), [&] {
    some.Resize(0);
    some.Resize(data.ints.size());
    for (size_t i = 0; i < data.ints.size(); ++i)
      some.Add(i, data.times, data.Get(i, are_doubles, have_gaps).columns[2]);
    result = some.Double(aggregates[0], data.ints.size() - 1).value_or(0);
  });
  Note(std::bit_cast<uint64_t>(result));
  return nanos;
}

double Fold(const Data& data, bool are_doubles, bool have_gaps, int64_t width_micros) {
  const Hold hold;
  const Interrupted interrupted;
  FoldPlan plan{.keys = {0},
                .times = 1,
                .inputs = {{2, are_doubles ? ColumnType::kDouble : ColumnType::kInt64, "n"}},
                .aggregates = {Aggregate::kMax},
                .buckets = Buckets{[width_micros](int64_t time) {
                  const int64_t start = time - time % width_micros;
                  return Bucket{start, start + width_micros};
                }}};
  BucketFold fold(plan, hold, interrupted);
  uint64_t rows = 0;
  const double nanos = NanosOf(data.Values(), [&] {
    rows = 0;
    Batch out;
    for (size_t i = 0; i < data.ints.size(); ++i) {
      if (!fold.Add(data.Get(i, are_doubles, have_gaps)).ok()) std::abort();
      while (*fold.Next(&out)) rows += out.rows;
    }
  });
  Note(rows);
  return nanos;
}

double ChangeAll(const Data& data, bool are_doubles, bool have_gaps) {
  Column out;
  const double nanos = NanosOf(data.Values(), [&] {
    for (size_t i = 0; i < data.ints.size(); ++i) {
      Changes changes;
      changes.Apply(Change::kDelta, data.times, data.Get(i, are_doubles, have_gaps).columns[2], &out);
    }
  });
  Note(out.size());
  return nanos;
}

double Top10(const Data& data, bool are_doubles, bool have_gaps) {
  const Hold hold;
  HeldBatch result;
  const double nanos = NanosOf(data.Values(), [&] {
    TopRows top({.count = 10, .by = {2}, .ties = 2}, hold);
    for (size_t i = 0; i < data.ints.size(); ++i) {
      if (!top.Add(data.Get(i, are_doubles, have_gaps)).ok()) std::abort();
    }
    top.Result(&result);
  });
  Note(static_cast<uint64_t>(result.columns[1].ints()[0]));
  return nanos;
}

double SumByBytes(const Data& data) {
  int64_t sum = 0;
  const double nanos = NanosOf(data.Values(), [&] {
    sum = 0;
    for (size_t i = 0; i < data.ints.size(); ++i) {
      for (size_t row = 0; row < kRows; ++row)
        sum += data.ints[i][row] & -static_cast<int64_t>(data.there[i][row]);
    }
  });
  Note(static_cast<uint64_t>(sum));
  return nanos;
}

double SumByBits(const Data& data) {
  int64_t sum = 0;
  const double nanos = NanosOf(data.Values(), [&] {
    sum = 0;
    for (size_t i = 0; i < data.ints.size(); ++i) {
      for (size_t row = 0; row < kRows; ++row) {
        const uint64_t bit = data.bits[i][row / 64] >> (row % 64) & 1;
        sum += data.ints[i][row] & -static_cast<int64_t>(bit);
      }
    }
  });
  Note(static_cast<uint64_t>(sum));
  return nanos;
}

// Word by word, the set bits of each.
double SumBySetBits(const Data& data) {
  int64_t sum = 0;
  const double nanos = NanosOf(data.Values(), [&] {
    sum = 0;
    for (size_t i = 0; i < data.ints.size(); ++i) {
      for (size_t word = 0; word < data.bits[i].size(); ++word) {
        for (uint64_t bits = data.bits[i][word]; bits != 0; bits &= bits - 1)
          sum += data.ints[i][word * 64 + static_cast<size_t>(std::countr_zero(bits))];
      }
    }
  });
  Note(static_cast<uint64_t>(sum));
  return nanos;
}

int Run(size_t batches) {
  const Data whole = MakeData(batches, 0), gaps = MakeData(batches, 10);
  fmt::print("{} batches of {} rows; ns a value.\n\n", batches, kRows);
  fmt::print(
      "| operator | ints | doubles | ints, 10% missing | doubles, 10% missing |\n"
      "| --- | ---: | ---: | ---: | ---: |\n");
  const auto row = [&](std::string_view name, const auto& measure) {
    fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", name, measure(whole, false, false),
               measure(whole, true, false), measure(gaps, false, true), measure(gaps, true, true));
  };
  const auto accumulate = [&](std::string_view name, const std::vector<Aggregate>& aggregates) {
    row(name, [&](const Data& data, bool are_doubles, bool have_gaps) {
      return Accumulate(data, are_doubles, have_gaps, aggregates);
    });
  };
  accumulate("sum, avg", {Aggregate::kSum});
  accumulate("min, max", {Aggregate::kMax});
  accumulate("first, last", {Aggregate::kLast});
  accumulate("stddev", {Aggregate::kStddev});
  accumulate("all of these", {Aggregate::kAvg, Aggregate::kMax, Aggregate::kLast, Aggregate::kStddev});
  for (const auto& [name, width] : {std::pair("max by hour", 3'600'000'000), {"max by minute", 60'000'000}}) {
    row(name, [&, micros = width](const Data& data, bool are_doubles, bool have_gaps) {
      return Fold(data, are_doubles, have_gaps, micros);
    });
  }
  row("delta", ChangeAll);
  row("top 10", Top10);
  fmt::print(
      "\n| sum of ints, missing | by bytes | by bits | by set bits | as the operators |\n"
      "| ---: | ---: | ---: | ---: | ---: |\n");
  for (const uint64_t missing : {0, 1, 10, 50, 90}) {
    const Data data = MakeData(batches, missing);
    fmt::print("| {}% | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", missing, SumByBytes(data), SumByBits(data),
               SumBySetBits(data), Accumulate(data, false, true, {Aggregate::kSum}));
  }
  fmt::print("\nhash {:016x}\n", hash);
  return 0;
}

}  // namespace
}  // namespace sonde::bench

int main(int argc, char** argv) {
  size_t batches = 1'000;
  CLI::App app("What the operators of rows take for a value");
  app.add_option("--batches", batches, "of 360 rows")->check(CLI::Range(1, 100'000))->capture_default_str();
  app.add_option("--seconds", sonde::bench::seconds_min, "of each measurement")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  app.footer("Example:\n  rows_bench --batches 1000");
  CLI11_PARSE(app, argc, argv);
  return sonde::bench::Run(batches);
}
