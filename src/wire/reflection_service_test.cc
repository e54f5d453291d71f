#include "wire/reflection_service.h"

#include <gmock/gmock.h>
#include <google/bigtable/v2/bigtable.pb.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace sonde {
namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// The fields of that number, as text.
std::vector<std::string> FieldsOf(const std::string& bytes, int number) {
  UnknownFieldSet fields;
  EXPECT_TRUE(fields.ParseFromString(bytes));
  std::vector<std::string> found;
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    if (field.number() != number) continue;
    found.push_back(field.type() == UnknownField::TYPE_VARINT ? std::to_string(field.varint())
                                                              : field.length_delimited());
  }
  return found;
}

std::string Ask(int number, const std::string& value) {
  UnknownFieldSet fields;
  *fields.AddLengthDelimited(1) = "host";
  *fields.AddLengthDelimited(number) = value;
  std::string request;
  fields.SerializeToString(&request);
  const absl::StatusOr<std::string> answer = AnswerReflection(request);
  EXPECT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(FieldsOf(*answer, 1), testing::ElementsAre("host"));
  EXPECT_THAT(FieldsOf(*answer, 2), testing::ElementsAre(request));
  return *answer;
}

// Code and text.
std::vector<std::string> ErrorOf(const std::string& answer) {
  const std::vector<std::string> errors = FieldsOf(answer, 7);
  if (errors.size() != 1) return {};
  return {FieldsOf(errors[0], 1).at(0), FieldsOf(errors[0], 2).at(0)};
}

TEST(ReflectionService, GivesAFileWithAllThatItImportsOnce) {
  for (const auto& [number, value] :
       {std::pair{3, "google/bigtable/v2/bigtable.proto"}, std::pair{4, "google.bigtable.v2.Bigtable"},
        std::pair{4, "google.bigtable.v2.ReadRowsRequest.rows_limit"}}) {
    const std::vector<std::string> answers = FieldsOf(Ask(number, value), 4);
    ASSERT_EQ(answers.size(), 1u);
    const std::vector<std::string> files = FieldsOf(answers[0], 1);
    std::set<std::string> names;
    for (const std::string& bytes : files) {
      google::protobuf::FileDescriptorProto file;
      ASSERT_TRUE(file.ParseFromString(bytes));
      EXPECT_TRUE(!names.empty() || file.name() == "google/bigtable/v2/bigtable.proto") << file.name();
      names.insert(file.name());
    }
    EXPECT_EQ(names.size(), files.size());
    EXPECT_TRUE(names.contains("google/bigtable/v2/data.proto"));
    EXPECT_TRUE(names.contains("google/protobuf/any.proto"));
  }
}

TEST(ReflectionService, ListsTheServices) {
  const std::vector<std::string> lists = FieldsOf(Ask(7, ""), 6);
  ASSERT_EQ(lists.size(), 1u);
  std::vector<std::string> names;
  for (const std::string& service : FieldsOf(lists[0], 1)) names.push_back(FieldsOf(service, 1).at(0));
  EXPECT_THAT(names, testing::UnorderedElementsAre(
                         "google.bigtable.v2.Bigtable", "google.bigtable.admin.v2.BigtableTableAdmin",
                         "google.bigtable.admin.v2.BigtableInstanceAdmin", "google.longrunning.Operations"));
  for (const std::string& name : names) EXPECT_EQ(FieldsOf(Ask(4, name), 4).size(), 1u) << name;
}

TEST(ReflectionService, KnowsExtensions) {
  const std::vector<std::string> answers = FieldsOf(Ask(6, "google.protobuf.MethodOptions"), 5);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_THAT(FieldsOf(answers[0], 1), testing::ElementsAre("google.protobuf.MethodOptions"));
  const std::string http = "72295728";  // of google/api/annotations.proto
  EXPECT_THAT(FieldsOf(answers[0], 2), testing::Contains(http));
  UnknownFieldSet extension;
  *extension.AddLengthDelimited(1) = "google.protobuf.MethodOptions";
  extension.AddVarint(2, std::stoul(http));
  std::string request;
  extension.SerializeToString(&request);
  EXPECT_EQ(FieldsOf(Ask(5, request), 4).size(), 1u);
}

TEST(ReflectionService, SaysWhatIsNotThere) {
  EXPECT_THAT(ErrorOf(Ask(3, "none.proto")), testing::ElementsAre("5", "File not found."));
  EXPECT_THAT(ErrorOf(Ask(4, "no.Symbol")), testing::ElementsAre("5", "Symbol not found."));
  EXPECT_THAT(ErrorOf(Ask(5, "no extension")), testing::ElementsAre("5", "Extension not found."));
  EXPECT_THAT(ErrorOf(Ask(6, "no.Type")), testing::ElementsAre("5", "Type not found."));
  EXPECT_THAT(ErrorOf(Ask(9, "")), testing::ElementsAre("3", testing::_));
  EXPECT_EQ(AnswerReflection("\xff").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sonde
