// A table, views of it, and what the views should show, for the tests of this folder.
//
//   CreateView("v", "SELECT cf['k'] AS k, COUNT(*) AS n FROM t GROUP BY k");
//   Put("row", "f", "k", 1, "x");
//   CatchUp();
//   EXPECT_EQ(Shown("v"), Expected("v"));
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "engine/memory/memory_engine.h"
#include "sql/exec/execution.h"
#include "sql/view/definition.h"
#include "sql/view/keep/view_definitions.h"
#include "sql/view/keep/view_keeper.h"
#include "sql/view/shown_rows.h"
#include "table/change_streams.h"
#include "table/mutate_row_test_support.h"
#include "table/tables.h"

namespace sonde::sql {

inline constexpr int64_t kViewTestSecond = 1'000'000;
inline constexpr int64_t kViewTestDay = 86'400 * kViewTestSecond;
inline constexpr int64_t kViewTestStart = 1'600'000'000 * kViewTestSecond;
inline constexpr char kViewTestInstance[] = "projects/p/instances/i";

// Runs `usual` random histories, each of a seed and with 80 operations, until one fails.  SONDE_VIEW_HISTORIES says how many
// instead, SONDE_VIEW_SEED the first seed.
template <typename History>
void RunViewHistories(int usual) {
  const auto number = [](const char* name, int otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::atoi(text);
  };
  const int histories = number("SONDE_VIEW_HISTORIES", usual);
  const int first = number("SONDE_VIEW_SEED", 1);
  for (int seed = first; seed < first + histories; ++seed) {
    SCOPED_TRACE(testing::Message() << "SONDE_VIEW_SEED=" << seed << " SONDE_VIEW_HISTORIES=1");
    History(static_cast<uint64_t>(seed)).Run(80);
    if (testing::Test::HasFailure()) return;
  }
}

inline absl::Status MayReadAll(std::string_view /*table_name*/) { return absl::OkStatus(); }

// An engine with a catalog and tables over it, as a server has them.
struct ViewStore {
  ViewStore(Engine* of, Clock* time)
      : engine(of),
        clock(time),
        catalog(*Catalog::Open(of)),
        tables(of, catalog.get(), time, /*seed=*/1),
        streams(&tables) {}

  std::string TableName() const { return std::string(kViewTestInstance) + "/tables/t"; }
  std::string ViewName(const std::string& view) const {
    return std::string(kViewTestInstance) + "/materializedViews/" + view;
  }
  TableSchemaRef Table() const { return *catalog->Find(TableName()); }

  void CreateTable(bool has_rules = true) {
    TableSchema schema;
    schema.name = TableName();
    schema.families = {{.name = "f"},
                       {.name = "two", .gc_rule = {GcRule::MaxVersions{2}}},
                       {.name = "day", .gc_rule = {GcRule::MaxAge{kViewTestDay}}},
                       {.name = "sum", .aggregate = AggregateKind::kSum}};
    for (FamilySchema& family : schema.families) {
      if (!has_rules) family.gc_rule = {};
    }
    const auto created = catalog->Create(schema);
    ASSERT_TRUE(created.ok()) << created.status();
  }

  absl::Status CreateView(const std::string& view, const std::string& query) {
    CheckedDefinitions definitions(catalog.get());
    absl::StatusOr<MaterializedViewFacts> facts = definitions.Check(kViewTestInstance, query, MayReadAll);
    if (!facts.ok()) return facts.status();
    MaterializedViewRecord record{.name = ViewName(view),
                                  .query = query,
                                  .source = facts->source,
                                  .shown_columns = facts->shown_columns,
                                  .unpacked_columns = facts->unpacked_columns,
                                  .storage = std::make_shared<const TableSchema>(facts->storage),
                                  .workings = std::make_shared<const TableSchema>(facts->workings)};
    return catalog->CreateMaterializedView(std::move(record)).status();
  }

  absl::Status Mutate(std::string_view row, const std::vector<Mutation>& mutations) {
    return MutateRow(tables, *Table(), {row, mutations});
  }

  // The cells of the view, a line each, in order.
  std::string Shown(const std::string& view) const {
    const MaterializedViewRef record = *catalog->FindMaterializedView(ViewName(view));
    std::map<std::string, std::string> lines;
    const auto stream = engine->Scan(record->storage->id, {RowRange::All()}, {});
    EXPECT_TRUE(stream.ok()) << stream.status();
    RowPiece piece;
    while (true) {
      const absl::StatusOr<bool> more = (*stream)->Next(&piece);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) break;
      for (const CellView& cell : piece.cells) {
        const std::string& family = record->storage->FindFamily(piece.family)->name;
        AddLine(piece.row_key, family, cell, &lines);
      }
    }
    return TextOf(lines);
  }

  // What the query gives now, as such cells.
  std::string Expected(const std::string& view) {
    return ExpectedOf((*catalog->FindMaterializedView(ViewName(view)))->query);
  }
  std::string ExpectedOf(const std::string& text) {
    BundleFinder bundles(catalog.get());
    const BindOptions options = BindOptionsOfView(catalog.get(), &bundles, kViewTestInstance);
    const auto definition = DefineView(text, options);
    const absl::StatusOr<BoundQuery> query = ParseAndBind(text, options);
    if (!query.ok()) return query.status().ToString();
    ExecutionEnvironment environment;
    environment.tables = &tables;
    const auto execution = Execute(*query, {}, environment);
    if (!execution.ok()) return execution.status().ToString();
    std::map<std::string, std::string> lines;
    rows::Batch batch;
    while (true) {
      const absl::StatusOr<bool> more = (*execution)->Next(&batch);
      if (!more.ok()) return more.status().ToString();
      if (!*more) break;
      for (size_t row = 0; row < batch.rows; ++row) AddRow(**definition, batch, row, &lines);
    }
    return TextOf(lines);
  }

