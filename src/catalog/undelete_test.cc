// Tables that are deleted so that they can come back: over each engine, and compared with a model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
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
#include "engine/memory/cluster_member.h"
#include "engine/memory/memory_engine.h"
#include "engine/rocks/rocks_engine.h"
#include "model/limits.h"
#include "table/local_tables.h"
#include "table/tables.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using Rows = std::map<std::string, std::string>;  // key to value

constexpr char kInstance[] = "projects/p/instances/i";

std::string NameOf(const std::string& id) { return std::string(kInstance) + "/tables/" + id; }

// A store on the disk, which goes at the end.
class Directory {
 public:
  Directory() : path_((std::filesystem::temp_directory_path() / "sonde_undelete_XXXXXX").string()) {
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::unique_ptr<Engine> Open() const {
    auto engine = RocksEngine::Open({.data_dir = path_, .memory_bytes = uint64_t{64} << 20, .sync = false});
    EXPECT_TRUE(engine.ok()) << engine.status();
    return engine.ok() ? *std::move(engine) : nullptr;
  }

 private:
  std::string path_;
};

// A store with its catalog and tables; Reopen is a restart.
class Store {
 public:
  explicit Store(std::function<std::unique_ptr<Engine>()> open) : open_(std::move(open)) { Reopen(); }

  void Reopen() {
    local_.reset();
    tables_.reset();
    catalog_.reset();
    if (!keeps_engine_) engine_.reset();
    if (engine_ == nullptr) engine_ = open_();
    absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(engine_.get());
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    catalog_ = *std::move(catalog);
    tables_ = std::make_unique<Tables>(engine_.get(), catalog_.get(), &clock_, /*seed=*/1);
    local_ = std::make_unique<LocalTables>(tables_.get(), kInstance);
  }
  // The engine in memory forgets all when it goes.
  void KeepEngine() { keeps_engine_ = true; }

  Catalog& catalog() { return *catalog_; }
  Engine& engine() { return *engine_; }

