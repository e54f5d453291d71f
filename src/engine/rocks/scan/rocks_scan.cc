#include "engine/rocks/scan/rocks_scan.h"

#include <rocksdb/perf_context.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "engine/rocks/files/rocks_status.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

constexpr uint32_t kStepsBetweenClockReadings = 128;

// Up to this many families get a stream without asking the directory first.
constexpr size_t kFamiliesWithoutLooking = 8;

bool IsEmpty(const RowPiece& piece) { return piece.cells.empty() && piece.numbers.empty(); }

ReadHints Relaxed(ReadHints hints) {
  hints.newest_per_column.reset();
  hints.newest_of_row = false;
  hints.keys_only = false;
  hints.numbers.clear();
  return hints;
}

// RocksDB counts them by itself (PerfLevel::kEnableCount is its default).
uint64_t BlockReadsOfThread() {
  const rocksdb::PerfContext& counts = *rocksdb::get_perf_context();
  return counts.block_read_count + counts.blob_read_count;
}

}  // namespace

RocksScan::RocksScan(const CellStore* store, TableId table, std::vector<RowRange> ranges,
                     Engine::ScanOptions options)
    : store_(store),
      table_(table),
      shapes_(store->shapes(), table),
      ranges_(std::move(ranges)),
      options_(std::move(options)),
      relaxed_hints_(Relaxed(options_.hints)) {
  // Which rows of known families are looked up in.
  if (options_.hints.families.has_value())
    std::sort(options_.hints.families->begin(), options_.hints.families->end());
  if (!options_.take_large && store->large_room() != nullptr)
    options_.take_large = TakeForEntries(store->large_room(), WhenFull::kWait);
}

absl::Status RocksScan::CheckDeadline() {
  const bool is_endless = options_.deadline == absl::InfiniteFuture() && !options_.interrupted;
  if (is_endless || steps_++ % kStepsBetweenClockReadings != 0) return absl::OkStatus();
  if (options_.interrupted) {
    if (absl::Status status = options_.interrupted(); !status.ok()) return status;
  }
  if (absl::Now() < options_.deadline) return absl::OkStatus();
  return absl::DeadlineExceededError("The deadline passed while rows were read");
}

absl::Status RocksScan::TakeLarge(uint64_t bytes) {
  if (!options_.take_large || bytes < static_cast<uint64_t>(kLargeBytes)) return absl::OkStatus();
  return options_.take_large(bytes);
}

bool RocksScan::Wants(FamilyId family) const {
  if (options_.hints.families.has_value()) {
    const auto& wanted = *options_.hints.families;
    if (std::find(wanted.begin(), wanted.end(), family) == wanted.end()) return false;
  }
  return (options_.hints.families.has_value() || !IsExpiringFamily(family)) &&
         !store_->IsDropped(table_, family);
}

absl::StatusOr<bool> RocksScan::Next(RowPiece* piece) {
  if (options_.cost == nullptr) return FindNext(piece);
  const uint64_t before = BlockReadsOfThread();
  absl::StatusOr<bool> found = FindNext(piece);
  options_.cost->block_reads += static_cast<int64_t>(BlockReadsOfThread() - before);
  return found;
}

absl::StatusOr<bool> RocksScan::FindNext(RowPiece* piece) {
  while (true) {
    if (absl::Status status = CheckDeadline(); !status.ok()) return status;
    if (state_ == State::kBetweenRanges) {
      if (ranges_done_ == ranges_.size()) return false;
      if (absl::Status status = StartRange(); !status.ok()) return status;
    }
    absl::StatusOr<bool> filled = state_ == State::kLookingUp ? NextLookedUp(piece) : NextMerged(piece);
    if (!filled.ok() || *filled) return filled;
  }
}

