#include "backup/journal/segment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "backup/journal/journal_test_support.h"

namespace sonde {
namespace {

using Kind = SegmentRecord::Kind;

class SegmentTest : public JournalFilesTest {
 protected:
  std::string path_ = root_ + "/segment";

  std::vector<SegmentRecord> Some() {
    return {{.kind = Kind::kGap, .position = 100, .gap_end = 105, .bytes = "why"},
            {.kind = Kind::kSchema, .position = 107, .bytes = "an event"},
            {.kind = Kind::kRow, .position = 107, .table = 3, .piece = 0, .bytes = "first"},
            {.kind = Kind::kRow, .position = 107, .table = 3, .piece = 1, .bytes = "second"},
            {.kind = Kind::kRow, .position = 107, .table = 4, .piece = 0, .bytes = ""}};
  }
};

TEST_F(SegmentTest, ComesBackAsItWasWritten) {
  ASSERT_EQ(WriteSegment(path_, 100, 120, Some(), /*starts=*/true), absl::OkStatus());
  const absl::StatusOr<std::unique_ptr<SegmentReader>> reader = SegmentReader::Open(&files_, path_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->journal(), kJournal);
  EXPECT_EQ((*reader)->first(), 100);
  EXPECT_TRUE((*reader)->starts());
  SegmentRecord record;
  for (const SegmentRecord& expected : Some()) {
    ASSERT_EQ(*(*reader)->Next(&record), true);
    EXPECT_EQ(record.kind, expected.kind);
    EXPECT_EQ(record.position, expected.position);
    EXPECT_EQ(record.table, expected.table);
    EXPECT_EQ(record.piece, expected.piece);
    EXPECT_EQ(record.gap_end, expected.gap_end);
    EXPECT_EQ(record.bytes, expected.bytes);
  }
  ASSERT_EQ(*(*reader)->Next(&record), false);
  EXPECT_EQ((*reader)->last(), 120);
  EXPECT_EQ((*reader)->records(), 5U);
  EXPECT_EQ((*reader)->bytes(), std::filesystem::file_size(path_));
}

TEST_F(SegmentTest, EveryFlippedBitIsNamed) {
  ASSERT_EQ(WriteSegment(path_, 100, 120, Some()), absl::OkStatus());
  const std::string whole = *ReadFile(&files_, path_, 1 << 20);
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_EQ(Overwrite(path_, flipped), absl::OkStatus());
    const absl::Status status = ReadWhole(path_);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << "bit " << bit << ": " << status;
    EXPECT_NE(status.message().find(path_), std::string::npos) << status;
  }
}

TEST_F(SegmentTest, NoPartOfItIsWhole) {
  ASSERT_EQ(WriteSegment(path_, 100, 120, Some()), absl::OkStatus());
  const std::string whole = *ReadFile(&files_, path_, 1 << 20);
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    ASSERT_EQ(Overwrite(path_, whole.substr(0, bytes)), absl::OkStatus());
    EXPECT_EQ(ReadWhole(path_).code(), absl::StatusCode::kDataLoss) << bytes;
  }
  ASSERT_EQ(Overwrite(path_, whole + "x"), absl::OkStatus());
  EXPECT_EQ(ReadWhole(path_), absl::DataLossError(path_ + " is damaged: there are bytes behind its end"));
}

TEST_F(SegmentTest, ALastRecordThatWasLeftOutIsNoticed) {
  // The planted bug: a writer that counts a record and does not write it.
  std::vector<SegmentRecord> fewer = Some();
  fewer.pop_back();
  ASSERT_EQ(WriteSegment(path_, 100, 120, fewer), absl::OkStatus());
  const std::string without = *ReadFile(&files_, path_, 1 << 20);
  ASSERT_EQ(WriteSegment(path_, 100, 120, Some()), absl::OkStatus());
  const std::string with = *ReadFile(&files_, path_, 1 << 20);
  // The end of one behind the records of the other.
  const size_t end_bytes = 8 + 1 + 1 + 1 + 1 + 64;
  ASSERT_EQ(
      Overwrite(path_, without.substr(0, without.size() - end_bytes) + with.substr(with.size() - end_bytes)),
      absl::OkStatus());
  EXPECT_EQ(ReadWhole(path_), absl::DataLossError(path_ + " is damaged: its SHA-256 does not match"));
}

TEST_F(SegmentTest, RecordsOutOfOrderAreDamage) {
  std::vector<SegmentRecord> records = Some();
  std::swap(records[2], records[4]);
  ASSERT_EQ(WriteSegment(path_, 100, 120, records), absl::OkStatus());
  EXPECT_EQ(ReadWhole(path_), absl::DataLossError(path_ + " is damaged: record 3 at 107 is out of order"));
  ASSERT_EQ(WriteSegment(path_, 100, 106, Some()), absl::OkStatus());
  EXPECT_EQ(ReadWhole(path_),
            absl::DataLossError(path_ + " is damaged: a record lies behind its last position"));
}

TEST_F(SegmentTest, IsReadOnlyAsTheSegmentOfItsPlace) {
  ASSERT_EQ(WriteSegment(path_, 100, 120, Some()), absl::OkStatus());
  const absl::Status another = absl::DataLossError(path_ + " is damaged: it holds another segment");
  const auto read = [&](const SegmentPlace& place) {
    const absl::StatusOr<std::unique_ptr<SegmentReader>> reader = SegmentReader::Open(&files_, path_);
    return reader.ok()
               ? (*reader)->ReadAll(place, [](const SegmentRecord& /*record*/) { return absl::OkStatus(); })
               : reader.status();
  };
  EXPECT_EQ(read({kJournal, 100, 120}), absl::OkStatus());
  EXPECT_EQ(read({kJournal, 100, 121}), another);
  EXPECT_EQ(read({kJournal, 99, 120}), another);
  EXPECT_EQ(read({"fedcba9876543210", 100, 120}), another);
}

TEST_F(SegmentTest, TheTakersErrorEndsTheReading) {
  ASSERT_EQ(WriteSegment(path_, 100, 120, Some()), absl::OkStatus());
  const absl::StatusOr<std::unique_ptr<SegmentReader>> reader = SegmentReader::Open(&files_, path_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  int taken = 0;
  EXPECT_EQ((*reader)->ReadAll({kJournal, 100, 120},
                               [&](const SegmentRecord& /*record*/) {
                                 return ++taken == 2 ? absl::CancelledError("enough") : absl::OkStatus();
                               }),
            absl::CancelledError("enough"));
  EXPECT_EQ(taken, 2);
}

}  // namespace
}  // namespace sonde
