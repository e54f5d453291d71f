// The cluster mode of the engine in memory: a store that several servers share over a network, as one of them
// sees it.  Each server has a ClusterMember of its own over one MemoryEngine, and above it its own catalog,
// caches and clock.  For tests: they find promises that hold in one process only.
//
// It does what an engine over a distributed store has to do:
//   a commit is one row, so changes of one Apply are applied one by one, and others come between;
//   Update reads, decides, and writes only if the row has stayed as it was, else begins anew;
//   calls and their answers are late, or lost.
// A call that is lost answers UNAVAILABLE, and has done nothing.  An answer that is lost is UNKNOWN if the call
// may have changed something, else UNAVAILABLE.
//
// Threads: all functions may be called at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/forwarding_engine.h"
#include "engine/memory/memory_leases.h"

namespace sonde {

struct ClusterFaults {
  uint64_t seed = 1;
  // Every call and every answer is late by up to this; most by little.
  absl::Duration delay_max = absl::ZeroDuration();
  // Calls and answers that are lost, out of 1,000.
  int lost_calls = 0;
  int lost_answers = 0;
  // Of all members of the cluster; null: it has no leases.
  std::shared_ptr<MemoryLeaseBoard> leases = nullptr;
  absl::Duration lease_time = absl::Seconds(1);
};

class ClusterMember : public ForwardingEngine {
 public:
  // `store` must outlive this.
  ClusterMember(Engine* store, const ClusterFaults& faults);

  using RowStore::Apply;

  EngineTraits traits() const override {
    return {.waits_for_network = true, .commits_many_rows = false, .is_shared = true};
  }

  absl::Status WriteRecords(const std::vector<RecordChange>& changes, absl::Time deadline) override;
  absl::StatusOr<std::vector<Record>> ReadRecords(std::string_view prefix, absl::Time deadline) override;
  absl::StatusOr<int64_t> RecordsVersion(absl::Time deadline) override;
  absl::Status CreateTable(const TableSpec& spec, absl::Time deadline) override;
  absl::Status AlterTable(const TableSpec& spec, absl::Time deadline) override;
  absl::Status DropTable(TableId table, absl::Time deadline) override;
  absl::Status DropFamily(TableId table, FamilyId family, absl::Time deadline) override;
  absl::StatusOr<std::unique_ptr<RowStream>> Scan(TableId table, std::vector<RowRange> ranges,
                                                  ScanOptions options) override;
  absl::Status Apply(TableId table, RowSource* rows, const WriteOptions& options) override;
  absl::Status Update(TableId table, std::string_view row_key, const ReadHints& hints, const Decide& decide,
                      const WriteOptions& options) override;
  absl::Status DropRange(TableId table, const RowRange& range, absl::Time deadline) override;
  absl::StatusOr<std::vector<RangeStats>> Ranges(TableId table, absl::Time deadline) override;

  Leases* leases() override { return leases_.get(); }

  // Loses all calls, or no longer.
  void CutOff(bool is_cut_off) { is_cut_off_ = is_cut_off; }

  // How often Update began anew, as another change of the row had come between.
  uint64_t conflicts() const { return conflicts_.load(); }

 private:
  uint64_t Draw();  // 64 bits, others for each call
  bool DrawLost(int of_thousand);
  void Delay();
  // Makes a call over the network; `changes`: it may change something.  OnCall runs at most once.
  template <typename OnCall>
  auto Send(bool changes, const OnCall& on_call) -> decltype(on_call());

  const ClusterFaults faults_;
  const std::unique_ptr<MemoryLeases> leases_;
  std::atomic<bool> is_cut_off_{false};
  std::atomic<uint64_t> draws_{0};
  std::atomic<uint64_t> conflicts_{0};
};

}  // namespace sonde
