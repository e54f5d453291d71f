#include "backup/repository/repository.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "backup/repository/create_backup.h"
#include "backup/repository/prune_repository.h"
#include "backup/repository/repository_lock.h"
#include "backup/repository/repository_test_support.h"
#include "backup/repository/restore_backup.h"
#include "backup/repository/sha256_stream.h"
#include "backup/repository/verify_repository.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const auto kNothingToCheck = [](const std::string&) { return absl::OkStatus(); };

TEST_F(RepositoryTest, RestoresEachBackupAsItWas) {
  const CreatedBackup first = CreateOf(SmallStore("1")), second = CreateOf(SmallStore("2"));
  EXPECT_EQ(*Restored(first.manifest.id), SmallStore("1"));
  EXPECT_EQ(*Restored(second.manifest.id), SmallStore("2"));
  EXPECT_EQ(*Restored(""), SmallStore("2"));
  EXPECT_EQ(second.manifest.parent, first.manifest.id);
}

TEST_F(RepositoryTest, CopiesOnlyWhatChanged) {
  EXPECT_EQ(CreateOf(SmallStore("1")).files_copied, 5u);
  const CreatedBackup second = CreateOf(SmallStore("2"));
  EXPECT_EQ(second.files_copied, 2u);
  EXPECT_EQ(second.bytes_copied + second.bytes_found, second.manifest.bytes());
  EXPECT_EQ(CreateOf(SmallStore("2")).files_copied, 0u);
}

TEST_F(RepositoryTest, FindsTablesWithoutReadingThem) {
  CreateOf(SmallStore("1"));
  const CopiedStore copy = CopyOf(SmallStore("1"));
  for (const CopiedFile& file : copy.files) {
    if (file.crc32c.has_value()) fs::remove(file.from);
  }
  const auto created = CreateBackup(*OpenRepository(), copy);
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(*Restored(created->manifest.id), SmallStore("1"));
}

TEST_F(RepositoryTest, ReadsTablesOfAnotherStore) {
  CreateOf(SmallStore("1"));
  CopiedStore other = CopyOf(SmallStore("2"));
  const CopiedStore first = CopyOf(SmallStore("1"));
  other.store = "another";
  for (size_t i = 0; i < other.files.size(); ++i) other.files[i].crc32c = first.files[i].crc32c;
  const auto created = CreateBackup(*OpenRepository(), other);
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(*Restored(created->manifest.id), SmallStore("2"));
}

TEST_F(RepositoryTest, CopiesAgainWhatTheRepositoryHasLost) {
  const CreatedBackup first = CreateOf(SmallStore("1"));
  const auto repository = OpenRepository();
  for (const ManifestFile& file : first.manifest.files) fs::remove(repository->BlobPath(file.sha256));
  EXPECT_EQ(CreateOf(SmallStore("1")).files_copied, 5u);
  EXPECT_EQ(*Restored(first.manifest.id), SmallStore("1"));
}

TEST_F(RepositoryTest, FilesAreForTheirOwnerAlone) {
  CreateOf(SmallStore("1"));
  for (const auto& entry : fs::recursive_directory_iterator(directory_)) {
    EXPECT_EQ(entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all), fs::perms::none)
        << entry.path();
  }
}

TEST_F(RepositoryTest, RefusesADirectoryOfSomethingElse) {
  fs::create_directories(directory_);
  std::ofstream(directory_ + "/letter") << "dear";
  const auto repository = Repository::Open(tools(), directory_, Repository::IfNone::kMake);
  EXPECT_EQ(repository.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(repository.status().message()), HasSubstr("it has 'letter'"));
  EXPECT_EQ(Repository::Open(tools(), directory_).status().code(), StatusCode::kNotFound);
}

TEST_F(RepositoryTest, RefusesWhatANewerVersionWrote) {
  OpenRepository();
  std::ofstream(directory_ + "/SONDE-BACKUP") << "sonde backup format 2\n";
  EXPECT_EQ(Repository::Open(tools(), directory_).status().code(), StatusCode::kFailedPrecondition);
  std::ofstream(directory_ + "/SONDE-BACKUP") << "sonde backup format x\n";
  EXPECT_EQ(Repository::Open(tools(), directory_).status().code(), StatusCode::kDataLoss);
}

