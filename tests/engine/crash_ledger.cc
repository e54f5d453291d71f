#include "crash_ledger.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/random.h"
#include "base/varint.h"
#include "crash_phases.h"
#include "fmt/format.h"

namespace sonde {
namespace {

constexpr FamilyId kFamilies[] = {1, 300};
constexpr FamilyId kSumFamily = 2;
constexpr uint64_t kSlots = 100;  // rows of a thread that are written again and again

const std::vector<std::string>& Qualifiers() {
  static const std::vector<std::string> qualifiers = {"", "a", "b"};
  return qualifiers;
}

std::string SumRowKey(uint64_t sequence) { return fmt::format("sum/{}", ThreadOfSequence(sequence)); }

RowDelta WholeRow(std::string_view value, int64_t timestamp_micros) {
  RowDelta delta;
  for (const FamilyId family : kFamilies) {
    FamilyDelta& change = delta.families.emplace_back();
    change.family = family;
    change.delete_all = true;
    for (const std::string& qualifier : Qualifiers())
      change.puts.push_back({qualifier, timestamp_micros, value});
  }
  return delta;
}

// The row that the batch of `sequence` writes at `row_key`; without families when it writes none.
ObservedRow RowOf(uint64_t sequence, const std::string& row_key) {
  ObservedRow row{.row_key = row_key};
  const CrashBatch batch = MakeCrashBatch(sequence);
  for (const RowChange& change : batch.changes) {
    if (change.row_key != row_key) continue;
    for (const FamilyDelta& family : change.delta.families) {
      for (const CellView& put : family.puts) {
        row.families[family.family].push_back(
            {std::string(put.qualifier), put.timestamp_micros, std::string(put.value)});
      }
    }
  }
  return row;
}

}  // namespace

CrashBatch MakeCrashBatch(uint64_t sequence) {
  SeededRandom random(sequence);
  const int thread = ThreadOfSequence(sequence);
  std::set<std::string> row_keys;
  for (uint64_t count = 1 + random.Uniform(6); count > 0; --count) {
    row_keys.insert(random.Uniform(4) == 0 ? fmt::format("new/{}/{}/{}", thread, sequence, count)
                                           : fmt::format("slot/{:03}/{}", random.Uniform(kSlots), thread));
  }
  // Most are small; some are large enough to fill blocks and write buffers.
  const size_t padding_bytes = random.Uniform(50) == 0 ? 20'000 : random.Uniform(100);
  const std::string padding(padding_bytes, static_cast<char>('a' + sequence % 26));

  CrashBatch batch;
  const std::string& value = batch.backing.emplace_back(fmt::format("{}:{}", sequence, padding));
  const auto timestamp_micros = static_cast<int64_t>(1000 * random.Uniform(100));
  for (const std::string& row_key : row_keys) {
    batch.changes.push_back({batch.backing.emplace_back(row_key), WholeRow(value, timestamp_micros)});
  }
  for (RowChange& change : batch.changes) {
    change.delta.log.pieces = {&batch.backing.emplace_back(fmt::format("{} {}", sequence, change.row_key)),
                               1};
  }
  const FamilyDelta add{.family = kSumFamily, .aggregate = AggregateKind::kSum, .adds = {{"batches", 0, 1}}};
  RowChange& sum = batch.changes.emplace_back();
  sum.row_key = batch.backing.emplace_back(SumRowKey(sequence));
  sum.delta.families = {add};
  sum.delta.log.pieces = {&batch.backing.emplace_back(fmt::format("{} {}", sequence, sum.row_key)), 1};
  return batch;
}

std::string CrashRangeRowKey(uint64_t number, int row) { return fmt::format("{:012}/{}", number, row); }

void CrashLedger::Acknowledged(uint64_t sequence) {
  if ((sequence & kCrashPhase) != 0) return;
  if ((sequence & kCrashDropped) != 0) {
    dropped_.insert(static_cast<TableId>(sequence & ~kCrashDropped));
    return;
  }
  if ((sequence & kCrashRangeDropped) != 0) {
    ranges_dropped_.insert(sequence & ~kCrashRangeDropped);
    return;
  }
  ++acknowledged_count_;
  ++sums_[SumRowKey(sequence)].acknowledged;
  const CrashBatch batch = MakeCrashBatch(sequence);
  for (size_t i = 0; i + 1 < batch.changes.size(); ++i) {
    uint64_t& least = rows_[std::string(batch.changes[i].row_key)];
    least = std::max(least, sequence);
  }
}

absl::Status CrashLedger::VerifyRow(const ObservedRow& row) {
  const auto& [family, cells] = *row.families.begin();
  const std::string& value = cells.front().value;
  uint64_t sequence = 0;
  std::from_chars(value.data(), value.data() + value.size(), sequence);
  if (row != RowOf(sequence, row.row_key)) return absl::InternalError("a torn row: " + Describe(row));
  uint64_t& least = rows_[row.row_key];
  if (sequence < least) {
    return absl::InternalError(
        fmt::format("row {} is as of {}, but {} was acknowledged", row.row_key, sequence, least));
  }
  least = sequence;
  return absl::OkStatus();
}

absl::Status CrashLedger::VerifySum(const ObservedRow& row) {
  const auto family = row.families.find(kSumFamily);
  uint64_t bits = 0;
  if (row.families.size() != 1 || family == row.families.end() || family->second.size() != 1) {
    return absl::InternalError("not a sum: " + Describe(row));
  }
  std::string_view bytes = family->second[0].value;
  if (!GetFixed64(&bytes, &bits)) return absl::InternalError("not a sum: " + Describe(row));
  Sum& sum = sums_[row.row_key];
  const auto seen = static_cast<int64_t>(bits);
  const int64_t least = sum.seen + sum.acknowledged;
  if (seen < least || seen > least + writers_count_) {
    return absl::InternalError(
        fmt::format("{} is {}, should be in [{}, {}]", row.row_key, seen, least, least + writers_count_));
  }
  sum = {.seen = seen};
  return absl::OkStatus();
}

absl::Status CrashLedger::VerifyRanges(Engine* engine) const {
  const auto rows = ScanRows(engine, kCrashRangeTable, {RowRange::All()});
  if (absl::IsNotFound(rows.status()) && ranges_dropped_.empty()) return absl::OkStatus();
  if (!rows.ok()) return rows.status();
  std::set<std::string> seen;
  for (const ObservedRow& row : *rows) seen.insert(row.row_key);
  for (const uint64_t number : ranges_dropped_) {
    for (int row = 0; row < kCrashRangeRows; ++row) {
      const bool is_dropped = row >= kCrashRangeStart && row < kCrashRangeEnd;
      const std::string row_key = CrashRangeRowKey(number, row);
      if (seen.contains(row_key) != is_dropped) continue;
      return absl::InternalError(
          fmt::format("row {} {}", row_key, is_dropped ? "was dropped, but is not lost" : "is lost"));
    }
  }
  return absl::OkStatus();
}

absl::Status CrashLedger::Verify(Engine* engine) {
  if (absl::Status status = VerifyRanges(engine); !status.ok()) return status;
  for (const TableId table : dropped_) {
    if (!absl::IsNotFound(ScanRows(engine, table, {RowRange::All()}).status())) {
      return absl::InternalError(fmt::format("table {} was dropped, but is not lost", table));
    }
  }
  const auto rows = ScanRows(engine, kCrashTable, {RowRange::All()});
  // No writer may have come as far as making the table.
  if (absl::IsNotFound(rows.status()) && acknowledged_count_ == 0) return absl::OkStatus();
  if (!rows.ok()) return rows.status();
  std::set<std::string> seen;
  for (const ObservedRow& row : *rows) {
    seen.insert(row.row_key);
    const absl::Status status = row.row_key.starts_with("sum/") ? VerifySum(row) : VerifyRow(row);
    if (!status.ok()) return status;
  }
  for (const auto& [row_key, least] : rows_) {
    if (!seen.contains(row_key)) {
      return absl::InternalError(fmt::format("row {} is lost; {} was acknowledged", row_key, least));
    }
  }
  for (const auto& [row_key, sum] : sums_) {
    if (!seen.contains(row_key)) return absl::InternalError(fmt::format("{} is lost", row_key));
  }
  writers_count_ = 0;
  return VerifyLog(engine);
}

absl::Status CrashLedger::VerifyLog(Engine* engine) const {
  std::map<std::string, uint64_t> last;  // sequence number, by row key
  std::map<std::string, int64_t> counts;
  const auto visit = [&](const RowLog::Piece& piece) {
    uint64_t sequence = 0;
    const auto [end, error] =
        std::from_chars(piece.bytes.data(), piece.bytes.data() + piece.bytes.size(), sequence);
    const std::string row_key(piece.bytes.substr(end - piece.bytes.data() + 1));
    last[row_key] = sequence;
    ++counts[row_key];
    return true;
  };
  if (absl::Status status = engine->log()->Read(kCrashTable, RowRange::All(), 0, 0, INT64_MAX, visit);
      !status.ok())
    return status;
  for (const auto& [row_key, sequence] : rows_) {
    if (last[row_key] == sequence) continue;
    return absl::InternalError(fmt::format("row {} is as of {}, but its last record in the log is of {}",
                                           row_key, sequence, last[row_key]));
  }
  for (const auto& [row_key, sum] : sums_) {
    if (counts[row_key] == sum.seen) continue;
    return absl::InternalError(
        fmt::format("{} is {}, but has {} records in the log", row_key, sum.seen, counts[row_key]));
  }
  return absl::OkStatus();
}

}  // namespace sonde