// One snapshot for all that is read; and a stream for each wanted family that has pages.
absl::Status RocksScan::MakeSources() {
  moment_.emplace(store_);
  directory_.emplace(*store_, &*moment_, table_);
  const auto add = [this](FamilyId family) {
    if (IsExpiringFamily(family) || !Wants(family)) return;
    const PageStream::Options options{.family = family,
                                      .reverse = options_.reverse,
                                      .deadline = options_.deadline,
                                      .interrupted = &options_.interrupted,
                                      .take_large = options_.take_large ? &options_.take_large : nullptr,
                                      .cost = options_.cost};
    sources_.push_back(
        {std::make_unique<PageStream>(store_, moment_->snapshot(), &*directory_, &options_.hints, options)});
  };
  const auto& wanted = options_.hints.families;
  if (wanted.has_value() && wanted->size() <= kFamiliesWithoutLooking) {
    std::for_each(wanted->begin(), wanted->end(), add);
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<FamilyId>> families = directory_->Families();
  if (!families.ok()) return families.status();
  std::for_each(families->begin(), families->end(), add);
  return absl::OkStatus();
}

absl::Status RocksScan::StartRange() {
  if (!moment_.has_value()) {
    if (absl::Status status = MakeSources(); !status.ok()) return status;
  }
  const RowRange& range = ranges_[options_.reverse ? ranges_.size() - 1 - ranges_done_ : ranges_done_];
  ++ranges_done_;
  if (!range.IsSingleRow() || !options_.hints.families.has_value()) return StartMerging(range);
  state_ = State::kLookingUp;
  families_done_ = 0;
  row_key_ = range.start;
  chosen_source_ = nullptr;
  return TakeLarge(store_->long_rows().BytesOf(table_, row_key_));
}

absl::Status RocksScan::StartMerging(const RowRange& range) {
  // Which rows come is not known yet.
  if (absl::Status status = TakeLarge(store_->long_rows().MostOfRow()); !status.ok()) return status;
  state_ = State::kMerging;
  chosen_source_ = nullptr;
  chosen_heads_ = {};
  const auto& wanted = options_.hints.families;
  for (size_t i = 0; i < heads_.size(); ++i) {
    if (heads_[i] == nullptr) {
      heads_[i] = std::make_unique<HeadCursor>(
          store_->db(), moment_->head(i), moment_->snapshot(), table_,
          HeadCursor::Options{
              .reverse = options_.reverse,
              .expiring = wanted.has_value() && std::any_of(wanted->begin(), wanted->end(), IsExpiringFamily),
              .wants = [this](FamilyId family) { return Wants(family); }});
    }
    if (absl::Status status = heads_[i]->Start(range); !status.ok()) return status;
  }
  for (Source& source : sources_) {
    if (absl::Status status = source.stream->Start(range); !status.ok()) return status;
    absl::StatusOr<bool> more = source.stream->Next();
    if (!more.ok()) return more.status();
    source.valid = *more;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> RocksScan::NextLookedUp(RowPiece* piece) {
  if (over_.has_value()) {
    absl::StatusOr<bool> more = NextOver(piece);
    if (!more.ok() || *more) return more;
  }
  const std::vector<FamilyId>& families = *options_.hints.families;
  if (chosen_source_ != nullptr) {  // the row may go on in its next page
    if (absl::Status status = Advance(); !status.ok()) return status;
    if (chosen_source_->valid) {
      fragments_.clear();
      piece->last_of_row = IsLastOfRow();
      if (absl::Status status = Fill(chosen_source_, piece); !status.ok()) return status;
      return true;
    }
    chosen_source_ = nullptr;
  }
  while (families_done_ < families.size()) {
    family_ = families[families_done_++];
    if (store_->IsDropped(table_, family_)) continue;
    key_.clear();
    AppendCellsKey(table_, row_key_, family_, &key_);
    fragments_.clear();
    size_t open_begin = 0;
    for (size_t i = 0; i < lookups_.size(); ++i) {
      absl::Status status =
          lookups_[i].Find(store_->db(), moment_->head(i), moment_->snapshot(), key_, &fragments_);
      if (!status.ok()) return status;
      if (i == 0) open_begin = fragments_.size();
    }
    NoteOpenFragments(open_begin);
    Source* source = nullptr;
    for (Source& some : sources_) {
      if (some.stream->family() == family_) source = &some;
    }
    if (source != nullptr) {
      if (absl::Status status = source->stream->Start(RowRange::Single(row_key_)); !status.ok())
        return status;
      absl::StatusOr<bool> more = source->stream->Next();
      if (!more.ok()) return more.status();
      source->valid = *more;
      if (!source->valid) source = nullptr;
    }
    if (source == nullptr && fragments_.empty()) continue;
    if (fragments_.empty()) chosen_source_ = source;
    piece->last_of_row = IsLastOfRow();
    if (absl::Status status = Fill(source, piece); !status.ok()) return status;
    if (IsEmpty(*piece)) continue;
    return true;
  }
  state_ = State::kBetweenRanges;
  return false;
}

absl::StatusOr<bool> RocksScan::NextMerged(RowPiece* piece) {
  if (over_.has_value()) {
    absl::StatusOr<bool> more = NextOver(piece);
    if (!more.ok() || *more) return more;
  }
  if (absl::Status status = Advance(); !status.ok()) return status;
  if (!Choose()) {
    state_ = State::kBetweenRanges;
    return false;
  }
  fragments_.clear();
  size_t open_begin = 0;
  for (size_t i = 0; i < heads_.size(); ++i) {
    if (i == 1) open_begin = fragments_.size();
    if (!chosen_heads_[i]) continue;
    if (absl::Status status = heads_[i]->Fragments(&fragments_); !status.ok()) return status;
  }
  NoteOpenFragments(open_begin);
  piece->last_of_row = IsLastOfRow();
  if (absl::Status status = Fill(chosen_source_, piece); !status.ok()) return status;
  return !IsEmpty(*piece);
}

void RocksScan::NoteOpenFragments(size_t begin) const {
  uint64_t bytes = 0;
  for (size_t i = begin; i < fragments_.size(); ++i) bytes += fragments_[i].size();
  store_->NoteRead(*moment_, bytes);
}

absl::Status RocksScan::Advance() {
  for (size_t i = 0; i < heads_.size(); ++i) {
    if (!std::exchange(chosen_heads_[i], false)) continue;
    if (absl::Status status = heads_[i]->Next(); !status.ok()) return status;
  }
  if (chosen_source_ != nullptr && chosen_source_->valid) {
    absl::StatusOr<bool> more = chosen_source_->stream->Next();
    if (!more.ok()) return more.status();
    chosen_source_->valid = *more;
  }
  return absl::OkStatus();
}

// Whether this row and family is what comes next, of all that were offered so far.
bool RocksScan::Offer(const std::string& row_key, FamilyId family) {
  if (any_chosen_) {
    int order = row_key.compare(row_key_);
    if (order == 0) order = family < family_ ? -1 : family > family_ ? 1 : 0;
    if (order == 0) return true;
    if ((order < 0) == options_.reverse) return false;
  }
  any_chosen_ = true;
  row_key_ = row_key;
  family_ = family;
  chosen_heads_ = {};
  chosen_source_ = nullptr;
  return true;
}

bool RocksScan::Choose() {
  any_chosen_ = false;
  chosen_source_ = nullptr;
  for (size_t i = 0; i < heads_.size(); ++i) {
    if (heads_[i]->valid() && Offer(heads_[i]->row_key(), heads_[i]->family())) chosen_heads_[i] = true;
  }
  for (Source& source : sources_) {
    if (source.valid && Offer(source.stream->piece().row_key, source.stream->family()))
      chosen_source_ = &source;
  }
  return any_chosen_;
}

// Judges only the sources that were chosen: the next entry of a chosen cursor or stream is not known yet.
bool RocksScan::IsLastOfRow() const {
  return (chosen_source_ == nullptr || chosen_source_->stream->row_goes_on_at() == nullptr) &&
         IsLastFamilyOfRow();
}

bool RocksScan::IsLastFamilyOfRow() const {
  const auto& wanted = options_.hints.families;
  if (state_ == State::kLookingUp) return families_done_ == wanted->size();
  if (wanted.has_value() && wanted->size() == 1) return true;
  for (size_t i = 0; i < heads_.size(); ++i) {
    if (chosen_heads_[i] || (heads_[i]->valid() && heads_[i]->row_key() == row_key_)) return false;
  }
  return std::none_of(sources_.begin(), sources_.end(), [&](const Source& source) {
    return &source != chosen_source_ && source.valid && source.stream->piece().row_key == row_key_;
  });
}

absl::Status RocksScan::Fill(Source* source, RowPiece* piece) {
  piece->row_key = row_key_;
  piece->family = family_;
  if (source != nullptr && fragments_.empty()) {
    piece->cells.swap(source->stream->piece().cells);
    piece->numbers.swap(source->stream->piece().numbers);
    return absl::OkStatus();
  }
  piece->numbers.clear();
  newest_qualifier_.clear();
  newest_count_ = 0;
  if (source != nullptr) return FillOver(source, piece);
  absl::Status status = reader_.Read(fragments_, shapes_, options_.hints, &piece->cells);
  if (status.ok()) KeepNewest(&piece->cells);
  return status;
}

void RocksScan::KeepNewest(std::vector<CellView>* cells) {
  if (!options_.hints.newest_per_column.has_value()) return;
  std::erase_if(*cells, [&](const CellView& cell) {
    if (!options_.hints.time_range.Contains(cell.timestamp_micros)) return false;
    if (cell.qualifier != newest_qualifier_) {
      newest_qualifier_ = cell.qualifier;
      newest_count_ = 0;
    }
    return ++newest_count_ > *options_.hints.newest_per_column;
  });
}

// Lays edits over the cells of pages.  The newest cells of the pages are not enough if some are deleted.
// Their keys are not enough if something is added to them.  Edits cannot be laid over numbers.
absl::Status RocksScan::FillOver(Source* source, RowPiece* piece) {
  const bool deletes = !std::all_of(fragments_.begin(), fragments_.end(), IsFragmentWithoutDeletes);
  const bool adds = !std::all_of(fragments_.begin(), fragments_.end(), IsFragmentWithoutAdds);
  const bool needs_all = (deletes && options_.hints.newest_per_column.has_value()) ||
                         ((deletes || adds) && options_.hints.newest_of_row) ||
                         (adds && options_.hints.keys_only) || !options_.hints.numbers.empty();
  if (!needs_all && source->stream->row_goes_on_at() == nullptr) {
    absl::Status status =
        reader_.ReadOver(source->stream->piece().cells, fragments_, shapes_, options_.hints, &piece->cells);
    if (status.ok()) KeepNewest(&piece->cells);
    return status;
  }
  const absl::StatusOr<const Fragment*> edits = reader_.ReadEdits(fragments_, shapes_, options_.hints);
  if (!edits.ok()) return edits.status();
  over_.emplace(Over{.source = source, .pages = source->stream.get(), .edits = FragmentEdits(**edits)});
  if (needs_all) {
    over_->directory = std::make_unique<DirectoryCursor>(*store_, &*moment_, table_);
    over_->all = std::make_unique<PageStream>(
        store_, moment_->snapshot(), over_->directory.get(), &relaxed_hints_,
        PageStream::Options{.family = family_,
                            .deadline = options_.deadline,
                            .interrupted = &options_.interrupted,
                            .take_large = options_.take_large ? &options_.take_large : nullptr,
                            .cost = options_.cost});
    over_->pages = over_->all.get();
    if (absl::Status status = over_->all->Start(RowRange::Single(row_key_)); !status.ok()) return status;
    absl::StatusOr<bool> more = over_->all->Next();
    if (!more.ok()) return more.status();
    over_->at_piece = *more;
  }
  return NextOver(piece).status();
}

absl::StatusOr<bool> RocksScan::NextOver(RowPiece* piece) {
  piece->row_key = row_key_;
  piece->family = family_;
  piece->numbers.clear();
  piece->cells.clear();
  while (!over_->done && piece->cells.empty()) {
    if (std::exchange(over_->begun, true)) {
      absl::StatusOr<bool> more = over_->pages->Next();
      if (!more.ok()) return more;
      over_->at_piece = *more && over_->pages->piece().row_key == row_key_;
      if (over_->all == nullptr) over_->source->valid = *more;
    }
    absl::Span<const CellView> cells;
    const ParsedPageKey* next = nullptr;
    if (over_->at_piece) {
      cells = over_->pages->piece().cells;
      next = over_->pages->row_goes_on_at();
    }
    const FragmentEdits edits =
        next == nullptr ? over_->edits : over_->edits.TakeBefore(next->qualifier, next->timestamp_micros);
    if (absl::Status status = reader_.OverlayEdits(edits, cells, &piece->cells); !status.ok()) return status;
    KeepNewest(&piece->cells);
    over_->done = next == nullptr;
  }
  piece->last_of_row = over_->done && IsLastFamilyOfRow();
  if (!piece->cells.empty()) return true;
  // The last piece is no longer in use, so its family's stream may go past the row.
  Source* const source = over_->source;
  const bool is_past = over_->all == nullptr && !over_->at_piece;
  over_.reset();
  chosen_source_ = nullptr;
  if (is_past || state_ == State::kLookingUp) return false;  // who looks up starts it anew
  if (absl::Status status = PassRow(source); !status.ok()) return status;
  return false;
}

absl::Status RocksScan::PassRow(Source* source) {
  while (source->valid && source->stream->piece().row_key == row_key_) {
    absl::StatusOr<bool> more = source->stream->Next();
    if (!more.ok()) return more.status();
    source->valid = *more;
  }
  return absl::OkStatus();
}

}  // namespace sonde
