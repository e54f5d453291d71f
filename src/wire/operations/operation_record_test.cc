#include "wire/operations/operation_record.h"

#include <gmock/gmock.h>
#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
using ::testing::HasSubstr;

OperationRecord RunningRecord() {
  OperationRecord record;
  record.kind = "RestoreTable";
  record.number = 77;
  record.start_micros = 1'700'000'000'000'000;
  record.operation.set_name("operations/projects/p/instances/i/tables/t/operations/77");
  admin::RestoreTableMetadata metadata;
  metadata.set_name("projects/p/instances/i/tables/t");
  record.operation.mutable_metadata()->PackFrom(metadata);
  admin::RestoreTableRequest request;
  request.set_table_id("t");
  record.request.PackFrom(request);
  return record;
}

void ExpectSame(const OperationRecord& record) {
  const absl::StatusOr<OperationRecord> decoded = DecodeOperationRecord(EncodeOperationRecord(record));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->operation.SerializeAsString(), record.operation.SerializeAsString());
  EXPECT_EQ(decoded->request.SerializeAsString(), record.request.SerializeAsString());
  EXPECT_EQ(decoded->kind, record.kind);
  EXPECT_EQ(decoded->number, record.number);
  EXPECT_EQ(decoded->start_micros, record.start_micros);
  EXPECT_EQ(decoded->end_micros, record.end_micros);
  EXPECT_EQ(decoded->is_cancelled, record.is_cancelled);
}

TEST(OperationRecord, KeepsEverything) {
  OperationRecord record = RunningRecord();
  ExpectSame(record);
  record.is_cancelled = true;
  ExpectSame(record);
  record.end_micros = record.start_micros + 5;
  record.operation.set_done(true);
  record.operation.mutable_error()->set_code(1);
  record.operation.mutable_error()->set_message("It was cancelled");
  ExpectSame(record);
  admin::Table table;
  table.set_name("projects/p/instances/i/tables/t");
  record.operation.mutable_response()->PackFrom(table);
  ExpectSame(record);
}

TEST(OperationRecord, KeepsMessagesThatAreNoJson) {
  OperationRecord record = RunningRecord();
  admin::CreateBackupRequest request;
  request.mutable_backup()->mutable_start_time()->set_seconds(INT64_MAX);  // no time that JSON could say
  record.request.PackFrom(request);
  ExpectSame(record);
}

TEST(OperationRecord, KeepsMembersThatItDoesNotKnow) {
  std::string bytes = EncodeOperationRecord(RunningRecord());
  bytes.insert(1, "\"of_a_newer_server\":[1],");
  const absl::StatusOr<OperationRecord> decoded = DecodeOperationRecord(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_THAT(EncodeOperationRecord(*decoded), HasSubstr("\"of_a_newer_server\":[1]"));
}

TEST(OperationRecord, RefusesDamage) {
  const std::string bytes = EncodeOperationRecord(RunningRecord());
  EXPECT_EQ(DecodeOperationRecord(bytes.substr(0, bytes.size() - 1)).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(DecodeOperationRecord("{}").status().code(), absl::StatusCode::kDataLoss);
  std::string newer = bytes;
  newer.replace(newer.find("\"version\":1"), 11, "\"version\":9");
  EXPECT_EQ(DecodeOperationRecord(newer).status(),
            absl::DataLossError("The record of an operation is damaged: unknown version"));
}

}  // namespace
}  // namespace sonde
