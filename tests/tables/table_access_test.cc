// The contract of model/table_access.h, asked of every implementation: in this process over each engine,
// through gRPC, and the doubles that other tests stand on.  Random reads are judged by a naive look at the
// same cells.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "catalog/catalog.h"
#include "client/remote_tables.h"
#include "engine/memory/memory_engine.h"
#include "engine/rocks/rocks_engine.h"
#include "series/write/memory_tables_test_support.h"
#include "table/local_tables.h"
#include "temporary_directory.h"
#include "wire/grpc_server.h"

namespace sonde {
namespace {

constexpr char kInstance[] = "projects/p/instances/i";
constexpr int64_t kMilli = 1'000;

// An implementation with all that it stands on.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual TableAccess* tables() = 0;
  // What was written comes to lie as it does after a while.
  virtual void Settle() {}
  virtual bool looks_at_key_regex() const { return true; }
};

class OverEngine : public Subject {
 public:
  explicit OverEngine(std::unique_ptr<Engine> engine)
      : engine_(std::move(engine)),
        catalog_(*Catalog::Open(engine_.get())),
        tables_(std::make_shared<Tables>(engine_.get(), catalog_.get(), &clock_, /*seed=*/1)),
        local_(tables_, kInstance) {}
  TableAccess* tables() override { return &local_; }

 protected:
  SystemClock clock_;
  const std::unique_ptr<Engine> engine_;
  const std::unique_ptr<Catalog> catalog_;
  const std::shared_ptr<Tables> tables_;
  LocalTables local_;
};

class OverRocks final : public Subject {
 public:
  OverRocks() {
    auto engine = RocksEngine::Open({.data_dir = directory_.path(), .sync = false});
    EXPECT_TRUE(engine.ok()) << engine.status();
    engine_ = engine->get();
    over_.emplace(*std::move(engine));
  }
  TableAccess* tables() override { return over_->tables(); }
  void Settle() override { EXPECT_TRUE(engine_->SettleAll().ok()); }

 private:
  const TemporaryDirectory directory_;
  RocksEngine* engine_ = nullptr;
  std::optional<OverEngine> over_;
};

class Remote final : public OverEngine {
 public:
  Remote() : OverEngine(MemoryEngine::Create()) {
    auto server = GrpcServer::Start({.writes_block = false, .worker_threads = 2}, tables_.get());
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    auto remote = RemoteTables::Connect(
        {.endpoint = fmt::format("127.0.0.1:{}", server_->port()), .project = "p", .instance = "i"});
    EXPECT_TRUE(remote.ok()) << remote.status();
    remote_ = *std::move(remote);
  }
  TableAccess* tables() override { return remote_.get(); }

 private:
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<RemoteTables> remote_;
};

class Doubles final : public Subject {
 public:
  explicit Doubles(bool may_die) : may_die_(may_die) {}
  TableAccess* tables() override {
    return may_die_ ? static_cast<TableAccess*>(&dying_) : static_cast<TableAccess*>(&memory_);
  }
  bool looks_at_key_regex() const override { return false; }

 private:
  const bool may_die_;
  series::MemoryTables memory_;
  series::DyingTables dying_{&memory_, 1'000'000};
};

struct Implementation {
  const char* name;
  std::function<std::unique_ptr<Subject>()> make;
};
void PrintTo(const Implementation& implementation, std::ostream* out) { *out << implementation.name; }

// Row, family, qualifier; cells newest first.
using Cells = std::map<int64_t, std::string, std::greater<>>;
using Rows = std::map<std::string, std::map<std::pair<std::string, std::string>, Cells>>;

std::string Text(const ReadRow& row) {
  std::string text = row.row_key + ":";
  for (const ReadCell& cell : row.cells) {
    text += fmt::format(" {}:{}@{}={}", cell.family, cell.qualifier, cell.timestamp_micros, cell.value);
  }
  return text + "\n";
}

// What `read` finds among `rows`, by the words of the contract; `looks_at_regex`: 'r0.*' is all that is
// asked.
std::string Naive(const Rows& rows, const RowRead& read, bool looks_at_regex) {
  std::vector<ReadRow> found;
  for (const auto& [key, columns] : rows) {
    const bool is_in = std::ranges::any_of(read.ranges, [&](const RowRange& r) { return r.Contains(key); });
    if (!is_in || (looks_at_regex && read.row_key_regex && !key.starts_with("r0"))) continue;
    ReadRow row{key, {}};
    for (const auto& [name, cells] : columns) {
      const bool is_column = read.columns.empty() || std::ranges::any_of(read.columns, [&](const auto& c) {
                               return c.family == name.first && c.qualifier == name.second;
                             });
      if (!is_column || (read.family && *read.family != name.first)) continue;
      int32_t count = 0;
      for (const auto& [time, value] : cells) {
        if (time < read.start_micros || (read.end_micros != 0 && time >= read.end_micros)) continue;
        if (read.cells_per_column_max > 0 && ++count > read.cells_per_column_max) continue;
        row.cells.push_back({name.first, name.second, time, value});
      }
    }
    if (!row.cells.empty()) found.push_back(std::move(row));
  }
  if (read.reversed) std::ranges::reverse(found);
  if (read.rows_max > 0 && std::ssize(found) > read.rows_max) found.resize(read.rows_max);
  std::string text;
  for (const ReadRow& row : found) text += Text(row);
  return text;
}

class TableAccessTest : public testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override {
    subject_ = GetParam().make();
    tables_ = subject_->tables();
    const GcRule all{GcRule::MaxVersions{100}};
    ASSERT_TRUE(tables_->EnsureTable("t", {{"f", all}, {"g", all}}).ok());
  }

