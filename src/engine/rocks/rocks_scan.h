// Rows of RocksDB, in order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cellblock/fragment.h"
#include "engine/rocks/key.h"
#include "engine/rocks/rocks_engine.h"
#include "rocksdb/db.h"

namespace sonde {

// Single rows of known families are looked up by key (the Bloom filter answers for most that are not there);
// all else goes through one iterator, made when first needed, whose views are handed out as they are.
class RocksScan final : public RowStream {
 public:
  RocksScan(const RocksEngine* engine, TableId table, std::vector<RowRange> ranges,
            Engine::ScanOptions options);
  ~RocksScan() override;

  absl::StatusOr<bool> Next(RowPiece* piece) override;

 private:
  enum class State { kBetweenRanges, kLookingUp, kIterating };

  absl::Status CheckDeadline();
  void StartRange();
  // True: `piece` is filled.  False: the range is at its end.
  absl::StatusOr<bool> NextLookedUp(RowPiece* piece);
  absl::StatusOr<bool> NextIterated(RowPiece* piece);
  // The fragments of key_, oldest first, into fragments_; none when it is not there.
  absl::Status LookUp();
  bool Wants(FamilyId family) const;
  void SkipExpiringFamilies(std::string_view row_prefix);
  void MakeIterator();
  void ReleaseSnapshot();

  const RocksEngine* engine_;
  const TableId table_;
  const TableShapes shapes_;
  const std::vector<RowRange> ranges_;
  const Engine::ScanOptions options_;

  State state_ = State::kBetweenRanges;
  size_t ranges_done_ = 0;
  uint32_t steps_ = 0;

  // Looking up.
  size_t families_done_ = 0;
  const rocksdb::Snapshot* snapshot_ = nullptr;
  std::string key_;
  std::vector<rocksdb::PinnableSlice> looked_up_;
  std::vector<std::string_view> fragments_;

  // Iterating.
  std::unique_ptr<rocksdb::Iterator> iterator_;
  std::string table_start_, table_end_;
  rocksdb::Slice lower_bound_, upper_bound_;  // RocksDB keeps pointers to these
  std::string range_start_, range_end_;
  bool step_first_ = false;  // the entry that the iterator is at was handed out already
  std::string row_prefix_;

  FragmentsReader reader_;
};

}  // namespace sonde
