#include "sql/proto/message_reader.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql/proto/wire_reader.h"

namespace sonde::sql {
namespace {

using Kind = MessageField::Kind;

template <size_t N>
std::string Bytes(const char (&text)[N]) {
  return std::string(text, N - 1);
}

// message M { 1 int64 a = 7; 2 string s; 3 M m; 4 repeated sint32 z; 5 E e; 6 repeated M ms; 7 uint64 u; 8 group M g; 9 float f;
//             10 fixed32 x; 11 bool b; 12 double d }
class MessageReaderTest : public testing::Test {
 protected:
  MessageReaderTest() {
    enum_.name = "p.E";
    enum_.members = {{"ZERO", 0}, {"TWO", 2}, {"ALSO_TWO", 2}};
    message_->name = "p.M";
    const auto add = [this](std::string name, uint32_t number, Kind kind,
                            bool is_repeated = false) -> MessageField& {
      MessageField field{.name = std::move(name), .number = number, .kind = kind, .is_repeated = is_repeated};
      if (kind == Kind::kMessage || kind == Kind::kGroup) field.message = message_.get();
      if (kind == Kind::kEnum) field.enumeration = &enum_;
      return message_->fields.emplace_back(std::move(field));
    };
    add("a", 1, Kind::kInt64).default_integer = 7;
    add("s", 2, Kind::kString).default_bytes = "none";
    add("m", 3, Kind::kMessage);
    add("z", 4, Kind::kSint32, true);
    add("e", 5, Kind::kEnum);
    add("ms", 6, Kind::kMessage, true);
    add("u", 7, Kind::kUint64);
    add("g", 8, Kind::kGroup);
    add("f", 9, Kind::kFloat).default_number = 0.5;
    add("x", 10, Kind::kFixed32);
    add("b", 11, Kind::kBool);
    add("d", 12, Kind::kDouble);
  }

  const MessageField& Field(std::string_view name) { return message_->fields[*message_->FindField(name)]; }

  std::string Shown(const Datum& value, const MessageField& field) {
    if (!value.is_there) return "NULL";
    switch (value.kind) {
      case Datum::Kind::kInt:
        return std::to_string(value.integer);
      case Datum::Kind::kDouble:
        return std::to_string(value.number);
      case Datum::Kind::kBytes:
        return "'" + std::string(value.bytes()) + "'";
      case Datum::Kind::kList:
        break;
    }
    std::string text = "[";
    for (const Datum& item : value.list()) text += (text.size() > 1 ? "," : "") + Shown(item, field);
    return text + "]";
  }

  std::string Read(std::string_view name, std::string_view bytes) {
    const absl::StatusOr<Datum> value = ReadMessageField(*message_, Field(name), bytes, &arena_);
    return value.ok() ? Shown(*value, Field(name)) : value.status().ToString();
  }

