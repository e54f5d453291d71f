#include "sql/descriptor/bundle_parser.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "sql/descriptor/bundle_cache.h"
#include "sql/descriptor/bundle_compatibility.h"
#include "sql/descriptor/music_test_support.h"

namespace sonde::sql {
namespace {

using google::protobuf::FileDescriptorSet;

std::string SetOf(const std::string& text) {
  FileDescriptorSet set;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &set)) << text;
  return set.SerializeAsString();
}

std::string Refused(const std::string& descriptors) {
  const absl::StatusOr<BundleTypesRef> bundle = ParseBundle("b", descriptors);
  return bundle.ok() ? "OK" : bundle.status().ToString();
}

TEST(BundleParser, DescribesMessagesAndEnums) {
  const absl::StatusOr<BundleTypesRef> bundle = ParseBundle("b", MusicDescriptors());
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_EQ((*bundle)->id, "b");
  EXPECT_EQ((*bundle)->messages.size(), 4) << "with that of the map's entries";
  const MessageType& album = *(*bundle)->messages.at("music.Album");
  ASSERT_EQ(album.fields.size(), 8);
  EXPECT_EQ(album.fields[4].name, "tracks");
  EXPECT_TRUE(album.fields[4].is_repeated);
  EXPECT_EQ(album.fields[4].message, (*bundle)->messages.at("music.Album.Track").get());
  EXPECT_EQ(album.fields[2].enumeration->name, "music.Genre");
  EXPECT_EQ(album.fields[2].enumeration->FindName("JAZZ")->number, 1);
  EXPECT_TRUE(album.fields[7].message->is_map_entry);
  EXPECT_EQ(album.FindField("TITLE"), 0);
  EXPECT_EQ(album.FindNumber(9), nullptr);
}

TEST(BundleParser, KeepsDefaults) {
  const absl::StatusOr<BundleTypesRef> bundle = ParseBundle("b", SetOf(R"(
      file { name: 'a' syntax: 'proto2' message_type { name: 'M'
        field { name: 'f' number: 9 label: LABEL_OPTIONAL type: TYPE_FLOAT default_value: '1.5' }
        field { name: 's' number: 2 label: LABEL_OPTIONAL type: TYPE_STRING default_value: 'x' }
        field { name: 'i' number: 1 label: LABEL_OPTIONAL type: TYPE_SINT32 default_value: '-3' } } })"));
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  const MessageType& message = *(*bundle)->messages.at("M");
  EXPECT_EQ(message.fields[0].name, "i") << "by their numbers";
  EXPECT_EQ(message.fields[0].default_integer, -3);
  EXPECT_EQ(message.fields[1].default_bytes, "x");
  EXPECT_EQ(message.fields[2].default_number, 1.5);
}

TEST(BundleParser, RefusesWhatDoesNotLink) {
  EXPECT_EQ(Refused("x"), "INVALID_ARGUMENT: The FileDescriptorSet of the schema bundle cannot be read");
  EXPECT_EQ(Refused(""), "INVALID_ARGUMENT: The FileDescriptorSet of the schema bundle has no file");
  EXPECT_EQ(Refused(SetOf("file { name: 'a' } file { name: 'a' }")),
            "INVALID_ARGUMENT: The FileDescriptorSet of the schema bundle has the file a twice");
  EXPECT_THAT(Refused(SetOf("file { name: 'a' dependency: 'b' }")), testing::HasSubstr("does not link: "));
  EXPECT_THAT(Refused(SetOf("file { name: 'a' message_type { name: 'M' field { name: 'f' number: 1 label: "
                            "LABEL_OPTIONAL type: TYPE_MESSAGE type_name: '.N' } } }")),
              testing::HasSubstr("does not link: a: M.f: \".N\" is not defined."));
  EXPECT_EQ(Refused(SetOf("file { name: 'a' dependency: 'b' } file { name: 'b' }")), "OK") << "in any order";
}

// The error of an update from one message M to another.
std::string Updated(const std::string& before, const std::string& after) {
  const auto types = [](const std::string& body) {
    const absl::StatusOr<BundleTypesRef> bundle = ParseBundle("b", SetOf("file { name: 'a' " + body + " }"));
    EXPECT_TRUE(bundle.ok()) << bundle.status();
    return *bundle;
  };
  return std::string(CheckCompatible(*types(before), *types(after)).message());
}

TEST(BundleCompatibility, FindsWhatIsGone) {
  const std::string a = "field { name: 'a' number: 1 label: LABEL_OPTIONAL type: TYPE_INT64 }";
  const std::string message = "message_type { name: 'M' " + a + " } ";
  const std::string genre = "enum_type { name: 'E' value { name: 'X' number: 1 } ";
  const auto incompatible = [](const std::string& what) {
    return "The schema bundle is not backward compatible: " + what +
           "; set ignore_warnings to update it all the same";
  };
  EXPECT_EQ(Updated(message, message + genre + "}"), "");
  EXPECT_EQ(Updated(message, "message_type { name: 'M' " + a +
                                 "field { name: 'b' number: 2 label: LABEL_OPTIONAL type: TYPE_INT64 } }"),
            "");
  EXPECT_EQ(Updated(message, ""), incompatible("message M is gone"));
  EXPECT_EQ(Updated(message, "message_type { name: 'M' }"), incompatible("field M.a is gone"));
  const auto changed = [&](const std::string& field) {
    return Updated(message, "message_type { name: 'M' field { " + field + " } }");
  };
  EXPECT_EQ(changed("name: 'c' number: 1 label: LABEL_OPTIONAL type: TYPE_INT64"),
            incompatible("field M.a is named c"));
  EXPECT_EQ(changed("name: 'a' number: 1 label: LABEL_OPTIONAL type: TYPE_SINT64"),
            incompatible("field M.a has another type"));
  EXPECT_EQ(changed("name: 'a' number: 1 label: LABEL_REPEATED type: TYPE_INT64"),
            incompatible("field M.a has another type"));
  EXPECT_EQ(Updated(genre + "}", "enum_type { name: 'E' value { name: 'Y' number: 1 } }"),
            incompatible("member of an enum E.X is gone"));
  EXPECT_EQ(Updated(genre + "}", "enum_type { name: 'E' value { name: 'X' number: 2 } }"),
            incompatible("member of an enum E.X has another number"));
}

TEST(BundleCache, ParsesABundleOnceForEachEtag) {
  BundleCache cache;
  const absl::StatusOr<BundleTypesRef> first = cache.Find("name", "id", "1", MusicDescriptors());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(*cache.Find("name", "id", "1", "x"), *first) << "it is not looked at again";
  EXPECT_FALSE(cache.Find("name", "id", "2", "x").ok());
  EXPECT_NE(*cache.Find("name", "id", "1", MusicDescriptors()), *first);
}

}  // namespace
}  // namespace sonde::sql