TEST_F(RepositoryTest, ManifestPathsStayBelowTheDirectory) {
  for (const char* path : {"FORMAT", "cells/000001.sst", "a/b/c", "..a/b"})
    EXPECT_TRUE(IsManifestPath(path)) << path;
  for (const char* path :
       {"", "/a", "a/", "a//b", "../a", "a/../b", "a/.", "a/b/c/d", "a b", "a\\b", "a\n"}) {
    EXPECT_FALSE(IsManifestPath(path)) << path;
  }
}

TEST_F(RepositoryTest, RefusesAManifestThatLeavesTheDirectory) {
  const CreatedBackup backup = CreateOf(SmallStore("1"));
  Manifest hostile = backup.manifest;
  hostile.files.front().path = "../escaped";
  std::ofstream(OpenRepository()->ManifestPath(hostile.id), std::ios::binary) << EncodeManifest(hostile);
  EXPECT_EQ(Restored(hostile.id).status().code(), StatusCode::kDataLoss);
  EXPECT_FALSE(fs::exists(root_ + "/escaped"));
}

TEST_F(RepositoryTest, ManifestsComeBackAsTheyWere) {
  Manifest manifest = CreateOf(SmallStore("1")).manifest;
  manifest.table = "projects/p/instances/i/tables/t";
  EXPECT_EQ(*DecodeManifest(manifest.id, EncodeManifest(manifest)), manifest);
  EXPECT_EQ(DecodeManifest("20260102T030405.123456Z-00000000", EncodeManifest(manifest)).status().code(),
            StatusCode::kDataLoss);
}

TEST_F(RepositoryTest, OneProcessWritesAtATime) {
  const auto repository = OpenRepository();
  const auto lock = RepositoryLock::Take(*repository);
  ASSERT_TRUE(lock.ok()) << lock.status();
  const auto second = CreateBackup(*repository, CopyOf(SmallStore("1")));
  EXPECT_EQ(second.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(fmt::format("held by process {}", getpid())));
  EXPECT_EQ(PruneRepository(*repository, {.keep = {.daily = 1}}).status().code(),
            StatusCode::kFailedPrecondition);
  EXPECT_THAT(*repository->BackupIds(), IsEmpty());
}

TEST_F(RepositoryTest, ALockThatWasNotRenewedIsTakenOver) {
  const auto repository = OpenRepository();
  const auto first = RepositoryLock::Take(*repository);
  ASSERT_TRUE(first.ok());
  clock_.Advance(absl::ToInt64Microseconds(kLockStale) + 1);
  const auto second = RepositoryLock::Take(*repository);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ((*first)->Keep().code(), StatusCode::kAborted);
  EXPECT_EQ((*second)->Keep(), absl::OkStatus());
}

