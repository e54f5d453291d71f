// What a filter of at most 20 KiB may cost on a row of 1 MiB, of a table of two families or of a thousand:
// 200 ms of CPU time and 4 MiB of memory, all of it: read, compiled, planned and applied.
//
//   sonde_hostile_filter_test                               some thousands
//   sonde_hostile_filter_test --filters=1000000 --seed=7    more, from another seed
#include "hostile_filter.h"

#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "counted_memory.h"
#include "filter/compiled_filter.h"
#include "filter/filter_evaluator.h"
#include "model/limits.h"
#include "wire/data/filter_request.h"

// Sanitizers take several times the time, and memory of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SONDE_MEASURES 0
#else
#define SONDE_MEASURES 1
#endif

namespace sonde {
namespace {

constexpr int64_t kCpuNanosMax = 200'000'000;
constexpr int64_t kMemoryBytesMax = 4 << 20;
constexpr size_t kRowBytes = 1 << 20;
constexpr char kRowKey[] = "row#1";
// Others may be at work on the machine: what seems to take too long is done again.
constexpr int kAttemptsMax = 4;

uint64_t filters_count = 3'000;
uint64_t first_seed = 1;

std::string RandomText(size_t bytes, uint64_t letters, RandomSource* random) {
  std::string text(bytes, 'a');
  for (char& c : text) c = static_cast<char>('a' + random->Uniform(letters));
  return text;
}

// Families with the longest names, of so many letters, beside "f" and "g".
TableSchema SchemaOf(size_t families, uint64_t letters, RandomSource* random) {
  constexpr size_t kAlikeBytes = 32;
  std::set<std::string> names = {"f", "g"};
  const std::string alike = RandomText(kAlikeBytes, letters, random);
  while (names.size() < families) {
    names.insert(alike + RandomText(kFamilyNameBytesMax - kAlikeBytes, letters, random));
  }
  TableSchema schema;
  FamilyId id = 0;
  for (const std::string& name : names) schema.families.push_back({.name = name, .id = ++id});
  return schema;
}

std::vector<TableSchema> MakeSchemas() {
  SeededRandom random(1);
  std::vector<TableSchema> schemas;
  schemas.push_back(SchemaOf(2, 26, &random));
  schemas.push_back(SchemaOf(100, 26, &random));
  schemas.push_back(SchemaOf(1'000, 26, &random));
  schemas.push_back(SchemaOf(1'000, 2, &random));
  return schemas;
}

// A row of 1 MiB: names and values of its cells, and 8 bytes a timestamp.
class Row {
 public:
  Row(size_t qualifier_bytes, size_t value_bytes, uint64_t letters, RandomSource* random) {
    const size_t count = std::max<size_t>(kRowBytes / (qualifier_bytes + value_bytes + 9), 1);
    texts_.reserve(2 * count);
    for (size_t i = 0; i < count; ++i) {
      const std::string number = std::to_string(1'000'000 + i);
      std::string qualifier = number.substr(number.size() - std::min<size_t>(qualifier_bytes, 7));
      qualifier.insert(0, qualifier_bytes - qualifier.size(), 'q');
      texts_.push_back(std::move(qualifier));
      texts_.push_back(RandomText(value_bytes, letters, random));
    }
    for (size_t i = 0; i < count; ++i) {
      cells_.push_back({0, kNoLabel, {texts_[2 * i], 1'000, texts_[2 * i + 1]}});
    }
  }

  // As many in each family.
  std::vector<FilterCell> Cells(size_t families) const {
    std::vector<FilterCell> cells = cells_;
    for (size_t i = 0; i < cells.size(); ++i) {
      cells[i].family = static_cast<uint32_t>(i * families / cells.size());
    }
    return cells;
  }

 private:
  std::vector<std::string> texts_;
  std::vector<FilterCell> cells_;
};

std::vector<Row> MakeRows() {
  SeededRandom random(1);
  std::vector<Row> rows;
  rows.emplace_back(1, kRowBytes - 10, 2, &random);   // one value, on which automata grow
  rows.emplace_back(1, kRowBytes - 10, 1, &random);   // one value of one letter
  rows.emplace_back(1, kRowBytes - 10, 26, &random);  // one value of many
  rows.emplace_back(8, 1'000, 2, &random);
  rows.emplace_back(7, 84, 2, &random);
  rows.emplace_back(16 * 1024, 10, 2, &random);  // long names
  rows.emplace_back(7, 20, 3, &random);          // many small cells
  return rows;
}

struct Cost {
  int64_t cpu_nanos = 0;
  int64_t memory_bytes = 0;
  absl::Status status;
};

absl::Status Use(const std::string& bytes, const TableSchema& schema, std::vector<FilterCell>* cells) {
  google::bigtable::v2::RowFilter message;
  if (!message.ParseFromString(bytes)) return absl::InvalidArgumentError("not a filter");
  const auto filter = CompileFilter(message);
  if (!filter.ok()) return filter.status();
  if (absl::Status status = (*filter)->CheckFamilies(schema); !status.ok()) return status;
  FilterBudget budget;
  (void)(*filter)->Needs(schema, &budget);
  (void)(*filter)->PossibleRows();
  SeededRandom random(1);
  FilterEvaluator evaluator(**filter, schema, &budget, &random);
  if (!(*filter)->RowKeyMayPass(kRowKey, &budget)) return budget.status();
  return evaluator.Run(kRowKey, cells);
}

Cost Measure(const std::string& bytes, const TableSchema& schema, const Row& row) {
  std::vector<FilterCell> cells = row.Cells(schema.families.size());
  Cost cost;
  const int64_t held_before = HeldBytes();
  ForgetPeak();
  const int64_t start_nanos = ThreadCpuNanos();
  cost.status = Use(bytes, schema, &cells);
  cost.cpu_nanos = ThreadCpuNanos() - start_nanos;
  cost.memory_bytes = PeakBytes() - held_before;
  return cost;
}

// Where a message begins and ends.
std::string Ends(const std::string& message) {
  constexpr size_t kShownBytes = 120;
  if (message.size() <= 2 * kShownBytes) return message;
  return message.substr(0, kShownBytes) + " ... " + message.substr(message.size() - kShownBytes);
}

bool IsTooMuch(const Cost& cost) {
  return cost.cpu_nanos > kCpuNanosMax || cost.memory_bytes > kMemoryBytesMax;
}

TEST(HostileFilters, AreCheapOrRefused) {
  if (!SONDE_MEASURES) GTEST_SKIP() << "a sanitizer changes what is measured";
  const std::vector<Row> rows = MakeRows();
  const std::vector<TableSchema> schemas = MakeSchemas();
  std::map<std::string, uint64_t> statuses;
  Cost worst_cpu, worst_memory;
  std::string broken;
  uint64_t broken_count = 0;
  for (uint64_t seed = first_seed; seed < first_seed + filters_count; ++seed) {
    SeededRandom random(seed);
    const std::string bytes = HostileFilter(&random).SerializeAsString();
    ASSERT_LE(bytes.size(), kFilterBytesMax) << "seed " << seed;
    const Row& row = rows[random.Uniform(rows.size())];
    const TableSchema& schema = schemas[random.Uniform(schemas.size())];
    Cost cost = Measure(bytes, schema, row);
    for (int attempt = 1; attempt < kAttemptsMax && cost.cpu_nanos > kCpuNanosMax; ++attempt) {
      const Cost again = Measure(bytes, schema, row);
      if (again.cpu_nanos < cost.cpu_nanos) cost = again;
    }
    ++statuses[absl::StatusCodeToString(cost.status.code())];
    if (cost.cpu_nanos > worst_cpu.cpu_nanos) worst_cpu = cost;
    if (cost.memory_bytes > worst_memory.memory_bytes) worst_memory = cost;
    if (!IsTooMuch(cost)) continue;
    ++broken_count;
    if (broken.size() < 10'000) {
      broken += "seed " + std::to_string(seed) + ": " + std::to_string(cost.cpu_nanos / 1'000'000) + " ms, " +
                std::to_string(cost.memory_bytes >> 10) + " KiB, " + Ends(cost.status.ToString()) + '\n';
    }
  }
  std::cout << filters_count << " filters from seed " << first_seed << ": at most "
            << worst_cpu.cpu_nanos / 1'000'000 << " ms of CPU time and " << (worst_memory.memory_bytes >> 10)
            << " KiB of memory\n";
  for (const auto& [code, count] : statuses) std::cout << "  " << code << ' ' << count << '\n';
  EXPECT_EQ(broken_count, 0) << broken;
  EXPECT_GT(statuses["OK"], filters_count / 10);
  EXPECT_GT(statuses["RESOURCE_EXHAUSTED"], filters_count / 100);
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
  google::protobuf::SetLogHandler(nullptr);  // else a line for each field that is not UTF-8
  for (int i = 1; i < argc; ++i) {
    if (sonde::TakeNumber(argv[i], "--filters=", &sonde::filters_count)) continue;
    if (sonde::TakeNumber(argv[i], "--seed=", &sonde::first_seed)) continue;
    std::cerr << "unknown argument " << argv[i] << "; known: --filters=N --seed=N\n";
    return 2;
  }
  return RUN_ALL_TESTS();
}