  Engine* engine;
  Clock* clock;
  std::unique_ptr<Catalog> catalog;
  Tables tables;
  ChangeStreams streams;

 private:
  static void AddLine(const std::string& row_key, const std::string& family, const CellView& cell,
                      std::map<std::string, std::string>* lines) {
    std::string place = Printable(row_key) + " " + family + ":" + Printable(cell.qualifier) + "@" +
                        std::to_string(cell.timestamp_micros);
    (*lines)[std::move(place)] = Printable(cell.value);
  }

  // The rules of sql.md 3.3 and 3.4, once more.
  static void AddRow(const ViewDefinition& definition, const rows::Batch& batch, size_t row,
                     std::map<std::string, std::string>* lines) {
    std::vector<Datum> keys;
    for (const size_t key : definition.keys) {
      keys.push_back(DatumAt(batch.columns[key], row));
      if (!keys.back().is_there) return;
    }
    int64_t micros = 0;
    if (definition.time.has_value()) {
      const Datum time = DatumAt(batch.columns[*definition.time], row);
      if (!time.is_there || time.integer < 0 || time.integer % 1'000 != 0) return;
      micros = time.integer;
    }
    const std::optional<std::string> row_key = ViewRowKey(definition, keys);
    if (!row_key.has_value()) return;
    size_t values = 0;
    size_t shown = 0;
    for (size_t i = 0; i < definition.columns.size(); ++i) {
      const ViewColumn& column = definition.columns[i];
      if (column.role != ViewColumn::Role::kValue) continue;
      ++values;
      const Datum value = DatumAt(batch.columns[i], row);
      if (!value.is_there) continue;
      ++shown;
      for (size_t item = 0; column.IsFamily() && item + 1 < value.size; item += 2) {
        const std::string qualifier(value.items[item].bytes());
        AddLine(*row_key, column.family, {qualifier, micros, value.items[item + 1].bytes()}, lines);
      }
      if (column.IsFamily()) continue;
      std::string cell;
      AppendViewCell(column.type, value, &cell);
      AddLine(*row_key, column.family, {column.qualifier, micros, cell}, lines);
    }
    if (values == 0 || shown > 0) AddLine(*row_key, "default", {"", 0, ""}, lines);
  }

  static std::string TextOf(const std::map<std::string, std::string>& lines) {
    std::string text;
    for (const auto& [place, value] : lines) text += place + " " + value + "\n";
    return text;
  }
};

// Keepers of all views of a store.  There is one of a store at a time.
class ViewKeepers final : public ExpiredKeeper {
 public:
  explicit ViewKeepers(ViewStore* store, ViewKeeperOptions options = {}) : store_(store) {
    store_->tables.SetExpiredKeeper(this);
    for (const MaterializedViewRef& view : store->catalog->ListAllMaterializedViews()) {
      keepers_.push_back(std::make_unique<ViewKeeper>(&store->tables, &unlogged_, view, options));
    }
  }
  ~ViewKeepers() { store_->tables.SetExpiredKeeper(nullptr); }

  absl::Status KeepExpired(const TableSchema& /*schema*/, absl::Span<const Row> rows) override {
    for (const auto& keeper : keepers_) {
      if (absl::Status status = keeper->KeepExpired(rows); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<std::string>> ListKept(const TableSchema& schema, const RowRange& range,
                                                    size_t rows_max) override {
    return ListKeptRows(&store_->tables, schema.id, range, rows_max);
  }

  absl::Status Step(size_t keeper) { return keepers_[keeper]->Step().status(); }
  absl::Status CatchUp() {
    for (const auto& keeper : keepers_) {
      // The first step makes the source log its changes, and does no more.
      if (const auto first = keeper->Step(); !first.ok()) return first.status();
      while (true) {
        const absl::StatusOr<bool> more = keeper->Step();
        if (!more.ok()) return more.status();
        if (!*more) break;
      }
    }
    return absl::OkStatus();
  }
  size_t size() const { return keepers_.size(); }
  ViewKeeper& operator[](size_t i) { return *keepers_[i]; }

 private:
  ViewStore* const store_;
  UnloggedWriters unlogged_;
  std::vector<std::unique_ptr<ViewKeeper>> keepers_;
};

class ViewTest : public testing::Test {
 protected:
  void SetUp() override { store_.CreateTable(); }

  void CreateView(const std::string& view, const std::string& query) {
    ASSERT_EQ(store_.CreateView(view, query), absl::OkStatus());
  }
  void Put(std::string_view row, std::string_view family, std::string_view qualifier, int64_t second,
           std::string_view value) {
    ASSERT_EQ(store_.Mutate(row, {SetCell{family, qualifier, second * kViewTestSecond, value}}),
              absl::OkStatus());
  }
  void CatchUp() {
    if (keepers_ == nullptr || keepers_->size() != store_.catalog->ListAllMaterializedViews().size()) {
      keepers_.reset();
      keepers_ = std::make_unique<ViewKeepers>(&store_, options_);
    }
    clock_.Advance(kViewTestSecond);
    ASSERT_EQ(keepers_->CatchUp(), absl::OkStatus());
  }
  std::string Shown(const std::string& view) { return store_.Shown(view); }
  std::string Expected(const std::string& view) { return store_.Expected(view); }

  ManualClock clock_{kViewTestStart};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  ViewStore store_{engine_.get(), &clock_};
  ViewKeeperOptions options_;
  std::unique_ptr<ViewKeepers> keepers_;
};

}  // namespace sonde::sql
