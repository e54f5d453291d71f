#include "wire/admin/backups.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <google/protobuf/empty.pb.h>
#include <google/protobuf/util/time_util.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "engine/memory/memory_engine.h"
#include "wire/admin/backup_operations.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
using absl::StatusCode;
using google::protobuf::util::TimeUtil;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kInstance[] = "projects/p/instances/i";
constexpr char kCluster[] = "projects/p/instances/i/clusters/sonde";
constexpr char kTable[] = "projects/p/instances/i/tables/t";

std::string BackupName(const std::string& id) { return fmt::format("{}/backups/{}", kCluster, id); }

class BackupCallsTest : public testing::Test {
 protected:
  void SetUp() override {
    TableSchema schema{.name = kTable};
    schema.families = {{.name = "f", .gc_rule = {GcRule::MaxVersions{2}}}};
    ASSERT_TRUE(catalog_->Create(schema).ok());
  }
  absl::Time Now() const { return absl::FromUnixMicros(clock_.NowMicros()); }
  static google::protobuf::Timestamp At(absl::Time time) {
    return TimeUtil::MicrosecondsToTimestamp(absl::ToUnixMicros(time));
  }
  admin::CreateBackupRequest Request(const std::string& id) const {
    admin::CreateBackupRequest request;
    request.set_parent(kCluster);
    request.set_backup_id(id);
    request.mutable_backup()->set_source_table(kTable);
    *request.mutable_backup()->mutable_expire_time() = At(Now() + absl::Hours(6));
    return request;
  }
  // Waits until the operation that a call has answered has ended.
  absl::Status Await(const absl::Status& answer) {
    if (!answer.ok()) return answer;
    EXPECT_FALSE(operation_.done()) << "the call does not wait";
    for (int i = 0; i < 10'000 && operations_->Runs(operation_.name()); ++i) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    operation_ = *operations_->Get(operation_.name());
    EXPECT_TRUE(operation_.done());
    return {static_cast<StatusCode>(operation_.error().code()), operation_.error().message()};
  }
  absl::Status Create(const admin::CreateBackupRequest& request) {
    return Await(CreateBackup(parts_, request, &operation_));
  }
  absl::StatusOr<admin::Backup> Get(const std::string& id) {
    admin::GetBackupRequest request;
    request.set_name(BackupName(id));
    admin::Backup backup;
    if (absl::Status status = GetBackup(parts_, request, &backup); !status.ok()) return status;
    return backup;
  }
  absl::StatusOr<std::vector<std::string>> List(const admin::ListBackupsRequest& request,
                                                std::string* token = nullptr) {
    admin::ListBackupsResponse response;
    if (absl::Status status = ListBackups(parts_, request, &response); !status.ok()) return status;
    std::vector<std::string> ids;
    for (const admin::Backup& backup : response.backups())
      ids.push_back(backup.name().substr(backup.name().rfind('/') + 1));
    if (token != nullptr) *token = response.next_page_token();
    return ids;
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& parent, const std::string& filter = "",
                                                const std::string& order = "") {
    admin::ListBackupsRequest request;
    request.set_parent(parent);
    request.set_filter(filter);
    request.set_order_by(order);
    return List(request);
  }
  admin::UpdateBackupRequest Update(const std::string& id, const std::vector<std::string>& paths) const {
    admin::UpdateBackupRequest request;
    request.mutable_backup()->set_name(BackupName(id));
    for (const std::string& path : paths) request.mutable_update_mask()->add_paths(path);
    return request;
  }

  ManualClock clock_{1'700'000'000'123'456};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  std::unique_ptr<Backups> backups_ = *Backups::Open(engine_.get(), catalog_.get(), &clock_);
  std::unique_ptr<Operations> operations_ = *Operations::Open(engine_.get(), &clock_);
  OperationRunner runner_{operations_.get(), BackupOperationKinds(backups_.get(), nullptr, &clock_)};
  BackupParts parts_{backups_.get(), &runner_, &clock_};
  google::longrunning::Operation operation_;
};

TEST_F(BackupCallsTest, CreatesAStandardBackup) {
  ASSERT_EQ(Create(Request("b")), absl::OkStatus());
  EXPECT_TRUE(operation_.done());
  admin::CreateBackupMetadata metadata;
  admin::Backup answered;
  ASSERT_TRUE(operation_.metadata().UnpackTo(&metadata));
  ASSERT_TRUE(operation_.response().UnpackTo(&answered));
  EXPECT_EQ(metadata.name(), BackupName("b"));
  EXPECT_EQ(metadata.source_table(), kTable);
  EXPECT_TRUE(metadata.has_end_time());
  const absl::StatusOr<admin::Backup> backup = Get("b");
  ASSERT_TRUE(backup.ok());
  EXPECT_EQ(backup->SerializeAsString(), answered.SerializeAsString());
  EXPECT_EQ(backup->state(), admin::Backup::READY);
  EXPECT_EQ(backup->backup_type(), admin::Backup::STANDARD);
  EXPECT_EQ(backup->size_bytes(), 0) << "it is counted later";
  EXPECT_EQ(backup->encryption_info().encryption_type(), admin::EncryptionInfo::GOOGLE_DEFAULT_ENCRYPTION);
  EXPECT_EQ(TimeUtil::TimestampToMicroseconds(backup->expire_time()),
            1'700'000'000'123'456 + absl::ToInt64Microseconds(absl::Hours(6)));
}

TEST_F(BackupCallsTest, RefusesTimesOutsideOfTheirLimits) {
  const auto expiring = [&](absl::Duration after) {
    admin::CreateBackupRequest request = Request("b");
    *request.mutable_backup()->mutable_expire_time() = At(Now() + after);
    return Create(request);
  };
  EXPECT_EQ(expiring(absl::Hours(6) - absl::Seconds(61)),
            absl::InvalidArgumentError(
                "Error in field 'expire_time' : must be from 6 hours to 90 days after "
                "2023-11-14T22:13:20.123456+00:00, but is 2023-11-15T04:12:19.123456+00:00"));
  EXPECT_EQ(expiring(absl::Hours(24 * 90) + absl::Microseconds(1)).code(), StatusCode::kInvalidArgument);
  admin::CreateBackupRequest request = Request("b");
  request.mutable_backup()->clear_expire_time();
  EXPECT_EQ(Create(request), absl::InvalidArgumentError("Error in field 'expire_time' : must be set"));
  request.mutable_backup()->mutable_expire_time()->set_nanos(-1);
  EXPECT_EQ(Create(request).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(expiring(absl::Hours(6) - absl::Seconds(60)), absl::OkStatus())
      << "clients compute it before they call";
}

TEST_F(BackupCallsTest, OnlyAHotBackupBecomesStandard) {
  admin::CreateBackupRequest request = Request("b");
  *request.mutable_backup()->mutable_hot_to_standard_time() = At(Now() + absl::Hours(48));
  EXPECT_EQ(Create(request),
            absl::InvalidArgumentError(
                "Error in field 'hot_to_standard_time' : only a backup of type HOT has one"));
  request.mutable_backup()->set_backup_type(admin::Backup::HOT);
  ASSERT_EQ(Create(request), absl::OkStatus()) << "it may come after the backup's end";
  EXPECT_TRUE(Get("b")->has_hot_to_standard_time());
  admin::Backup updated;
  ASSERT_EQ(UpdateBackup(parts_, Update("b", {"hot_to_standard_time"}), &updated), absl::OkStatus());
  EXPECT_FALSE(updated.has_hot_to_standard_time());
  request.set_backup_id("c");
  *request.mutable_backup()->mutable_hot_to_standard_time() = At(Now() + absl::Hours(23));
  EXPECT_THAT(std::string(Create(request).message()), HasSubstr("must be at least 24 hours after"));
  request.mutable_backup()->set_backup_type(static_cast<admin::Backup::BackupType>(7));
  EXPECT_EQ(Create(request).code(), StatusCode::kInvalidArgument);
}

TEST_F(BackupCallsTest, RefusesBadNames) {
  admin::CreateBackupRequest request = Request("b");
  request.set_parent(kInstance);
  EXPECT_THAT(std::string(Create(request).message()), HasSubstr("Invalid cluster name"));
  request = Request("-b");
  EXPECT_EQ(Create(request),
            absl::InvalidArgumentError(
                "Invalid backup id '-b': it must be 1 to 50 characters of [_a-zA-Z0-9][-_.a-zA-Z0-9]*"));
  request = Request("b");
  request.mutable_backup()->set_source_table("projects/p/instances/j/tables/t");
  EXPECT_THAT(std::string(Create(request).message()), HasSubstr("is not in the instance of"));
  request.mutable_backup()->set_source_table(std::string(kInstance) + "/tables/none");
  EXPECT_EQ(Create(request).code(), StatusCode::kNotFound);
  ASSERT_EQ(Create(Request("b")), absl::OkStatus());
  EXPECT_EQ(Create(Request("b")).code(), StatusCode::kAlreadyExists);
  admin::GetBackupRequest get;
  get.set_name("projects/p/instances/i/backups/b");
  admin::Backup backup;
  EXPECT_THAT(std::string(GetBackup(parts_, get, &backup).message()), HasSubstr("Invalid backup name"));
}

TEST_F(BackupCallsTest, UpdatesWhatTheMaskNames) {
  ASSERT_EQ(Create(Request("b")), absl::OkStatus());
  admin::Backup updated;
  admin::UpdateBackupRequest request = Update("b", {"expire_time"});
  *request.mutable_backup()->mutable_expire_time() = At(Now() + absl::Hours(24));
  ASSERT_EQ(UpdateBackup(parts_, request, &updated), absl::OkStatus());
  EXPECT_EQ(updated.expire_time().seconds(), 1'700'000'000 + 24 * 3600);
  EXPECT_EQ(UpdateBackup(parts_, Update("b", {}), &updated),
            absl::InvalidArgumentError("A non-empty 'update_mask' must be specified"));
  EXPECT_THAT(std::string(UpdateBackup(parts_, Update("b", {"size_bytes"}), &updated).message()),
              HasSubstr("'size_bytes' cannot be updated"));
  EXPECT_EQ(UpdateBackup(parts_, Update("b", {"expire_time"}), &updated).code(),
            StatusCode::kInvalidArgument);
  request.mutable_backup()->set_name(BackupName("none"));
  EXPECT_EQ(UpdateBackup(parts_, request, &updated).code(), StatusCode::kNotFound);
}

TEST_F(BackupCallsTest, ListsByFilterOrderAndPage) {
  for (const char* const id : {"a", "b", "c"}) {
    ASSERT_EQ(Create(Request(id)), absl::OkStatus());
    clock_.Advance(1'000'000);
  }
  admin::CreateBackupRequest other = Request("d");
  other.set_parent(std::string(kInstance) + "/clusters/other");
  ASSERT_EQ(Create(other), absl::OkStatus());
  EXPECT_THAT(*List(kCluster), ElementsAre("c", "b", "a"));
  EXPECT_THAT(*List(kCluster, "", "name"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(*List(kCluster, "NOT name:\"b\"", "name"), ElementsAre("a", "c"));
  EXPECT_THAT(*List(std::string(kInstance) + "/clusters/-"), ElementsAre("d", "c", "b", "a"));
  EXPECT_THAT(*List("projects/p/instances/-/clusters/-", "", "name desc"), ElementsAre("c", "b", "a", "d"));
  EXPECT_EQ(List("projects/p/instances/i").status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(List(kCluster, "name").status().message()),
              HasSubstr("Error in field 'filter' : at byte 4"));
  EXPECT_EQ(List(kCluster, "", "name up").status().code(), StatusCode::kInvalidArgument);

  admin::ListBackupsRequest request;
  request.set_parent(kCluster);
  request.set_page_size(2);
  std::string token;
  EXPECT_THAT(*List(request, &token), ElementsAre("c", "b"));
  request.set_page_token(token);
  EXPECT_THAT(*List(request, &token), ElementsAre("a"));
  EXPECT_EQ(token, "");
  request.set_filter("name:a");
  EXPECT_EQ(List(request).status().code(), StatusCode::kInvalidArgument) << "the token is another list's";
}

TEST_F(BackupCallsTest, CopiesAcrossProjects) {
  ASSERT_EQ(Create(Request("b")), absl::OkStatus());
  ASSERT_TRUE(backups_
                  ->Update(BackupName("b"),
                           [&](Backup* backup) {
                             backup->expire = Now() + absl::Hours(100);
                             return absl::OkStatus();
                           })
                  .ok());
  admin::CopyBackupRequest request;
  request.set_parent("projects/q/instances/j/clusters/c");
  request.set_backup_id("copy");
  request.set_source_backup(BackupName("b"));
  EXPECT_EQ(CopyBackup(parts_, request, &operation_),
            absl::InvalidArgumentError("Error in field 'expire_time' : must be set"));
  *request.mutable_expire_time() = At(Now() + absl::Hours(24 * 31));
  EXPECT_THAT(std::string(CopyBackup(parts_, request, &operation_).message()), HasSubstr("to 30 days after"));
  *request.mutable_expire_time() = At(Now() + absl::Hours(24 * 30));
  ASSERT_EQ(Await(CopyBackup(parts_, request, &operation_)), absl::OkStatus());
  admin::Backup copy;
  admin::CopyBackupMetadata metadata;
  ASSERT_TRUE(operation_.response().UnpackTo(&copy));
  ASSERT_TRUE(operation_.metadata().UnpackTo(&metadata));
  EXPECT_EQ(copy.name(), "projects/q/instances/j/clusters/c/backups/copy");
  EXPECT_EQ(copy.source_backup(), BackupName("b"));
  EXPECT_EQ(metadata.source_backup_info().backup(), BackupName("b"));
  EXPECT_EQ(metadata.progress().progress_percent(), 100);
}

TEST_F(BackupCallsTest, RestoresATableWithAnOperationThatOptimizesIt) {
  ASSERT_EQ(Create(Request("b")), absl::OkStatus());
  admin::RestoreTableRequest request;
  request.set_parent("projects/p/instances/j");
  request.set_table_id("restored");
  request.set_backup(BackupName("b"));
  ASSERT_EQ(Await(RestoreTable(parts_, request, &operation_)), absl::OkStatus());
  admin::RestoreTableMetadata metadata;
  admin::Table table;
  ASSERT_TRUE(operation_.metadata().UnpackTo(&metadata));
  ASSERT_TRUE(operation_.response().UnpackTo(&table));
  EXPECT_EQ(table.name(), "projects/p/instances/j/tables/restored");
  EXPECT_EQ(table.restore_info().backup_info().backup(), BackupName("b"));
  EXPECT_FALSE(table.column_families().at("f").has_gc_rule());
  EXPECT_EQ(metadata.source_type(), admin::BACKUP);
  EXPECT_EQ(metadata.backup_info().source_table(), kTable);
  EXPECT_EQ(metadata.progress().progress_percent(), 100);
  for (int i = 0; i < 10'000 && operations_->Runs(metadata.optimize_table_operation_name()); ++i)
    absl::SleepFor(absl::Milliseconds(1));
  const auto optimized = operations_->Get(metadata.optimize_table_operation_name());
  ASSERT_TRUE(optimized.ok()) << optimized.status();
  EXPECT_TRUE(optimized->response().Is<google::protobuf::Empty>());
  EXPECT_EQ(RestoreTable(parts_, request, &operation_).code(), StatusCode::kAlreadyExists);
  request.set_table_id("again");
  request.set_backup(BackupName("none"));
  EXPECT_EQ(RestoreTable(parts_, request, &operation_).code(), StatusCode::kNotFound);

  admin::CreateBackupRequest hot = Request("hot");
  hot.mutable_backup()->set_backup_type(admin::Backup::HOT);
  ASSERT_EQ(Create(hot), absl::OkStatus());
  request.set_backup(BackupName("hot"));
  ASSERT_EQ(Await(RestoreTable(parts_, request, &operation_)), absl::OkStatus());
  ASSERT_TRUE(operation_.metadata().UnpackTo(&metadata));
  EXPECT_EQ(metadata.optimize_table_operation_name(), "");
}

TEST_F(BackupCallsTest, BackupsOutliveTheirTable) {
  ASSERT_EQ(Create(Request("b")), absl::OkStatus());
  ASSERT_EQ(catalog_->Delete(kTable), absl::OkStatus());
  EXPECT_TRUE(Get("b").ok());
  admin::DeleteBackupRequest request;
  request.set_name(BackupName("b"));
  EXPECT_EQ(DeleteBackup(parts_, request), absl::OkStatus());
  EXPECT_EQ(DeleteBackup(parts_, request), absl::NotFoundError("Backup not found: " + BackupName("b")));
}

}  // namespace
}  // namespace sonde