  std::string Read(const RowRead& read, size_t rows_wanted = 1'000'000) {
    std::string text;
    const absl::Status status = tables_->ReadRows("t", read, [&](ReadRow&& row) {
      text += Text(row);
      return --rows_wanted > 0;
    });
    return status.ok() ? text : std::string(absl::StatusCodeToString(status.code()));
  }

  void WriteRandom(SeededRandom* random, Rows* rows) {
    std::vector<RowWrite> writes;
    for (uint64_t n = 1 + random->Uniform(20); n > 0; --n) {
      RowWrite& write = writes.emplace_back();
      write.row_key = fmt::format("r{:02}", random->Uniform(30));
      auto& row = (*rows)[write.row_key];
      if (random->Uniform(5) == 0) {
        write.delete_columns.push_back({"f", "a"});
        row.erase({"f", "a"});
      }
      for (uint64_t cells = 1 + random->Uniform(5); cells > 0; --cells) {
        CellWrite cell{random->Uniform(2) == 0 ? "f" : "g", std::string(1, "abcd."[random->Uniform(5)]),
                       static_cast<int64_t>(random->Uniform(10)) * kMilli,
                       fmt::format("{}", random->Uniform(1'000))};
        row[{cell.family, cell.qualifier}][cell.timestamp_micros] = cell.value;
        write.cells.push_back(std::move(cell));
      }
    }
    const auto statuses = tables_->MutateRows("t", writes);
    ASSERT_TRUE(statuses.ok()) << statuses.status();
    for (const absl::Status& status : *statuses) ASSERT_TRUE(status.ok()) << status;
  }

  static RowRead RandomRead(SeededRandom* random) {
    RowRead read;
    for (uint64_t n = random->Uniform(4); n > 0; --n) {
      const std::string start = fmt::format("r{:02}", random->Uniform(30));
      const std::string end = random->Uniform(3) == 0 ? "" : fmt::format("r{:02}", random->Uniform(30));
      read.ranges.push_back(random->Uniform(3) == 0 ? RowRange::Single(start) : RowRange{start, end});
    }
    if (random->Uniform(2) == 0) read.ranges = {RowRange::All()};
    if (random->Uniform(4) == 0) read.row_key_regex = "r0.*";
    for (uint64_t n = random->Uniform(3) == 0 ? 1 + random->Uniform(4) : 0; n > 0; --n) {
      read.columns.push_back(
          {random->Uniform(2) == 0 ? "f" : "g", std::string(1, "abcd."[random->Uniform(5)])});
      if (random->Uniform(3) == 0) read.columns.push_back(read.columns.front());  // twice
    }
    if (random->Uniform(3) == 0) read.family = random->Uniform(2) == 0 ? "f" : "g";
    if (random->Uniform(3) == 0) read.start_micros = static_cast<int64_t>(random->Uniform(10)) * kMilli;
    if (random->Uniform(3) == 0) {
      read.end_micros = read.start_micros + static_cast<int64_t>(1 + random->Uniform(10)) * kMilli;
    }
    if (random->Uniform(3) == 0) read.cells_per_column_max = static_cast<int32_t>(1 + random->Uniform(3));
    if (random->Uniform(4) == 0) read.rows_max = static_cast<int64_t>(1 + random->Uniform(5));
    read.reversed = random->Uniform(3) == 0;
    return read;
  }

  std::unique_ptr<Subject> subject_;
  TableAccess* tables_ = nullptr;
};

TEST_P(TableAccessTest, TablesAndFamiliesAreMadeChangedAndDropped) {
  EXPECT_EQ(tables_->ListFamilies("none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(tables_->UpdateFamilies("none", {{"f", {}}}).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(tables_->UpdateFamilies("t", {{"none", {}}}).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(tables_->DropTable("none").code(), absl::StatusCode::kNotFound);
  // What is there already stays as it is.
  ASSERT_TRUE(tables_->EnsureTable("t", {{"f", GcRule{GcRule::MaxVersions{7}}}, {"h", {}}}).ok());
  const auto versions = [&] {
    std::map<std::string, int32_t> found;
    const auto families = tables_->ListFamilies("t");
    EXPECT_TRUE(families.ok()) << families.status();
    for (const FamilyRequest& family : *families) {
      const auto* rule = std::get_if<GcRule::MaxVersions>(&family.gc_rule.rule);
      found[family.name] = rule == nullptr ? 0 : rule->count;
    }
    return found;
  };
  EXPECT_EQ(versions(), (std::map<std::string, int32_t>{{"f", 100}, {"g", 100}, {"h", 0}}));
  ASSERT_TRUE(tables_->UpdateFamilies("t", {{"f", GcRule{GcRule::MaxVersions{7}}}}).ok());
  EXPECT_EQ(versions(), (std::map<std::string, int32_t>{{"f", 7}, {"g", 100}, {"h", 0}}));
  ASSERT_TRUE(tables_->EnsureTable("other", {{"f", {}}}).ok());
  EXPECT_EQ(*tables_->ListTables(), (std::vector<std::string>{"other", "t"}));
  ASSERT_TRUE(tables_->DropTable("other").ok());
  EXPECT_EQ(*tables_->ListTables(), std::vector<std::string>{"t"});
}

TEST_P(TableAccessTest, ColumnsOfTwoFamiliesThatAreNamedTwiceComeOnce) {
  ASSERT_TRUE(tables_->MutateRows("t", {{"r", {{"f", "a", kMilli, "1"}, {"g", "a", kMilli, "2"}}, {}}}).ok());
  RowRead read{.ranges = {RowRange::All()}, .columns = {{"f", "a"}, {"g", "a"}, {"f", "a"}, {"g", "a"}}};
  EXPECT_EQ(Read(read), "r: f:a@1000=1 g:a@1000=2\n");
  read.family = "g";
  EXPECT_EQ(Read(read), "r: g:a@1000=2\n");
  read.columns = {{"f", "a"}};
  EXPECT_EQ(Read(read), "");
}

TEST_P(TableAccessTest, RandomReadsFindWhatWasWritten) {
  SeededRandom random(11);
  Rows rows;
  for (int round = 0; round < 6; ++round) {
    WriteRandom(&random, &rows);
    if (round % 2 == 1) subject_->Settle();
    for (int i = 0; i < 40; ++i) {
      const RowRead read = RandomRead(&random);
      const std::string expected = Naive(rows, read, subject_->looks_at_key_regex());
      ASSERT_EQ(Read(read), expected) << "round " << round << ", read " << i;
      // Whoever has enough ends the read.
      ASSERT_EQ(Read(read, 1), expected.substr(0, expected.find('\n') + 1));
    }
  }
  EXPECT_EQ(Read({}), "");
}

// Of those that give numbers.
using NumberAccessTest = TableAccessTest;

TEST_P(NumberAccessTest, NumbersAreWhatRowsHold) {
  ASSERT_NE(tables_->numbers(), nullptr);
  SeededRandom random(12);
  Rows rows;
  for (int round = 0; round < 4; ++round) {
    WriteRandom(&random, &rows);
    if (round % 2 == 1) subject_->Settle();
    for (const bool reversed : {false, true}) {
      const NumberRead read{
          .ranges = {RowRange::All()}, .family = "f", .columns = {{"b"}, {"a"}}, .reversed = reversed};
      std::string found;
      const absl::Status status = tables_->numbers()->Read("t", read, [&](const NumberRow& row) {
        for (const NumberRow::Part& part : row.parts) {
          for (size_t i = 0; i < part.timestamps_micros.size(); ++i) {
            const bool is_text = part.values.type() == ColumnType::kBytes;
            const std::string value =
                is_text ? std::string(part.values.bytes()[i]) : fmt::format("{}", part.values.ints()[i]);
            found += fmt::format("{} {} {} {}\n", row.row_key, read.columns[part.column].qualifier,
                                 part.timestamps_micros[i], value);
          }
        }
        return true;
      });
      ASSERT_TRUE(status.ok()) << status;
      std::string expected;
      const auto add = [&](const auto& row) {
        for (const char* column : {"a", "b"}) {
          const auto cells = row.second.find({"f", column});
          if (cells == row.second.end()) continue;
          for (const auto& [time, value] : cells->second)
            expected += fmt::format("{} {} {} {}\n", row.first, column, time, value);
        }
      };
      if (reversed) {
        std::for_each(rows.rbegin(), rows.rend(), add);
      } else {
        std::for_each(rows.begin(), rows.end(), add);
      }
      ASSERT_EQ(found, expected);
    }
  }
}

const Implementation kLocalOverMemory{"LocalOverMemory",
                                      [] { return std::make_unique<OverEngine>(MemoryEngine::Create()); }};
const Implementation kLocalOverRocks{"LocalOverRocks", [] { return std::make_unique<OverRocks>(); }};

std::string NameOf(const testing::TestParamInfo<Implementation>& some) { return some.param.name; }

INSTANTIATE_TEST_SUITE_P(
    All, TableAccessTest,
    testing::Values(kLocalOverMemory, kLocalOverRocks,
                    Implementation{"Remote", [] { return std::make_unique<Remote>(); }},
                    Implementation{"MemoryTables", [] { return std::make_unique<Doubles>(false); }},
                    Implementation{"DyingTables", [] { return std::make_unique<Doubles>(true); }}),
    NameOf);
INSTANTIATE_TEST_SUITE_P(Givers, NumberAccessTest, testing::Values(kLocalOverMemory, kLocalOverRocks),
                         NameOf);

}  // namespace
}  // namespace sonde
