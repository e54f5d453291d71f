// Pages of cells.  First byte 0 modulo 3: the rest is taken for a page, as it is and with checksums that
// match. 1: for rows, whose pages must read back as they were.  2: for rows and then for changes to the bytes
// of their page, of which nothing may come but cells or DATA_LOSS.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cellblock/page_cursor.h"
#include "cellblock/page_fuzz.h"
#include "cellblock/page_reader.h"
#include "cellblock/page_writer.h"
#include "target.h"

namespace sonde {
namespace {

// By row, qualifier, and timestamp negated: the order of cells.
using Cells = std::map<std::string, std::map<std::pair<std::string, int64_t>, std::string>>;

std::string TakeValue(InputReader* input) {
  const uint8_t what = input->Byte();
  switch (what % 6) {
    case 0:
      return std::string(input->Bytes(input->Byte() % 40));
    case 1:
      return std::to_string(input->Byte());
    case 2:
      return std::to_string(static_cast<int32_t>(input->Number()));
    case 3: {
      std::string text = std::to_string(static_cast<int32_t>(input->Number()) % 100'000);
      return text.insert(text.size() - std::min<size_t>(text.size(), what / 6 % 4), ".");
    }
    case 4: {
      std::string bytes;
      PutFixed64(&bytes, input->Number());
      return std::string(bytes.rbegin(), bytes.rend());  // 64 bits, big-endian
    }
    default:
      return std::string(what / 6 % 4, 'x');
  }
}

Cells TakeCells(InputReader* input) {
  constexpr int kRowsMax = 64;
  constexpr int kCellsMax = 512;
  Cells cells;
  int64_t micros = input->Number();
  int count = 0;
  for (int row = 0; row < kRowsMax && !input->IsEmpty() && count < kCellsMax; ++row) {
    const uint8_t what = input->Byte();
    const std::string key =
        "r" + (what & 1 ? std::to_string(1000 + row) : std::string(input->Bytes(what / 8)));
    auto& of_row = cells[key];
    for (int i = 0; i <= (what & 6); ++i, ++count) {
      const uint8_t step = input->Byte();
      // Timestamps are not negative.
      micros = std::max<int64_t>(
          0, micros + (step & 128 ? static_cast<int32_t>(input->Number()) : step % 16 * 1000));
      of_row[{std::string(1 + step % 3, static_cast<char>('a' + step % 5)), -micros}] = TakeValue(input);
    }
  }
  return cells;
}

std::vector<std::string> MakePages(const Cells& cells, size_t cells_max) {
  PageWriter writer({.cells_max = cells_max, .plain_bytes_max = size_t{1} << 14});
  std::vector<std::string> pages;
  const auto finish = [&] {
    pages.emplace_back();
    writer.Finish(&pages.back());
  };
  for (const auto& [key, of_row] : cells) {
    std::vector<CellView> views;
    for (const auto& [at, value] : of_row) views.push_back({at.first, -at.second, value});
    absl::Span<const CellView> rest = views;
    while (!rest.empty()) {
      const size_t taken = writer.Add(key, rest);
      Require(taken > 0 || writer.cells() > 0, "an empty page takes a cell");
      rest.remove_prefix(taken);
      if (!rest.empty()) finish();
    }
  }
  if (writer.cells() > 0) finish();
  return pages;
}

void CheckRows(const Cells& cells, const std::vector<std::string>& pages) {
  Cells seen;
  for (const std::string& page : pages) {
    const absl::StatusOr<std::unique_ptr<PageReader>> reader = PageReader::Open(page);
    Require(reader.ok(), "a page that was written opens");
    PageCursor cursor(reader->get(), RowRange{}, ReadHints{}, /*reverse=*/false);
    RowPiece piece;
    while (true) {
      const absl::StatusOr<bool> more = cursor.Next(&piece);
      Require(more.ok(), "a page that was written can be read");
      if (!*more) break;
      for (const CellView& cell : piece.cells) {
        const bool is_new = seen[std::string(piece.row_key)]
                                .emplace(std::pair{std::string(cell.qualifier), -cell.timestamp_micros},
                                         std::string(cell.value))
                                .second;
        Require(is_new, "a cell comes once");
      }
    }
    Require(ReadAnyPage(page).ok(), "a page that was written can be read in every way");
  }
  Require(seen == cells, "what was written comes back");
}

void Fuzz(InputReader input) {
  const uint8_t mode = input.Byte() % 3;
  if (mode == 0) {
    std::string page(input.Rest());
    (void)ReadAnyPage(page);
    SealPage(&page);
    (void)ReadAnyPage(page);
    return;
  }
  const size_t cells_max = 1 + input.Byte() % 64;
  const size_t changes = mode == 1 ? 0 : 1 + input.Byte() % 4;
  std::vector<std::pair<uint32_t, uint8_t>> flips;
  for (size_t i = 0; i < changes; ++i) flips.emplace_back(input.Number(), input.Byte());
  const Cells cells = TakeCells(&input);
  std::vector<std::string> pages = MakePages(cells, cells_max);
  if (changes == 0) return CheckRows(cells, pages);
  for (std::string& page : pages) {
    for (const auto& [at, bits] : flips) page[at % page.size()] ^= static_cast<char>(bits);
    SealPage(&page);
    const absl::StatusOr<size_t> read = ReadAnyPage(page);
    Require(read.ok() || read.status().code() == absl::StatusCode::kDataLoss, "damage is DATA_LOSS");
  }
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sonde::Fuzz(sonde::InputReader(data, size));
  return 0;
}
