#include "engine/memory/cluster_member.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "base/random.h"
#include "engine/engine_errors.h"

namespace sonde {
namespace {

constexpr uint64_t kSeedStep = 0xD1B54A32D192ED03u;  // odd, so that no seed comes twice

absl::Status LostCall() { return absl::UnavailableError("The call did not reach the store"); }
absl::Status LostAnswer(bool changes) {
  constexpr char kText[] = "The answer of the store did not arrive";
  return changes ? absl::UnknownError(kText) : absl::UnavailableError(kText);
}

// A row as it was read: cells that own what they show, by family.
class RowCopy {
 public:
  explicit RowCopy(const std::vector<RowFamily>& row) {
    for (const RowFamily& family : row) {
      Family& copy = families_.emplace_back();
      copy.id = family.family;
      for (const CellView& cell : family.cells) {
        copy.cells.push_back({std::string(cell.qualifier), cell.timestamp_micros, std::string(cell.value)});
      }
    }
    std::sort(families_.begin(), families_.end(),
              [](const Family& a, const Family& b) { return a.id < b.id; });
  }

  bool operator==(const RowCopy&) const = default;

  // Views this.
  std::vector<RowFamily> Views() const {
    std::vector<RowFamily> row;
    for (const Family& family : families_) {
      RowFamily& views = row.emplace_back();
      views.family = family.id;
      for (const Cell& cell : family.cells)
        views.cells.push_back({cell.qualifier, cell.timestamp_micros, cell.value});
    }
    return row;
  }

 private:
  struct Cell {
    std::string qualifier;
    int64_t timestamp_micros = 0;
    std::string value;
    bool operator==(const Cell&) const = default;
  };
  struct Family {
    FamilyId id = 0;
    std::vector<Cell> cells;
    bool operator==(const Family&) const = default;
  };
  std::vector<Family> families_;
};

// A stream whose pieces come over the network.
class LateStream final : public RowStream {
 public:
  LateStream(std::unique_ptr<RowStream> stream, std::function<absl::Status()> before_piece)
      : stream_(std::move(stream)), before_piece_(std::move(before_piece)) {}

  absl::StatusOr<bool> Next(RowPiece* piece) override {
    if (absl::Status status = before_piece_(); !status.ok()) return status;
    return stream_->Next(piece);
  }

 private:
  const std::unique_ptr<RowStream> stream_;
  const std::function<absl::Status()> before_piece_;
};

// One change, and what is said of it.
class OneChange final : public RowSource {
 public:
  explicit OneChange(const RowChange& change) : change_(change) {}
  ~OneChange() = default;

  std::optional<absl::Span<const RowChange>> Next() override {
    if (std::exchange(is_given_, true)) return std::nullopt;
    return absl::MakeConstSpan(&change_, 1);
  }
  void OnRefused(size_t /*index*/, const absl::Status& why) override { refused_ = why; }

  const absl::Status& refused() const { return refused_; }

