#include "wire/data/mutate_rows_message.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/bytes.h"
#include "base/random.h"
#include "base/varint.h"
#include "model/limits.h"
#include "wire/data/message_test_support.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

std::string ToText(const Mutation& mutation) {
  const auto* cell = std::get_if<SetCell>(&mutation);
  if (cell == nullptr) return fmt::format("[{}]", mutation.index());
  return fmt::format("{}:{}@{}{}={}", cell->family, Printable(cell->qualifier), cell->timestamp_micros,
                     cell->client_generated_timestamp ? "*" : "", Printable(cell->value));
}

std::string ToText(const absl::StatusOr<MutateRowsEntries>& entries) {
  if (!entries.ok()) return entries.status().ToString();
  std::string text;
  for (size_t i = 0; i < entries->rows.size(); ++i) {
    const RowMutations& row = entries->rows[i];
    text += fmt::format("#{} {}{}", entries->entry_of_row[i], Printable(row.row_key),
                        row.idempotency.has_value() ? " once" : "");
    for (const Mutation& mutation : row.mutations) text += " " + ToText(mutation);
    text += "\n";
  }
  for (const absl::Status& status : entries->statuses) {
    if (!status.ok()) text += status.ToString() + "\n";
  }
  return text;
}

// What a message says, and whether it was plain.
struct Read {
  std::string text;
  int64_t place_bytes = 0;
};

class MutateRowsMessageTest : public testing::Test {
 protected:
  Read ReadMessage(std::string_view bytes) {
    rpc::MessageBytes buffer = MessageOf(bytes);
    auto place = admission_.Admit(static_cast<int64_t>(bytes.size()));
    EXPECT_TRUE(place.ok());
    MutateRowsMessage message;
    if (absl::Status status = message.Parse(&buffer, &*place); !status.ok()) return {status.ToString()};
    EXPECT_EQ(buffer.size(), 0) << "the bytes are freed, or kept once";
    const auto entries = message.TakeEntries();
    return {fmt::format("{}|{}\n", message.table_name(), message.authorized_view_name()) + ToText(entries),
            place->bytes()};
  }

  // The same by protobuf alone: an unknown field is read by nobody, and makes the message none of the plain.
  Read ReadByProtobuf(const std::string& bytes) {
    std::string unknown;
    PutVarint(&unknown, 15 << 3);
    PutVarint(&unknown, 1);
    return ReadMessage(unknown + bytes);
  }

  void ExpectSame(const std::string& bytes) {
    const std::string wanted = ReadByProtobuf(bytes).text;
    EXPECT_EQ(ReadMessage(bytes).text, wanted) << Printable(bytes);
    const std::string together = ReadAmongOthers(bytes);
    EXPECT_TRUE(together.empty() || together == wanted) << Printable(bytes);
  }

  // By OpenPlain, where it is plain.
  std::string ReadAmongOthers(const std::string& bytes) {
    MutateRowsMessage message;
    const bool plain = message.OpenPlain(bytes) && message.ReadPlainEntries(&entries_);
    if (!plain) return "";
    return fmt::format("{}|{}\n", message.table_name(), message.authorized_view_name()) + ToText(entries_);
  }

  Admission admission_{"writes", {.requests = 10, .bytes = 1 << 30}};
  MutateRowsEntries entries_;  // of whatever was read last
};

