// An engine that dies in the middle of a change of several rows, as a process that is killed: a beginning of the changes is there.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <optional>

#include "engine/forwarding_engine.h"

namespace sonde::sql {

class DyingEngine final : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;
  using RowStore::Apply;

  // Changes of rows that are still made.
  void DieAfter(size_t changes) { left_ = changes; }
  void LiveOn() { left_ = kForEver; }
  bool is_dead() const { return left_ == 0; }
  // From now on writes to this table fail, and no others.
  void LoseTable(TableId table) { lost_table_ = table; }

  absl::Status Apply(TableId table, RowSource* rows, const WriteOptions& options) override {
    if (table == lost_table_) return Dead();
    if (left_ == kForEver) return engine_->Apply(table, rows, options);
    while (const std::optional<absl::Span<const RowChange>> part = rows->Next()) {
      const size_t made = std::min(left_, part->size());
      absl::Status status = static_cast<RowStore*>(engine_)->Apply(table, part->first(made), options);
      if (!status.ok()) return status;
      left_ -= made;
      if (left_ == 0) return Dead();
    }
    return absl::OkStatus();
  }
  absl::Status DropRange(TableId table, const RowRange& range, absl::Time deadline) override {
    return is_dead() ? Dead() : engine_->DropRange(table, range, deadline);
  }
  absl::Status WriteRecords(const std::vector<RecordChange>& changes, absl::Time deadline) override {
    return is_dead() ? Dead() : engine_->WriteRecords(changes, deadline);
  }

 private:
  static constexpr size_t kForEver = std::numeric_limits<size_t>::max();
  static absl::Status Dead() { return absl::UnavailableError("dead"); }

  size_t left_ = kForEver;
  std::atomic<TableId> lost_table_ = 0;
};

}  // namespace sonde::sql
