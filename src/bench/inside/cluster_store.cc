#include "bench/inside/cluster_store.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "base/random.h"
#include "engine/hbase/hbase_engine.h"
#include "engine/hbase/packed/packed_cells.h"
#include "engine/hbase/settle/settler.h"

namespace sonde::bench {
namespace {

constexpr TableId kClusterTable = 1;
constexpr absl::Duration kCompactionTimeMax = absl::Minutes(5);
constexpr absl::Duration kCompactionBeginMax = absl::Seconds(5);
constexpr absl::Duration kCompactionPauseMax = absl::Seconds(2);
// After which the master has heard of what region servers have done.
constexpr absl::Duration kFiguresAge = absl::Seconds(8);
constexpr int kLooksMax = 6;

CellStorage StorageOfKind(ClusterStoreKind kind) {
  return kind == ClusterStoreKind::kPlain     ? CellStorage::kPlain
         : kind == ClusterStoreKind::kSettled ? CellStorage::kPacked
                                              : CellStorage::kPackedAtOnce;
}

class ClusterStore final : public StoreUnderTest {
 public:
  ClusterStore(std::unique_ptr<HBaseEngine> engine, std::string space, CellStorage storage)
      : engine_(std::move(engine)), space_(std::move(space)), storage_(storage) {}
  ~ClusterStore() override { (void)engine_->DropTable(kClusterTable, Deadline()); }

  absl::Status Write(absl::Span<const RowChange> rows) override {
    return engine_->Apply(kClusterTable, rows);
  }

  absl::Status Settle() override {
    hbase::Client* const client = engine_->client();
    if (HasPacked(storage_)) {
      const absl::StatusOr<std::string> settled =
          Settler(client, space_, {})
              .SettleRange(
                  table(), storage_, RowRange::All(), {.cells_min = SettlerOptions().cells_min}, SIZE_MAX,
                  [] { return true; }, absl::InfiniteFuture());
      if (!settled.ok()) return settled.status();
    }
    if (absl::Status status = client->tables()->Flush(table(), Deadline()); !status.ok()) return status;
    if (absl::Status status = client->tables()->Compact(table(), /*major=*/true, Deadline()); !status.ok())
      return status;
    return AwaitCompaction();
  }

  absl::StatusOr<CellSum> Scan() override { return ScanCells(engine_.get(), kClusterTable); }
  absl::StatusOr<int64_t> ReadRow(std::string_view row_key) override {
    return CountCells(engine_.get(), kClusterTable, row_key);
  }

  // The bytes of the table's files, in whole MiB.  The master's figure is taken when it is the same twice.
  absl::StatusOr<std::optional<uint64_t>> DiskBytes() override {
    std::optional<uint64_t> before;
    for (int i = 0; i < kLooksMax; ++i) {
      absl::SleepFor(kFiguresAge);
      const absl::StatusOr<uint64_t> now = FileBytes();
      if (!now.ok()) return now.status();
      if (before == *now) break;
      before = *now;
    }
    return before;
  }

 private:
  static absl::Time Deadline() { return absl::Now() + kCompactionTimeMax; }
  hbase::TableName table() const { return CellsTable(space_, kClusterTable); }

  absl::StatusOr<uint64_t> FileBytes() {
    const absl::StatusOr<hbase::ClusterState> state = engine_->client()->tables()->State(Deadline());
    if (!state.ok()) return state.status();
    uint64_t bytes = 0;
    for (const hbase::ServerLoad& server : state->servers) {
      for (const hbase::RegionLoad& region : server.regions) {
        if (region.name.starts_with(table().Text() + ",")) bytes += region.file_bytes;
      }
    }
    return bytes;
  }

  // A compaction begins some time after it was asked for, and not at all where there is nothing to do.  The families of a region
  // are compacted one after the other, and one of HBase's own may come first: so it is over when there was none for a while.
  absl::Status AwaitCompaction() {
    hbase::Client* const client = engine_->client();
    const auto regions = client->regions()->All(table(), Deadline());
    if (!regions.ok()) return regions.status();
    const absl::Time begun_by = absl::Now() + kCompactionBeginMax;
    const absl::Time deadline = Deadline();
    for (const hbase::Regions::Place& region : *regions) {
      std::optional<absl::Time> seen;
      while (absl::Now() < deadline) {
        const absl::StatusOr<hbase::RegionState> state = client->tables()->StateOf(*region, deadline);
        if (!state.ok()) return state.status();
        if (state->is_compacting) seen = absl::Now();
        if (seen.has_value() ? absl::Now() - *seen > kCompactionPauseMax : absl::Now() > begun_by) break;
        absl::SleepFor(absl::Milliseconds(20));
      }
    }
    return absl::Now() < deadline ? absl::OkStatus()
                                  : absl::DeadlineExceededError("The compaction did not end");
  }

  const std::unique_ptr<HBaseEngine> engine_;
  const std::string space_;
  const CellStorage storage_;
};

}  // namespace

ClusterStoreKind KindOfClusterStore(const std::string& name) {
  return name == "plain"     ? ClusterStoreKind::kPlain
         : name == "settled" ? ClusterStoreKind::kSettled
                             : ClusterStoreKind::kPacked;
}

absl::StatusOr<std::unique_ptr<StoreUnderTest>> OpenClusterStore(const std::string& master,
                                                                 ClusterStoreKind kind, bool sync) {
  const std::string space = fmt::format("bench_{:016x}", SystemRandom().Next());
  const absl::StatusOr<HBaseStoreAddress> address =
      ParseHBaseStore(fmt::format("hbase://{}/{}", master, space));
  if (!address.ok()) return address.status();
  absl::StatusOr<std::unique_ptr<HBaseEngine>> engine =
      HBaseEngine::Open({.address = *address, .sync = sync});
  if (!engine.ok()) return engine.status();
  const CellStorage storage = StorageOfKind(kind);
  if (absl::Status made =
          (*engine)->CreateTable({.id = kClusterTable, .storage = storage}, absl::Now() + absl::Minutes(1));
      !made.ok())
    return made;
  return std::make_unique<ClusterStore>(*std::move(engine), space, storage);
}

}  // namespace sonde::bench
