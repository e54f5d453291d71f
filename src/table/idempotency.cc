#include "table/idempotency.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "table/column_hints.h"

namespace sonde {
namespace {

// FNV-1a: part of what is stored, so not a hash that may change.
uint32_t ShardOf(std::string_view token) {
  uint32_t hash = 2166136261u;
  for (const char c : token) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return (hash ^ (hash >> 16)) % kExpiringShards;
}

}  // namespace

absl::Status CheckStartTime(const Idempotency& idempotency, int64_t now_micros) {
  if (!idempotency.start_micros.has_value() || now_micros - *idempotency.start_micros <= kIdempotencyMicros) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      fmt::format("Error in field 'idempotency.start_time' : the first attempt with token '{}' was sent {} s "
                  "ago; tokens protect for {} s",
                  Printable(idempotency.token), (now_micros - *idempotency.start_micros) / 1'000'000,
                  kIdempotencyMicros / 1'000'000));
}

std::vector<FamilyId> TokenFamilies(std::string_view token, int64_t now_micros) {
  const uint32_t shard = ShardOf(token);
  std::vector<FamilyId> families;
  // The period after this one: a clock may have been set back.
  for (const int64_t periods : {-1, 0, 1}) {
    families.push_back(ExpiringFamily(now_micros + periods * kExpiryPeriodMicros, shard));
  }
  return families;
}

absl::StatusOr<bool> HasToken(RowStore* store, TableId table, std::string_view row_key,
                              std::string_view token, int64_t now_micros) {
  ReadHints hints;
  hints.families = TokenFamilies(token, now_micros);
  hints.columns = {{std::string(token), Successor(token)}};
  absl::StatusOr<std::unique_ptr<RowStream>> row =
      store->Scan(table, {RowRange::Single(row_key)}, {.hints = std::move(hints)});
  if (!row.ok()) return row.status();
  RowPiece piece;
  while (true) {
    const absl::StatusOr<bool> more = (*row)->Next(&piece);
    if (!more.ok() || !*more) return more;
    for (const CellView& cell : piece.cells) {
      if (cell.qualifier == token && now_micros - cell.timestamp_micros <= kIdempotencyMicros) return true;
    }
  }
}

void AskForToken(std::string_view token, int64_t now_micros, ReadHints* hints) {
  const std::vector<FamilyId> families = TokenFamilies(token, now_micros);
  hints->families->insert(hints->families->end(), families.begin(), families.end());
  AddColumns({ByteRange::Single(token)}, &*hints->columns);
  hints->time_range.start_micros = std::min(hints->time_range.start_micros, now_micros - kIdempotencyMicros);
}

bool HasToken(const std::vector<RowFamily>& row, std::string_view token, int64_t now_micros) {
  const std::vector<FamilyId> families = TokenFamilies(token, now_micros);
  for (const RowFamily& family : row) {
    if (std::find(families.begin(), families.end(), family.family) == families.end()) continue;
    for (const CellView& cell : family.cells) {
      if (cell.qualifier == token && now_micros - cell.timestamp_micros <= kIdempotencyMicros) return true;
    }
  }
  return false;
}

RowGuard AddToken(std::string_view token, int64_t now_micros, RowDelta* delta) {
  FamilyDelta& family = delta->families.emplace_back();  // its id is the greatest
  family.family = ExpiringFamily(now_micros, ShardOf(token));
  family.puts.push_back({token, now_micros, {}});
  return {.families = TokenFamilies(token, now_micros),
          .qualifier = token,
          .newest_old_micros = now_micros - kIdempotencyMicros - 1};
}

}  // namespace sonde
