#include "wire/call/request_parts.h"

#include <google/bigtable/v2/bigtable.pb.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

#include <string>

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

template <typename Message>
RequestParts Count(const std::string& bytes, size_t count_max = 1'000'000) {
  google::protobuf::io::ArrayInputStream in(bytes.data(), static_cast<int>(bytes.size()), /*block_size=*/7);
  return CountParts(*Message::descriptor(), &in, count_max);
}

std::string Repeat(const std::string& bytes, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += bytes;
  return all;
}

TEST(RequestParts, AreMessagesAtAnyDepth) {
  pb::MutateRowsRequest request;
  request.set_table_name("a string of its own is no part");
  for (int i = 0; i < 3; ++i) {
    pb::MutateRowsRequest::Entry* entry = request.add_entries();
    entry->set_row_key("row");
    entry->add_mutations()->mutable_set_cell()->set_value("v");
    entry->add_mutations()->mutable_delete_from_row();
  }
  EXPECT_EQ(Count<pb::MutateRowsRequest>(request.SerializeAsString()).count, 3 + 3 * 4);
}

TEST(RequestParts, AreStringsThatRepeat) {
  pb::ReadRowsRequest request;
  for (int i = 0; i < 5; ++i) request.mutable_rows()->add_row_keys("key");
  EXPECT_EQ(Count<pb::ReadRowsRequest>(request.SerializeAsString()).count, 1 + 5);
}

TEST(RequestParts, AreFieldsThatNobodyKnows) {
  EXPECT_EQ(Count<pb::MutateRowRequest>(Repeat({"\x7a\x00", 2}, 4)).count, 4);                    // bytes
  EXPECT_EQ(Count<pb::MutateRowRequest>(Repeat({"\x78\x01", 2}, 4)).count, 4);                    // numbers
  EXPECT_EQ(Count<pb::MutateRowRequest>("\x7b" + Repeat({"\x78\x01", 2}, 4) + "\x7c").count, 5);  // a group
}

TEST(RequestParts, AreCountedAsFarAsNeeded) {
  const std::string empty_entries = Repeat({"\x12\x00", 2}, 1000);
  EXPECT_EQ(Count<pb::MutateRowsRequest>(empty_entries, 1000).count, 1000);
  EXPECT_EQ(Count<pb::MutateRowsRequest>(empty_entries, 10).count, 11);
}

TEST(RequestParts, TellWhatNestsDeeperThanIsParsed) {
  const auto nested = [](int depth) {
    pb::RowFilter filter;
    for (pb::RowFilter* inner = &filter; depth > 0; --depth) inner = inner->mutable_chain()->add_filters();
    return filter.SerializeAsString();
  };
  for (int depth = 40; depth < 60; ++depth) {
    pb::RowFilter filter;
    const std::string bytes = nested(depth);
    EXPECT_EQ(Count<pb::RowFilter>(bytes).is_deep, !filter.ParseFromString(bytes)) << depth;
  }
  EXPECT_TRUE(Count<pb::MutateRowRequest>(Repeat("\x7b", 1'000'000)).is_deep);  // groups
}

TEST(RequestParts, OfNoMessageEndWhereItEnds) {
  EXPECT_EQ(Count<pb::MutateRowsRequest>({"\x12\x00\x12\x05", 4}).count, 2);
  EXPECT_EQ(Count<pb::MutateRowsRequest>(std::string(100, '\xff')).count, 0);
  EXPECT_EQ(Count<pb::MutateRowsRequest>("").count, 0);
}

}  // namespace
}  // namespace sonde
