#include "hbase/wire/frames.h"

#include <gtest/gtest.h>
#include <hbase/wire/messages.pb.h>

#include <vector>

#include "base/random.h"
#include "base/varint.h"

namespace sonde::hbase {
namespace {

std::string AnswerFrame(const pb::ResponseHeader& header, std::string_view parameter,
                        std::string_view cells) {
  std::string frame;
  PutBytes(&frame, header.SerializeAsString());
  if (!header.has_exception()) PutBytes(&frame, parameter);
  return frame.append(cells);
}

TEST(FramesTest, OpensAsSimpleUserOfAService) {
  const std::string opening = Opening("ClientService", "someone");
  EXPECT_EQ(opening.substr(0, 6), std::string("HBas\0\x50", 6));
  std::string_view rest = std::string_view(opening).substr(6);
  uint32_t length = 0;
  ASSERT_TRUE(GetFixed32(&rest, &length));
  ASSERT_EQ(length, rest.size());
  pb::ConnectionHeader header;
  ASSERT_TRUE(header.ParseFromString(std::string(rest)));
  EXPECT_EQ(header.service_name(), "ClientService");
  EXPECT_EQ(header.user_info().effective_user(), "someone");
  EXPECT_EQ(header.cell_block_codec_class(), "org.apache.hadoop.hbase.codec.KeyValueCodec");
  EXPECT_EQ(header.version_info().version_major(), 2u);
  EXPECT_EQ(header.version_info().version_minor(), 6u);
  EXPECT_TRUE(header.version_info().has_src_checksum());
}

TEST(FramesTest, CallHasHeaderParameterAndCells) {
  const std::string frame = CallFrame(7, "Multi", "parameter", "cells", absl::Milliseconds(1500));
  std::string_view rest = frame;
  uint32_t length = 0;
  std::string_view header_bytes;
  std::string_view parameter;
  ASSERT_TRUE(GetFixed32(&rest, &length));
  ASSERT_EQ(length, rest.size());
  ASSERT_TRUE(GetBytes(&rest, &header_bytes));
  ASSERT_TRUE(GetBytes(&rest, &parameter));
  pb::RequestHeader header;
  ASSERT_TRUE(header.ParseFromString(std::string(header_bytes)));
  EXPECT_EQ(header.call_id(), 7u);
  EXPECT_EQ(header.method_name(), "Multi");
  EXPECT_TRUE(header.request_param());
  EXPECT_EQ(header.cell_block_meta().length(), 5u);
  EXPECT_EQ(header.timeout(), 1500u);
  EXPECT_EQ(parameter, "parameter");
  EXPECT_EQ(rest, "cells");
}

TEST(FramesTest, AnswerHasParameterAndCells) {
  pb::ResponseHeader header;
  header.set_call_id(9);
  header.mutable_cell_block_meta()->set_length(5);
  const absl::StatusOr<Answer> answer = ParseAnswer(AnswerFrame(header, "parameter", "cells"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->call_id(), 9u);
  EXPECT_FALSE(answer->failure().has_value());
  EXPECT_EQ(answer->parameter(), "parameter");
  EXPECT_EQ(answer->cells(), "cells");
}

TEST(FramesTest, AnswerMayBeAnException) {
  pb::ResponseHeader header;
  header.set_call_id(9);
  header.mutable_exception()->set_exception_class_name("org.apache.hadoop.hbase.NotServingRegionException");
  header.mutable_exception()->set_stack_trace(
      "org.apache.hadoop.hbase.NotServingRegionException: t,,1. is not online\n\tat x");
  const absl::StatusOr<Answer> answer = ParseAnswer(AnswerFrame(header, {}, {}));
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_TRUE(answer->failure().has_value());
  EXPECT_EQ(answer->failure()->remedy, Remedy::kLocate);
  EXPECT_EQ(answer->failure()->message, "HBase answered NotServingRegionException: t,,1. is not online");
  EXPECT_EQ(answer->cells(), "");
}

TEST(FramesTest, RefusesAnswersThatAreNone) {
  pb::ResponseHeader header;
  header.set_call_id(9);
  header.mutable_cell_block_meta()->set_length(5);
  const std::string frame = AnswerFrame(header, "parameter", "cells");
  for (size_t bytes = 0; bytes < frame.size(); ++bytes) {
    EXPECT_TRUE(absl::IsDataLoss(ParseAnswer(frame.substr(0, bytes)).status())) << bytes;
  }
  EXPECT_EQ(ParseAnswer(frame + "x").status(),
            absl::DataLossError("HBase sent bytes that are no answer: the cell block has another length"));
}

TEST(FramesTest, CutsFramesWhereverTheirBytesAreDivided) {
  SeededRandom random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> frames;
    std::string stream;
    for (uint64_t i = random.Uniform(10); i > 0; --i) {
      frames.emplace_back(random.Uniform(random.Uniform(4) == 0 ? 1'000'000 : 40),
                          static_cast<char>('a' + i));
      PutFixed32(&stream, static_cast<uint32_t>(frames.back().size()));
      stream.append(frames.back());
    }
    FrameCutter cutter;
    std::vector<std::string> cut;
    std::string_view rest = stream;
    while (!rest.empty()) {
      const std::string_view piece =
          rest.substr(0, 1 + random.Uniform(random.Uniform(3) == 0 ? 200'000 : 10));
      rest.remove_prefix(piece.size());
      cutter.Add(piece);
      while (true) {
        absl::StatusOr<std::optional<std::string>> frame = cutter.Next();
        ASSERT_TRUE(frame.ok());
        if (!frame->has_value()) break;
        cut.push_back(**std::move(frame));
      }
    }
    ASSERT_EQ(cut, frames);
  }
}

TEST(FramesTest, RefusesAFrameThatIsTooLong) {
  FrameCutter cutter;
  std::string length;
  PutFixed32(&length, static_cast<uint32_t>(kAnswerBytesMax + 1));
  cutter.Add(length);
  EXPECT_EQ(cutter.Next().status(),
            absl::DataLossError("HBase sent an answer of 268435457 bytes; at most 268435456 are taken"));
}

}  // namespace
}  // namespace sonde::hbase
