// A backup that is made while rows are written is the state of one moment, also after it went through a repository; a backup of one
// table has no byte of another one.
//
// SONDE_REPOSITORY_ROUNDS and SONDE_TEST_SEED in the environment: how many backups, and which random numbers.
#include "backup/copy/store_copy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "backup/copy/restored_store.h"
#include "backup/repository/restore_backup.h"
#include "backup/repository/verify_repository.h"
#include "base/clock.h"
#include "base/random.h"
#include "model/row_range.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kRows = 300;
constexpr char kTable[] = "projects/p/instances/i/tables/t";
constexpr char kSecret[] = "projects/p/instances/i/tables/secret";
// Keys and values of this table hold it; it is long enough not to occur by chance.
constexpr char kMarker[] = "the-marker-of-the-secret-table-1b8f2c";

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class StoreCopyTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    fs::create_directories(root_);
    Open();
    schema_ = *catalog_->Create({.name = kTable, .families = {{.name = "f"}}});
  }
  void TearDown() override {
    catalog_.reset();
    engine_.reset();
    fs::remove_all(root_);
  }
  RocksOptions OptionsOf(const std::string& directory) const {
    return {.data_dir = directory,
            .memory_bytes = uint64_t{64} << 20,
            .sync = false,  // no power is cut here
            .settling_head_cells_min = 2'000};
  }
  void Open() {
    auto engine = RocksEngine::Open(OptionsOf(data_dir_));
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    catalog_ = *Catalog::Open(engine_.get());
  }

  // The n-th write: it sets a row, or deletes it.
  static int RowOf(int64_t n) { return static_cast<int>((n * 7'919) % kRows); }
  static bool Deletes(int64_t n) { return n % 11 == 0; }
  void Put(const TableSchemaRef& schema, const std::string& row, int64_t n, const std::string& value) {
    RowDelta delta;
    FamilyDelta& family = delta.families.emplace_back();
    family.family = schema->families[0].id;
    family.deletes.push_back({"q", {0, 0}});
    if (!value.empty()) family.puts.push_back({"q", n * 1'000, value});
    const absl::Status status = engine_->Apply(schema->id, {{{row, delta}}});
    ASSERT_TRUE(status.ok()) << status;
  }
  void Write(int64_t n) {
    Put(schema_, fmt::format("row-{:04}", RowOf(n)), n, Deletes(n) ? "" : std::to_string(n));
  }
  static std::map<std::string, std::string> StateAfter(int64_t n) {
    std::map<std::string, std::string> state;
    for (int64_t i = std::max<int64_t>(1, n - kRows + 1); i <= n; ++i) {
      if (!Deletes(i)) state[fmt::format("row-{:04}", RowOf(i))] = std::to_string(i);
    }
    return state;
  }
  static std::map<std::string, std::string> Read(Engine* engine, TableId table) {
    std::map<std::string, std::string> rows;
    auto stream = engine->Scan(table, {RowRange::All()}, {});
    EXPECT_TRUE(stream.ok()) << stream.status();
    RowPiece piece;
    while (stream.ok()) {
      const absl::StatusOr<bool> more = (*stream)->Next(&piece);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) break;
      for (const CellView& cell : piece.cells) rows[std::string(piece.row_key)] = std::string(cell.value);
    }
    return rows;
  }
  std::map<std::string, std::string> ReadFrom(const std::string& directory, const std::string& table) {
    const auto engine = RocksEngine::Open(OptionsOf(directory));
    EXPECT_TRUE(engine.ok()) << engine.status();
    if (!engine.ok()) return {};
    const auto catalog = Catalog::Open(engine->get());
    EXPECT_TRUE(catalog.ok()) << catalog.status();
    const auto schema = (*catalog)->Find(table);
    EXPECT_TRUE(schema.ok()) << schema.status();
    return schema.ok() ? Read(engine->get(), (*schema)->id) : std::map<std::string, std::string>();
  }

  std::unique_ptr<Repository> OpenRepository() {
    auto repository = Repository::Open({.files = &files_, .clock = &clock_, .random = &random_},
                                       root_ + "/repository", Repository::IfNone::kMake);
    EXPECT_TRUE(repository.ok()) << repository.status();
    return *std::move(repository);
  }
  absl::StatusOr<CreatedBackup> BackUp() {
    const auto checkpoint = CheckpointStore(engine_.get(), data_dir_, &random_);
    if (!checkpoint.ok()) return checkpoint.status();
    const auto copy = DescribeCheckpoint(&files_, *checkpoint, data_dir_, "test");
    if (!copy.ok()) return copy.status();
    auto created = CreateBackup(*OpenRepository(), *copy);
    fs::remove_all(checkpoint->directory);
    return created;
  }
  absl::StatusOr<CreatedBackup> BackUpTable(const std::string& table) {
    const auto checkpoint = CheckpointStore(engine_.get(), data_dir_, &random_);
    if (!checkpoint.ok()) return checkpoint.status();
    const std::string work = root_ + "/work";
    const auto copy = ExtractTable(&files_, *checkpoint, table, work, "test");
    auto created = copy.ok() ? CreateBackup(*OpenRepository(), *copy) : copy.status();
    fs::remove_all(work);
    fs::remove_all(checkpoint->directory);
    return created;
  }
  absl::Status RestoreTo(const Manifest& manifest, const std::string& to) {
    return RestoreBackup(*OpenRepository(), manifest, to, [&](const std::string& restored) {
      return CheckRestored(restored, manifest).status();
    });
  }

  const std::string root_ = testing::TempDir() + "/store_copy_" + std::to_string(getpid());
  const std::string data_dir_ = root_ + "/data";
  LocalFileSystem files_;
  SystemClock clock_;
  SeededRandom random_{FromEnvironment("SONDE_TEST_SEED", 1)};
  std::unique_ptr<RocksEngine> engine_;
  std::unique_ptr<Catalog> catalog_;
  TableSchemaRef schema_;
};

TEST_F(StoreCopyTest, EachBackupUnderLoadIsOneMoment) {
  std::atomic<int64_t> begun = 0, done = 0;
  std::atomic<bool> stops = false;
  std::thread writer([&] {
    while (!stops) {
      const int64_t n = ++begun;
      Write(n);
      done = n;
    }
  });
  const uint64_t rounds = FromEnvironment("SONDE_REPOSITORY_ROUNDS", 5);
  for (uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
    const int64_t wait_until = done + 1 + static_cast<int64_t>(random_.Uniform(3'000));
    while (done < wait_until && !HasFailure()) std::this_thread::yield();
    const int64_t before = done;
    const auto created = BackUp();
    const int64_t after = begun;
    EXPECT_TRUE(created.ok()) << created.status();
    if (!created.ok()) break;
    const std::string to = fmt::format("{}/restored", root_);
    fs::remove_all(to);
    EXPECT_EQ(RestoreTo(created->manifest, to), absl::OkStatus());
    const std::map<std::string, std::string> state = ReadFrom(to, kTable);
    int64_t moment = before;
    while (moment <= after && state != StateAfter(moment)) ++moment;
    EXPECT_LE(moment, after) << "round " << round << ": the state is that of no moment from " << before
                             << " on";
  }
  stops = true;
  writer.join();
  EXPECT_EQ(Read(engine_.get(), schema_->id), StateAfter(done));
  const auto report = VerifyRepository(*OpenRepository(), {.reads_data = true});
  EXPECT_EQ(report->damage_count, 0u);
  EXPECT_EQ(report->backups_count, rounds);
}

TEST_F(StoreCopyTest, AnUnchangedStoreIsFound) {
  for (int64_t n = 1; n <= 1'000; ++n) Write(n);
  ASSERT_EQ(engine_->SettleAll(), absl::OkStatus());
  ASSERT_EQ(engine_->CompactAll(), absl::OkStatus());
  ASSERT_TRUE(BackUp().ok());
  const auto second = BackUp();
  ASSERT_TRUE(second.ok()) << second.status();
  uint64_t tables_bytes = 0;
  for (const ManifestFile& file : second->manifest.files) {
    if (file.path.ends_with(".sst")) tables_bytes += file.bytes;
  }
  EXPECT_GE(second->bytes_found, tables_bytes);
}

TEST_F(StoreCopyTest, LeavesNothingBeside) {
  ASSERT_TRUE(BackUp().ok());
  EXPECT_TRUE(fs::is_empty(data_dir_ + "/snapshots"));
  // A crash leaves a copy, which the next start removes.
  const auto left = CheckpointStore(engine_.get(), data_dir_, &random_);
  ASSERT_TRUE(left.ok());
  ASSERT_TRUE(fs::exists(left->directory));
  catalog_.reset();
  engine_.reset();
  Open();
  EXPECT_FALSE(fs::exists(left->directory));
}

TEST_F(StoreCopyTest, ABackupOfATableHasNoByteOfAnother) {
  const TableSchemaRef secret = *catalog_->Create({.name = kSecret, .families = {{.name = "f"}}});
  for (int64_t n = 1; n <= 1'000; ++n) {
    Write(n);
    Put(secret, fmt::format("{}-{:04}", kMarker, RowOf(n)), n, fmt::format("{}-{}", kMarker, n));
    if (n == 500) {
      ASSERT_EQ(engine_->SettleAll(), absl::OkStatus());
    }
  }
  const auto of_table = BackUpTable(kTable);
  ASSERT_TRUE(of_table.ok()) << of_table.status();
  const auto bytes_of = [&](const Manifest& manifest) {
    std::string bytes;
    for (const ManifestFile& file : manifest.files) {
      std::ifstream blob(OpenRepository()->BlobPath(file.sha256), std::ios::binary);
      bytes.append(std::istreambuf_iterator<char>(blob), {});
    }
    return bytes;
  };
  const std::string bytes = bytes_of(of_table->manifest);
  EXPECT_EQ(bytes.find(kMarker), std::string::npos);
  EXPECT_EQ(bytes.find("tables/secret"), std::string::npos);
  // The search finds the marker where it is: the last key of a file is not compressed.
  const auto of_all = BackUp();
  ASSERT_TRUE(of_all.ok()) << of_all.status();
  EXPECT_NE(bytes_of(of_all->manifest).find(kMarker), std::string::npos);

  ASSERT_EQ(RestoreTo(of_table->manifest, root_ + "/restored"), absl::OkStatus());
  EXPECT_EQ(ReadFrom(root_ + "/restored", kTable), StateAfter(1'000));
  EXPECT_EQ(BackUpTable("projects/p/instances/i/tables/none").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(StoreCopyTest, ATableComesBackBesideTheOneThatIsThere) {
  for (int64_t n = 1; n <= 500; ++n) Write(n);
  const auto created = BackUp();
  ASSERT_TRUE(created.ok()) << created.status();
  for (int64_t n = 501; n <= 700; ++n) Write(n);
  const auto add = [&](const std::string& source, const std::string& as) {
    const std::string copy = CopyDirectory(data_dir_, "copy");
    EXPECT_EQ(files_.MakeDirectory(data_dir_ + "/snapshots"), absl::OkStatus());
    EXPECT_EQ(files_.MakeDirectory(copy), absl::OkStatus());
    EXPECT_EQ(CopyBackupFiles(*OpenRepository(), created->manifest, copy), absl::OkStatus());
    auto made = AddTableOfCopy(engine_.get(), catalog_.get(), data_dir_, "copy", source, as);
    EXPECT_TRUE(fs::is_empty(data_dir_ + "/snapshots"));
    return made;
  };
  const std::string as = "projects/p/instances/i/tables/before";
  const auto made = add(kTable, as);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(Read(engine_.get(), (*made)->id), StateAfter(500));
  EXPECT_EQ(Read(engine_.get(), schema_->id), StateAfter(700));
  EXPECT_EQ(add(kTable, as).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(add(kSecret, as + "2").status().code(), absl::StatusCode::kNotFound);
  const auto none = AddTableOfCopy(engine_.get(), catalog_.get(), data_dir_, "none", kTable, as + "3");
  EXPECT_EQ(none.status().code(), absl::StatusCode::kNotFound);
}

// Planted bugs: a backup that lacks a part of the store does not pass for a restored one.
TEST_F(StoreCopyTest, ABackupThatLacksAFileIsNotRestored) {
  for (int64_t n = 1; n <= 1'000; ++n) {
    Write(n);
    if (n == 500) {
      ASSERT_EQ(engine_->SettleAll(), absl::OkStatus());
    }
  }
  const auto checkpoint = CheckpointStore(engine_.get(), data_dir_, &random_);
  ASSERT_TRUE(checkpoint.ok());
  const auto copy = DescribeCheckpoint(&files_, *checkpoint, data_dir_, "test");
  ASSERT_TRUE(copy.ok());
  int tried = 0;
  for (const CopiedFile& left_out : copy->files) {
    const bool is_needed = left_out.path == "FORMAT" || left_out.path.find("CURRENT") != std::string::npos ||
                           left_out.path.find("MANIFEST") != std::string::npos ||
                           left_out.path.ends_with(".sst");
    if (!is_needed) continue;
    SCOPED_TRACE(left_out.path);
    CopiedStore less = *copy;
    std::erase_if(less.files, [&](const CopiedFile& file) { return file.path == left_out.path; });
    const auto created = CreateBackup(*OpenRepository(), less);
    ASSERT_TRUE(created.ok());
    const std::string to = fmt::format("{}/restored-{}", root_, ++tried);
    EXPECT_FALSE(RestoreTo(created->manifest, to).ok());
    EXPECT_FALSE(fs::exists(to + "/FORMAT"));
  }
  EXPECT_GT(tried, 6);
}

TEST_F(StoreCopyTest, BackupsOfTheApiStayBehind) {
  ASSERT_EQ(engine_->WriteRecords({{"backup/projects/p/instances/i/clusters/c/backups/b", "a record"}}),
            absl::OkStatus());
  const auto created = BackUp();
  ASSERT_TRUE(created.ok());
  const std::string to = root_ + "/files";
  ASSERT_EQ(files_.MakeDirectory(to), absl::OkStatus());
  ASSERT_EQ(CopyBackupFiles(*OpenRepository(), created->manifest, to), absl::OkStatus());
  EXPECT_EQ(CheckRestored(to, created->manifest)->backups_removed, 1u);
  EXPECT_EQ(CheckRestored(to, created->manifest)->backups_removed, 0u);
}

TEST_F(StoreCopyTest, TheTablesAreThoseOfTheManifest) {
  const auto created = BackUp();
  ASSERT_TRUE(created.ok());
  Manifest manifest = created->manifest;
  manifest.tables.emplace_back(kSecret);
  const absl::Status status = RestoreTo(manifest, root_ + "/restored");
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(kSecret));
}

}  // namespace
}  // namespace sonde
