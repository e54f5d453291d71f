#include "backup/copy/send_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "engine/memory/memory_engine.h"
#include "table/local_tables.h"

namespace sonde {
namespace {

using testing::HasSubstr;

constexpr char kInstance[] = "projects/p/instances/i";
constexpr char kSource[] = "projects/p/instances/i/tables/t";
constexpr int64_t kNow = 1'600'000'000'000'000;

// A store in memory, as a command opens it.
struct Store {
  ManualClock clock{kNow};
  std::unique_ptr<MemoryEngine> engine = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog = *Catalog::Open(engine.get());
  Tables tables{engine.get(), catalog.get(), &clock, /*seed=*/1};
  LocalTables access{&tables, kInstance};
};

// A store whose connection breaks, or that keeps something else than it is given.
class FaultyTables final : public TableAccess {
 public:
  explicit FaultyTables(TableAccess* inner) : inner_(inner) {}

  absl::Status EnsureTable(const std::string& table, const std::vector<FamilyRequest>& families) override {
    return inner_->EnsureTable(table, families);
  }
  absl::StatusOr<std::vector<FamilyRequest>> ListFamilies(const std::string& table) override {
    return inner_->ListFamilies(table);
  }
  absl::Status UpdateFamilies(const std::string& table, const std::vector<FamilyRequest>& families) override {
    return inner_->UpdateFamilies(table, families);
  }
  absl::StatusOr<std::vector<std::string>> ListTables() override { return inner_->ListTables(); }
  absl::Status DropTable(const std::string& table) override {
    return is_gone ? absl::UnavailableError("gone") : inner_->DropTable(table);
  }
  absl::StatusOr<std::vector<absl::Status>> MutateRows(const std::string& table,
                                                       const std::vector<RowWrite>& rows) override {
    if (writes_left-- == 0) {
      is_gone = stays_gone;
      return absl::UnavailableError("broken");
    }
    cells_most = std::max(cells_most, rows.front().cells.size());
    std::vector<RowWrite> kept = rows;
    if (std::exchange(changes_value, false)) kept.front().cells.front().value = "other";
    return inner_->MutateRows(table, kept);
  }
  absl::Status ReadRows(const std::string& table, const RowRead& read,
                        const std::function<bool(ReadRow&&)>& row) override {
    return inner_->ReadRows(table, read, row);
  }
  NumberAccess* numbers() override { return nullptr; }

  int64_t writes_left = -1;  // negative: it never breaks
  bool stays_gone = false, is_gone = false, changes_value = false;
  size_t cells_most = 0;

 private:
  TableAccess* const inner_;
};

class SendTableTest : public testing::Test {
 protected:
  SendTableTest() {
    TableSchema schema;
    schema.name = kSource;
    schema.families = {{.name = "z"}, {.name = "a", .gc_rule = {GcRule::MaxVersions{1}}}};
    EXPECT_TRUE(from_.catalog->Create(schema).ok());
  }

