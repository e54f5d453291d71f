#include "backup/store/backups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/forwarding_engine.h"
#include "engine/memory/cluster_member.h"
#include "engine/memory/memory_engine.h"
#include "model/row_range.h"

namespace sonde {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kInstance[] = "projects/p/instances/i";
constexpr char kCluster[] = "projects/p/instances/i/clusters/c";

std::string TableName(const std::string& id) { return std::string(kInstance) + "/tables/" + id; }
std::string BackupName(const std::string& id) { return std::string(kCluster) + "/backups/" + id; }

class BackupsTest : public testing::Test {
 protected:
  void SetUp() override {
    Reopen();
    TableSchema schema{.name = TableName("t"), .deletion_protection = true};
    schema.families = {{.name = "a", .gc_rule = {GcRule::MaxVersions{1}}},
                       {.name = "b", .value_type = "type"}};
    schema.automated_backups = {.retention_micros = 1};
    schema.infrequent_access_micros = 1;
    schema_ = *catalog_->Create(schema);
    Put("row", "1");
  }
  void Reopen() {
    backups_.reset();
    catalog_ = *Catalog::Open(engine_.get());
    backups_ = *Backups::Open(engine_.get(), catalog_.get(), &clock_, {.per_table_max = 3});
  }
  void Put(const std::string& row, const std::string& value) {
    RowDelta delta;
    FamilyDelta& family = delta.families.emplace_back();
    family.family = schema_->FindFamily("b")->id;
    family.puts.push_back({"q", 1'000, value});
    ASSERT_EQ(engine_->Apply(schema_->id, {{{row, delta}}}), absl::OkStatus());
  }
  // The rows of a table, each with its last value.
  std::vector<std::string> Rows(TableId table) {
    std::vector<std::string> rows;
    auto stream = engine_->Scan(table, {RowRange::All()}, {});
    EXPECT_TRUE(stream.ok());
    RowPiece piece;
    while (*(*stream)->Next(&piece)) {
      rows.push_back(std::string(piece.row_key) + "=" + std::string(piece.cells.back().value));
    }
    return rows;
  }
  NewBackup Wanted(const std::string& id) const {
    return {.name = BackupName(id), .expire = Now() + absl::Hours(24 * 7)};
  }
  absl::Time Now() const { return absl::FromUnixMicros(clock_.NowMicros()); }
  absl::StatusOr<Backup> MakeBackup(const std::string& id) {
    if (auto begun = backups_->Begin(Wanted(id), schema_->name); !begun.ok()) return begun;
    return backups_->Make(BackupName(id));
  }
  absl::StatusOr<Backup> Copy(const std::string& source, const NewBackup& wanted) {
    if (auto begun = backups_->BeginCopy(source, wanted); !begun.ok()) return begun;
    return backups_->FinishCopy(wanted.name);
  }
  size_t CountSnapshots() { return engine_->snapshots()->List()->size(); }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const absl::StatusOr<std::vector<Backup>> all = backups_->List("");
    EXPECT_TRUE(all.ok()) << all.status();
    if (!all.ok()) return names;
    for (const Backup& backup : *all) names.push_back(backup.name);
    return names;
  }

  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  ManualClock clock_{1'700'000'000'000'000};
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Backups> backups_;
  TableSchemaRef schema_;
};

TEST(BackupRecord, RoundTripsAndKeepsUnknownMembers) {
  BackupRecord record{.backup = {.name = "n",
                                 .source_table = "t",
                                 .source_backup = "s",
                                 .start = absl::FromUnixMicros(1),
                                 .end = absl::FromUnixMicros(2),
                                 .expire = absl::FromUnixMicros(3),
                                 .hot_to_standard = absl::FromUnixMicros(4),
                                 .size_bytes = 5,
                                 .state = BackupState::kReady,
                                 .type = BackupType::kHot},
                      .snapshot = "backup-1",
                      .schema = {.name = "t", .id = 3},
                      .unknown_members = R"({"later":{"a":[1]}})"};
  const std::string bytes = EncodeBackupRecord(record);
  EXPECT_THAT(bytes, HasSubstr(R"("later":{"a":[1]})"));
  const absl::StatusOr<BackupRecord> again = DecodeBackupRecord(bytes);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(EncodeBackupRecord(*again), bytes);
  EXPECT_EQ(again->unknown_members, record.unknown_members);
  EXPECT_EQ(again->schema, record.schema);
  EXPECT_EQ(again->backup.hot_to_standard, record.backup.hot_to_standard);
  for (const char* const damaged : {"", "{", "[]", "{\"version\":2}", "{\"version\":1}"}) {
    EXPECT_EQ(DecodeBackupRecord(damaged).status().code(), StatusCode::kDataLoss) << damaged;
  }
}

TEST_F(BackupsTest, ABackupIsCreatingUntilItsSnapshotIsMade) {
  const absl::StatusOr<Backup> begun = backups_->Begin(Wanted("b"), schema_->name);
  ASSERT_TRUE(begun.ok()) << begun.status();
  EXPECT_EQ(begun->state, BackupState::kCreating);
  EXPECT_FALSE(begun->end.has_value());
  EXPECT_EQ(backups_->Restore(BackupName("b"), TableName("r")).status().code(),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(Copy(BackupName("b"), Wanted("c")).status().code(), StatusCode::kFailedPrecondition);
  clock_.Advance(5);
  const absl::StatusOr<Backup> made = backups_->Make(BackupName("b"));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->state, BackupState::kReady);
  EXPECT_EQ(*made->end - made->start, absl::Microseconds(5));
  EXPECT_EQ(made->size_bytes, 0);
  Reopen();
  EXPECT_EQ(backups_->Find(BackupName("b"))->state, BackupState::kReady);
}

TEST_F(BackupsTest, RefusesWhatCannotBe) {
  EXPECT_EQ(backups_->Begin(Wanted("b"), TableName("none")).status().code(), StatusCode::kNotFound);
  for (const char* const id : {"b", "b2", "b3"}) ASSERT_TRUE(MakeBackup(id).ok());
  EXPECT_EQ(MakeBackup("b").status(), absl::AlreadyExistsError("Backup already exists: " + BackupName("b")));
  EXPECT_EQ(MakeBackup("b4").status(),
            absl::ResourceExhaustedError("Too many backups of table " + schema_->name +
                                         " in one cluster: the limit is 3"));
  EXPECT_EQ(backups_->Find(BackupName("b5")).status(),
            absl::NotFoundError("Backup not found: " + BackupName("b5")));
  EXPECT_EQ(backups_->Delete(BackupName("b5")).code(), StatusCode::kNotFound);
}

TEST_F(BackupsTest, ARestoredTableHasTheRowsOfTheMomentAndNoRules) {
  ASSERT_TRUE(MakeBackup("b").ok());
  Put("row", "2");
  Put("row2", "3");
  const absl::StatusOr<TableSchemaRef> restored = backups_->Restore(BackupName("b"), TableName("r"));
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_THAT(Rows((*restored)->id), ElementsAre("row=1"));
  EXPECT_FALSE((*restored)->deletion_protection);
  EXPECT_FALSE((*restored)->automated_backups.has_value());
  EXPECT_FALSE((*restored)->infrequent_access_micros.has_value());
  EXPECT_EQ((*restored)->FindFamily("a")->gc_rule, GcRule());
  EXPECT_EQ((*restored)->FindFamily("b")->value_type, "type");
  EXPECT_EQ((*restored)->restored_from->backup, BackupName("b"));
  EXPECT_EQ((*restored)->restored_from->source_table, schema_->name);
  EXPECT_EQ(backups_->Restore(BackupName("b"), TableName("r")).status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(backups_->Restore(BackupName("none"), TableName("r2")).status().code(), StatusCode::kNotFound);
  Reopen();
  EXPECT_THAT(Rows((*catalog_->Find(TableName("r")))->id), ElementsAre("row=1"));
}

TEST_F(BackupsTest, ARestoreThatIsEndedLeavesNothing) {
  ASSERT_TRUE(MakeBackup("b").ok());
  absl::Status deleted;
  const auto end = [&](double) {
    deleted = backups_->Delete(BackupName("b"));
    return absl::CancelledError("enough");
  };
  EXPECT_EQ(backups_->Restore(BackupName("b"), TableName("r"), {.on_progress = end}).status(),
            absl::CancelledError("enough"));
  EXPECT_EQ(deleted.code(), StatusCode::kFailedPrecondition) << "the restore reads it";
  EXPECT_EQ(catalog_->Find(TableName("r")).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(engine_->Ranges(schema_->id + 1).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(backups_->Delete(BackupName("b")), absl::OkStatus());
}

TEST_F(BackupsTest, ABackupThatLostItsDataSaysSo) {
  ASSERT_TRUE(MakeBackup("b").ok());
  ASSERT_EQ(engine_->snapshots()->Drop(engine_->snapshots()->List()->front().name), absl::OkStatus());
  EXPECT_EQ(backups_->Restore(BackupName("b"), TableName("r")).status(),
            absl::DataLossError("The data of backup " + BackupName("b") + " is gone"));
  const int64_t version = *engine_->RecordsVersion(absl::InfiniteFuture());
  EXPECT_EQ(backups_->Sweep(), absl::OkStatus());
  EXPECT_EQ(*engine_->RecordsVersion(absl::InfiniteFuture()), version)
      << "there is nothing to count, so nothing to write";
}

TEST_F(BackupsTest, ACopySharesTheDataUntilTheLastOneGoes) {
  ASSERT_TRUE(MakeBackup("b").ok());
  NewBackup wanted = Wanted("c");
  wanted.name = "projects/q/instances/j/clusters/c/backups/c";
  clock_.Advance(1'000);
  const absl::StatusOr<Backup> copy = Copy(BackupName("b"), wanted);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(copy->source_backup, BackupName("b"));
  EXPECT_EQ(copy->start, Now());
  EXPECT_EQ(CountSnapshots(), 1u);
  EXPECT_EQ(Copy(wanted.name, Wanted("d")).status().code(), StatusCode::kInvalidArgument);
  ASSERT_EQ(backups_->Delete(BackupName("b")), absl::OkStatus());
  ASSERT_TRUE(backups_->Restore(wanted.name, TableName("r")).ok());
  ASSERT_EQ(backups_->Delete(wanted.name), absl::OkStatus());
  EXPECT_EQ(CountSnapshots(), 0u);
  EXPECT_THAT(Names(), ElementsAre());
}

TEST_F(BackupsTest, OneThatExpiresSoonIsNotCopied) {
  ASSERT_TRUE(MakeBackup("b").ok());
  clock_.Advance(absl::ToInt64Microseconds(absl::Hours(24 * 6) + absl::Seconds(1)));
  const absl::Status status = Copy(BackupName("b"), Wanted("c")).status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("expires within 24 hours"));
}

TEST_F(BackupsTest, OneThatIsDeletedWhileItIsMadeIsCancelled) {
  ASSERT_TRUE(backups_->Begin(Wanted("b"), schema_->name).ok());
  ASSERT_EQ(backups_->Delete(BackupName("b")), absl::OkStatus());
  EXPECT_EQ(backups_->Make(BackupName("b")).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(CountSnapshots(), 0u);
}

TEST_F(BackupsTest, OneThatDoesNotGoOnLeavesNothing) {
  for (int asked_max = 0; asked_max < 2; ++asked_max) {
    ASSERT_TRUE(backups_->Begin(Wanted("b"), schema_->name).ok());
    int asked = 0;
    const auto goes_on = [&] {
      return asked++ < asked_max ? absl::OkStatus() : absl::CancelledError("enough");
    };
    EXPECT_EQ(backups_->Make(BackupName("b"), goes_on).status(), absl::CancelledError("enough"));
    EXPECT_EQ(asked, asked_max + 1);
    EXPECT_THAT(Names(), ElementsAre());
    EXPECT_EQ(CountSnapshots(), 0u);
  }
}

TEST_F(BackupsTest, BeginsInOneStepWithOtherRecords) {
  ASSERT_TRUE(backups_->Begin(Wanted("b"), schema_->name, {{"other", "1", 0}}).ok());
  EXPECT_EQ(backups_->Begin(Wanted("c"), schema_->name, {{"other", "2", 0}}).status().code(),
            StatusCode::kAborted);
  EXPECT_THAT(Names(), ElementsAre(BackupName("b")));
  ASSERT_TRUE(backups_->Make(BackupName("b")).ok());
  EXPECT_EQ(backups_->BeginCopy(BackupName("b"), Wanted("c"), {{"other", "2", 0}}).status().code(),
            StatusCode::kAborted);
  EXPECT_THAT(Names(), ElementsAre(BackupName("b")));
}

TEST_F(BackupsTest, ACopyGoesOnAfterARestart) {
  ASSERT_TRUE(MakeBackup("b").ok());
  ASSERT_TRUE(backups_->BeginCopy(BackupName("b"), Wanted("c")).ok());
  Reopen();
  EXPECT_EQ(backups_->Find(BackupName("c"))->state, BackupState::kCreating);
  EXPECT_EQ(backups_->Delete(BackupName("b")),
            absl::FailedPreconditionError("Backup " + BackupName("b") + " is being copied to " +
                                          BackupName("c") + ": delete it when that is done"));
  clock_.Set(absl::ToUnixMicros(backups_->Find(BackupName("b"))->expire));
  ASSERT_EQ(backups_->Sweep(), absl::OkStatus());
  EXPECT_TRUE(backups_->Find(BackupName("b")).ok()) << "its expiry waits for the copy";
  const absl::StatusOr<Backup> copy = backups_->FinishCopy(BackupName("c"));
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(copy->end, Now());
  EXPECT_EQ(backups_->FinishCopy(BackupName("c"))->state, BackupState::kReady) << "once more, without effect";
  EXPECT_EQ(backups_->Delete(BackupName("b")), absl::OkStatus());
}

TEST_F(BackupsTest, ACopyThatIsCancelledLeavesNothing) {
  ASSERT_TRUE(MakeBackup("b").ok());
  ASSERT_TRUE(backups_->BeginCopy(BackupName("b"), Wanted("c")).ok());
  EXPECT_EQ(backups_->FinishCopy(BackupName("c"), [] { return absl::UnavailableError("later"); }).status(),
            absl::UnavailableError("later"));
  EXPECT_EQ(Names().size(), 2u);
  EXPECT_EQ(backups_->FinishCopy(BackupName("c"), [] { return absl::CancelledError("enough"); }).status(),
            absl::CancelledError("enough"));
  EXPECT_THAT(Names(), ElementsAre(BackupName("b")));
  EXPECT_EQ(CountSnapshots(), 1u);
  EXPECT_EQ(backups_->FinishCopy(BackupName("c")).status().code(), StatusCode::kCancelled)
      << "it was deleted";
}

TEST_F(BackupsTest, OneThatIsHeldIsNotDeleted) {
  EXPECT_EQ(backups_->Hold(BackupName("b")).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(backups_->Begin(Wanted("b"), schema_->name).ok());
  EXPECT_EQ(backups_->Hold(BackupName("b")).status().code(), StatusCode::kFailedPrecondition);
  ASSERT_TRUE(backups_->Make(BackupName("b")).ok());
  ASSERT_TRUE(backups_->Hold(BackupName("b")).ok());
  ASSERT_TRUE(backups_->Hold(BackupName("b")).ok());
  backups_->Release(BackupName("b"));
  EXPECT_EQ(backups_->Delete(BackupName("b")).code(), StatusCode::kFailedPrecondition);
  backups_->Release(BackupName("b"));
  EXPECT_EQ(backups_->Delete(BackupName("b")), absl::OkStatus());
}

TEST_F(BackupsTest, OptimizesATable) {
  std::vector<double> told;
  const Snapshots::RestoreOptions options{.on_progress = [&](double done) {
    told.push_back(done);
    return absl::OkStatus();
  }};
  EXPECT_EQ(backups_->Optimize(schema_->name, options), absl::OkStatus());
  EXPECT_EQ(told.back(), 1);
  EXPECT_EQ(backups_->Optimize(TableName("none")).code(), StatusCode::kNotFound);
}

TEST_F(BackupsTest, OpenRemovesWhatACrashLeft) {
  ASSERT_TRUE(MakeBackup("ready").ok());
  ASSERT_TRUE(backups_->Begin(Wanted("begun"), schema_->name).ok());
  clock_.Advance(1);
  ASSERT_TRUE(backups_->Begin(Wanted("made"), schema_->name).ok());
  ASSERT_EQ(engine_->snapshots()->Make("backup-1-5", schema_->id), absl::OkStatus());
  ASSERT_EQ(engine_->snapshots()->Make("other", schema_->id), absl::OkStatus());
  EXPECT_EQ(CountSnapshots(), 3u);
  Reopen();
  EXPECT_THAT(Names(), ElementsAre(BackupName("ready")));
  EXPECT_EQ(CountSnapshots(), 2u) << "that of the backup, and the one that is nobody's";
}

// One of several servers of a store.
struct BackupMember {
  BackupMember(Engine* store, const Clock* clock)
      : engine(store, {}),
        catalog(*Catalog::Open(&engine, {.seen_within = absl::Milliseconds(100)})),
        backups(*Backups::Open(&engine, catalog.get(), clock)) {}

  ClusterMember engine;
  std::unique_ptr<Catalog> catalog;
  std::unique_ptr<Backups> backups;
};

TEST_F(BackupsTest, AServerThatStartsLeavesWhatAnotherOneMakes) {
  BackupMember one(engine_.get(), &clock_);
  ASSERT_TRUE(one.backups->Begin(Wanted("b"), schema_->name).ok());
  BackupMember other(engine_.get(), &clock_);
  ASSERT_EQ(other.backups->Sweep(), absl::OkStatus());
  EXPECT_EQ(one.backups->Make(BackupName("b"))->state, BackupState::kReady);
  clock_.Advance(2 * absl::ToInt64Microseconds(Backups::kAbandonedAfter));
  for (int times = 0; times < 2; ++times) ASSERT_EQ(other.backups->Sweep(), absl::OkStatus());
  EXPECT_EQ(other.backups->Find(BackupName("b"))->state, BackupState::kReady);
  EXPECT_TRUE(other.backups->Restore(BackupName("b"), TableName("restored")).ok());
}

TEST_F(BackupsTest, WhatAServerLeftThatIsGoneIsRemovedAnHourLater) {
  {
    BackupMember gone(engine_.get(), &clock_);
    ASSERT_TRUE(gone.backups->Begin(Wanted("b"), schema_->name).ok());
    ASSERT_EQ(engine_->snapshots()->Make("backup-1-1700000000000000", schema_->id), absl::OkStatus());
  }
  ASSERT_EQ(engine_->snapshots()->Make("other", schema_->id), absl::OkStatus());
  BackupMember member(engine_.get(), &clock_);
  for (int times = 0; times < 2; ++times) ASSERT_EQ(member.backups->Sweep(), absl::OkStatus());
  EXPECT_EQ(Names().size(), 1u);
  EXPECT_EQ(CountSnapshots(), 2u);
  clock_.Advance(absl::ToInt64Microseconds(Backups::kAbandonedAfter));
  for (int times = 0; times < 2; ++times) ASSERT_EQ(member.backups->Sweep(), absl::OkStatus());
  EXPECT_TRUE(Names().empty());
  EXPECT_EQ(CountSnapshots(), 1u) << "the one that is nobody's";
}

// Does something right before the next write of records.
class BeforeWrite final : public ForwardingEngine {
 public:
  BeforeWrite(Engine* engine, std::function<void()> act) : ForwardingEngine(engine), act_(std::move(act)) {}
  absl::Status WriteRecords(const std::vector<RecordChange>& changes, absl::Time deadline) override {
    if (act_ != nullptr) std::exchange(act_, nullptr)();
    return ForwardingEngine::WriteRecords(changes, deadline);
  }

 private:
  std::function<void()> act_;
};

TEST_F(BackupsTest, ACopyIsNotBegunOfABackupThatAnotherServerDeletes) {
  BackupMember one(engine_.get(), &clock_), other(engine_.get(), &clock_);
  ASSERT_TRUE(one.backups->Begin(Wanted("b"), schema_->name).ok());
  ASSERT_TRUE(one.backups->Make(BackupName("b")).ok());
  BeforeWrite engine(&one.engine,
                     [&] { ASSERT_EQ(other.backups->Delete(BackupName("b")), absl::OkStatus()); });
  const std::unique_ptr<Backups> backups = *Backups::Open(&engine, one.catalog.get(), &clock_);
  EXPECT_EQ(backups->BeginCopy(BackupName("b"), Wanted("copy")).status().code(), StatusCode::kAborted);
  EXPECT_TRUE(Names().empty());
  EXPECT_EQ(CountSnapshots(), 0u);
}

class FakeCompanions final : public Companions {
 public:
  std::string_view record_prefix() const override { return "policy/"; }
  std::vector<RecordChange> RecordsToDelete(std::string_view resource) override {
    return {{"policy/" + std::string(resource), std::nullopt}};
  }
  void OnDeleted(std::string_view resource) override { deleted.emplace_back(resource); }

  std::vector<std::string> deleted;
};

TEST_F(BackupsTest, WhatOthersKeepEndsWithTheBackup) {
  FakeCompanions companions;
  backups_ = *Backups::Open(engine_.get(), catalog_.get(), &clock_, {.companions = &companions});
  ASSERT_TRUE(MakeBackup("b").ok());
  ASSERT_EQ(engine_->WriteRecords({{"policy/" + BackupName("b"), "p"}, {"policy/" + BackupName("c"), "p"}},
                                  absl::InfiniteFuture()),
            absl::OkStatus());
  ASSERT_EQ(backups_->Delete(BackupName("b")), absl::OkStatus());
  EXPECT_THAT(companions.deleted, ElementsAre(BackupName("b")));
  const auto left = engine_->ReadRecords("policy/", absl::InfiniteFuture());
  ASSERT_TRUE(left.ok());
  ASSERT_EQ(left->size(), 1u);
  EXPECT_EQ(left->front().key, "policy/" + BackupName("c"));
}

TEST_F(BackupsTest, UpdateChangesTimesOfAReadyBackup) {
  ASSERT_TRUE(MakeBackup("b").ok());
  const absl::Time expire = Now() + absl::Hours(24 * 8);
  const auto later = [&](Backup* backup) {
    backup->expire = expire;
    return absl::OkStatus();
  };
  EXPECT_EQ(backups_->Update(BackupName("b"), later)->expire, expire);
  Reopen();
  EXPECT_EQ(backups_->Find(BackupName("b"))->expire, expire);
  const auto refuse = [](Backup*) { return absl::InvalidArgumentError("no"); };
  EXPECT_EQ(backups_->Update(BackupName("b"), refuse).status(), absl::InvalidArgumentError("no"));
  ASSERT_TRUE(backups_->Begin(Wanted("c"), schema_->name).ok());
  EXPECT_EQ(backups_->Update(BackupName("c"), later).status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(BackupsTest, ProgressTellsOfTheNewestAndOfFailures) {
  EXPECT_EQ(backups_->progress().last, std::nullopt);
  const absl::Time first = Now();
  ASSERT_TRUE(MakeBackup("b").ok());
  EXPECT_EQ(backups_->progress().last, first);
  clock_.Advance(1'000'000);
  ASSERT_TRUE(Copy(BackupName("b"), Wanted("c")).ok());
  ASSERT_EQ(backups_->Sweep(), absl::OkStatus());
  EXPECT_EQ(backups_->progress().ready, 2);
  EXPECT_EQ(backups_->progress().last, first) << "a copy is as old as its source";
  ASSERT_EQ(backups_->Delete(BackupName("b")), absl::OkStatus());
  ASSERT_EQ(backups_->Delete(BackupName("c")), absl::OkStatus());
  ASSERT_EQ(backups_->Sweep(), absl::OkStatus());
  EXPECT_EQ(backups_->progress().ready, 0);
  EXPECT_EQ(backups_->progress().last, std::nullopt);
  EXPECT_EQ(backups_->progress().failures, 0);
  ASSERT_TRUE(backups_->Begin(Wanted("d"), schema_->name).ok());
  ASSERT_EQ(engine_->DropTable(schema_->id), absl::OkStatus());
  EXPECT_FALSE(backups_->Make(BackupName("d")).ok());
  EXPECT_EQ(backups_->progress().failures, 1);
}

TEST_F(BackupsTest, SweepCountsCoolsAndDeletes) {
  NewBackup hot = Wanted("hot");
  hot.type = BackupType::kHot;
  hot.hot_to_standard = Now() + absl::Hours(24);
  ASSERT_TRUE(backups_->Begin(hot, schema_->name).ok());
  ASSERT_TRUE(backups_->Make(hot.name).ok());
  ASSERT_EQ(backups_->Sweep(), absl::OkStatus());
  EXPECT_GT(backups_->Find(hot.name)->size_bytes, 0);
  EXPECT_EQ(backups_->Find(hot.name)->type, BackupType::kHot);
  clock_.Set(absl::ToUnixMicros(*hot.hot_to_standard));
  ASSERT_EQ(backups_->Sweep(), absl::OkStatus());
  EXPECT_EQ(backups_->Find(hot.name)->type, BackupType::kStandard);
  clock_.Set(absl::ToUnixMicros(hot.expire) - 1);
  ASSERT_EQ(backups_->Sweep(), absl::OkStatus());
  EXPECT_THAT(Names(), ElementsAre(hot.name));
  clock_.Advance(1);
  const auto sweep = [&](double) { return backups_->Sweep(); };
  ASSERT_TRUE(backups_->Restore(hot.name, TableName("r"), {.on_progress = sweep}).ok())
      << "it is not swept meanwhile";
  ASSERT_EQ(backups_->Sweep(), absl::OkStatus());
  EXPECT_THAT(Names(), ElementsAre());
  EXPECT_EQ(CountSnapshots(), 0u);
}

}  // namespace
}  // namespace sonde
