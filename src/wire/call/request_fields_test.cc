#include "wire/call/request_fields.h"

#include <gmock/gmock.h>
#include <google/bigtable/admin/v2/bigtable_instance_admin.pb.h>
#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <google/bigtable/v2/bigtable.pb.h>
#include <google/longrunning/operations.pb.h>
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <random>

#include "access/rules.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
namespace pb = google::bigtable::v2;

// The field as the bytes have it; the error, if they are refused.
std::string Field(const google::protobuf::Descriptor& type, std::string_view name, std::string_view bytes) {
  const absl::StatusOr<FieldPath> path = FindFieldPath(type, name);
  if (!path.ok()) return std::string(path.status().message());
  std::string_view value;
  const absl::Status status = ReadFields(bytes, std::span(&*path, 1), std::span(&value, 1));
  return status.ok() ? std::string(value) : "error: " + std::string(status.message());
}

TEST(RequestFields, AreReadFromTheBytes) {
  pb::ReadRowsRequest request;
  request.set_table_name("t");
  request.set_rows_limit(7);
  request.mutable_filter()->set_pass_all_filter(true);
  const auto& type = *pb::ReadRowsRequest::descriptor();
  EXPECT_EQ(Field(type, "table_name", request.SerializeAsString()), "t");
  EXPECT_EQ(Field(type, "authorized_view_name", request.SerializeAsString()), "");
  EXPECT_EQ(Field(type, "table_name", ""), "");
}

// A request that says two things must not pass the door as one and reach the handler as the other.
TEST(RequestFields, OfSeveralTheLastCounts) {
  pb::ReadRowsRequest first, second;
  first.set_table_name("mine");
  second.set_table_name("yours");
  const std::string both = first.SerializeAsString() + second.SerializeAsString();
  pb::ReadRowsRequest parsed;
  ASSERT_TRUE(parsed.ParseFromString(both));
  EXPECT_EQ(Field(*pb::ReadRowsRequest::descriptor(), "table_name", both), parsed.table_name());
  // An empty text takes the place, too.
  const std::string emptied = both + std::string("\x0a\x00", 2);
  ASSERT_TRUE(parsed.ParseFromString(emptied));
  EXPECT_EQ(Field(*pb::ReadRowsRequest::descriptor(), "table_name", emptied), parsed.table_name());
  EXPECT_EQ(parsed.table_name(), "");
}

TEST(RequestFields, MessagesInPartsAreOne) {
  admin::UpdateTableRequest named, protected_one;
  named.mutable_table()->set_name("n");
  protected_one.mutable_table()->set_deletion_protection(true);
  const std::string both = named.SerializeAsString() + protected_one.SerializeAsString();
  admin::UpdateTableRequest parsed;
  ASSERT_TRUE(parsed.ParseFromString(both));
  EXPECT_EQ(parsed.table().name(), "n");
  EXPECT_EQ(Field(*admin::UpdateTableRequest::descriptor(), "table.name", both), "n");
}

TEST(RequestFields, RefuseWhatIsNoMessage) {
  const auto& type = *pb::ReadRowsRequest::descriptor();
  for (const std::string& bytes :
       {std::string("\x0a\x05t", 3), std::string("\x0a", 1), std::string("\x00", 1),
        std::string("\x0a\x01t\x00", 4), std::string("\x0c", 1), std::string("\x0b\x01", 2),
        std::string("\x0a\xff\xff\xff\xff\x0f", 6)}) {
    EXPECT_EQ(Field(type, "table_name", bytes),
              "error: The bytes of the request are not a message of its type");
    EXPECT_FALSE(pb::ReadRowsRequest().ParseFromString(bytes));
  }
}

TEST(RequestFields, AreBounded) {
  std::string bytes;
  for (size_t i = 0; i <= kScannedFieldsMax; ++i) bytes += std::string("\x0a\x00", 2);
  EXPECT_EQ(Field(*pb::ReadRowsRequest::descriptor(), "table_name", bytes),
            "error: The request has too many fields; limit 1000000");
}

TEST(RequestFields, MustBeTexts) {
  const auto& type = *pb::ReadRowsRequest::descriptor();
  EXPECT_THAT(Field(type, "rows_limit", ""), testing::HasSubstr("has no field rows_limit of type string"));
  EXPECT_THAT(Field(type, "nothing", ""), testing::HasSubstr("has no field nothing of type string"));
}

// Whatever bytes protocol buffers take as a message, the door reads the same names of it.
TEST(RequestFields, AreReadAsProtocolBuffersReadThem) {
  const google::protobuf::LogSilencer silencer;  // of texts that are no UTF-8
  std::mt19937 random(7);
  pb::ReadRowsRequest request;
  request.set_table_name("projects/p/instances/i/tables/t");
  request.set_authorized_view_name("v");
  request.set_app_profile_id("a");
  const std::string good = request.SerializeAsString() + request.SerializeAsString();
  int parsed_count = 0;
  constexpr int kTrials = 200'000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::string bytes = good;
    for (size_t change = 0; change <= trial % 3U; ++change) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % (trial % 2 == 0 ? 256 : 32));
    }
    if (trial % 5 == 0) bytes.resize(random() % bytes.size());
    pb::ReadRowsRequest parsed;
    if (!parsed.ParseFromString(bytes)) continue;
    ++parsed_count;
    for (const std::string name : {"table_name", "authorized_view_name"}) {
      const std::string wanted = name == "table_name" ? parsed.table_name() : parsed.authorized_view_name();
      ASSERT_EQ(Field(*pb::ReadRowsRequest::descriptor(), name, bytes), wanted) << trial;
    }
  }
  EXPECT_GT(parsed_count, kTrials / 100);
}

TEST(RequestFields, ExistForEveryRule) {
  // So that their definitions are in this program.
  admin::ListInstancesRequest::descriptor();
  google::longrunning::ListOperationsRequest::descriptor();
  for (const Rule& rule : AllRules()) {
    if (rule.needs.empty()) continue;
    std::string name(rule.method);
    name[name.find('/')] = '.';
    const auto* const method = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
    ASSERT_NE(method, nullptr) << name;
    for (const Need& need : rule.needs) {
      EXPECT_TRUE(FindFieldPath(*method->input_type(), need.field).ok()) << name << " " << need.field;
    }
  }
}

}  // namespace
}  // namespace sonde
