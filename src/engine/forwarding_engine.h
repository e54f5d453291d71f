// An engine that asks another one, for tests that change, count or fail some of its calls.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"

namespace sonde {

class ForwardingEngine : public Engine {
 public:
  // `engine` must outlive this.
  explicit ForwardingEngine(Engine* engine) : engine_(engine) {}

  absl::Status WriteRecords(const std::vector<RecordChange>& changes) override {
    return engine_->WriteRecords(changes);
  }
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadRecords(
      std::string_view prefix) override {
    return engine_->ReadRecords(prefix);
  }
  absl::Status CreateTable(TableId table) override { return engine_->CreateTable(table); }
  absl::Status DropTable(TableId table) override { return engine_->DropTable(table); }
  absl::Status DropFamily(TableId table, FamilyId family) override {
    return engine_->DropFamily(table, family);
  }
  absl::StatusOr<std::unique_ptr<RowStream>> Scan(TableId table, std::vector<RowRange> ranges,
                                                  ScanOptions options) override {
    return engine_->Scan(table, std::move(ranges), std::move(options));
  }
  absl::Status Apply(TableId table, absl::Span<const RowChange> changes) override {
    return engine_->Apply(table, changes);
  }
  absl::Status ApplyParts(TableId table, const NextChanges& next) override {
    return engine_->ApplyParts(table, next);
  }
  absl::Status Update(TableId table, std::string_view row_key, const ReadHints& hints,
                      const Decide& decide) override {
    return engine_->Update(table, row_key, hints, decide);
  }
  absl::Status DropRange(TableId table, const RowRange& range) override {
    return engine_->DropRange(table, range);
  }
  absl::StatusOr<std::vector<RangeStats>> Ranges(TableId table) override { return engine_->Ranges(table); }
  absl::Status Checkpoint(TableId table, const std::string& directory) override {
    return engine_->Checkpoint(table, directory);
  }
  double WritePressure() const override { return engine_->WritePressure(); }
  bool RowMustWait(TableId table, std::string_view row_key) override {
    return engine_->RowMustWait(table, row_key);
  }
  absl::StatusOr<std::vector<uint64_t>> MeasureRows(TableId table, const std::vector<std::string>& starts,
                                                    const std::string& end) override {
    return engine_->MeasureRows(table, starts, end);
  }
  absl::StatusOr<LogEnd> FindLogEnd(TableId table, int64_t frontier_min) override {
    return engine_->FindLogEnd(table, frontier_min);
  }
  absl::Status ReadLog(TableId table, int64_t start, uint32_t start_index, int64_t through,
                       const std::function<bool(const LogPiece&)>& visit) override {
    return engine_->ReadLog(table, start, start_index, through, visit);
  }
  absl::Status TrimLog(TableId table, int64_t position) override { return engine_->TrimLog(table, position); }
  std::vector<Figure> Figures() const override { return engine_->Figures(); }

 protected:
  Engine* const engine_;
};

}  // namespace sonde
