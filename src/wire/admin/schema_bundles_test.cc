#include "wire/admin/schema_bundles.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/clock.h"
#include "engine/memory/memory_engine.h"
#include "model/limits.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;

constexpr char kTable[] = "projects/p/instances/i/tables/t";
constexpr char kBundle[] = "projects/p/instances/i/tables/t/schemaBundles/b";

// A set with messages of these names, and a comment's worth of bytes.
std::string Descriptors(const std::vector<std::string>& messages, size_t bytes = 0) {
  google::protobuf::FileDescriptorSet set;
  google::protobuf::FileDescriptorProto* const file = set.add_file();
  file->set_name("a.proto");
  for (const std::string& message : messages) file->add_message_type()->set_name(message);
  if (bytes > 0) file->mutable_options()->set_go_package(std::string(bytes, 'x'));
  return set.SerializeAsString();
}

class SchemaBundlesTest : public testing::Test {
 protected:
  void SetUp() override {
    TableSchema schema;
    schema.name = kTable;
    ASSERT_TRUE(catalog_->Create(schema).ok());
  }

  absl::Status Create(const std::string& id, const std::string& descriptors) {
    admin::CreateSchemaBundleRequest request;
    request.set_parent(kTable);
    request.set_schema_bundle_id(id);
    request.mutable_schema_bundle()->mutable_proto_schema()->set_proto_descriptors(descriptors);
    return CreateSchemaBundle(&tables_, operations_.get(), request, &operation_);
  }
  absl::Status Update(const std::string& descriptors, const std::string& etag = "",
                      bool ignore_warnings = false) {
    admin::UpdateSchemaBundleRequest request;
    request.mutable_schema_bundle()->set_name(kBundle);
    request.mutable_schema_bundle()->set_etag(etag);
    request.mutable_schema_bundle()->mutable_proto_schema()->set_proto_descriptors(descriptors);
    request.mutable_update_mask()->add_paths("proto_schema");
    request.set_ignore_warnings(ignore_warnings);
    return UpdateSchemaBundle(&tables_, operations_.get(), request, &operation_);
  }
  admin::SchemaBundle Get() {
    admin::GetSchemaBundleRequest request;
    request.set_name(kBundle);
    admin::SchemaBundle bundle;
    EXPECT_EQ(GetSchemaBundle(*catalog_, request, &bundle), absl::OkStatus());
    return bundle;
  }
  absl::Status Delete(const std::string& etag = "") {
    admin::DeleteSchemaBundleRequest request;
    request.set_name(kBundle);
    request.set_etag(etag);
    return DeleteSchemaBundle(catalog_.get(), request);
  }