  absl::Status Create(const std::string& id) {
    return catalog_->Create({.name = NameOf(id), .families = {{.name = "f"}}}).status();
  }
  absl::Status Delete(const std::string& id, int64_t now_micros = 1) {
    return catalog_->Delete(NameOf(id), now_micros);
  }
  absl::Status Undelete(const std::string& id) { return catalog_->Undelete(NameOf(id)).status(); }
  absl::Status Unprotect(const std::string& id) {
    const auto unprotect = [](TableSchema* schema) {
      schema->deletion_protection = false;
      return absl::OkStatus();
    };
    return catalog_->Update(NameOf(id), unprotect).status();
  }
  void Write(const std::string& id, const Rows& rows) {
    std::vector<RowWrite> writes;
    for (const auto& [key, value] : rows) writes.push_back({key, {{"f", "q", 1'000, value}}, {}});
    const auto written = local_->MutateRows(id, writes);
    ASSERT_TRUE(written.ok()) << written.status();
    for (const absl::Status& status : *written) ASSERT_EQ(status, absl::OkStatus());
  }
  // nullopt: there is no such table.
  std::optional<Rows> Read(const std::string& id) {
    Rows rows;
    const absl::Status status =
        local_->ReadRows(id, {.ranges = {RowRange::All()}, .cells_per_column_max = 1}, [&](ReadRow&& row) {
          rows[row.row_key] = row.cells.front().value;
          return true;
        });
    if (absl::IsNotFound(status)) return std::nullopt;
    EXPECT_EQ(status, absl::OkStatus());
    return rows;
  }

 private:
  const std::function<std::unique_ptr<Engine>()> open_;
  bool keeps_engine_ = false;
  ManualClock clock_{1'600'000'000'000'000};
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<LocalTables> local_;
};

Rows Numbered(int count, const std::string& value) {
  Rows rows;
  for (int i = 0; i < count; ++i) rows["row" + std::to_string(i)] = value + std::to_string(i);
  return rows;
}

class UndeleteTest : public testing::TestWithParam<bool> {
 protected:
  UndeleteTest()
      : store_([this] {
          return GetParam() ? directory_.Open() : std::unique_ptr<Engine>(MemoryEngine::Create());
        }) {
    if (!GetParam()) store_.KeepEngine();
  }

  const Directory directory_;
  Store store_;
};

INSTANTIATE_TEST_SUITE_P(Engines, UndeleteTest, testing::Bool(),
                         [](const auto& param) { return param.param ? "Rocks" : "Memory"; });

TEST_P(UndeleteTest, BringsTheRowsBackAfterOneWriteAndAfterAThousand) {
  for (const int writes : {1, 1'000}) {
    const std::string id = "t" + std::to_string(writes);
    ASSERT_EQ(store_.Create(id), absl::OkStatus());
    const TableSchema before = **store_.catalog().Find(NameOf(id));
    const Rows rows = Numbered(writes, "v");
    for (const auto& [key, value] : rows) store_.Write(id, {{key, value}});
    ASSERT_EQ(store_.Delete(id), absl::OkStatus());
    EXPECT_EQ(store_.Read(id), std::nullopt);
    EXPECT_EQ(store_.catalog().FindById(before.id), nullptr);
    EXPECT_TRUE(store_.catalog().List(kInstance, "", 10).size() == (writes == 1 ? 0u : 1u));
    store_.Reopen();
    EXPECT_EQ(store_.Read(id), std::nullopt);
    ASSERT_EQ(store_.Undelete(id), absl::OkStatus());
    TableSchema expected = before;
    expected.deletion_protection = true;
    EXPECT_EQ(**store_.catalog().Find(NameOf(id)), expected);
    EXPECT_EQ(store_.Read(id), rows);
    store_.Reopen();
    EXPECT_EQ(store_.Read(id), rows);
    EXPECT_EQ(**store_.catalog().Find(NameOf(id)), expected);
    EXPECT_EQ(store_.Undelete(id).code(), absl::StatusCode::kAlreadyExists);
  }
}

TEST_P(UndeleteTest, IsProtectedAndCanBeDeletedAndUndeletedAgain) {
  ASSERT_EQ(store_.Create("t"), absl::OkStatus());
  store_.Write("t", {{"a", "1"}});
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(store_.Delete("t", round), absl::OkStatus());
    ASSERT_EQ(store_.Undelete("t"), absl::OkStatus());
    EXPECT_EQ(store_.Delete("t").code(), absl::StatusCode::kFailedPrecondition);
    ASSERT_EQ(store_.Unprotect("t"), absl::OkStatus());
    store_.Write("t", {{"b" + std::to_string(round), "2"}});
  }
  EXPECT_EQ(store_.Read("t"), (Rows{{"a", "1"}, {"b0", "2"}, {"b1", "2"}}));
  EXPECT_TRUE(store_.catalog().ListDeleted().empty());
}

TEST_P(UndeleteTest, OfANameThatWasReusedTheLastComesBack) {
  for (const char* value : {"first", "second"}) {
    ASSERT_EQ(store_.Create("t"), absl::OkStatus());
    store_.Write("t", {{"a", value}});
    if (value == std::string("second")) {
      EXPECT_EQ(store_.Undelete("t").code(), absl::StatusCode::kAlreadyExists);
    }
    // The clock does not matter, and goes back here.
    ASSERT_EQ(store_.Delete("t", value == std::string("first") ? 200 : 100), absl::OkStatus());
  }
  ASSERT_EQ(store_.catalog().ListDeleted().size(), 2u);
  ASSERT_EQ(store_.Undelete("t"), absl::OkStatus());
  EXPECT_EQ(store_.Read("t"), (Rows{{"a", "second"}}));
  ASSERT_EQ(store_.catalog().ListDeleted().size(), 1u);
  // Without the second, the first is the last.
  ASSERT_EQ(store_.catalog().Delete(NameOf("t")).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_EQ(store_.Unprotect("t"), absl::OkStatus());
  ASSERT_EQ(store_.catalog().Delete(NameOf("t")), absl::OkStatus());
  ASSERT_EQ(store_.Undelete("t"), absl::OkStatus());
  EXPECT_EQ(store_.Read("t"), (Rows{{"a", "first"}}));
}

TEST_P(UndeleteTest, WhatIsPurgedOrDeletedAtOnceIsGone) {
  ASSERT_EQ(store_.Create("t"), absl::OkStatus());
  const TableId id = (*store_.catalog().Find(NameOf("t")))->id;
  store_.Write("t", {{"a", "1"}});
  ASSERT_EQ(store_.Delete("t"), absl::OkStatus());
  EXPECT_TRUE(store_.engine().Ranges(id).ok());
  ASSERT_EQ(store_.catalog().Purge(id), absl::OkStatus());
  EXPECT_EQ(store_.engine().Ranges(id).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_.catalog().Purge(id).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_.Undelete("t").code(), absl::StatusCode::kNotFound);
  store_.Reopen();
  EXPECT_EQ(store_.Undelete("t").code(), absl::StatusCode::kNotFound);
  ASSERT_EQ(store_.Create("t"), absl::OkStatus());
  EXPECT_GT((*store_.catalog().Find(NameOf("t")))->id, id);
  ASSERT_EQ(store_.catalog().Delete(NameOf("t")), absl::OkStatus());
  EXPECT_EQ(store_.Undelete("t").code(), absl::StatusCode::kNotFound);
}

TEST_P(UndeleteTest, ViewsAndBundlesStayGone) {
  ASSERT_EQ(store_.Create("t"), absl::OkStatus());
  const std::string view = NameOf("t") + "/authorizedViews/v";
  const std::string bundle = NameOf("t") + "/schemaBundles/b";
  ASSERT_TRUE(store_.catalog().CreateView({.name = view}).ok());
  ASSERT_TRUE(store_.catalog().CreateBundle({.name = bundle}).ok());
  ASSERT_EQ(store_.Delete("t"), absl::OkStatus());
  ASSERT_EQ(store_.Undelete("t"), absl::OkStatus());
  store_.Reopen();
  EXPECT_EQ(store_.catalog().FindView(view).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_.catalog().FindBundle(bundle).status().code(), absl::StatusCode::kNotFound);
}

TEST_P(UndeleteTest, ListsThoseThatWereDeletedFirstInFront) {
  const std::vector<std::pair<std::string, int64_t>> deletions = {{"a", 30}, {"b", 10}, {"c", 20}};
  for (const auto& [id, micros] : deletions) ASSERT_EQ(store_.Create(id), absl::OkStatus());
  for (const auto& [id, micros] : deletions) ASSERT_EQ(store_.Delete(id, micros), absl::OkStatus());
  store_.Reopen();
  std::vector<std::string> names;
  for (const DeletedTableRef& table : store_.catalog().ListDeleted()) {
    names.push_back(table->record.schema.name.substr(NameOf("").size()));
  }
  EXPECT_THAT(names, ElementsAre("b", "c", "a"));
}

// A random history of a few names against a model: a stack of deleted tables a name.
TEST_P(UndeleteTest, IsEqualToAModel) {
  struct Model {
    std::optional<Rows> rows;   // nullopt: there is no table
    std::vector<Rows> deleted;  // the last at the back
    std::vector<TableId> ids;   // of these
  };
  SeededRandom random(GetParam() ? 7 : 8);
  std::map<std::string, Model> models;
  const int steps = GetParam() ? 150 : 3'000;  // writes of RocksDB wait for the disk
  for (int step = 0; step < steps; ++step) {
    const std::string id(1, static_cast<char>('a' + random.Uniform(3)));
    Model& model = models[id];
    switch (random.Uniform(7)) {
      case 0:
      case 1: {
        ASSERT_EQ(store_.Create(id).ok(), !model.rows.has_value());
        if (!model.rows.has_value()) model.rows.emplace();
        break;
      }
      case 2:
      case 3: {
        if (!model.rows.has_value()) break;
        const std::string key(1, static_cast<char>('a' + random.Uniform(5))), value = std::to_string(step);
        store_.Write(id, {{key, value}});
        (*model.rows)[key] = value;
        break;
      }
      case 4: {
        const absl::StatusOr<TableSchemaRef> found = store_.catalog().Find(NameOf(id));
        ASSERT_EQ(found.ok(), model.rows.has_value());
        if (!found.ok()) break;
        ASSERT_EQ(store_.Unprotect(id), absl::OkStatus());
        ASSERT_EQ(store_.Delete(id, step), absl::OkStatus());
        model.deleted.push_back(*std::exchange(model.rows, std::nullopt));
        model.ids.push_back((*found)->id);
        break;
      }
      case 5: {
        const absl::Status status = store_.Undelete(id);
        if (model.rows.has_value()) {
          ASSERT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
        } else if (model.deleted.empty()) {
          ASSERT_EQ(status.code(), absl::StatusCode::kNotFound);
        } else {
          ASSERT_EQ(status, absl::OkStatus());
          model.rows = model.deleted.back();
          model.deleted.pop_back();
          model.ids.pop_back();
        }
        break;
      }
      default: {
        if (random.Uniform(4) == 0) store_.Reopen();
        if (model.ids.empty()) break;
        const size_t at = random.Uniform(model.ids.size());
        ASSERT_EQ(store_.catalog().Purge(model.ids[at]), absl::OkStatus());
        model.ids.erase(model.ids.begin() + static_cast<std::ptrdiff_t>(at));
        model.deleted.erase(model.deleted.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      }
    }
    size_t deleted = 0;
    for (const auto& [name, one] : models) {
      ASSERT_EQ(store_.Read(name), one.rows) << "step " << step;
      deleted += one.ids.size();
    }
    ASSERT_EQ(store_.catalog().ListDeleted().size(), deleted);
  }
}

TEST(UndeleteBound, OneMoreThanTheLimitDropsTheFirst) {
  Store store([] { return std::unique_ptr<Engine>(MemoryEngine::Create()); });
  TableId first = 0;
  for (size_t i = 0; i <= kDeletedTablesMax; ++i) {
    ASSERT_EQ(store.Create("t" + std::to_string(i)), absl::OkStatus());
    if (i == 0) first = (*store.catalog().Find(NameOf("t0")))->id;
    ASSERT_EQ(store.Delete("t" + std::to_string(i), static_cast<int64_t>(i)), absl::OkStatus());
  }
  EXPECT_EQ(store.catalog().ListDeleted().size(), kDeletedTablesMax);
  EXPECT_EQ(store.engine().Ranges(first).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store.Undelete("t0").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store.Undelete("t1"), absl::OkStatus());
}

// The test starts itself as another process, which deletes the table and is killed.
constexpr char kVictimDirectory[] = "SONDE_UNDELETE_VICTIM";

// Never returns.  Writes a byte to stdout when the table is deleted.
void BeVictim(const char* directory) {
  auto engine = RocksEngine::Open({.data_dir = directory, .memory_bytes = uint64_t{64} << 20});
  Store store([&] { return *std::move(engine); });
  bool is_done = store.Create("t").ok();
  store.Write("t", Numbered(1'000, "v"));
  is_done = is_done && store.Delete("t").ok();
  if (is_done && write(STDOUT_FILENO, "\x01", 1) == 1) pause();
  _exit(1);
}

TEST(UndeleteCrash, ATableThatWasDeletedBeforeKillComesBack) {
  if (const char* const mine = getenv(kVictimDirectory); mine != nullptr) BeVictim(mine);
  const Directory directory;
  int output[2];
  ASSERT_EQ(pipe(output), 0);
  const pid_t victim = fork();
  ASSERT_GE(victim, 0);
  if (victim == 0) {
    dup2(output[1], STDOUT_FILENO);
    setenv(kVictimDirectory, directory.path().c_str(), 1);
    execl("/proc/self/exe", "victim", "--gtest_filter=UndeleteCrash.*", nullptr);
    _exit(1);
  }
  close(output[1]);
  char byte = 0;
  while (read(output[0], &byte, 1) == 1 && byte != 1) {  // what the test program prints comes before
  }
  EXPECT_EQ(byte, 1);
  ASSERT_EQ(kill(victim, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(waitpid(victim, &status, 0), victim);
  ASSERT_TRUE(WIFSIGNALED(status));
  close(output[0]);
  Store store([&] { return directory.Open(); });
  EXPECT_EQ(store.Read("t"), std::nullopt);
  ASSERT_EQ(store.Undelete("t"), absl::OkStatus());
  EXPECT_EQ(store.Read("t"), Numbered(1'000, "v"));
}

TEST(UndeleteShared, ServersOfAStoreGoByEachOther) {
  const auto store = MemoryEngine::Create();
  ClusterMember first(store.get(), {}), second(store.get(), {});
  const CatalogOptions options = {.seen_within = absl::Milliseconds(40)};
  const auto here = *Catalog::Open(&first, options);
  const auto there = *Catalog::Open(&second, options);
  const TableId id = (*here->Create({.name = NameOf("t"), .families = {{.name = "f"}}}))->id;
  ASSERT_TRUE(there->Find(NameOf("t")).ok());
  ASSERT_EQ(here->Delete(NameOf("t"), 1), absl::OkStatus());
  EXPECT_EQ(there->Find(NameOf("t")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(store->Ranges(id).ok()) << "its rows are kept";
  // A server that starts must not take it for one that is to be dropped.
  ClusterMember third(store.get(), {});
  const auto late = *Catalog::Open(&third, options);
  EXPECT_TRUE(store->Ranges(id).ok());
  const absl::StatusOr<TableSchemaRef> back = there->Undelete(NameOf("t"));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ((*back)->id, id);
  EXPECT_EQ((*here->Find(NameOf("t")))->id, id);
  EXPECT_TRUE((*late->Find(NameOf("t")))->deletion_protection);
  EXPECT_EQ(here->Undelete(NameOf("t")).status().code(), absl::StatusCode::kAlreadyExists);
}

}  // namespace
}  // namespace sonde
