// Streams are written as text: one chunk a line, fields key= f= q= ts= label= v= size=, and commit or reset.
// A line "scanned=K" is a last_scanned_row_key, "end" the end of the stream.
#include "client/row_merger.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>

namespace sonde {
namespace {

using CellChunk = RowMerger::CellChunk;

bool TakeField(const std::string& field, std::string_view name, std::string* value) {
  if (field.compare(0, name.size(), name) != 0) return false;
  *value = field.substr(name.size());
  return true;
}

CellChunk ParseChunk(const std::string& line) {
  CellChunk chunk;
  std::istringstream fields(line);
  std::string field;
  while (fields >> field) {
    std::string value;
    if (TakeField(field, "key=", &value)) {
      chunk.set_row_key(value);
    } else if (TakeField(field, "f=", &value)) {
      chunk.mutable_family_name()->set_value(value);
    } else if (TakeField(field, "q=", &value)) {
      chunk.mutable_qualifier()->set_value(value);
    } else if (TakeField(field, "ts=", &value)) {
      chunk.set_timestamp_micros(std::stoll(value));
    } else if (TakeField(field, "label=", &value)) {
      chunk.add_labels(value);
    } else if (TakeField(field, "v=", &value)) {
      chunk.set_value(value);
    } else if (TakeField(field, "size=", &value)) {
      chunk.set_value_size(std::stoi(value));
    } else if (field == "commit") {
      chunk.set_commit_row(true);
    } else if (field == "reset") {
      chunk.set_reset_row(true);
    } else {
      ADD_FAILURE() << "unknown field " << field;
    }
  }
  return chunk;
}

std::string Show(const ReadRow& row) {
  std::string text = row.row_key;
  for (const ReadCell& cell : row.cells) {
    text += fmt::format(" {}:{}@{}={}", cell.family, cell.qualifier, cell.timestamp_micros, cell.value);
  }
  return text + "\n";
}

// The rows, one a line, then the error if there is one.
std::string Merge(const std::string& stream, bool reversed = false) {
  RowMerger merger(reversed);
  std::string text;
  std::istringstream lines(stream);
  std::string line;
  while (std::getline(lines, line)) {
    ReadRow row;
    std::string key;
    absl::Status status;
    bool complete = false;
    if (TakeField(line, "scanned=", &key)) {
      status = merger.SetLastScanned(key);
    } else if (line == "end") {
      status = merger.Finish();
    } else {
      const absl::StatusOr<bool> added = merger.Add(ParseChunk(line), &row);
      status = added.status();
      complete = added.ok() && *added;
    }
    if (complete) text += Show(row);
    if (!status.ok()) return text + std::string(status.ToString());
  }
  return text;
}

TEST(RowMerger, GivesARowOfOneCell) {
  EXPECT_EQ(Merge("key=r f=A q=c ts=7 v=x commit\nend\n"), "r A:c@7=x\n");
}

TEST(RowMerger, GivesNothingForAnEmptyStream) { EXPECT_EQ(Merge("end\n"), ""); }

TEST(RowMerger, ContinuesFamilyAndQualifierThatAreLeftOut) {
  EXPECT_EQ(Merge("key=r f=A q=c ts=9 v=1\n"
                  "ts=8 v=2\n"
                  "q=d ts=7 v=3\n"
                  "f=B q=d ts=6 v=4\n"
                  "ts=5 v=5 commit\n"
                  "end\n"),
            "r A:c@9=1 A:c@8=2 A:d@7=3 B:d@6=4 B:d@5=5\n");
}

TEST(RowMerger, AcceptsTheRowKeyAgainWithinItsRow) {
  EXPECT_EQ(Merge("key=r f=A q=c ts=9 v=1\nkey=r q=d ts=8 v=2 commit\nend\n"), "r A:c@9=1 A:d@8=2\n");
}

TEST(RowMerger, TellsAnEmptyNameFromOneThatIsLeftOut) {
  EXPECT_EQ(Merge("key=r f=A q=c ts=9 v=1\nq= ts=8 v=2\nf= q=c ts=8 v=3 commit\nend\n"),
            "r A:c@9=1 A:@8=2 :c@8=3\n");
}

TEST(RowMerger, TakesABareCommitForACellAtTimestampZero) {
  EXPECT_EQ(Merge("key=r f=A q=c ts=9 v=1\ncommit\nend\n"), "r A:c@9=1 A:c@0=\n");
}

TEST(RowMerger, JoinsAValueThatIsSplit) {
  EXPECT_EQ(Merge("key=r f=A q=c ts=9 v=ab size=6\n"
                  "v=cd size=6\n"
                  "v=ef commit\n"
                  "end\n"),
            "r A:c@9=abcdef\n");
}

TEST(RowMerger, JoinsAValueWhoseFirstOrLastPieceIsEmpty) {
  EXPECT_EQ(Merge("key=r f=A q=c ts=9 size=2\nv=ab size=2\ncommit\nend\n"), "r A:c@9=ab\n");
}

TEST(RowMerger, GoesOnWithTheNextCellAfterASplitOne) {
  EXPECT_EQ(Merge("key=r f=A q=c ts=9 v=a size=2\n"
                  "v=b\n"
                  "ts=8 v=c\n"
                  "q=d ts=8 v=d size=2\n"
                  "v=e commit\n"
                  "end\n"),
            "r A:c@9=ab A:c@8=c A:d@8=de\n");
}

TEST(RowMerger, GivesSeveralRowsAndForgetsTheColumnBetweenThem) {
  EXPECT_EQ(Merge("key=r1 f=A q=c ts=9 v=1 commit\nkey=r2 f=B q=d ts=9 v=2 commit\nend\n"),
            "r1 A:c@9=1\nr2 B:d@9=2\n");
  EXPECT_EQ(Merge("key=r1 f=A q=c ts=9 v=1 commit\nkey=r2 q=d ts=9 v=2 commit\n"),
            "r1 A:c@9=1\nINTERNAL: broken ReadRows stream: row \"r2\" begins without a family");
}

TEST(RowMerger, ForgetsWhatAResetTakesBack) {
  EXPECT_EQ(Merge("key=r f=A q=c ts=9 v=1\nreset\nkey=r f=B q=d ts=8 v=2 commit\nend\n"), "r B:d@8=2\n");
}

TEST(RowMerger, ForgetsASplitCellThatAResetTakesBack) {
  EXPECT_EQ(Merge("key=r f=A q=c ts=9 v=1 size=5\nreset\nkey=r f=A q=c ts=9 v=ok commit\nend\n"),
            "r A:c@9=ok\n");
}

TEST(RowMerger, LetsAnotherRowComeAfterAReset) {
  EXPECT_EQ(Merge("key=r f=A q=c ts=9 v=1\nreset\nkey=s f=A q=c ts=9 v=2 commit\nend\n"), "s A:c@9=2\n");
  EXPECT_EQ(Merge("key=r f=A q=c ts=9 v=1\nreset\nend\n"), "");
}

TEST(RowMerger, LetsLabelsPass) {
  EXPECT_EQ(Merge("key=r f=A q=c ts=9 label=x v=1 commit\nend\n"), "r A:c@9=1\n");
}

TEST(RowMerger, DescendsWhenReversed) {
  EXPECT_EQ(Merge("key=b f=A q=c ts=9 v=1 commit\nkey=a f=A q=c ts=9 v=2 commit\nend\n", true),
            "b A:c@9=1\na A:c@9=2\n");
  EXPECT_EQ(
      Merge("key=a f=A q=c ts=9 v=1 commit\nkey=b f=A q=c ts=9 v=2 commit\n", true),
      "a A:c@9=1\nINTERNAL: broken ReadRows stream: row \"b\" comes after \"a\" in a scan that descends");
}

TEST(RowMerger, MovesOnWithWhatWasScanned) {
  RowMerger merger(false);
  EXPECT_EQ(merger.last_row_key(), std::nullopt);
  ReadRow row;
  ASSERT_TRUE(*merger.Add(ParseChunk("key=b f=A q=c v=1 commit"), &row));
  EXPECT_EQ(merger.last_row_key(), "b");
  EXPECT_TRUE(merger.SetLastScanned("b").ok());
  EXPECT_TRUE(merger.SetLastScanned("d").ok());
  EXPECT_EQ(merger.last_row_key(), "d");
  EXPECT_EQ(
      merger.Add(ParseChunk("key=c f=A q=c v=1 commit"), &row).status(),
      absl::InternalError("broken ReadRows stream: row \"c\" comes after \"d\" in a scan that ascends"));
}

TEST(RowMerger, BeginsARowAgainAfterTheStreamBroke) {
  RowMerger merger(false);
  ReadRow row;
  ASSERT_TRUE(*merger.Add(ParseChunk("key=a f=A q=c ts=9 v=1 commit"), &row));
  ASSERT_FALSE(*merger.Add(ParseChunk("key=b f=A q=c ts=9 v=1 size=4"), &row));
  merger.DropUnfinishedRow();
  EXPECT_TRUE(merger.Finish().ok());
  EXPECT_EQ(merger.last_row_key(), "a");
  ASSERT_TRUE(*merger.Add(ParseChunk("key=b f=A q=d ts=8 v=2 commit"), &row));
  EXPECT_EQ(Show(row), "b A:d@8=2\n");
}

struct BrokenCase {
  const char* stream;
  const char* reason;
};

class RowMergerRefuses : public ::testing::TestWithParam<BrokenCase> {};

TEST_P(RowMergerRefuses, WhatBreaksTheProtocol) {
  EXPECT_EQ(Merge(GetParam().stream), fmt::format("INTERNAL: broken ReadRows stream: {}", GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(
    Streams, RowMergerRefuses,
    ::testing::Values(
        BrokenCase{"f=A q=c ts=9 v=1 commit\n", "a row begins without a row key"},
        BrokenCase{"commit\n", "a row begins without a row key"},
        BrokenCase{"key=r q=c ts=9 v=1 commit\n", "row \"r\" begins without a family"},
        BrokenCase{"key=r f=A ts=9 v=1 commit\n", "row \"r\" begins without a qualifier"},
        BrokenCase{"key=r f=A q=c ts=9 v=1\nf=B ts=8 v=2 commit\n",
                   "a chunk names a family without a qualifier, in row \"r\""},
        BrokenCase{"key=r f=A q=c ts=9 v=1\nkey=s f=A q=c ts=9 v=2 commit\n",
                   "row \"s\" begins before commit_row, in row \"r\""},
        BrokenCase{"key=r f=A q=c ts=9 v=1\nend\n", "it ends before commit_row, in row \"r\""},
        BrokenCase{"key=r f=A q=c ts=9 v=1 size=3\nend\n", "it ends before commit_row, in row \"r\""},
        BrokenCase{"key=r f=A q=c ts=9 v=a size=3 commit\n", "commit_row in the middle of a cell"},
        BrokenCase{"key=r f=A q=c ts=9 v=a size=-1\n", "value_size is negative (-1)"},
        BrokenCase{"key=r f=A q=c ts=9 v=ab size=3\nq=c v=c commit\n",
                   "a chunk in the middle of a cell names a cell, in row \"r\""},
        BrokenCase{"key=r f=A q=c ts=9 v=ab size=3\nkey=r v=c commit\n",
                   "a chunk in the middle of a cell names a cell, in row \"r\""},
        BrokenCase{"key=r f=A q=c ts=9 v=ab size=3\nts=9 v=c commit\n",
                   "a chunk in the middle of a cell names a cell, in row \"r\""},
        BrokenCase{"key=r f=A q=c ts=9 v=ab size=3\nlabel=x v=c commit\n",
                   "a chunk in the middle of a cell names a cell, in row \"r\""},
        BrokenCase{"key=r f=A q=c ts=9 v=a size=3\nv=b size=4\n",
                   "value_size changes from 3 to 4 within a cell, in row \"r\""},
        BrokenCase{"key=r f=A q=c ts=9 v=ab size=3\nv=cd commit\n",
                   "a cell has 4 bytes, more than its value_size 3, in row \"r\""},
        BrokenCase{"key=r f=A q=c ts=9 v=abcd size=3\n",
                   "a cell has 4 bytes, more than its value_size 3, in row \"r\""},
        BrokenCase{"key=r f=A q=c ts=9 v=a size=3\nv=b commit\n",
                   "a cell ends after 2 bytes, its value_size is 3, in row \"r\""},
        BrokenCase{"reset\n", "reset_row outside a row"},
        BrokenCase{"key=r f=A q=c ts=9 v=1\nkey=r reset\n", "reset_row with data, in row \"r\""},
        BrokenCase{"key=r f=A q=c ts=9 v=1\nv=1 reset\n", "reset_row with data, in row \"r\""},
        BrokenCase{"key=r f=A q=c ts=9 v=1\nscanned=s\n",
                   "last_scanned_row_key in the middle of a row, in row \"r\""},
        BrokenCase{"scanned=s\nscanned=r\n",
                   "last_scanned_row_key \"r\" comes after \"s\" in a scan that ascends"}));

TEST(RowMerger, RefusesARowTwice) {
  EXPECT_EQ(
      Merge("key=r f=A q=c ts=9 v=1 commit\nkey=r f=A q=c ts=9 v=1 commit\n"),
      "r A:c@9=1\nINTERNAL: broken ReadRows stream: row \"r\" comes after \"r\" in a scan that ascends");
}

TEST(RowMerger, RefusesARowThatGoesBack) {
  EXPECT_EQ(
      Merge("key=b f=A q=c ts=9 v=1 commit\nkey=a f=A q=c ts=9 v=1 commit\n"),
      "b A:c@9=1\nINTERNAL: broken ReadRows stream: row \"a\" comes after \"b\" in a scan that ascends");
}

TEST(RowMerger, RefusesAResetAfterCommit) {
  EXPECT_EQ(Merge("key=r f=A q=c ts=9 v=1 commit\nreset\n"),
            "r A:c@9=1\nINTERNAL: broken ReadRows stream: reset_row outside a row");
}

}  // namespace
}  // namespace sonde
