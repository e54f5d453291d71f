#include "engine/rocks/rocks_scan.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "engine/rocks/rocks_status.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

constexpr uint32_t kStepsBetweenClockReadings = 128;

// A row that is written again and again has a fragment for each write until RocksDB combines them.  So many
// are read as they are, for the few cells of them that are asked for; of more, RocksDB makes one.
constexpr int kFragmentsExpected = 8;
constexpr int kFragmentsMax = 4096;

}  // namespace

RocksScan::RocksScan(const RocksEngine* engine, TableId table, std::vector<RowRange> ranges,
                     Engine::ScanOptions options)
    : engine_(engine),
      table_(table),
      shapes_(&engine->shapes_, table),
      ranges_(std::move(ranges)),
      options_(std::move(options)) {}

RocksScan::~RocksScan() { ReleaseSnapshot(); }

void RocksScan::ReleaseSnapshot() {
  if (snapshot_ != nullptr) engine_->cells_->ReleaseSnapshot(snapshot_);
  snapshot_ = nullptr;
}

absl::Status RocksScan::CheckDeadline() {
  if (options_.deadline == absl::InfiniteFuture() || steps_++ % kStepsBetweenClockReadings != 0)
    return absl::OkStatus();
  if (absl::Now() < options_.deadline) return absl::OkStatus();
  return absl::DeadlineExceededError("The deadline passed while rows were read");
}

bool RocksScan::Wants(FamilyId family) const {
  if (options_.hints.families.has_value()) {
    const auto& wanted = *options_.hints.families;
    if (std::find(wanted.begin(), wanted.end(), family) == wanted.end()) return false;
  }
  return (options_.hints.families.has_value() || !IsExpiringFamily(family)) &&
         !engine_->IsDropped(table_, family);
}

absl::StatusOr<bool> RocksScan::Next(RowPiece* piece) {
  while (true) {
    if (absl::Status status = CheckDeadline(); !status.ok()) return status;
    if (state_ == State::kBetweenRanges) {
      if (ranges_done_ == ranges_.size()) return false;
      StartRange();
    }
    absl::StatusOr<bool> filled = state_ == State::kLookingUp ? NextLookedUp(piece) : NextIterated(piece);
    if (!filled.ok() || *filled) return filled;
    if (state_ == State::kBetweenRanges) continue;
  }
}

void RocksScan::StartRange() {
  const RowRange& range = ranges_[options_.reverse ? ranges_.size() - 1 - ranges_done_ : ranges_done_];
  ++ranges_done_;
  if (range.IsSingleRow() && options_.hints.families.has_value()) {
    state_ = State::kLookingUp;
    families_done_ = 0;
    key_.clear();
    AppendRowPrefix(table_, range.start, &key_);
    row_prefix_ = key_;
    // The families of a row are one snapshot of it.
    if (options_.hints.families->size() > 1) snapshot_ = engine_->cells_->GetSnapshot();
    return;
  }
  state_ = State::kIterating;
  range_start_ = StartOfRange(table_, range);
  range_end_ = EndOfRange(table_, range);
  MakeIterator();
  if (options_.reverse) {
    iterator_->SeekForPrev(range_end_);
    if (iterator_->Valid() && iterator_->key() == rocksdb::Slice(range_end_)) iterator_->Prev();
  } else {
    iterator_->Seek(range_start_);
  }
  step_first_ = false;
}

// There may be thousands in a row, the last of its families.
void RocksScan::SkipExpiringFamilies(std::string_view row_prefix) {
  if (options_.hints.families.has_value() &&
      std::any_of(options_.hints.families->begin(), options_.hints.families->end(), IsExpiringFamily)) {
    return;
  }
  std::string key(row_prefix);
  if (options_.reverse) {
    AppendFamily(kExpiringFamilies, &key);
    iterator_->SeekForPrev(key);
    if (iterator_->Valid() && iterator_->key() == rocksdb::Slice(key)) iterator_->Prev();
  } else {
    iterator_->Seek(EndOfRowPrefix(key));
  }
  step_first_ = false;
}