TEST_F(RepositoryTest, ALockThatIsRenewedStays) {
  const auto repository = OpenRepository();
  const auto first = RepositoryLock::Take(*repository);
  for (int minute = 0; minute < 30; ++minute) {
    clock_.Advance(absl::ToInt64Microseconds(kLockRenewal));
    ASSERT_EQ((*first)->Keep(), absl::OkStatus());
  }
  EXPECT_EQ(RepositoryLock::Take(*repository).status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(RepositoryTest, ALockOfAnEndedProcessIsTakenOver) {
  const auto repository = OpenRepository();
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = RepositoryLock::Take(*repository);
    _exit(lock.ok() ? 0 : 1);  // without giving it back
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_TRUE(fs::exists(repository->lock_path()));
  const auto lock = RepositoryLock::Take(*repository);
  EXPECT_TRUE(lock.ok()) << lock.status();
}

TEST_F(RepositoryTest, ABackupWhoseLockWasTakenOverIsNotWritten) {
  const auto repository = OpenRepository();
  bool is_removed = false;
  const auto created = CreateBackup(*repository, CopyOf(SmallStore("1")), {.on_progress = [&](uint64_t) {
    if (!is_removed) fs::remove(repository->lock_path());
    is_removed = true;
  }});
  EXPECT_EQ(created.status().code(), StatusCode::kAborted);
  EXPECT_THAT(*repository->BackupIds(), IsEmpty());
}

TEST_F(RepositoryTest, AFileThatGrowsIsRefused) {
  CopiedStore copy = CopyOf(SmallStore("1"));
  std::ofstream(copy.files.back().from, std::ios::app) << "more";
  const auto created = CreateBackup(*OpenRepository(), copy);
  EXPECT_EQ(created.status().code(), StatusCode::kAborted);
  EXPECT_THAT(*OpenRepository()->BackupIds(), IsEmpty());
}

TEST_F(RepositoryTest, KeepsTheRateOfBytes) {
  const auto start = std::chrono::steady_clock::now();
  const auto created =
      CreateBackup(*OpenRepository(), CopyOf(SmallStore("1")), {.bytes_per_second_max = 20'000});
  ASSERT_TRUE(created.ok());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(200));  // of 5 kB and some
}

// -- Pruning.

Manifest MadeAt(const std::string& time, const std::string& table = "") {
  absl::Time moment;
  std::string error;
  EXPECT_TRUE(absl::ParseTime(absl::RFC3339_sec, time + "Z", &moment, &error)) << error;
  static uint32_t made = 0;
  return {.id = MakeBackupId(moment, ++made), .moment = moment, .store = "s", .table = table};
}

TEST(ChooseBackups, KeepsTheNewestOfDaysAndWeeks) {
  const std::vector<Manifest> manifests = {MadeAt("2026-11-02T23:00:00"), MadeAt("2026-11-08T10:00:00"),
                                           MadeAt("2026-11-09T00:00:00"), MadeAt("2026-11-20T01:00:00"),
                                           MadeAt("2026-11-20T02:00:00"), MadeAt("2026-11-21T02:00:00")};
  const auto kept = [&](const KeepPolicy& policy) { return ChooseBackups(manifests, policy); };
  EXPECT_THAT(kept({.daily = 1}), ElementsAre(manifests[5].id));
  EXPECT_THAT(kept({.daily = 2}), ElementsAre(manifests[4].id, manifests[5].id));
  EXPECT_THAT(kept({.weekly = 2}), ElementsAre(manifests[2].id, manifests[5].id));
  EXPECT_THAT(kept({.weekly = 9}), ElementsAre(manifests[1].id, manifests[2].id, manifests[5].id));
  EXPECT_THAT(kept({.daily = 9}), SizeIs(5));
}

TEST(ChooseBackups, KeepsTablesApart) {
  const std::vector<Manifest> manifests = {MadeAt("2026-11-20T01:00:00"), MadeAt("2026-11-20T02:00:00", "t"),
                                           MadeAt("2026-11-20T03:00:00", "t")};
  EXPECT_THAT(ChooseBackups(manifests, {.daily = 1}), ElementsAre(manifests[0].id, manifests[2].id));
}

TEST_F(RepositoryTest, PruningRemovesWhatNobodyNeeds) {
  clock_.Set(absl::ToUnixMicros(absl::Now()));
  const CreatedBackup first = CreateOf(SmallStore("1")), second = CreateOf(SmallStore("2"));
  const auto repository = OpenRepository();
  std::ofstream(repository->blobs_path() + "/0123.part") << "left by a crash";
  clock_.Advance(absl::ToInt64Microseconds(kUnnamedKept + absl::Hours(1)));

  const auto planned = PruneRepository(*repository, {.keep = {.daily = 1}, .is_dry_run = true});
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_THAT(*repository->BackupIds(), SizeIs(2));
  const auto pruned = PruneRepository(*repository, {.keep = {.daily = 1}});
  ASSERT_TRUE(pruned.ok()) << pruned.status();
  EXPECT_THAT(pruned->removed, ElementsAre(first.manifest.id));
  EXPECT_THAT(pruned->kept, ElementsAre(second.manifest.id));
  EXPECT_EQ(pruned->blobs_removed, 3u);  // two of the first backup, and the part
  EXPECT_EQ(planned->blobs_removed, pruned->blobs_removed);
  EXPECT_EQ(planned->bytes_removed, pruned->bytes_removed);
  EXPECT_EQ(*Restored(second.manifest.id), SmallStore("2"));
  EXPECT_EQ(VerifyRepository(*repository, {.reads_data = true})->unnamed_count, 0u);
}

TEST_F(RepositoryTest, PruningLeavesYoungBlobs) {
  clock_.Set(absl::ToUnixMicros(absl::Now()));
  CreateOf(SmallStore("1"));
  CreateOf(SmallStore("2"));
  const auto pruned = PruneRepository(*OpenRepository(), {.keep = {.daily = 1}});
  ASSERT_TRUE(pruned.ok());
  EXPECT_THAT(pruned->removed, SizeIs(1));
  EXPECT_EQ(pruned->blobs_removed, 0u);
}

TEST_F(RepositoryTest, PruningRefusesToKeepNothing) {
  CreateOf(SmallStore("1"));
  for (const KeepPolicy& policy : {KeepPolicy{}, KeepPolicy{.daily = -1, .weekly = 4}}) {
    EXPECT_EQ(PruneRepository(*OpenRepository(), {.keep = policy}).status().code(),
              StatusCode::kInvalidArgument);
  }
  EXPECT_THAT(*OpenRepository()->BackupIds(), SizeIs(1));
}

TEST_F(RepositoryTest, PruningRemovesNothingBesideADamagedManifest) {
  const CreatedBackup first = CreateOf(SmallStore("1"));
  CreateOf(SmallStore("2"));
  const auto repository = OpenRepository();
  std::ofstream(repository->ManifestPath(first.manifest.id), std::ios::app) << "x";
  EXPECT_EQ(PruneRepository(*repository, {.keep = {.daily = 1}}).status().code(), StatusCode::kDataLoss);
  EXPECT_THAT(*repository->BackupIds(), SizeIs(2));
}

// -- Restoring.

TEST_F(RepositoryTest, RestoresToAnEmptyDirectoryOnly) {
  const CreatedBackup backup = CreateOf(SmallStore("1"));
  const std::string to = root_ + "/to";
  fs::create_directories(to + "/certificates");
  std::ofstream(to + "/sonde.yaml") << "settings";
  const auto repository = OpenRepository();
  ASSERT_EQ(RestoreBackup(*repository, backup.manifest, to, kNothingToCheck), absl::OkStatus());
  FileContents expected = SmallStore("1");
  expected["sonde.yaml"] = "settings";
  EXPECT_EQ(ContentsOf(to), expected);
  const absl::Status again = RestoreBackup(*repository, backup.manifest, to, kNothingToCheck);
  EXPECT_EQ(again.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(again.message()), HasSubstr("is not empty (it has 'FORMAT')"));
  EXPECT_EQ(ContentsOf(to), expected);
}

TEST_F(RepositoryTest, ARestoreWhoseCheckFailsIsNoDataDirectory) {
  const CreatedBackup backup = CreateOf(SmallStore("1"));
  const std::string to = root_ + "/to";
  const auto fails = [](const std::string& restored) {
    return fs::exists(restored + "/FORMAT") ? absl::DataLossError("a page is damaged") : absl::OkStatus();
  };
  const auto repository = OpenRepository();
  EXPECT_EQ(RestoreBackup(*repository, backup.manifest, to, fails).code(), StatusCode::kDataLoss);
  EXPECT_FALSE(fs::exists(to + "/FORMAT"));
  EXPECT_EQ(RestoreBackup(*repository, backup.manifest, to, kNothingToCheck), absl::OkStatus());
  EXPECT_EQ(ContentsOf(to), SmallStore("1"));
}

}  // namespace
}  // namespace sonde
