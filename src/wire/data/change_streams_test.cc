#include "wire/data/change_streams.h"

#include <gtest/gtest.h>

#include "changes/change_record.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

constexpr char kTable[] = "projects/p/instances/i/tables/t";

TEST(ReadChangeStreamRequest, IsCheckedFieldByField) {
  pb::ReadChangeStreamRequest request;
  EXPECT_EQ(ParseReadChangeStream(request).status().code(), absl::StatusCode::kInvalidArgument);
  request.set_table_name(kTable);
  const auto parsed = ParseReadChangeStream(request);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->read.partition, RowRange::All());
  EXPECT_EQ(parsed->heartbeat, std::chrono::seconds(5));

  const auto code = [&](const auto& change) {
    pb::ReadChangeStreamRequest changed = request;
    change(&changed);
    return ParseReadChangeStream(changed).status().code();
  };
  constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code([](auto* r) { r->mutable_partition()->mutable_row_range()->set_start_key_open("a"); }),
            kInvalid);
  EXPECT_EQ(code([](auto* r) { r->mutable_partition()->mutable_row_range()->set_end_key_closed("a"); }),
            kInvalid);
  EXPECT_EQ(code([](auto* r) {
              r->mutable_partition()->mutable_row_range()->set_start_key_closed("b");
              r->mutable_partition()->mutable_row_range()->set_end_key_open("a");
            }),
            kInvalid);
  EXPECT_EQ(code([](auto* r) { r->mutable_start_time()->set_seconds(-1); }), kInvalid);
  EXPECT_EQ(code([](auto* r) { r->mutable_end_time()->set_seconds(INT64_MAX); }), kInvalid);
  EXPECT_EQ(code([](auto* r) { r->mutable_end_time()->set_nanos(-1); }), kInvalid);
  EXPECT_EQ(code([](auto* r) { r->mutable_continuation_tokens(); }), kInvalid);
  EXPECT_EQ(code([](auto* r) { r->mutable_heartbeat_duration(); }), kInvalid);
  EXPECT_EQ(code([](auto* r) { r->mutable_heartbeat_duration()->set_seconds(-1); }), kInvalid);
  EXPECT_EQ(code([](auto* r) { r->mutable_heartbeat_duration()->set_seconds(INT64_MAX); }), kInvalid);
}

TEST(ReadChangeStreamRequest, TimesAreTruncatedToMicroseconds) {
  pb::ReadChangeStreamRequest request;
  request.set_table_name(kTable);
  request.mutable_start_time()->set_seconds(1);
  request.mutable_start_time()->set_nanos(2'999);
  request.mutable_end_time()->set_seconds(3);
  request.mutable_heartbeat_duration()->set_nanos(500'000'000);
  const auto parsed = ParseReadChangeStream(request);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->read.start_micros, 1'000'002);
  EXPECT_EQ(parsed->read.end_micros, 3'000'000);
  EXPECT_EQ(parsed->heartbeat, std::chrono::milliseconds(500));
}

std::vector<pb::ReadChangeStreamResponse::DataChange> Messages(ChangeKind kind,
                                                               const std::vector<Mutation>& mutations) {
  TableSchema schema;
  schema.families = {{.name = "f", .id = 1}};
  std::vector<pb::ReadChangeStreamResponse::DataChange> messages;
  for (std::string& bytes : EncodeChange(schema, kind, "row", mutations, 0)) {
    pb::ReadChangeStreamResponse response;
    EXPECT_EQ(
        ToProto({.commit_micros = 1'500'000, .bytes = bytes, .token = "T", .watermark_micros = 2'000'000},
                &response),
        absl::OkStatus());
    messages.push_back(response.data_change());
  }
  return messages;
}

