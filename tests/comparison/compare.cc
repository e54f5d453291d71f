#include "compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <stdexcept>

#include "absl/time/clock.h"
#include "engine/hbase/hbase_engine.h"
#include "engine/hbase/settle/settler.h"
#include "engine/memory/cluster_member.h"
#include "engine/memory/memory_engine.h"
#include "engine/rocks/rocks_engine.h"
#include "naive_bigtable.h"
#include "smaller.h"

namespace sonde {
namespace {

constexpr int kShrinkRunsMax = 4'000;
constexpr uint64_t kRocksMemoryBytes = 64 << 20;

bool IsSameKind(const Difference& a, const Difference& b) {
  return a.expected.code == b.expected.code && a.got.code == b.got.code;
}

// Cuts a history down as long as it fails in the same way.
class Shrinker {
 public:
  Shrinker(History* history, Difference* difference,
           std::function<std::optional<Difference>(const History&)> run)
      : history_(*history), difference_(*difference), run_(std::move(run)) {}

  void Shrink() {
    history_.steps.resize(difference_.step + 1);
    bool is_smaller = true;
    while (is_smaller && runs_ < kShrinkRunsMax) {
      is_smaller = DropSteps();
      is_smaller |= ShrinkMessages();
    }
  }

 private:
  // Whether `candidate` fails, too; then it is the history.
  bool Take(const History& candidate) {
    if (++runs_ > kShrinkRunsMax) return false;
    const std::optional<Difference> difference = run_(candidate);
    if (!difference.has_value() || !IsSameKind(*difference, difference_)) return false;
    difference_ = *difference;
    history_ = candidate;
    history_.steps.resize(difference_.step + 1);
    return true;
  }

  bool DropSteps() {
    bool is_smaller = false;
    for (size_t count = std::max<size_t>(history_.steps.size() / 2, 1); count > 0; count /= 2) {
      for (size_t first = 0; first + count < history_.steps.size();) {
        History candidate = history_;
        const auto at = candidate.steps.begin() + static_cast<ptrdiff_t>(first);
        for (size_t i = first; i < first + count; ++i) {  // the clock stays as it was
          candidate.steps[first + count].advance_micros += candidate.steps[i].advance_micros;
        }
        candidate.steps.erase(at, at + static_cast<ptrdiff_t>(count));
        Take(candidate) ? static_cast<void>(is_smaller = true) : static_cast<void>(first += count);
      }
    }
    return is_smaller;
  }

  // Tries every smaller message in place of the one that `message` finds in a history.
  bool ShrinkMessage(const std::function<google::protobuf::Message&(History&)>& message) {
    bool is_smaller = false;
    for (bool found = true; found;) {
      found = false;
      for (const auto& smaller : SmallerThan(message(history_))) {
        History candidate = history_;
        message(candidate).CopyFrom(*smaller);
        if (!Take(candidate)) continue;
        found = is_smaller = true;
        break;
      }
    }
    return is_smaller;
  }

  bool ShrinkTable() {
    bool is_smaller = false;
    const auto families = history_.table.table().column_families();
    for (const auto& [name, family] : families) {
      for (const bool keeps_family : {false, true}) {
        History candidate = history_;
        auto& smaller = *candidate.table.mutable_table()->mutable_column_families();
        if (!smaller.contains(name) || (keeps_family && !smaller[name].has_gc_rule())) continue;
        keeps_family ? smaller[name].clear_gc_rule() : static_cast<void>(smaller.erase(name));
        is_smaller |= Take(candidate);
      }
    }
    return is_smaller;
  }

  bool ShrinkMessages() {
    bool is_smaller = ShrinkTable();
    for (size_t i = history_.steps.size(); i > 0; --i) {
      if (i > history_.steps.size()) continue;
      is_smaller |= ShrinkMessage([i](History& history) -> google::protobuf::Message& {
        return MessageOf(history.steps[std::min(i, history.steps.size()) - 1].request);
      });
    }
    for (size_t i = 0; i < history_.steps.size(); ++i) {
      if (!history_.steps[i].compact) continue;
      History candidate = history_;
      candidate.steps[i].compact = false;
      is_smaller |= Take(candidate);
    }
    return is_smaller;
  }

  History& history_;
  Difference& difference_;
  const std::function<std::optional<Difference>(const History&)> run_;
  int runs_ = 0;
};

// A store that servers share, of which there is one.
class SharedMemory final : public ClusterMember {
 public:
  explicit SharedMemory(std::unique_ptr<MemoryEngine> store)
      : ClusterMember(store.get(), {}), store_(std::move(store)) {}