  ManualClock clock_{1'700'000'000'000'000};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  Tables tables_{engine_.get(), catalog_.get(), &clock_, 1};
  std::unique_ptr<Operations> operations_ = *Operations::Open(engine_.get(), &clock_);
  google::longrunning::Operation operation_;
};

TEST_F(SchemaBundlesTest, IsMadeAlteredAndDeleted) {
  const std::string first = Descriptors({"M"});
  ASSERT_EQ(Create("b", first), absl::OkStatus());
  admin::CreateSchemaBundleMetadata metadata;
  admin::SchemaBundle made;
  ASSERT_TRUE(operation_.done() && operation_.metadata().UnpackTo(&metadata) &&
              operation_.response().UnpackTo(&made));
  EXPECT_EQ(metadata.name(), kBundle);
  EXPECT_EQ(metadata.end_time().seconds(), 1'700'000'000);
  EXPECT_EQ(made.SerializeAsString(), Get().SerializeAsString());
  EXPECT_EQ(made.proto_schema().proto_descriptors(), first);
  EXPECT_EQ(Create("b", first),
            absl::AlreadyExistsError(std::string("Schema bundle already exists: ") + kBundle));

  EXPECT_EQ(Update(Descriptors({"N"})),
            absl::InvalidArgumentError("The schema bundle is not backward compatible: message M is gone; set "
                                       "ignore_warnings to update it all the same"));
  EXPECT_EQ(Update(Descriptors({"M", "N"}), "other").code(), absl::StatusCode::kAborted);
  ASSERT_EQ(Update(Descriptors({"M", "N"}), made.etag()), absl::OkStatus());
  EXPECT_NE(Get().etag(), made.etag());
  ASSERT_EQ(Update(Descriptors({"N"}), "", true), absl::OkStatus());
  EXPECT_EQ(Get().proto_schema().proto_descriptors(), Descriptors({"N"}));

  EXPECT_EQ(Delete(made.etag()).code(), absl::StatusCode::kAborted);
  EXPECT_EQ(Delete(), absl::OkStatus());
  EXPECT_EQ(Delete(), absl::NotFoundError(std::string("Schema bundle not found: ") + kBundle));
}

TEST_F(SchemaBundlesTest, OutlivesARestartAndGoesWithItsTable) {
  ASSERT_EQ(Create("b", Descriptors({"M"})), absl::OkStatus());
  const std::string etag = Get().etag();
  catalog_ = *Catalog::Open(engine_.get());
  EXPECT_EQ(Get().etag(), etag);
  ASSERT_EQ(catalog_->Delete(kTable), absl::OkStatus());
  TableSchema schema;
  schema.name = kTable;
  ASSERT_TRUE(catalog_->Create(schema).ok());
  EXPECT_FALSE(catalog_->FindBundle(kBundle).ok());
}

TEST_F(SchemaBundlesTest, HasItsLimits) {
  EXPECT_EQ(Create("b", ""),
            absl::InvalidArgumentError("Error in field 'proto_schema.proto_descriptors' : must be set"));
  EXPECT_EQ(Create("b", "x").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Create("-b", Descriptors({})).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Create("b", std::string(kSchemaBundleBytesMax + 1, 'x')),
            absl::InvalidArgumentError(
                "Error in field 'proto_schema.proto_descriptors' : it has 4000001 bytes; limit 4000000"));
  for (int i = 0; i < 10; ++i) ASSERT_EQ(Create("b" + std::to_string(i), Descriptors({})), absl::OkStatus());
  EXPECT_EQ(Create("c", Descriptors({})),
            absl::ResourceExhaustedError(
                "Too many schema bundles of table projects/p/instances/i/tables/t: the limit is 10"));
  admin::UpdateSchemaBundleRequest request;
  request.mutable_schema_bundle()->set_name(kBundle);
  request.mutable_update_mask()->add_paths("name");
  EXPECT_EQ(UpdateSchemaBundle(&tables_, operations_.get(), request, &operation_),
            absl::InvalidArgumentError(
                "Error in field 'update_mask' : 'name' cannot be updated; proto_schema can"));
}

TEST_F(SchemaBundlesTest, AreListedInPages) {
  for (const std::string id : {"a", "b", "c"})
    ASSERT_EQ(Create(id, Descriptors({}, 1'500'000)), absl::OkStatus());
  admin::ListSchemaBundlesRequest request;
  request.set_parent(kTable);
  admin::ListSchemaBundlesResponse response;
  ASSERT_EQ(ListSchemaBundles(*catalog_, request, &response), absl::OkStatus());
  ASSERT_EQ(response.schema_bundles_size(), 2) << "more bytes than a page has";
  EXPECT_EQ(response.next_page_token(), "b");
  request.set_page_token("b");
  response.Clear();
  ASSERT_EQ(ListSchemaBundles(*catalog_, request, &response), absl::OkStatus());
  ASSERT_EQ(response.schema_bundles_size(), 1);
  EXPECT_EQ(response.next_page_token(), "");
  request.clear_page_token();
  request.set_page_size(1);
  response.Clear();
  ASSERT_EQ(ListSchemaBundles(*catalog_, request, &response), absl::OkStatus());
  EXPECT_EQ(response.next_page_token(), "a");
  request.set_page_size(-1);
  EXPECT_EQ(ListSchemaBundles(*catalog_, request, &response).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sonde