TEST(DataChange, HasEveryMutation) {
  const auto messages =
      Messages(ChangeKind::kUser, {SetCell{"f", "q", 1000, "v"}, AddToCell{"f", "a", 2000, int64_t{-5}},
                                   MergeToCell{"f", "m", 3000, "12345678"},
                                   DeleteFromColumn{"f", "q", {1000, 0}}, DeleteFromColumn{"f", "q", {}},
                                   DeleteFromFamily{"f"}, AddToCell{"f", "u", 0, std::string_view("x")}});
  ASSERT_EQ(messages.size(), 1u);
  const auto& change = messages[0];
  EXPECT_EQ(change.type(), pb::ReadChangeStreamResponse::DataChange::USER);
  EXPECT_EQ(change.source_cluster_id(), "sonde");
  EXPECT_EQ(change.row_key(), "row");
  EXPECT_EQ(change.commit_timestamp().seconds(), 1);
  EXPECT_EQ(change.commit_timestamp().nanos(), 500'000'000);
  EXPECT_TRUE(change.done());
  EXPECT_EQ(change.token(), "T");
  EXPECT_EQ(change.estimated_low_watermark().seconds(), 2);
  ASSERT_EQ(change.chunks_size(), 7);
  for (const auto& chunk : change.chunks()) EXPECT_FALSE(chunk.has_chunk_info());
  EXPECT_EQ(change.chunks(0).mutation().set_cell().value(), "v");
  EXPECT_EQ(change.chunks(1).mutation().add_to_cell().input().int_value(), -5);
  EXPECT_EQ(change.chunks(1).mutation().add_to_cell().column_qualifier().raw_value(), "a");
  EXPECT_EQ(change.chunks(1).mutation().add_to_cell().timestamp().raw_timestamp_micros(), 2000);
  EXPECT_EQ(change.chunks(2).mutation().merge_to_cell().input().bytes_value(), "12345678");
  EXPECT_EQ(change.chunks(3).mutation().delete_from_column().time_range().start_timestamp_micros(), 1000);
  EXPECT_FALSE(change.chunks(4).mutation().delete_from_column().has_time_range());
  EXPECT_EQ(change.chunks(5).mutation().delete_from_family().family_name(), "f");
  EXPECT_EQ(change.chunks(6).mutation().add_to_cell().input().bytes_value(), "x");
}

TEST(DataChange, OnlyItsFirstMessageNamesIt) {
  const std::string value(3 * kChangePieceBytes, 'x');
  const auto messages = Messages(ChangeKind::kUser, {SetCell{"f", "q", 1000, value}});
  ASSERT_EQ(messages.size(), 3u);
  std::string joined;
  for (size_t i = 0; i < messages.size(); ++i) {
    const auto& change = messages[i];
    EXPECT_EQ(change.type(), i == 0 ? pb::ReadChangeStreamResponse::DataChange::USER
                                    : pb::ReadChangeStreamResponse::DataChange::CONTINUATION);
    EXPECT_EQ(change.row_key(), i == 0 ? "row" : "");
    EXPECT_EQ(change.has_commit_timestamp(), i == 0);
    EXPECT_EQ(change.source_cluster_id(), i == 0 ? "sonde" : "");
    EXPECT_EQ(change.done(), i == 2);
    EXPECT_EQ(change.token(), i == 2 ? "T" : "");
    EXPECT_EQ(change.has_estimated_low_watermark(), i == 2);
    ASSERT_EQ(change.chunks_size(), 1);
    EXPECT_EQ(change.chunks(0).chunk_info().chunked_value_size(), value.size());
    EXPECT_EQ(change.chunks(0).chunk_info().chunked_value_offset(), joined.size());
    EXPECT_EQ(change.chunks(0).chunk_info().last_chunk(), i == 2);
    joined += change.chunks(0).mutation().set_cell().value();
  }
  EXPECT_EQ(joined, value);
}

TEST(DataChange, OfGarbageCollectionHasNoCluster) {
  const auto messages = Messages(ChangeKind::kGarbageCollection, {DeleteFromColumn{"f", "q", {0, 1000}}});
  EXPECT_EQ(messages[0].type(), pb::ReadChangeStreamResponse::DataChange::GARBAGE_COLLECTION);
  EXPECT_EQ(messages[0].source_cluster_id(), "");
}

TEST(CloseStream, IsOkAtTheEnd) {
  const pb::ReadChangeStreamResponse::CloseStream close = CloseStream({}).close_stream();
  EXPECT_TRUE(close.has_status());
  EXPECT_EQ(close.status().code(), 0);
  EXPECT_EQ(close.continuation_tokens_size(), 0);
  EXPECT_EQ(close.new_partitions_size(), 0);
}

// The clients tell the two ends apart by the code.
TEST(CloseStream, IsOutOfRangeWithATokenForEachNewPartition) {
  const pb::ReadChangeStreamResponse::CloseStream close =
      CloseStream({{.partition = {"a", "c"}, .token_partition = {"b", "c"}, .token = "1"},
                   {.partition = {"c", ""}, .token_partition = {"c", "d"}, .token = "2"}})
          .close_stream();
  EXPECT_EQ(close.status().code(), 11);
  ASSERT_EQ(close.continuation_tokens_size(), 2);
  ASSERT_EQ(close.new_partitions_size(), 2);
  EXPECT_EQ(close.continuation_tokens(0).token(), "1");
  EXPECT_EQ(close.continuation_tokens(0).partition().row_range().start_key_closed(), "b");
  EXPECT_EQ(close.continuation_tokens(1).partition().row_range().end_key_open(), "d");
  EXPECT_EQ(close.new_partitions(0).row_range().start_key_closed(), "a");
  EXPECT_EQ(close.new_partitions(1).row_range().end_key_open(), "");
}

TEST(DataChange, OfDamagedBytesIsDataLoss) {
  pb::ReadChangeStreamResponse response;
  EXPECT_EQ(ToProto({.bytes = "nonsense"}, &response).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace sonde
