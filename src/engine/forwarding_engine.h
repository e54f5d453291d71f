// An engine that passes all calls on to another one.  Tests derive from it, to change, count or fail some
// calls.
//
// Threads: as the other engine.
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

  using RowStore::Apply;

  EngineTraits traits() const override { return engine_->traits(); }
  RowLog* log() override { return engine_->log(); }
  Snapshots* snapshots() override { return engine_->snapshots(); }
  RangeSizes* range_sizes() override { return engine_->range_sizes(); }
  Leases* leases() override { return engine_->leases(); }

  absl::Status WriteRecords(const std::vector<RecordChange>& changes, absl::Time deadline) override {
    return engine_->WriteRecords(changes, deadline);
  }
  absl::StatusOr<std::vector<Record>> ReadRecords(std::string_view prefix, absl::Time deadline) override {
    return engine_->ReadRecords(prefix, deadline);
  }
  absl::StatusOr<int64_t> RecordsVersion(absl::Time deadline) override {
    return engine_->RecordsVersion(deadline);
  }
  absl::Status CreateTable(const TableSpec& spec, absl::Time deadline) override {
    return engine_->CreateTable(spec, deadline);
  }
  absl::Status AlterTable(const TableSpec& spec, absl::Time deadline) override {
    return engine_->AlterTable(spec, deadline);
  }
  absl::Status DropTable(TableId table, absl::Time deadline) override {
    return engine_->DropTable(table, deadline);
  }
  absl::Status DropFamily(TableId table, FamilyId family, absl::Time deadline) override {
    return engine_->DropFamily(table, family, deadline);
  }
  absl::StatusOr<std::unique_ptr<RowStream>> Scan(TableId table, std::vector<RowRange> ranges,
                                                  ScanOptions options) override {
    return engine_->Scan(table, std::move(ranges), std::move(options));
  }
  absl::Status Apply(TableId table, RowSource* rows, const WriteOptions& options) override {
    return engine_->Apply(table, rows, options);
  }
  absl::Status Update(TableId table, std::string_view row_key, const ReadHints& hints, const Decide& decide,
                      const WriteOptions& options) override {
    return engine_->Update(table, row_key, hints, decide, options);
  }
  absl::Status DropRange(TableId table, const RowRange& range, absl::Time deadline) override {
    return engine_->DropRange(table, range, deadline);
  }
  absl::StatusOr<std::vector<RangeStats>> Ranges(TableId table, absl::Time deadline) override {
    return engine_->Ranges(table, deadline);
  }
  double WritePressure() const override { return engine_->WritePressure(); }
  std::vector<Figure> Figures() const override { return engine_->Figures(); }
  absl::Status CheckWrites(absl::Time deadline) override { return engine_->CheckWrites(deadline); }

 protected:
  Engine* const engine_;
};

}  // namespace sonde
