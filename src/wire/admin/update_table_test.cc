#include "wire/admin/update_table.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/clock.h"
#include "engine/memory/memory_engine.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;

constexpr char kTable[] = "projects/p/instances/i/tables/t";

class UpdateTableTest : public testing::Test {
 protected:
  void SetUp() override {
    TableSchema schema;
    schema.name = kTable;
    ASSERT_TRUE(catalog_->Create(schema).ok());
    request_.mutable_table()->set_name(kTable);
  }

  absl::Status Update(const std::vector<std::string>& paths) {
    request_.mutable_update_mask()->clear_paths();
    for (const std::string& path : paths) request_.mutable_update_mask()->add_paths(path);
    return UpdateTable(&tables_, &streams_, operations_.get(), request_, &operation_);
  }

  ManualClock clock_{1'700'000'000'000'000};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  Tables tables_{engine_.get(), catalog_.get(), &clock_, 1};
  ChangeStreams streams_{&tables_};
  std::unique_ptr<Operations> operations_ = *Operations::Open(engine_.get(), &clock_);
  admin::UpdateTableRequest request_;
  google::longrunning::Operation operation_;
};

TEST_F(UpdateTableTest, AnswersWithADoneOperationThatHoldsTheTable) {
  request_.mutable_table()->set_deletion_protection(true);
  ASSERT_EQ(Update({"deletion_protection"}), absl::OkStatus());
  EXPECT_TRUE(operation_.done());
  admin::Table table;
  admin::UpdateTableMetadata metadata;
  ASSERT_TRUE(operation_.response().UnpackTo(&table));
  ASSERT_TRUE(operation_.metadata().UnpackTo(&metadata));
  EXPECT_TRUE(table.deletion_protection());
  EXPECT_EQ(metadata.name(), kTable);
  EXPECT_EQ(metadata.end_time().seconds(), 1'700'000'000);
  EXPECT_TRUE(operations_->Get(operation_.name()).ok());
  EXPECT_EQ(catalog_->Delete(kTable).code(), absl::StatusCode::kFailedPrecondition);

  request_.mutable_table()->set_deletion_protection(false);
  ASSERT_EQ(Update({"deletion_protection"}), absl::OkStatus());
  EXPECT_EQ(catalog_->Delete(kTable), absl::OkStatus());
}

TEST_F(UpdateTableTest, EnablesAltersAndDisablesTheChangeStream) {
  const auto stream = [this] { return (*catalog_->Find(kTable))->change_stream; };
  auto* period = request_.mutable_table()->mutable_change_stream_config()->mutable_retention_period();
  for (const int64_t seconds : {0, 86'399, 7 * 86'400 + 1, -86'400}) {
    period->set_seconds(seconds);
    EXPECT_EQ(Update({"change_stream_config"}).code(), absl::StatusCode::kInvalidArgument) << seconds;
    EXPECT_EQ(Update({"change_stream_config.retention_period"}).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_FALSE(stream().has_value());
  period->set_seconds(86'400);
  ASSERT_EQ(Update({"change_stream_config.retention_period"}), absl::OkStatus());
  EXPECT_EQ(stream()->retention_micros, 86'400'000'000);
  EXPECT_EQ(stream()->start_micros, clock_.NowMicros());
  EXPECT_EQ(catalog_->Delete(kTable).code(), absl::StatusCode::kFailedPrecondition);

  clock_.Advance(5);
  period->set_seconds(7 * 86'400);
  ASSERT_EQ(Update({"change_stream_config"}), absl::OkStatus());
  EXPECT_EQ(stream()->retention_micros, 7 * 86'400'000'000);
  EXPECT_EQ(stream()->start_micros, clock_.NowMicros() - 5) << "it is the same stream";
  admin::Table table;
  ASSERT_TRUE(operation_.response().UnpackTo(&table));
  EXPECT_EQ(table.change_stream_config().retention_period().seconds(), 7 * 86'400);

  request_.mutable_table()->clear_change_stream_config();
  EXPECT_EQ(Update({"change_stream_config.retention_period"}).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_EQ(Update({"change_stream_config"}), absl::OkStatus());
  EXPECT_FALSE(stream().has_value());
  EXPECT_EQ(catalog_->Delete(kTable), absl::OkStatus());
}

TEST_F(UpdateTableTest, SetsAndRemovesTheRowKeySchemaButDoesNotReplaceIt) {
  const auto keys = [this] { return (*catalog_->Find(kTable))->row_key_schema; };
  ASSERT_TRUE(catalog_->Modify(kTable, {CreateFamily{{.name = "fam"}}}).ok());
  EXPECT_EQ(Update({"row_key_schema"}), absl::OkStatus()) << "there is none to remove";
  auto* const type = request_.mutable_table()->mutable_row_key_schema();
  type->mutable_encoding()->mutable_ordered_code_bytes();
  auto* const field = type->add_fields();
  field->mutable_type()->mutable_bytes_type()->mutable_encoding()->mutable_raw();
  field->set_field_name("fam");
  EXPECT_EQ(
      Update({"row_key_schema"}),
      absl::InvalidArgumentError("'fam' cannot be both a column family and a field of the row key schema of "
                                 "table projects/p/instances/i/tables/t"));
  field->set_field_name("id");
  EXPECT_EQ(Update({"row_key_schema.fields"}),
            absl::InvalidArgumentError(
                "Error in field 'update_mask' : 'row_key_schema' is only set or removed as a whole"));
  EXPECT_FALSE(keys().has_value());
  ASSERT_EQ(Update({"row_key_schema"}), absl::OkStatus());
  ASSERT_EQ(Update({"row_key_schema"}), absl::OkStatus()) << "it stays as it is";
  admin::Table table;
  ASSERT_TRUE(operation_.response().UnpackTo(&table));
  EXPECT_EQ(table.row_key_schema().SerializeAsString(), type->SerializeAsString());
  EXPECT_EQ(catalog_->Modify(kTable, {CreateFamily{{.name = "id"}}}).status().code(),
            absl::StatusCode::kInvalidArgument);

  field->set_field_name("other");
  request_.set_ignore_warnings(true);
  EXPECT_EQ(Update({"row_key_schema"}),
            absl::InvalidArgumentError(
                "Error in field 'row_key_schema' : table projects/p/instances/i/tables/t has a "
                "row key schema, which cannot be replaced; it can be removed"));
  request_.mutable_table()->clear_row_key_schema();
  request_.set_ignore_warnings(false);
  EXPECT_EQ(
      Update({"row_key_schema"}),
      absl::InvalidArgumentError("Error in field 'row_key_schema' : without the row key schema of table "
                                 "projects/p/instances/i/tables/t queries of its fields fail; set "
                                 "ignore_warnings to remove it all the same"));
  EXPECT_EQ(keys()->fields[0].name, "id");
  request_.set_ignore_warnings(true);
  ASSERT_EQ(Update({"row_key_schema"}), absl::OkStatus());
  EXPECT_FALSE(keys().has_value());
}

TEST_F(UpdateTableTest, ChangesOnlyWhatTheMaskNames) {
  EXPECT_EQ(Update({}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Update({"*"}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Update({"nonsense"}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Update({"name"}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Update({"column_families"}).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Update({"column_families.f"}).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Update({"automated_backup_policy.name"}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Update({"tiered_storage_config.infrequent_access.rule"}).code(),
            absl::StatusCode::kInvalidArgument);
  request_.mutable_table()->set_name("t");
  EXPECT_EQ(Update({"deletion_protection"}).code(), absl::StatusCode::kInvalidArgument);
  request_.mutable_table()->set_name("projects/p/instances/i/tables/none");
  EXPECT_EQ(Update({"deletion_protection"}).code(), absl::StatusCode::kNotFound);
}

TEST_F(UpdateTableTest, SetsAltersAndRemovesThePolicyOfAutomatedBackups) {
  const auto policy = [this] { return (*catalog_->Find(kTable))->automated_backups; };
  auto* const wanted = request_.mutable_table()->mutable_automated_backup_policy();
  EXPECT_EQ(Update({"automated_backup_policy.frequency"}).code(), absl::StatusCode::kInvalidArgument)
      << "there is no retention period";
  for (const int64_t seconds : {0, 3 * 86'400 - 1, 90 * 86'400 + 1}) {
    wanted->mutable_retention_period()->set_seconds(seconds);
    EXPECT_EQ(Update({"automated_backup_policy"}),
              absl::InvalidArgumentError(
                  "Error in field 'automated_backup_policy.retention_period' : must be from 3 "
                  "to 90 days, but is " +
                  std::to_string(seconds) + " s"));
  }
  EXPECT_FALSE(policy().has_value());
  wanted->mutable_retention_period()->set_seconds(3 * 86'400);
  ASSERT_EQ(Update({"automated_backup_policy"}), absl::OkStatus());
  EXPECT_EQ(policy()->retention_micros, 3 * 86'400'000'000);
  EXPECT_FALSE(policy()->has_frequency);
  EXPECT_EQ(policy()->since_micros, clock_.NowMicros());
  admin::Table table;
  ASSERT_TRUE(operation_.response().UnpackTo(&table));
  EXPECT_EQ(table.automated_backup_policy().retention_period().seconds(), 3 * 86'400);
  EXPECT_FALSE(table.automated_backup_policy().has_frequency());

  clock_.Advance(5);
  wanted->mutable_frequency()->set_seconds(86'399);
  EXPECT_EQ(Update({"automated_backup_policy.frequency"}),
            absl::InvalidArgumentError(
                "Error in field 'automated_backup_policy.frequency' : must be 24 hours, but is 86399 s"));
  wanted->mutable_frequency()->set_seconds(86'400);
  wanted->mutable_retention_period()->set_seconds(1);  // the mask does not name it
  ASSERT_EQ(Update({"automated_backup_policy.frequency"}), absl::OkStatus());
  EXPECT_TRUE(policy()->has_frequency);
  EXPECT_EQ(policy()->retention_micros, 3 * 86'400'000'000);
  EXPECT_EQ(policy()->since_micros, clock_.NowMicros() - 5) << "it is the same policy";
  wanted->mutable_retention_period()->set_seconds(90 * 86'400);
  ASSERT_EQ(Update({"automated_backup_policy.retention_period"}), absl::OkStatus());
  EXPECT_EQ(policy()->retention_micros, 90 * 86'400'000'000);
  wanted->add_locations("projects/p/locations/l");
  EXPECT_EQ(Update({"automated_backup_policy"}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Update({"automated_backup_policy.locations"}).code(), absl::StatusCode::kInvalidArgument);
  request_.mutable_table()->clear_automated_backup_policy();
  ASSERT_EQ(Update({"automated_backup_policy"}), absl::OkStatus());
  EXPECT_FALSE(policy().has_value());
}

TEST_F(UpdateTableTest, SetsAltersAndRemovesTiers) {
  const auto age = [this] { return (*catalog_->Find(kTable))->infrequent_access_micros; };
  auto* const config = request_.mutable_table()->mutable_tiered_storage_config();
  EXPECT_EQ(Update({"tiered_storage_config"}).code(), absl::StatusCode::kInvalidArgument) << "it has no rule";
  auto* const older = config->mutable_infrequent_access()->mutable_include_if_older_than();
  older->set_seconds(30 * 86'400 - 1);
  older->set_nanos(999'999'999);
  EXPECT_EQ(Update({"tiered_storage_config"}).code(), absl::StatusCode::kInvalidArgument);
  older->set_nanos(0);
  for (const int64_t days : {30, 45}) {
    older->set_seconds(days * 86'400);
    ASSERT_EQ(Update({days == 30 ? "tiered_storage_config" : "tiered_storage_config.infrequent_access"}),
              absl::OkStatus());
    EXPECT_EQ(age(), days * 86'400'000'000);
    admin::Table table;
    ASSERT_TRUE(operation_.response().UnpackTo(&table));
    EXPECT_EQ(table.tiered_storage_config().infrequent_access().include_if_older_than().seconds(),
              days * 86'400);
  }
  request_.mutable_table()->clear_tiered_storage_config();
  EXPECT_EQ(Update({"tiered_storage_config.infrequent_access"}).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_EQ(Update({"tiered_storage_config"}), absl::OkStatus());
  EXPECT_FALSE(age().has_value());
}

}  // namespace
}  // namespace sonde