  EnumType enum_;
  std::shared_ptr<MessageType> message_ = std::make_shared<MessageType>();
  Arena arena_;
};

TEST_F(MessageReaderTest, FieldsThatAreNotThereHaveTheirDefaults) {
  EXPECT_EQ(Read("a", ""), "7");
  EXPECT_EQ(Read("s", ""), "'none'");
  EXPECT_EQ(Read("m", ""), "NULL");
  EXPECT_EQ(Read("z", ""), "[]");
  EXPECT_EQ(Read("e", ""), "0");
  EXPECT_EQ(Read("f", ""), "0.500000");
  EXPECT_EQ(*HasMessageField(*message_, Field("a"), ""), false);
  EXPECT_EQ(*HasMessageField(*message_, Field("a"), Bytes("\x08\x00")), true);
}

TEST_F(MessageReaderTest, TheLastValueCounts) {
  EXPECT_EQ(Read("a", Bytes("\x08\x01\x12\x01x\x08\x96\x01")), "150");
  EXPECT_EQ(Read("a", Bytes("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")), "-1");
  EXPECT_EQ(Read("s", Bytes("\x12\x01x\x12\x02yz")), "'yz'");
  EXPECT_EQ(Read("b", Bytes("\x58\x02")), "1");
  EXPECT_EQ(Read("x", Bytes("\x55\xff\xff\xff\xff")), "4294967295");
  EXPECT_EQ(Read("f", Bytes("\x4d\x00\x00\x80\x3f")), "1.000000");
  EXPECT_EQ(Read("d", Bytes("\x61\x00\x00\x00\x00\x00\x00\xf0\xbf")), "-1.000000");
  EXPECT_EQ(Read("a", Bytes("\x0a\x01x")), "7") << "it has another wire type, and so is another field";
}

TEST_F(MessageReaderTest, MessagesThatComeSeveralTimesAreOne) {
  const std::string twice = Bytes("\x1a\x02\x08\x01\x1a\x03\x12\x01x");
  EXPECT_EQ(Read("m", twice), "'" + Bytes("\x08\x01\x12\x01x") + "'");
  EXPECT_EQ(Read("ms", Bytes("\x32\x02\x08\x01\x32\x00")), "['" + Bytes("\x08\x01") + "','']");
  EXPECT_EQ(Read("g", Bytes("\x43\x08\x05\x44")), "'" + Bytes("\x08\x05") + "'");
  EXPECT_EQ(Read("g", Bytes("\x43\x43\x44\x44")), "'" + Bytes("\x43\x44") + "'");
}

TEST_F(MessageReaderTest, RepeatedNumbersMayBePacked) {
  EXPECT_EQ(Read("z", Bytes("\x20\x01\x22\x03\x02\x03\x04\x20\x00")), "[-1,1,-2,2,0]");
  EXPECT_EQ(Read("z", Bytes("\x22\x01\xff")),
            "OUT_OF_RANGE: Corrupted protocol buffer: Failed to parse a message of type p.M");
}

TEST_F(MessageReaderTest, ValuesThatSqlDoesNotHaveAreErrors) {
  EXPECT_EQ(Read("e", Bytes("\x28\x02")), "2");
  EXPECT_EQ(Read("e", Bytes("\x28\x03")),
            "OUT_OF_RANGE: Corrupted protocol buffer: Failed to interpret value for field p.M.e: 3");
  EXPECT_EQ(Read("u", Bytes("\x38\xff\xff\xff\xff\xff\xff\xff\xff\x7f")), "9223372036854775807");
  EXPECT_EQ(Read("u", Bytes("\x38\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01")),
            "OUT_OF_RANGE: Corrupted protocol buffer: Failed to interpret value for field p.M.u: "
            "9223372036854775808");
}

TEST_F(MessageReaderTest, BytesThatAreNoMessageAreErrors) {
  for (const std::string& bytes : {
           Bytes("\x08"),          // no value
           Bytes("\x08\x80"),      // a part of one
           Bytes("\x12\x05x"),     // too few bytes
           Bytes("\x0f\x01"),      // no wire type
           Bytes("\x00\x01"),      // no field number
           Bytes("\x43\x08\x01"),  // a group without an end
           Bytes("\x43\x4c"),      // the end of another group
           Bytes("\x44"),          // the end of none
           Bytes("\x55\xff\xff"),  // too few bytes
           Bytes("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
       }) {
    EXPECT_FALSE(IsMessage(*message_, bytes));
    EXPECT_EQ(Read("a", bytes),
              "OUT_OF_RANGE: Corrupted protocol buffer: Failed to parse a message of type p.M");
    EXPECT_FALSE(HasMessageField(*message_, Field("a"), bytes).ok());
  }
  EXPECT_TRUE(IsMessage(*message_, ""));
  EXPECT_FALSE(IsMessage(*message_, Bytes("\x1a\x01\x08"))) << "the message in it is none";
  EXPECT_TRUE(IsMessage(*message_, Bytes("\x12\x01\x08"))) << "a text is no message";
  EXPECT_FALSE(IsMessage(*message_, Bytes("\x22\x01\x80"))) << "what is packed is no number";
  const std::string groups = std::string(101, '\x43') + std::string(101, '\x44');
  EXPECT_FALSE(IsMessage(*message_, groups)) << "too deep";
  EXPECT_TRUE(IsMessage(*message_, groups.substr(1, 200)));
}

TEST_F(MessageReaderTest, TypesOfFields) {
  const Type type = Type::Proto("b", "p.M", message_);
  EXPECT_EQ(TypeOfField(type, Field("ms")).ToString(), "ARRAY<PROTO<p.M>>");
  EXPECT_EQ(TypeOfField(type, Field("ms")).element().message().get(), message_.get());
  EXPECT_EQ(TypeOfField(type, Field("e")).ToString(), "ENUM<p.E>");
  EXPECT_EQ(TypeOfField(type, Field("f")).ToString(), "FLOAT32");
  EXPECT_EQ(TypeOfField(type, Field("U")).ToString(), "INT64");
}

}  // namespace
}  // namespace sonde::sql
