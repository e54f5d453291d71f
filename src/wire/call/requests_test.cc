#include "wire/call/requests.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "model/limits.h"
#include "wire/admin/schemas.h"
#include "wire/data/filter_request.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;
namespace admin = google::bigtable::admin::v2;

template <typename Message>
Message Text(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

absl::Status MutationStatus(const std::string& text) {
  std::vector<Mutation> mutations;
  return ParseMutations(Text<pb::MutateRowRequest>(text).mutations(), false, &mutations);
}

std::string Ranges(const std::string& text) {
  const auto ranges = ParseRowSet(Text<pb::RowSet>(text));
  if (!ranges.ok()) return std::string(ranges.status().message());
  std::string result;
  for (const RowRange& range : *ranges) result += "[" + range.start + "," + range.end + ")";
  return result;
}

TEST(IdempotencyRequest, TokensAndTimesAreChecked) {
  const auto parse = [](const std::string& text) {
    std::optional<Idempotency> parsed;
    const auto message = Text<pb::Idempotency>(text);
    const absl::Status status = ParseIdempotency(message, &parsed);
    if (!status.ok()) return std::string(status.message());
    return std::string(parsed->token) + "@" +
           (parsed->start_micros.has_value() ? std::to_string(*parsed->start_micros) : "-");
  };
  EXPECT_EQ(parse("token: '12345678'"), "12345678@-");
  EXPECT_EQ(parse("token: '12345678' start_time {}"), "12345678@-");
  EXPECT_EQ(parse("token: '12345678' start_time { seconds: 5 nanos: 7999 }"), "12345678@5000007");
  EXPECT_EQ(parse("token: '1234567'"),
            "Error in field 'idempotency.token' : it has 7 bytes; from 8 to 256 are allowed");
  EXPECT_THAT(parse("token: '" + std::string(257, 't') + "'"), testing::HasSubstr("257 bytes"));
  EXPECT_THAT(parse("token: '12345678' start_time { seconds: 253402300800 }"),
              testing::HasSubstr("idempotency.start_time"));
  EXPECT_THAT(parse("token: '12345678' start_time { nanos: 1000000000 }"),
              testing::HasSubstr("idempotency.start_time"));
}

TEST(RowSet, KeysAndRangesAreAUnion) {
  EXPECT_EQ(Ranges(""), "[,)");
  EXPECT_EQ(Ranges("row_ranges {}"), "[,)");
  EXPECT_EQ(Ranges("row_ranges { start_key_closed: 'b' end_key_open: 'd' } row_ranges { start_key_closed: "
                   "'a' end_key_open: 'c' }"),
            "[a,d)");
  EXPECT_EQ(Ranges("row_ranges { start_key_open: 'a' }"), std::string("[a\0,)", 5));
  EXPECT_EQ(Ranges("row_ranges { end_key_closed: 'a' }"), std::string("[,a\0)", 5));
  EXPECT_EQ(Ranges("row_ranges { start_key_closed: 'a' end_key_closed: 'a' }"), Ranges("row_keys: 'a'"));
  EXPECT_EQ(Ranges("row_ranges { start_key_closed: 'a' end_key_open: '' }"), "[a,)");
}

TEST(RowSet, RefusesWithProductionsWords) {
  const std::string empty =
      "Error in field 'row_ranges' : Error in element #0 : start_key must be less than end_key";
  EXPECT_EQ(Ranges("row_ranges { start_key_closed: 'b' end_key_open: 'a' }"), empty);
  EXPECT_EQ(Ranges("row_ranges { start_key_closed: 'a' end_key_open: 'a' }"), empty);
  EXPECT_EQ(Ranges("row_ranges { start_key_open: 'a' end_key_open: 'a' }"), empty);
  EXPECT_EQ(Ranges("row_ranges { start_key_open: 'a' end_key_closed: 'a' }"), empty);
  EXPECT_EQ(Ranges("row_keys: ''"), "Row keys must be non-empty");
  EXPECT_EQ(Ranges("row_keys: '" + std::string(4097, 'k') + "'"), "Row key has 4097 bytes; limit 4096");
  EXPECT_EQ(
      Ranges("row_ranges { end_key_open: '" + std::string(4098, 'k') + "' }"),
      "Error in field 'row_ranges' : Error in element #0 : The bound of a range of rows has 4098 bytes; "
      "limit 4097");
}

// As a client asks that goes on after the longest key, or reads no further than it.
TEST(RowSet, ABoundMayBeRightAfterTheLongestKey) {
  const std::string longest(4096, 'k');
  const std::string after = longest + std::string(1, '\0');
  EXPECT_EQ(Ranges("row_ranges { start_key_closed: '" + longest + "\\000' }"), "[" + after + ",)");
  EXPECT_EQ(Ranges("row_ranges { start_key_closed: '" + longest + "' end_key_open: '" + longest + "\\000' }"),
            Ranges("row_keys: '" + longest + "'"));
}

TEST(Mutations, RefusesWhatIsOutOfBounds) {
  const std::string head = "Error in field 'Mutation list' : Error in element #0 : ";
  EXPECT_EQ(MutationStatus(""), absl::InvalidArgumentError("No mutations provided"));
  EXPECT_EQ(MutationStatus("mutations {}"), absl::InvalidArgumentError(head + "No mutation is set"));
  EXPECT_EQ(MutationStatus("mutations { set_cell { family_name: '' } }").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MutationStatus("mutations { set_cell { family_name: 'a:b' } }").code(),
            absl::StatusCode::kInvalidArgument);
  for (const char* micros : {"-2", "-9223372036854775808"}) {
    EXPECT_EQ(MutationStatus(
                  "mutations { set_cell { family_name: 'f' timestamp_micros: " + std::string(micros) + " } }")
                  .code(),
              absl::StatusCode::kInvalidArgument)
        << micros;
  }
  for (const char* micros : {"-1", "0", "9223372036854775000", "9223372036854775807"}) {
    EXPECT_TRUE(MutationStatus("mutations { set_cell { family_name: 'f' timestamp_micros: " +
                               std::string(micros) + " } }")
                    .ok());
  }
  EXPECT_EQ(MutationStatus("mutations { set_cell { family_name: 'f' column_qualifier: '" +
                           std::string(16385, 'q') + "' } }"),
            absl::InvalidArgumentError(head + "Column qualifier has 16385 bytes; limit 16384"));
  EXPECT_EQ(MutationStatus(
                "mutations { delete_from_column { family_name: 'f' time_range { start_timestamp_micros: 2000 "
                "end_timestamp_micros: 2000 } } }")
                .code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MutationStatus(
                "mutations { add_to_cell { family_name: 'f' column_qualifier { raw_value: 'q' } timestamp { "
                "raw_timestamp_micros: 0 } input { float_value: 1 } } }"),
            absl::InvalidArgumentError(head + "Error in field 'input' : must use `int_value`"));
}

TEST(Mutations, OriginsOfTimestampsAreThoseOfTheApi) {
  EXPECT_EQ(MutationStatus("mutations { delete_from_row {} timestamp_origin: CLIENT_AUTO_GENERATED }"),
            absl::OkStatus());
  pb::MutateRowRequest request;
  request.add_mutations()->mutable_set_cell()->set_family_name("f");
  request.mutable_mutations(0)->set_timestamp_origin(static_cast<pb::Mutation::TimestampOrigin>(3));
  std::vector<Mutation> mutations;
  EXPECT_EQ(
      ParseMutations(request.mutations(), false, &mutations),
      absl::InvalidArgumentError("Error in field 'Mutation list' : Error in element #0 : Error in field "
                                 "'timestamp_origin' : unknown value 3"));
}

TEST(Mutations, CountsThem) {
  pb::MutateRowRequest request;
  for (size_t i = 0; i < kMutationsPerRequestMax; ++i) request.add_mutations()->mutable_delete_from_row();
  std::vector<Mutation> mutations;
  EXPECT_TRUE(ParseMutations(request.mutations(), false, &mutations).ok());
  request.add_mutations()->mutable_delete_from_row();
  EXPECT_EQ(ParseMutations(request.mutations(), false, &mutations),
            absl::InvalidArgumentError("Too many mutations: 100001 provided; limit 100000"));
}

TEST(Filter, RefusesWhatIsTooLargeOrTooDeep) {
  pb::RowFilter filter;
  filter.set_value_regex_filter(std::string(kFilterBytesMax, 'x'));
  EXPECT_EQ(ParseFilter(filter).status(),
            absl::InvalidArgumentError("Row filter exceeds maximum size of 20480 bytes"));
  filter.Clear();
  pb::RowFilter* inner = &filter;
  for (int i = 0; i < kFilterDepthMax + 1; ++i) {
    inner->mutable_chain()->add_filters()->set_pass_all_filter(true);
    inner = inner->mutable_chain()->add_filters();
  }
  inner->set_pass_all_filter(true);
  EXPECT_EQ(CompileFilter(filter).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ParseFilter(Text<pb::RowFilter>("pass_all_filter: false")).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(
      CompileFilter(Text<pb::RowFilter>(
                        "chain { filters { pass_all_filter: true } filters { value_regex_filter: 'a' } }"))
          .ok());
}

TEST(CreateTable, TakesFamiliesRulesAndSplits) {
  const auto schema = ParseCreateTable(Text<admin::CreateTableRequest>(R"pb(
    parent: "projects/p/instances/i"
    table_id: "t"
    table {
      column_families {
        key: "f"
        value {
          gc_rule {
            union {
              rules { max_num_versions: 3 }
              rules { max_age { seconds: 60 nanos: 5000000 } }
            }
          }
        }
      }
      column_families {
        key: "s"
        value {
          value_type {
            aggregate_type {
              input_type { int64_type {} }
              sum {}
            }
          }
        }
      }
    }
    initial_splits { key: "m" }
    initial_splits { key: "c" })pb"));
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(schema->name, "projects/p/instances/i/tables/t");
  EXPECT_THAT(schema->split_points, testing::ElementsAre("c", "m"));
  admin::Table table;
  ToProto(*schema, admin::Table::VIEW_UNSPECIFIED, admin::Table::SCHEMA_VIEW, &table);
  EXPECT_EQ(table.column_families().at("f").gc_rule().union_().rules(1).max_age().nanos(), 5'000'000);
  EXPECT_TRUE(table.column_families().at("s").value_type().aggregate_type().has_sum());
}

TEST(CreateTable, SketchesAreOfTheirInputType) {
  const auto kind = [](const std::string& input) -> absl::StatusOr<AggregateKind> {
    const auto family = ParseFamily("f", Text<admin::ColumnFamily>("value_type { aggregate_type { " + input +
                                                                   " hllpp_unique_count {} } }"));
    if (!family.ok()) return family.status();
    return family->aggregate;
  };
  EXPECT_EQ(*kind("input_type { int64_type {} }"), AggregateKind::kHllInt64);
  EXPECT_EQ(*kind("input_type { bytes_type {} }"), AggregateKind::kHllBytes);
  EXPECT_EQ(*kind("input_type { string_type {} }"), AggregateKind::kHllBytes);
  EXPECT_EQ(*kind(""), AggregateKind::kHllBytes);
  EXPECT_EQ(kind("input_type { date_type {} }").status().code(), absl::StatusCode::kInvalidArgument);
}

// "For now, only the `Aggregate` type is supported."
TEST(CreateTable, ANewFamilyHasNoTypeButAnAggregate) {
  const auto parse = [](const std::string& text) {
    return ParseFamily("f", Text<admin::ColumnFamily>(text));
  };
  for (const char* type : {"string_type { encoding { utf8_bytes {} } }", "bytes_type {}", "int64_type {}"}) {
    EXPECT_EQ(parse(std::string("value_type { ") + type + " }").status(),
              absl::InvalidArgumentError(
                  "Error in field 'value_type' : a new family's may only be an aggregate_type"));
  }
  EXPECT_EQ(parse("value_type {}")->value_type, "");
  EXPECT_EQ(parse("value_type { aggregate_type { max {} } }")->aggregate, AggregateKind::kMax);
  EXPECT_FALSE(parse("value_type { aggregate_type {} }").ok());
}

TEST(CreateTable, RefusesBadRulesAndNames) {
  const auto code = [](const std::string& text) {
    return ParseCreateTable(
               Text<admin::CreateTableRequest>("parent: 'projects/p/instances/i' table_id: 't' " + text))
        .status()
        .code();
  };
  EXPECT_EQ(code(""), absl::StatusCode::kOk);
  EXPECT_EQ(code("table { column_families { key: 'a b' value {} } }"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("table { column_families { key: 'f' value { gc_rule { max_num_versions: 0 } } } }"),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("table { column_families { key: 'f' value { gc_rule { max_age { nanos: 1000 } } } } }"),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("table { change_stream_config { } }"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("table { change_stream_config { retention_period { seconds: 86400 } } }"),
            absl::StatusCode::kOk);
  EXPECT_EQ(code("table { row_key_schema { } }"), absl::StatusCode::kInvalidArgument);  // it has no encoding
  EXPECT_EQ(
      ParseCreateTable(Text<admin::CreateTableRequest>("parent: 'projects/p/instances/i' table_id: '-t'"))
          .status()
          .code(),
      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sonde
