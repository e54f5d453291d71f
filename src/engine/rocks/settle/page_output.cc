#include "engine/rocks/settle/page_output.h"

#include <fmt/format.h>

#include "absl/hash/hash.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "cellblock/page_cursor.h"
#include "cellblock/page_reader.h"
#include "engine/rocks/store/directory.h"
#include "engine/rocks/store/page_key.h"

namespace sonde {
namespace {

// The digest of cells that came before (0: none) and these.
uint64_t Digest(uint64_t before, std::string_view row_key, absl::Span<const CellView> cells) {
  const uint64_t row = HashBytes(row_key);
  uint64_t digest = before;
  for (const CellView& cell : cells) {
    digest =
        absl::HashOf(digest, row, HashBytes(cell.qualifier), cell.timestamp_micros, HashBytes(cell.value));
  }
  return digest;
}

}  // namespace

absl::Status PageOutput::Add(std::string_view row_key, absl::Span<const CellView> cells) {
  while (!cells.empty()) {
    if (writer_.cells() == 0) {
      key_ = PageKey(table_, family_, row_key, cells.front().qualifier, cells.front().timestamp_micros);
      digest_ = 0;
    }
    const size_t taken = writer_.Add(row_key, cells);
    digest_ = Digest(digest_, row_key, cells.first(taken));
    cells.remove_prefix(taken);
    if (cells.empty()) break;
    if (absl::Status status = Finish(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status PageOutput::Finish() {
  if (writer_.cells() == 0) return absl::OkStatus();
  ++counts_.pages;
  counts_.cells += writer_.cells();
  page_.clear();
  writer_.Finish(&page_);
  counts_.bytes += page_.size();
  if (absl::Status status = ReadBack(page_); !status.ok()) {
    return absl::InternalError(
        fmt::format("A new page of table {}, family {} would not be read as it was written ({}): its cells "
                    "stay where they are",
                    table_, family_, std::string(status.message())));
  }
  const absl::StatusOr<PageHeader> header = ReadPageHeader(page_);
  if (!header.ok()) return header.status();
  absl::Status status = PutPage(*store_, key_, *header, page_, batch_);
  if (page_.size() >= static_cast<size_t>(kLargeBytes)) {
    store_->NotePage(page_.size());
    std::string().swap(page_);
  }
  return status.ok() && after_page_ ? after_page_() : status;
}

absl::Status PageOutput::ReadBack(std::string_view page) const {
  absl::StatusOr<std::unique_ptr<PageReader>> reader = PageReader::Open(page);
  if (!reader.ok()) return reader.status();
  PageCursor cursor(reader->get(), RowRange::All(), {}, /*reverse=*/false);
  RowPiece piece;
  uint64_t digest = 0;
  while (true) {
    absl::StatusOr<bool> more = cursor.Next(&piece);
    if (!more.ok()) return more.status();
    if (!*more) break;
    digest = Digest(digest, piece.row_key, piece.cells);
  }
  if (digest != digest_) return absl::InternalError("other cells");
  return absl::OkStatus();
}

}  // namespace sonde