 private:
  const std::unique_ptr<MemoryEngine> store_;
};

// A cluster under load takes a while to say what the schema is, and no request is answered by one that may be an old one.
constexpr absl::Duration kSeenWithinOnHBase = absl::Seconds(2);

}  // namespace

Comparison::Servers Comparison::StartHBase() {
  const absl::StatusOr<HBaseStoreAddress> address = ParseHBaseStore(hbase_);
  if (!address.ok()) throw std::runtime_error(address.status().ToString());
  absl::StatusOr<std::unique_ptr<HBaseEngine>> opened =
      HBaseEngine::Open({.address = *address, .open_timeout = absl::Minutes(2)});
  if (!opened.ok()) throw std::runtime_error(opened.status().ToString());
  HBaseEngine* const engine = opened->get();
  const auto flush = [engine, space = address->space] {
    const absl::Time deadline = absl::Now() + absl::Minutes(1);
    const auto tables = engine->client()->tables()->List(space, deadline);
    if (!tables.ok()) return;
    Settler settler(engine->client(), space, {});
    for (const hbase::TableSchema& table : *tables) {
      if (!CellsTableId(table.table).has_value()) continue;
      const absl::StatusOr<std::string> settled = settler.SettleRange(
          table.table, StorageOf(table), RowRange::All(), {}, SIZE_MAX, [] { return true; }, deadline);
      if (!settled.ok()) throw std::runtime_error(settled.status().ToString());
      (void)engine->client()->tables()->Flush(table.table, deadline);
    }
  };
  Servers servers;
  servers.push_back(
      std::make_unique<ServerUnderTest>("hbase", *std::move(opened), flush, &clock_, kSeenWithinOnHBase));
  return servers;
}

Comparison::Servers Comparison::StartServers(const std::string& directory) {
  if (!hbase_.empty()) return StartHBase();
  absl::StatusOr<std::unique_ptr<RocksEngine>> rocks =
      RocksEngine::Open({.data_dir = directory, .memory_bytes = kRocksMemoryBytes, .sync = false});
  if (!rocks.ok()) throw std::runtime_error(rocks.status().ToString());
  RocksEngine* engine = rocks->get();
  Servers servers;
  servers.push_back(std::make_unique<ServerUnderTest>(
      "rocks", *std::move(rocks), [engine] { (void)engine->CompactAll(); }, &clock_));
  servers.push_back(
      std::make_unique<ServerUnderTest>("memory", MemoryEngine::Create(), std::function<void()>(), &clock_));
  servers.push_back(std::make_unique<ServerUnderTest>(
      "memory, no hints", MemoryEngine::Create({.honour_hints = false, .cells_per_piece_max = 1}),
      std::function<void()>(), &clock_));
  servers.push_back(std::make_unique<ServerUnderTest>("memory, shared",
                                                      std::make_unique<SharedMemory>(MemoryEngine::Create()),
                                                      std::function<void()>(), &clock_));
  return servers;
}

std::optional<Difference> Comparison::Run(const History& history) {
  int64_t now_micros = history.start_micros;
  clock_.Set(now_micros);
  // A server's time does not go back, so each history has servers of its own.
  const std::string server_directory = fmt::format("{}/{}", directory_, runs_++);
  std::filesystem::create_directories(server_directory);
  Servers servers = StartServers(server_directory);
  NaiveBigtable naive(history.table.table()), naive_shared(history.table.table(), /*is_shared=*/true);
  for (const auto& server : servers) {
    if (absl::Status status = server->CreateTable(history.table, "t"); !status.ok()) {
      throw std::runtime_error(status.ToString());
    }
  }
  std::optional<Difference> difference;
  for (size_t i = 0; i < history.steps.size() && !difference.has_value(); ++i) {
    const Step& step = history.steps[i];
    now_micros += step.advance_micros;
    clock_.Set(now_micros);
    const Outcome expected_alone = naive.Do(step.request, now_micros);
    const Outcome expected_shared = naive_shared.Do(step.request, now_micros);
    for (const auto& server : servers) {
      const Outcome& expected = server->is_shared() ? expected_shared : expected_alone;
      if (step.compact) server->Compact();
      std::string error_text;
      const Outcome got = server->Do(step.request, &error_text);
      if (got == expected || difference.has_value()) continue;
      difference = Difference{i, server->name(), expected, got, error_text};
    }
  }
  servers.clear();
  std::filesystem::remove_all(server_directory);
  return difference;
}

History Comparison::Shrink(History history, Difference* difference) {
  Shrinker(&history, difference, [this](const History& candidate) { return Run(candidate); }).Shrink();
  return history;
}

std::string Describe(const History& history, const Difference& difference) {
  std::string text = fmt::format("table {{\n{}}}\nclock {} micros\n", history.table.table().DebugString(),
                                 history.start_micros);
  for (const Step& step : history.steps) {
    text += fmt::format("{}after {} micros: {} {{\n{}}}\n", step.compact ? "compaction, " : "",
                        step.advance_micros, MessageOf(step.request).GetTypeName(),
                        MessageOf(step.request).DebugString());
  }
  const auto show = [](const Outcome& outcome) {
    return fmt::format("{}\n{}", absl::StatusCodeToString(outcome.code), outcome.answer);
  };
  return text + fmt::format("the last should answer: {}server \"{}\" answered: {}{}\n",
                            show(difference.expected), difference.server, show(difference.got),
                            difference.error_text);
}

}  // namespace sonde
