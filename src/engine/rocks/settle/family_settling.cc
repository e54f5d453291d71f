#include "engine/rocks/settle/family_settling.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace sonde {
namespace {

// A neighbour with no more than so many times the new cells is made again with them.
constexpr size_t kSmallerThan = 2;
// And with no more than this part of the bytes of a page, before they are encoded.
constexpr size_t kSmallBytesShare = 8;
// Pages that cells are divided into are this much larger than their equal share, since rows stay together.
constexpr size_t kSlackShare = 16;
// More cells than so many pages hold need not be counted.
constexpr size_t kCountedPages = 4;

}  // namespace

FamilySettling::FamilySettling(const CellStore* store, DirectoryCursor* directory, FamilyId family,
                               const GcRuleEvaluator& rule, PageLimits limits, rocksdb::WriteBatch* batch)
    : store_(store),
      directory_(directory),
      family_(family),
      rule_(rule),
      limits_(limits),
      batch_(batch),
      output_(store, directory->table(), family, limits, batch),
      shapes_(store->shapes(), directory->table()) {}

void FamilySettling::set_write_part(std::function<absl::Status()> write_part) {
  write_part_ = std::move(write_part);
  // The rest of an old page, which the batch deletes, is not in the batch yet.
  output_.set_after_page([this] { return open_.has_value() ? absl::OkStatus() : write_part_(); });
}

absl::Status FamilySettling::Run(absl::Span<const RowEdits> rows) {
  DCHECK(std::ranges::is_sorted(rows, std::ranges::less(), &RowEdits::row_key));
  rows_ = rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (absl::Status status = AddRow(i); !status.ok()) return status;
  }
  return End();
}

absl::Status FamilySettling::Rewrite(const DirectoryEntryRef& page) {
  absl::Status status = Open(page, /*index=*/0);
  return status.ok() ? End() : status;
}

FamilySettling::Counts FamilySettling::counts() const {
  Counts counts = counts_;
  counts.out = output_.counts();
  return counts;
}

absl::Status FamilySettling::AddRow(size_t index) {
  states_.clear();
  const absl::StatusOr<const Fragment*> edits = reader_.ReadEdits(rows_[index].fragments, shapes_);
  if (!edits.ok()) return edits.status();
  edits_ = *edits;
  if (absl::Status status = GoTo(index); !status.ok()) return status;
  counts_.cells_in += rows_[index].cells;
  return AddToPages(index);
}

// Brings everything before the row to its place; then the open page, or else the next one, is the first that
// may hold cells of the row or of later ones.
absl::Status FamilySettling::GoTo(size_t index) {
  const std::string_view row_key = rows_[index].row_key;
  if (open_.has_value()) {
    if (absl::Status status = CopyBefore(row_key); !status.ok()) return status;
    if (open_.has_value()) return absl::OkStatus();
  }
  if (absl::Status status = MergePastRow(index); !status.ok()) return status;
  if (output_.cells() > 0) return absl::OkStatus();
  // Nothing is under way, so that what lies between may be passed.
  const std::string start = StartOfPageRow(directory_->table(), family_, row_key);
  absl::StatusOr<DirectoryEntryRef> before = directory_->FindBefore(family_, start);
  if (!before.ok()) return before.status();
  if (*before != nullptr && (*before)->key > done_key_ && (*before)->header.last_row_key >= row_key) {
    next_ = *before;
    return absl::OkStatus();
  }
  absl::StatusOr<DirectoryEntryRef> after = directory_->FindFrom(family_, start);
  if (!after.ok()) return after.status();
  next_ = *std::move(after);
  if (*before == nullptr || (*before)->key <= done_key_) return absl::OkStatus();
  if (!IsWorthMerging(**before, CellsBefore(index, next_))) return absl::OkStatus();
  if (absl::Status status = Open(*before, index); !status.ok()) return status;
  return CopyBefore(std::nullopt);
}

