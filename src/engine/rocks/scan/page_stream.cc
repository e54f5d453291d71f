#include "engine/rocks/scan/page_stream.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "base/bytes.h"
#include "engine/rocks/store/page_key.h"

namespace sonde {

PageStream::~PageStream() { Leave(); }

// Gives the page back.
void PageStream::Leave() {
  cursor_.reset();
  is_page_done_ = true;
  if (page_ != nullptr) store_->page_cache()->Give(std::move(page_));
  page_ = nullptr;
}

absl::Status PageStream::Start(RowRange rows) {
  split_.reset();
  split_follows_ = false;
  rows_ = std::move(rows);
  last_count_ = 0;
  // The next of many rows is often in the same page.
  if (page_ != nullptr && !options_.reverse && rows_.start > entry_->header.first_row_key &&
      rows_.start <= entry_->header.last_row_key) {
    cursor_->Restart(rows_);
    is_page_done_ = false;
    return absl::OkStatus();
  }
  Leave();
  const TableId table = directory_->table();
  absl::StatusOr<DirectoryEntryRef> found;
  if (options_.reverse) {
    found = directory_->FindBefore(options_.family, rows_.end.empty()
                                                        ? EndOfPages(table, options_.family)
                                                        : StartOfPageRow(table, options_.family, rows_.end));
  } else {
    // The page that begins before the range may reach into it.
    const std::string start = StartOfPageRow(table, options_.family, rows_.start);
    found = directory_->FindBefore(options_.family, start);
    if (found.ok() && (*found == nullptr || (*found)->header.last_row_key < rows_.start)) {
      found = directory_->FindFrom(options_.family, start);
    }
  }
  if (!found.ok()) return found.status();
  neighbor_ = *std::move(found);
  return absl::OkStatus();
}

absl::StatusOr<bool> PageStream::Next() {
  while (true) {
    if (split_ != nullptr) {
      absl::StatusOr<bool> more = NextOfSplit();
      if (!more.ok() || *more) return more;
    }
    if (!is_page_done_) {
      absl::StatusOr<bool> more = cursor_->Next(&piece_);
      if (!more.ok()) return more;
      if (*more) {
        RememberLastColumn();
        return true;
      }
      is_page_done_ = true;
    }
    if (split_follows_) {
      if (absl::Status status = StartSplit(); !status.ok()) return status;
      continue;
    }
    absl::StatusOr<bool> more = NextPage();
    if (!more.ok() || !*more) return more;
  }
}

const ParsedPageKey* PageStream::row_goes_on_at() const {
  if (split_ != nullptr) return split_->row_goes_on_at();
  const bool goes_on =
      !options_.reverse && neighbor_ != nullptr && neighbor_->first.row_key == piece_.row_key;
  return goes_on ? &neighbor_->first : nullptr;
}

void PageStream::RememberLastColumn() {
  if (!hints_->newest_per_column.has_value()) return;
  std::string_view qualifier;
  if (!piece_.cells.empty()) qualifier = piece_.cells.back().qualifier;
  const NumberColumn* const numbers = piece_.numbers.empty() ? nullptr : &piece_.numbers.back();
  const bool as_numbers = numbers != nullptr && (piece_.cells.empty() || numbers->qualifier > qualifier);
  if (as_numbers) qualifier = numbers->qualifier;
  if (last_row_ != piece_.row_key || last_qualifier_ != qualifier) {
    last_row_ = piece_.row_key;
    last_qualifier_ = qualifier;
    last_count_ = 0;
  }
  if (as_numbers) last_count_ += static_cast<int64_t>(numbers->numbers.size());
  for (auto cell = piece_.cells.rbegin(); cell != piece_.cells.rend() && cell->qualifier == qualifier;
       ++cell) {
    ++last_count_;
  }
}

// True: a page was opened.  False: there is none.
absl::StatusOr<bool> PageStream::NextPage() {
  while (neighbor_ != nullptr) {
    if (options_.deadline != absl::InfiniteFuture() && absl::Now() >= options_.deadline) {
      return absl::DeadlineExceededError("The deadline passed while rows were read");
    }
    if (options_.interrupted != nullptr && *options_.interrupted) {
      if (absl::Status status = (*options_.interrupted)(); !status.ok()) return status;
    }
    if (!options_.reverse && !rows_.end.empty() && neighbor_->first.row_key >= rows_.end) return false;
    if (options_.reverse && neighbor_->header.last_row_key < rows_.start) return false;
    Leave();
    entry_ = std::move(neighbor_);
    absl::StatusOr<DirectoryEntryRef> next =
        options_.reverse ? directory_->Before(entry_) : directory_->After(entry_);
    if (!next.ok()) return next.status();
    neighbor_ = *std::move(next);

    RowRange rows = rows_;
    if (options_.reverse && neighbor_ != nullptr && neighbor_->header.last_row_key == entry_->first.row_key &&
        entry_->first.row_key >= rows_.start) {
      split_follows_ = true;
      rows.start = Successor(entry_->first.row_key);
      if (rows.IsEmpty()) return true;
    }
    absl::StatusOr<bool> opened = OpenEntry(std::move(rows));
    if (!opened.ok() || *opened || split_follows_) return opened;
  }
  return false;
}

// False: the page is passed over.
absl::StatusOr<bool> PageStream::OpenEntry(RowRange rows) {
  if (Skips(*entry_)) return split_follows_;
  if (const uint64_t bytes = entry_->header.page_bytes; bytes >= static_cast<uint64_t>(kLargeBytes)) {
    store_->NotePage(bytes);
    if (options_.take_large != nullptr) {
      if (absl::Status status = (*options_.take_large)(bytes); !status.ok()) return status;
    }
  }
  absl::StatusOr<std::unique_ptr<OpenPage>> page = LoadPage(*store_, snapshot_, *entry_);
  if (!page.ok()) {
    // Files of a table or family that was dropped meanwhile may be gone, though the snapshot names them.
    if (!store_->IsDropped(directory_->table(), options_.family)) return page.status();
    neighbor_.reset();
    return split_follows_ = false;
  }
  if (options_.cost != nullptr) ++options_.cost->pages;
  page_ = *std::move(page);
  cursor_.emplace(page_->reader.get(), std::move(rows), *hints_, options_.reverse);
  is_page_done_ = false;
  return true;
}

absl::Status PageStream::StartSplit() {
  split_follows_ = false;
  const std::string row_key = entry_->first.row_key;
  Leave();
  split_ = std::make_unique<PageStream>(store_, snapshot_, directory_, hints_,
                                        Options{.family = options_.family,
                                                .deadline = options_.deadline,
                                                .interrupted = options_.interrupted,
                                                .take_large = options_.take_large,
                                                .cost = options_.cost});
  return split_->Start(RowRange::Single(row_key));
}

absl::StatusOr<bool> PageStream::NextOfSplit() {
  absl::StatusOr<bool> more = split_->Next();
  if (!more.ok() || *more) return more;
  rows_.end = entry_->first.row_key;
  split_.reset();
  if (rows_.IsEmpty() || rows_.end.empty()) {
    neighbor_.reset();
    return false;
  }
  absl::StatusOr<DirectoryEntryRef> found = directory_->FindBefore(
      options_.family, StartOfPageRow(directory_->table(), options_.family, rows_.end));
  if (!found.ok()) return found.status();
  neighbor_ = *std::move(found);
  return false;
}

bool PageStream::Skips(const DirectoryEntry& entry) const {
  const TimeRange& times = hints_->time_range;
  if (entry.header.timestamp_micros_max < times.start_micros ||
      (times.end_micros != 0 && entry.header.timestamp_micros_min >= times.end_micros)) {
    return true;
  }
  // The checks below are for pages within a row.
  return entry.first.row_key == entry.header.last_row_key && !options_.reverse && SkipsColumns(entry);
}

bool PageStream::SkipsColumns(const DirectoryEntry& entry) const {
  const bool row_goes_on = neighbor_ != nullptr && neighbor_->first.row_key == entry.first.row_key;
  if (hints_->newest_per_column.has_value() && last_count_ >= *hints_->newest_per_column && last_count_ > 0 &&
      row_goes_on && last_row_ == entry.first.row_key && last_qualifier_ == entry.first.qualifier &&
      last_qualifier_ == neighbor_->first.qualifier) {
    return true;
  }
  if (!hints_->columns.has_value()) return false;
  return std::none_of(hints_->columns->begin(), hints_->columns->end(),
                      [&](const ReadHints::ColumnRange& range) {
                        return (!row_goes_on || range.start <= neighbor_->first.qualifier) &&
                               (range.end.empty() || range.end > entry.first.qualifier);
                      });
}

}  // namespace sonde