pb::MutateRowsRequest Text(const std::string& text) {
  pb::MutateRowsRequest message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

TEST_F(MutateRowsMessageTest, ReadsWhatProtobufReads) {
  for (const std::string text : {
           "",
           "table_name: 't'",
           "table_name: 't' entries {}",
           "table_name: 't' entries { row_key: 'r' }",
           "table_name: 't' entries { row_key: 'r' mutations {} }",
           "table_name: 't' entries { row_key: 'r' mutations { set_cell {} } }",
           "table_name: 't' entries { row_key: 'r' mutations { set_cell { family_name: 'f' } } }",
           "table_name: 't' entries { row_key: 'r' mutations { set_cell { family_name: 'f' column_qualifier: "
           "'q' timestamp_micros: 5 value: 'v' } } }",
           "authorized_view_name: 'v' app_profile_id: 'p' entries { row_key: 'r' mutations { set_cell { "
           "family_name: 'f' column_qualifier: '\\000\\377' timestamp_micros: -1 value: '\\377' } "
           "timestamp_origin: CLIENT_AUTO_GENERATED } }",
           "entries { row_key: 'r' mutations { set_cell { family_name: 'f' timestamp_micros: -2 } } }",
           "entries { row_key: 'r' mutations { set_cell { family_name: 'f' timestamp_micros: "
           "9223372036854775807 } } }",
           "entries { row_key: 'r' mutations { set_cell { family_name: '\\303\\244' } } }",
           "table_name: '\\303\\244' entries { row_key: 'r' mutations { set_cell { family_name: 'f' } } }",
           "entries { row_key: 'r' mutations { set_cell { family_name: 'f' } } mutations { set_cell { "
           "family_name: 'a/b' } } } entries { row_key: '' mutations { set_cell { family_name: 'f' } } }",
           "entries { row_key: 'r' mutations { delete_from_row {} } } entries { row_key: 's' mutations { "
           "set_cell { family_name: 'f' } } }",
           "entries { row_key: 'r' idempotency { token: '12345678' } mutations { set_cell { family_name: 'f' "
           "} } }",
       }) {
    ExpectSame(Text(text).SerializeAsString());
  }
  std::string long_key = "entries { row_key: '" + std::string(kRowKeyBytesMax + 1, 'k') +
                         "' mutations { set_cell { family_name: 'f' } } }";
  ExpectSame(Text(long_key).SerializeAsString());
}

TEST_F(MutateRowsMessageTest, OnlyPlainCellsAreReadAmongOthers) {
  const auto is_read = [this](const std::string& mutation, const std::string& entry = "") {
    const auto message = Text(
        "table_name: 't' entries { row_key: 'r' mutations { set_cell { family_name: 'f' "
        "column_qualifier: 'q' } } mutations { " +
        mutation + " } " + entry + " }");
    return !ReadAmongOthers(message.SerializeAsString()).empty();
  };
  EXPECT_TRUE(is_read("set_cell { family_name: 'f' timestamp_micros: 7 value: 'v' }"));
  EXPECT_TRUE(is_read("set_cell { family_name: 'f' timestamp_micros: -1 }"));
  EXPECT_FALSE(is_read("delete_from_row {}"));
  EXPECT_FALSE(is_read("set_cell { family_name: 'f' }", "idempotency { token: '12345678' }"));
  EXPECT_TRUE(is_read("set_cell { family_name: 'f' value: '" + std::string(60'000, 'v') + "' }"));
  EXPECT_FALSE(is_read("set_cell { family_name: 'f' value: '" + std::string(66'000, 'v') + "' }"));
}

// As fields may be written, but by no serializer: twice, in pieces, with more bytes than needed.
TEST_F(MutateRowsMessageTest, ReadsFieldsThatAreWrittenOddly) {
  const auto field = [](int number, const std::string& bytes) {
    std::string out;
    PutVarint(&out, number << 3 | 2);
    PutBytes(&out, bytes);
    return out;
  };
  const auto number = [](int field_number, uint64_t value) {
    std::string out;
    PutVarint(&out, field_number << 3);
    PutVarint(&out, value);
    return out;
  };
  const std::string cell = field(1, "f") + field(2, "q") + number(3, 7) + field(4, "v");
  const auto message = [&](const std::string& mutation) {
    return field(1, "t") + field(2, field(1, "r") + field(2, mutation));
  };
  ExpectSame(message(field(1, cell)));
  ExpectSame(message(field(1, cell + field(4, "w"))));
  ExpectSame(message(field(1, cell + number(3, 8))));
  ExpectSame(message(field(1, cell) + field(1, field(2, "other"))));
  ExpectSame(message(field(1, cell) + field(4, "")));  // delete_from_row, which comes last
  ExpectSame(message(field(4, "") + field(1, cell)));  // and first
  ExpectSame(message(field(1, cell) + number(7, 2)));  // timestamp_origin
  ExpectSame(message(field(1, cell) + number(7, (1ull << 32) + 2)));
  ExpectSame(message(field(1, cell) + number(7, 77)));
  ExpectSame(message(field(1, cell)) + field(1, "u"));  // the table's name again
  ExpectSame(message(field(1, cell)) + field(2, ""));   // an entry of nothing
  ExpectSame(message("\x0A\x85\x80\x80\x80\x80\x00" + std::string("\x0A\x01\x66\x18\x07", 5)));
  ExpectSame(message(std::string("\x0A\x85\x00", 3) + std::string("\x0A\x01\x66\x18\x07", 5)));
  ExpectSame(message(field(1, cell)).substr(0, 10));
}

TEST_F(MutateRowsMessageTest, ReadsDamagedMessagesAsProtobufDoes) {
  const google::protobuf::LogSilencer silencer;  // of damaged texts
  SeededRandom random(7);
  for (int i = 0; i < 20'000; ++i) {
    pb::MutateRowsRequest request;
    request.set_table_name("t");
    for (uint64_t rows = 1 + random.Uniform(3); rows > 0; --rows) {
      auto* entry = request.add_entries();
      entry->set_row_key(std::string(1 + random.Uniform(3), 'r'));
      for (uint64_t cells = 1 + random.Uniform(3); cells > 0; --cells) {
        auto* cell = entry->add_mutations()->mutable_set_cell();
        cell->set_family_name(random.Uniform(4) == 0 ? "g" : "f");
        cell->set_column_qualifier(std::string(random.Uniform(3), 'q'));
        cell->set_timestamp_micros(static_cast<int64_t>(random.Uniform(1000)));
        cell->set_value(std::string(random.Uniform(4), 'v'));
      }
    }
    std::string bytes = request.SerializeAsString();
    for (uint64_t damages = random.Uniform(3); damages > 0; --damages) {
      bytes[random.Uniform(bytes.size())] = static_cast<char>(random.Uniform(256));
    }
    ExpectSame(bytes);
    if (HasFailure()) return;
  }
}

// The parts of a large message are counted before it is parsed.
TEST_F(MutateRowsMessageTest, TakesRoomForWhatALargeMessageBecomes) {
  pb::MutateRowsRequest request;
  for (int i = 0; i < 1'000; ++i) {
    auto* entry = request.add_entries();
    entry->set_row_key("r" + std::to_string(i));
    for (int j = 0; j < 10; ++j) entry->add_mutations()->mutable_set_cell()->set_family_name("f");
  }
  const std::string bytes = request.SerializeAsString();
  ASSERT_GT(bytes.size(), 64u << 10);
  const Read read = ReadMessage(bytes);
  EXPECT_EQ(read.text, ReadByProtobuf(bytes).text);
  EXPECT_GE(read.place_bytes, static_cast<int64_t>(bytes.size() + 10'000 * sizeof(Mutation)));
  Admission small("writes", {.requests = 10, .bytes = static_cast<int64_t>(2 * bytes.size())});
  const auto other = small.Admit(1);  // alone, it may have more
  auto place = small.Admit(static_cast<int64_t>(bytes.size()));
  ASSERT_TRUE(place.ok());
  rpc::MessageBytes buffer = MessageOf(bytes);
  MutateRowsMessage message;
  EXPECT_TRUE(absl::IsUnavailable(message.Parse(&buffer, &*place)));
}

TEST_F(MutateRowsMessageTest, RefusesWhatHasNoMutations) {
  const auto text_of = [this](const std::string& text) {
    const std::string bytes = Text(text).SerializeAsString();
    ExpectSame(bytes);
    return ReadMessage(bytes).text;
  };
  const std::string kNone = "No mutations provided";
  EXPECT_NE(text_of("table_name: 't'").find(kNone), std::string::npos);
  const std::string all_empty = text_of("table_name: 't' entries { row_key: 'a' } entries { row_key: 'b' }");
  EXPECT_EQ(all_empty, text_of("table_name: 't'")) << "refused as a whole";
  // One entry without mutations is refused by itself.
  EXPECT_NE(text_of("table_name: 't' entries { row_key: 'a' } entries { row_key: 'b' mutations { "
                    "delete_from_row {} } }"),
            all_empty);
}

TEST_F(MutateRowsMessageTest, RefusesTooMany) {
  pb::MutateRowsRequest request;
  auto* entry = request.add_entries();
  entry->set_row_key("r");
  for (size_t i = 0; i < kMutationsPerRequestMax; ++i)
    entry->add_mutations()->mutable_set_cell()->set_family_name("f");
  ExpectSame(request.SerializeAsString());
  EXPECT_EQ(ReadMessage(request.SerializeAsString()).text.find("Too many"), std::string::npos);
  *request.add_entries() = request.entries(0);
  ExpectSame(request.SerializeAsString());
  EXPECT_NE(ReadMessage(request.SerializeAsString()).text.find("Too many mutations: 200000"),
            std::string::npos);
}

}  // namespace
}  // namespace sonde