// Old pages between what was made and the row: small ones are made again with it, or else the page ends
// there.
absl::Status FamilySettling::MergePastRow(size_t index) {
  while (output_.cells() > 0 && next_ != nullptr && next_->header.last_row_key < rows_[index].row_key) {
    if (!IsWorthMerging(*next_, output_.cells())) return output_.Finish();
    const DirectoryEntryRef entry = next_;
    absl::Status status = Open(entry, index);
    if (status.ok()) status = CopyBefore(std::nullopt);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status FamilySettling::AddToPages(size_t index) {
  const std::string_view row_key = rows_[index].row_key;
  // As most rows do: it lies in the open page alone.
  if (open_.has_value() && !(next_ != nullptr && next_->first.row_key <= row_key))
    return AddToPage(row_key, FragmentEdits(*edits_));
  const absl::StatusOr<std::vector<DirectoryEntryRef>> pages = PagesOf(row_key);
  if (!pages.ok()) return pages.status();
  if (pages->empty()) {
    if (output_.cells() == 0) Divide(CellsBefore(index, next_));
    absl::Status status = Overlay(FragmentEdits(*edits_), {}, &states_, &cells_);
    return status.ok() ? Emit(row_key, &cells_) : status;
  }
  for (size_t i = 0; i < pages->size(); ++i) {
    const DirectoryEntryRef& entry = (*pages)[i];
    Stretch stretch;
    if (i > 0) stretch.begin = PlaceOf(*entry);
    if (i == 0 && write_part_ && !open_.has_value() && entry->first.row_key == row_key) {
      if (absl::Status status = AddBefore(row_key, *entry, &stretch); !status.ok()) return status;
    }
    if (i + 1 < pages->size()) stretch.end = PlaceOf(*(*pages)[i + 1]);
    const FragmentEdits edits = EditsIn(stretch);
    const bool touched = open_.has_value() || edits.delete_all || !edits.puts.empty() ||
                         !edits.adds.empty() || Deletes(stretch);
    absl::Status status;
    if (!touched) {
      status = output_.Finish();
    } else {
      if (!open_.has_value()) status = Open(entry, index);
      if (status.ok()) status = AddToPage(row_key, edits);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// The edits before all old cells of the row become pages on their own, of which any number can be written
// before an old page is taken away.
absl::Status FamilySettling::AddBefore(std::string_view row_key, const DirectoryEntry& first,
                                       Stretch* stretch) {
  const FragmentEdits edits = EditsIn({.end = PlaceOf(first)});
  if (edits.puts.empty()) return absl::OkStatus();
  stretch->begin = PlaceOf(first);
  if (output_.cells() == 0) Divide(edits.puts.size());
  absl::Status status = Overlay(edits, {}, &states_, &cells_);
  return status.ok() ? Emit(row_key, &cells_) : status;
}

// The open page's cells up to this row's, and these with the edits.
absl::Status FamilySettling::AddToPage(std::string_view row_key, const FragmentEdits& edits) {
  absl::Status status;
  while (status.ok() && open_->has_row && open_->row.row_key < row_key) {
    status = Emit(open_->row.row_key, &open_->row.cells);
    if (status.ok()) status = open_->Step();
  }
  if (!status.ok()) return status;
  const bool has_row = open_->has_row && open_->row.row_key == row_key;
  status = Overlay(edits, has_row ? absl::MakeConstSpan(open_->row.cells) : absl::Span<const CellView>(),
                   &states_, &cells_);
  if (status.ok()) status = Emit(row_key, &cells_);
  if (status.ok() && has_row) status = open_->Step();
  if (!open_->has_row) open_.reset();
  return status;
}

absl::Status FamilySettling::End() {
  if (open_.has_value()) {
    if (absl::Status status = CopyBefore(std::nullopt); !status.ok()) return status;
  }
  while (output_.cells() > 0 && next_ != nullptr && IsWorthMerging(*next_, output_.cells())) {
    const DirectoryEntryRef entry = next_;
    absl::Status status = Open(entry, rows_.size());
    if (status.ok()) status = CopyBefore(std::nullopt);
    if (!status.ok()) return status;
  }
  return output_.Finish();
}

absl::Status FamilySettling::OldPage::Step() {
  absl::StatusOr<bool> more = cursor->Next(&row);
  has_row = more.ok() && *more;
  return more.status();
}

// Takes an old page away, to be made again.  `index`: of the next row of edits.
absl::Status FamilySettling::Open(const DirectoryEntryRef& entry, size_t index) {
  absl::StatusOr<DirectoryEntryRef> after = directory_->After(entry);
  if (!after.ok()) return after.status();
  next_ = *std::move(after);
  absl::StatusOr<std::unique_ptr<OpenPage>> page = LoadPage(*store_, /*snapshot=*/nullptr, *entry);
  if (!page.ok()) return page.status();
  open_.emplace(OldPage{.entry = entry, .page = *std::move(page)});
  open_->cursor = std::make_unique<PageCursor>(open_->page->reader.get(), RowRange::All(), ReadHints(),
                                               /*reverse=*/false);
  done_key_ = entry->key;
  ++counts_.pages_old;
  counts_.cells_old += entry->header.cells;
  counts_.bytes_old += entry->header.page_bytes;
  Divide(output_.cells() + entry->header.cells + CellsBefore(index, next_));
  if (absl::Status status = DeletePage(*store_, entry->key, batch_); !status.ok()) return status;
  return open_->Step();
}

// Copies the open page's rows before this one (nothing: all), and closes it if there are no more.
absl::Status FamilySettling::CopyBefore(std::optional<std::string_view> row_key) {
  while (open_->has_row && (!row_key.has_value() || open_->row.row_key < *row_key)) {
    absl::Status status = Emit(open_->row.row_key, &open_->row.cells);
    if (status.ok()) status = open_->Step();
    if (!status.ok()) return status;
  }
  if (!open_->has_row) open_.reset();
  return absl::OkStatus();
}

// Pages come from the disk, so their order is no precondition of the writer of new ones: cells that do not come after all that went
// before are damage.
absl::Status FamilySettling::CheckOrder(std::string_view row_key, const std::vector<CellView>& cells) {
  using Position = std::tuple<std::string_view, std::string_view, int64_t>;  // newer cells come first
  const CellView& first = cells.front();
  if (last_.has_value() && Position(row_key, first.qualifier, ~first.timestamp_micros) <=
                               Position(last_->row_key, last_->qualifier, ~last_->timestamp_micros)) {
    return absl::DataLossError(fmt::format("Pages of table {}, family {} are out of order at row '{}'",
                                           directory_->table(), family_, Printable(row_key)));
  }
  if (!last_.has_value()) last_.emplace();
  last_->row_key = row_key;
  last_->qualifier = cells.back().qualifier;
  last_->timestamp_micros = cells.back().timestamp_micros;
  return absl::OkStatus();
}

absl::Status FamilySettling::Emit(std::string_view row_key, std::vector<CellView>* cells) {
  const auto bytes_of = [](const std::vector<CellView>& all) {
    uint64_t bytes = 0;
    for (const CellView& cell : all) bytes += cell.qualifier.size() + cell.value.size();
    return bytes;
  };
  const size_t before = cells->size();
  const uint64_t bytes_before = rule_.KeepsEverything() ? 0 : bytes_of(*cells);
  // If a column begins in another page, some of its cells are kept that could go.  Readers do not see them.
  rule_.Filter(cells);
  if (before > cells->size()) {
    counts_.cells_forgotten += before - cells->size();
    counts_.bytes_forgotten += bytes_before - bytes_of(*cells);
  }
  if (cells->empty()) return absl::OkStatus();
  if (absl::Status status = CheckOrder(row_key, *cells); !status.ok()) return status;
  return output_.Add(row_key, *cells);
}

// The pages that may hold cells of the row, in order.
absl::StatusOr<std::vector<DirectoryEntryRef>> FamilySettling::PagesOf(std::string_view row_key) {
  std::vector<DirectoryEntryRef> pages;
  if (open_.has_value()) pages.push_back(open_->entry);
  for (DirectoryEntryRef entry = next_; entry != nullptr && entry->first.row_key <= row_key;) {
    pages.push_back(std::move(entry));
    absl::StatusOr<DirectoryEntryRef> after = directory_->After(pages.back());
    if (!after.ok()) return after.status();
    entry = *std::move(after);
  }
  return pages;
}

FragmentEdits FamilySettling::EditsIn(const Stretch& stretch) {
  FragmentEdits edits(*edits_);
  if (stretch.begin.has_value()) edits.TakeBefore(stretch.begin->qualifier, stretch.begin->timestamp_micros);
  return stretch.end.has_value() ? edits.TakeBefore(stretch.end->qualifier, stretch.end->timestamp_micros)
                                 : edits;
}

// Whether the row's edits delete from one or more columns there.
bool FamilySettling::Deletes(const Stretch& stretch) const {
  // Newer cells come first.
  const auto position = [](std::string_view qualifier, int64_t timestamp_micros) {
    return std::tuple(qualifier, ~timestamp_micros);
  };
  return std::any_of(edits_->deletes.begin(), edits_->deletes.end(), [&](const auto& deletion) {
    const TimeRange& range = deletion.time_range;
    const int64_t newest = range.end_micros == 0 ? std::numeric_limits<int64_t>::max() : range.end_micros - 1;
    return (!stretch.begin.has_value() ||
            position(deletion.qualifier, range.start_micros) >=
                position(stretch.begin->qualifier, stretch.begin->timestamp_micros)) &&
           (!stretch.end.has_value() || position(deletion.qualifier, newest) <
                                            position(stretch.end->qualifier, stretch.end->timestamp_micros));
  });
}

bool FamilySettling::IsWorthMerging(const DirectoryEntry& neighbor, size_t new_cells) const {
  return neighbor.header.cells <= kSmallerThan * new_cells &&
         neighbor.header.cells + new_cells <= limits_.cells_max &&
         neighbor.header.page_bytes <= limits_.plain_bytes_max / kSmallBytesShare;
}

// Cells of edits from this row on, before the page.
size_t FamilySettling::CellsBefore(size_t index, const DirectoryEntryRef& next) const {
  size_t cells = 0;
  for (; index < rows_.size() && cells < kCountedPages * limits_.cells_max; ++index) {
    if (next != nullptr && rows_[index].row_key >= next->first.row_key) break;
    cells += rows_[index].cells;
  }
  return cells;
}

// So many cells are to come in a run: pages of about the same size.
void FamilySettling::Divide(size_t cells) {
  const size_t pages = std::max<size_t>(1, (cells + limits_.cells_max - 1) / limits_.cells_max);
  const size_t share = cells / pages + 1;
  output_.set_cells_max(pages == 1 ? limits_.cells_max
                                   : std::min(limits_.cells_max, share + share / kSlackShare + 1));
}

}  // namespace sonde