void RocksScan::MakeIterator() {
  if (iterator_ != nullptr) return;
  table_start_ = StartOfRange(table_, RowRange::All());
  table_end_ = EndOfRange(table_, RowRange::All());
  lower_bound_ = table_start_;
  upper_bound_ = table_end_;
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  read.iterate_lower_bound = &lower_bound_;
  read.iterate_upper_bound = &upper_bound_;
  read.adaptive_readahead = true;
  iterator_.reset(engine_->cells_->NewIterator(read));
}

absl::StatusOr<bool> RocksScan::NextLookedUp(RowPiece* piece) {
  const std::vector<FamilyId>& families = *options_.hints.families;
  while (families_done_ < families.size()) {
    const FamilyId family = families[families_done_++];
    if (engine_->IsDropped(table_, family)) continue;
    key_.resize(row_prefix_.size());
    AppendFamily(family, &key_);
    if (absl::Status status = LookUp(); !status.ok()) return status;
    if (fragments_.empty()) continue;
    absl::Status status = reader_.Read(fragments_, shapes_, options_.hints, &piece->cells);
    if (!status.ok()) return status;
    if (piece->cells.empty()) continue;
    DecodeRowKey(row_prefix_, &piece->row_key);
    piece->family = family;
    piece->last_of_row = families_done_ == families.size();
    return true;
  }
  ReleaseSnapshot();
  state_ = State::kBetweenRanges;
  return false;
}

absl::Status RocksScan::LookUp() {
  rocksdb::DB& cells = *engine_->cells_;
  rocksdb::ReadOptions read;
  read.snapshot = snapshot_;
  if (looked_up_.empty()) looked_up_.resize(kFragmentsExpected);
  for (rocksdb::PinnableSlice& slice : looked_up_) slice.Reset();
  int count = 0;
  rocksdb::Status status;
  while (true) {
    rocksdb::GetMergeOperandsOptions how;
    how.expected_max_number_of_operands = static_cast<int>(looked_up_.size());
    status = cells.GetMergeOperands(read, cells.DefaultColumnFamily(), key_, looked_up_.data(), &how, &count);
    if (!status.IsIncomplete() || count > kFragmentsMax) break;
    looked_up_ = std::vector<rocksdb::PinnableSlice>(count);
  }
  if (status.IsIncomplete()) {
    count = 1;
    status = cells.Get(read, cells.DefaultColumnFamily(), key_, &looked_up_[0]);
  }
  fragments_.clear();
  if (status.IsNotFound()) return absl::OkStatus();
  if (!status.ok()) return FromRocks(status, "reading a row");
  for (int i = 0; i < count; ++i) fragments_.emplace_back(looked_up_[i].data(), looked_up_[i].size());
  return absl::OkStatus();
}

absl::StatusOr<bool> RocksScan::NextIterated(RowPiece* piece) {
  if (step_first_) {
    options_.reverse ? iterator_->Prev() : iterator_->Next();
    step_first_ = false;
  }
  if (!iterator_->Valid()) {
    if (!iterator_->status().ok()) return FromRocks(iterator_->status(), "reading rows");
    state_ = State::kBetweenRanges;
    return false;
  }
  const rocksdb::Slice key = iterator_->key();
  if (options_.reverse ? key.compare(range_start_) < 0 : key.compare(range_end_) >= 0) {
    state_ = State::kBetweenRanges;
    return false;
  }
  step_first_ = true;
  ParsedKey parsed;
  if (!ParseKey({key.data(), key.size()}, &parsed)) return absl::DataLossError("A stored key is damaged");
  if (!Wants(parsed.family)) {
    if (IsExpiringFamily(parsed.family)) SkipExpiringFamilies(parsed.row_prefix);
    return false;
  }
  const std::string_view value(iterator_->value().data(), iterator_->value().size());
  absl::Status status = reader_.Read({value}, shapes_, options_.hints, &piece->cells);
  if (!status.ok()) return status;
  if (piece->cells.empty()) return false;
  DecodeRowKey(parsed.row_prefix, &piece->row_key);
  piece->family = parsed.family;
  piece->last_of_row = options_.hints.families.has_value() && options_.hints.families->size() == 1;
  return true;
}

}  // namespace sonde