 private:
  const RowChange& change_;
  bool is_given_ = false;
  absl::Status refused_;
};

}  // namespace

ClusterMember::ClusterMember(Engine* store, const ClusterFaults& faults)
    : ForwardingEngine(store),
      faults_(faults),
      leases_(faults.leases == nullptr ? nullptr
                                       : std::make_unique<MemoryLeases>(faults.leases, faults.lease_time)) {}

uint64_t ClusterMember::Draw() { return SeededRandom(faults_.seed + kSeedStep * draws_.fetch_add(1)).Next(); }

bool ClusterMember::DrawLost(int of_thousand) {
  return of_thousand > 0 && Draw() % 1'000 < static_cast<uint64_t>(of_thousand);
}

void ClusterMember::Delay() {
  if (faults_.delay_max == absl::ZeroDuration()) return;
  // The product of three is mostly small.
  double part = 1;
  for (int i = 0; i < 3; ++i) part *= static_cast<double>(Draw() % 1'024) / 1'024;
  absl::SleepFor(faults_.delay_max * part);
}

template <typename OnCall>
auto ClusterMember::Send(bool changes, const OnCall& on_call) -> decltype(on_call()) {
  Delay();
  if (is_cut_off_ || DrawLost(faults_.lost_calls)) return LostCall();
  auto answer = on_call();
  Delay();
  if (DrawLost(faults_.lost_answers)) return LostAnswer(changes);
  return answer;
}

absl::Status ClusterMember::WriteRecords(const std::vector<RecordChange>& changes, absl::Time deadline) {
  return Send(true, [&] { return engine_->WriteRecords(changes, deadline); });
}

absl::StatusOr<std::vector<Record>> ClusterMember::ReadRecords(std::string_view prefix, absl::Time deadline) {
  return Send(false, [&] { return engine_->ReadRecords(prefix, deadline); });
}

absl::StatusOr<int64_t> ClusterMember::RecordsVersion(absl::Time deadline) {
  return Send(false, [&] { return engine_->RecordsVersion(deadline); });
}

absl::Status ClusterMember::CreateTable(const TableSpec& spec, absl::Time deadline) {
  return Send(true, [&] { return engine_->CreateTable(spec, deadline); });
}

absl::Status ClusterMember::AlterTable(const TableSpec& spec, absl::Time deadline) {
  return Send(true, [&] { return engine_->AlterTable(spec, deadline); });
}

absl::Status ClusterMember::DropTable(TableId table, absl::Time deadline) {
  return Send(true, [&] { return engine_->DropTable(table, deadline); });
}

absl::Status ClusterMember::DropFamily(TableId table, FamilyId family, absl::Time deadline) {
  return Send(true, [&] { return engine_->DropFamily(table, family, deadline); });
}

absl::StatusOr<std::unique_ptr<RowStream>> ClusterMember::Scan(TableId table, std::vector<RowRange> ranges,
                                                               ScanOptions options) {
  return Send(false, [&]() -> absl::StatusOr<std::unique_ptr<RowStream>> {
    absl::StatusOr<std::unique_ptr<RowStream>> stream =
        engine_->Scan(table, std::move(ranges), std::move(options));
    if (!stream.ok()) return stream.status();
    const auto before_piece = [this] { return Send(false, [] { return absl::OkStatus(); }); };
    return std::make_unique<LateStream>(*std::move(stream), before_piece);
  });
}

absl::Status ClusterMember::Apply(TableId table, RowSource* rows, const WriteOptions& options) {
  if (absl::Status status = CheckDeadline(options.deadline); !status.ok()) return status;
  size_t index = 0;
  while (const std::optional<absl::Span<const RowChange>> changes = rows->Next()) {
    for (const RowChange& change : *changes) {
      const absl::Status status = Send(true, [&] {
        OneChange one(change);
        const absl::Status applied = engine_->Apply(table, &one, options);
        return one.refused().ok() ? applied : one.refused();
      });
      if (absl::IsNotFound(status)) return status;  // the table; all others are refused for it, too
      if (!status.ok()) rows->OnRefused(index, status);
      ++index;
    }
  }
  if (index > 0) return absl::OkStatus();
  return Send(false, [&] { return engine_->Apply(table, absl::Span<const RowChange>(), options); });
}

absl::Status ClusterMember::Update(TableId table, std::string_view row_key, const ReadHints& hints,
                                   const Decide& decide, const WriteOptions& options) {
  while (true) {
    std::optional<RowCopy> before;
    const auto read = [&](const std::vector<RowFamily>& row) -> absl::StatusOr<std::optional<RowDelta>> {
      before.emplace(row);
      return std::nullopt;
    };
    absl::Status status = Send(false, [&] { return engine_->Update(table, row_key, hints, read, options); });
    if (!status.ok()) return status;
    const absl::StatusOr<std::optional<RowDelta>> delta = decide(before->Views());
    if (!delta.ok()) return delta.status();
    if (!delta->has_value()) return absl::OkStatus();
    bool is_as_before = true;
    const auto write = [&](const std::vector<RowFamily>& row) -> absl::StatusOr<std::optional<RowDelta>> {
      is_as_before = RowCopy(row) == *before;
      if (!is_as_before) return std::nullopt;
      return *delta;
    };
    status = Send(true, [&] { return engine_->Update(table, row_key, hints, write, options); });
    if (!status.ok() || is_as_before) return status;
    ++conflicts_;
  }
}

absl::Status ClusterMember::DropRange(TableId table, const RowRange& range, absl::Time deadline) {
  return Send(true, [&] { return engine_->DropRange(table, range, deadline); });
}

absl::StatusOr<std::vector<RangeStats>> ClusterMember::Ranges(TableId table, absl::Time deadline) {
  return Send(false, [&] { return engine_->Ranges(table, deadline); });
}

}  // namespace sonde
