// The public acceptance cases of ReadRows (readrows.json of googleapis/conformance-tests) as the judge of
// both ends of the chunk protocol: the server's writer and the client's merger.
//
// The file is named by the environment variable SONDE_READROWS_CASES; tests/conformance/run finds it in the
// official Go client's module.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_join.h"
#include "base/random.h"
#include "client/row_merger.h"
#include "reference_merger.h"
#include "wire/data/chunk_writer.h"

namespace sonde {
namespace {

using google::bigtable::v2::ReadRowsResponse;

constexpr size_t kCasesCount = 48;

struct Case {
  std::string description;
  std::vector<ReadRowsResponse::CellChunk> chunks;
  std::vector<MergedCell> cells;  // of the rows before the error, if there is one
  bool is_error = false;
};

Case ParseCase(const nlohmann::json& json) {
  Case result{.description = json.at("description")};
  for (const nlohmann::json& chunk : json.at("chunks")) {
    const auto status =
        google::protobuf::util::JsonStringToMessage(chunk.dump(), &result.chunks.emplace_back());
    EXPECT_TRUE(status.ok()) << result.description << ": " << status.ToString();
  }
  for (const nlohmann::json& cell : json.value("results", nlohmann::json::array())) {
    if (cell.value("error", false)) {
      result.is_error = true;
      continue;
    }
    result.cells.push_back({cell.value("rowKey", ""), cell.value("familyName", ""),
                            cell.value("qualifier", ""), std::stoll(cell.value("timestampMicros", "0")),
                            cell.value("value", ""), cell.value("label", "")});
  }
  return result;
}

std::vector<Case> ReadCases() {
  const char* path = std::getenv("SONDE_READROWS_CASES");
  if (path == nullptr) {
    ADD_FAILURE() << "SONDE_READROWS_CASES does not name readrows.json; run tests/conformance/run readrows";
    return {};
  }
  std::ifstream file(path);
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    ADD_FAILURE() << path << " is not JSON";
    return {};
  }
  std::vector<Case> cases;
  for (const nlohmann::json& each : json.at("readRowsTests")) cases.push_back(ParseCase(each));
  EXPECT_EQ(cases.size(), kCasesCount);
  return cases;
}

TEST(ReadRowsCases, AreWhatTheReferenceRulesSay) {
  for (const Case& each : ReadCases()) {
    SCOPED_TRACE(each.description);
    ReferenceMerger merger;
    bool is_ok = true;
    for (const auto& chunk : each.chunks) is_ok = is_ok && merger.Add(chunk);
    EXPECT_EQ(is_ok && merger.End(), !each.is_error);
    EXPECT_EQ(merger.cells(), each.cells);
  }
}

// Rows as the client gives them, which has no use for labels.
std::vector<MergedCell> WithoutLabels(std::vector<MergedCell> cells) {
  for (MergedCell& cell : cells) cell.label.clear();
  return cells;
}

// What the client's merger makes of chunks, and whether it is content with them.
std::pair<std::vector<MergedCell>, absl::Status> ClientRows(std::vector<ReadRowsResponse::CellChunk> chunks) {
  RowMerger merger(/*reversed=*/false);
  std::vector<MergedCell> cells;
  for (auto& chunk : chunks) {
    ReadRow row;
    const absl::StatusOr<bool> complete = merger.Add(std::move(chunk), &row);
    if (!complete.ok()) return {cells, complete.status()};
    if (!*complete) continue;
    for (const ReadCell& cell : row.cells) {
      cells.push_back({row.row_key, cell.family, cell.qualifier, cell.timestamp_micros, cell.value, ""});
    }
  }
  return {cells, merger.Finish()};
}

TEST(ReadRowsCases, TheClientAcceptsAndRefusesAsTheySay) {
  for (const Case& each : ReadCases()) {
    SCOPED_TRACE(each.description);
    const auto& [cells, status] = ClientRows(each.chunks);
    EXPECT_EQ(status.code(), each.is_error ? absl::StatusCode::kInternal : absl::StatusCode::kOk) << status;
    EXPECT_EQ(cells, WithoutLabels(each.cells));
  }
}

// The chunks of the rows, values in pieces of at most so many bytes, messages cut between rows at random.
std::vector<ReadRowsResponse::CellChunk> Write(const std::vector<MergedCell>& cells, size_t piece_bytes_max,
                                               RandomSource* random) {
  std::vector<ReadRowsResponse::CellChunk> chunks;
  ChunkWriter writer(piece_bytes_max);
  const auto send = [&] {
    ReadRowsResponse message;
    EXPECT_TRUE(message.ParseFromString(absl::StrJoin(writer.Take(), "")));
    chunks.insert(chunks.end(), message.chunks().begin(), message.chunks().end());
  };
  for (size_t i = 0; i < cells.size(); ++i) {
    const MergedCell& cell = cells[i];
    if (i == 0 || cells[i - 1].row_key != cell.row_key) writer.StartRow(cell.row_key);
    const bool last = i + 1 == cells.size() || cells[i + 1].row_key != cell.row_key;
    writer.WriteCell(cell.family, cell.qualifier, cell.timestamp_micros, cell.label, cell.value);
    if (last) writer.EndRow();
    if (last && random->Uniform(2) == 0) send();
  }
  if (!writer.IsEmpty()) send();
  return chunks;
}

TEST(ReadRowsCases, TheirRowsComeBackFromTheServersWriter) {
  constexpr size_t kLongestPieceBytes = 12;  // longer than every value of the cases
  SeededRandom random(48);
  size_t rows_written = 0;
  for (const Case& each : ReadCases()) {
    for (size_t piece_bytes_max = 1; piece_bytes_max <= kLongestPieceBytes; ++piece_bytes_max) {
      SCOPED_TRACE(each.description + ", pieces of " + std::to_string(piece_bytes_max) + " bytes");
      const auto chunks = Write(each.cells, piece_bytes_max, &random);
      ReferenceMerger merger;
      for (const auto& chunk : chunks) {
        EXPECT_LE(chunk.value().size(), piece_bytes_max);
        ASSERT_TRUE(merger.Add(chunk)) << chunk.ShortDebugString();
        rows_written += chunk.commit_row();
      }
      EXPECT_TRUE(merger.End());
      EXPECT_EQ(merger.cells(), each.cells);
      const auto& [cells, status] = ClientRows(chunks);
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_EQ(cells, WithoutLabels(each.cells));
    }
  }
  EXPECT_GT(rows_written, kLongestPieceBytes * kCasesCount / 2);
}

}  // namespace
}  // namespace sonde