  void Put(const std::string& row_key, std::vector<CellWrite> cells) {
    const auto statuses = from_.access.MutateRows("t", {{.row_key = row_key, .cells = std::move(cells)}});
    ASSERT_TRUE(statuses.ok()) << statuses.status();
    ASSERT_TRUE(statuses->front().ok()) << statuses->front();
  }
  // 100 rows, and one that several requests have to share.
  void PutRows() {
    for (int row = 0; row < 100; ++row) {
      Put(absl::StrFormat("r%03d", row), {{"z", "q", 2'000, std::string(200, 'z')},
                                          {"z", "q", 1'000, std::string("\0\xff", 2)},
                                          {"a", "", 3'000, "newest"},
                                          {"a", "", 2'000, "forgotten"}});
    }
    for (int column = 0; column < 50; ++column) {
      std::vector<CellWrite> cells;
      for (int version = 1; version <= 1'000; ++version)
        cells.push_back({"z", absl::StrFormat("c%d", column), version * 1'000, "v"});
      Put("wide", std::move(cells));
    }
  }
  static std::vector<std::string> CellsOf(TableAccess* access, const std::string& table) {
    std::vector<std::string> cells;
    EXPECT_TRUE(access
                    ->ReadRows(table, {.ranges = {RowRange{}}},
                               [&](const ReadRow& row) {
                                 for (const ReadCell& cell : row.cells) {
                                   cells.push_back(absl::StrFormat("%s/%s:%s@%d=%s", row.row_key, cell.family,
                                                                   cell.qualifier, cell.timestamp_micros,
                                                                   cell.value));
                                 }
                                 return true;
                               })
                    .ok());
    std::sort(cells.begin(), cells.end());
    return cells;
  }

  Store from_, to_;
  FaultyTables server_{&to_.access};
};

TEST_F(SendTableTest, TheNewTableHasAllCellsAndRules) {
  PutRows();
  uint64_t told = 0;
  const auto sent = SendTable(&from_.tables, kSource, &server_, "new",
                              {.on_progress = [&](uint64_t bytes) { told = bytes; }});
  ASSERT_TRUE(sent.ok()) << sent.status();
  EXPECT_EQ(sent->rows, 101U);
  EXPECT_EQ(sent->cells, 300U + 50'000U);
  EXPECT_EQ(sent->bytes, told);
  EXPECT_EQ(CellsOf(&to_.access, "new"), CellsOf(&from_.access, "t"));
  const auto families = to_.access.ListFamilies("new");
  ASSERT_TRUE(families.ok());
  for (const FamilyRequest& family : *families) {
    const GcRule wanted = family.name == "a" ? GcRule{GcRule::MaxVersions{1}} : GcRule{};
    EXPECT_EQ(family.gc_rule, wanted) << family.name;
  }
  EXPECT_LE(server_.cells_most, 20'000U) << "a long row is sent in parts";
}

TEST_F(SendTableTest, ATableWithoutRowsIsSent) {
  const auto sent = SendTable(&from_.tables, kSource, &server_, "new");
  ASSERT_TRUE(sent.ok()) << sent.status();
  EXPECT_EQ(sent->rows, 0U);
  EXPECT_TRUE(to_.access.ListFamilies("new").ok());
}

TEST_F(SendTableTest, ATableThatIsThereIsLeftAlone) {
  ASSERT_TRUE(to_.access.EnsureTable("new", {{.name = "z"}}).ok());
  EXPECT_EQ(SendTable(&from_.tables, kSource, &server_, "new").status(),
            absl::AlreadyExistsError("There is a table 'new' already"));
  EXPECT_TRUE(to_.access.ListFamilies("new").ok());
  EXPECT_TRUE(absl::IsNotFound(
      SendTable(&from_.tables, "projects/p/instances/i/tables/none", &server_, "other").status()));
}

TEST_F(SendTableTest, AFailureLeavesNoTable) {
  PutRows();
  server_.writes_left = 1;
  const absl::Status status = SendTable(&from_.tables, kSource, &server_, "new").status();
  EXPECT_EQ(status, absl::UnavailableError("broken; the new table was deleted again"));
  EXPECT_TRUE(absl::IsNotFound(to_.access.ListFamilies("new").status()));
}

TEST_F(SendTableTest, GoesOnAfterTheServerWasGone) {
  PutRows();
  server_.writes_left = 2;
  server_.stays_gone = true;
  const absl::Status status = SendTable(&from_.tables, kSource, &server_, "new").status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("could not be deleted: resume, or delete it"));
  EXPECT_LT(CellsOf(&to_.access, "new").size(), 50'300U);
  server_.is_gone = false;
  EXPECT_TRUE(absl::IsAlreadyExists(SendTable(&from_.tables, kSource, &server_, "new").status()));
  const auto sent = SendTable(&from_.tables, kSource, &server_, "new", {.resumes = true});
  ASSERT_TRUE(sent.ok()) << sent.status();
  EXPECT_EQ(CellsOf(&to_.access, "new"), CellsOf(&from_.access, "t"));
}

TEST_F(SendTableTest, AValueThatCameOutOtherwiseIsFound) {
  PutRows();
  server_.changes_value = true;
  const absl::Status status = SendTable(&from_.tables, kSource, &server_, "new").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("Table 'new' is not what was sent"));
  EXPECT_TRUE(absl::IsNotFound(to_.access.ListFamilies("new").status()));
}

TEST_F(SendTableTest, AggregatesAreRefusedBeforeAnythingIsMade) {
  TableSchema schema;
  schema.name = std::string(kInstance) + "/tables/sums";
  schema.families = {{.name = "s", .aggregate = AggregateKind::kSum}};
  ASSERT_TRUE(from_.catalog->Create(schema).ok());
  const absl::Status status = SendTable(&from_.tables, schema.name, &server_, "new").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("Family 's' of table"));
  EXPECT_TRUE(absl::IsNotFound(to_.access.ListFamilies("new").status()));
}

}  // namespace
}  // namespace sonde
