#include "sql/exec/series_finder.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/crc32c.h"
#include "series/known/declaration_store.h"
#include "series/write/entity_notes.h"
#include "table/local_tables.h"

namespace sonde::sql {
namespace {

// Of what is stored: two declarations that differ have different ones, but for one pair in 2^64.
uint64_t FingerprintOf(const series::StoredSeries& stored) {
  const std::string& text = stored.text.empty() ? stored.open_record : stored.text;
  return uint64_t{Crc32c(text)} << 32 | Crc32c(fmt::format("{} bytes of {}", text.size(), text));
}

// Those that questions are answered from, but for those of periods, which have what the series has.
std::vector<std::string> TablesOfSeries(const std::string& instance, const series::SeriesSchema& schema) {
  std::vector<std::string> tables;
  const auto add = [&](const std::string& table) {
    tables.push_back(fmt::format("{}/tables/{}", instance, table));
  };
  add(schema.table);
  for (const series::SeriesSchema& version : schema.earlier) add(version.table);
  for (const series::LatestTable& latest : schema.latest) add(latest.table);
  for (const series::OrderTable& order : schema.orders) add(order.table);
  return tables;
}

}  // namespace

SeriesFinder::InstanceIndex::InstanceIndex(Tables* of_instances, const std::string& instance)
    : tables(of_instances, instance),
      writer(&tables, &of_instances->clock(), {.known_bytes_max = series::EntityNotes::kKnownBytesMax}) {}

series::IndexWriter* SeriesFinder::IndexWriterOf(const std::string& instance) {
  std::unique_ptr<InstanceIndex>& index = indexes_[instance];
  if (index == nullptr) index = std::make_unique<InstanceIndex>(&tables_, instance);
  return &index->writer;
}

SeriesFinder::SeriesFinder(Tables* tables)
    : tables_(&tables->engine(), &tables->catalog(), &tables->clock(), /*seed=*/0) {}

absl::StatusOr<std::optional<FoundSeries>> SeriesFinder::FindNow(const std::string& instance,
                                                                 std::string_view name) {
  LocalTables tables(&tables_, instance);
  const absl::StatusOr<std::optional<series::StoredSeries>> stored = series::FindStoredSeries(name, &tables);
  if (!stored.ok()) return stored.status();
  if (!stored->has_value()) return std::optional<FoundSeries>();
  const uint64_t fingerprint = FingerprintOf(**stored);
  const std::pair key(instance, std::string(name));
  {
    const absl::MutexLock lock(&mutex_);
    const auto kept = kept_.find(key);
    if (kept != kept_.end() && kept->second.fingerprint == fingerprint) {
      return std::optional<FoundSeries>(kept->second);
    }
  }
  absl::StatusOr<series::KnownSeries> known = series::ParseStored(**stored);
  if (!known.ok()) return known.status();
  FoundSeries found{
      std::make_shared<const series::KnownSeries>(*std::move(known)), instance, fingerprint, {}, &index_};
  found.tables = TablesOfSeries(instance, found.known->schema);
  const absl::MutexLock lock(&mutex_);
  if (found.known->schema.is_indexed) found.index_writer = IndexWriterOf(instance);
  if (kept_.size() >= kSeriesMax) kept_.clear();
  kept_[key] = found;
  return std::optional<FoundSeries>(std::move(found));
}

absl::StatusOr<FoundSeries> SeriesFinder::Find(const std::string& instance, std::string_view name) {
  absl::StatusOr<std::optional<FoundSeries>> found = FindNow(instance, name);
  if (!found.ok()) return found.status();
  if (!found->has_value()) return absl::NotFoundError(fmt::format("series {}", name));
  return **std::move(found);
}

bool SeriesFinder::IsCurrent(const FoundSeries& series) {
  const absl::StatusOr<std::optional<FoundSeries>> now = FindNow(series.instance, series.known->schema.name);
  return now.ok() && now->has_value() && (*now)->fingerprint == series.fingerprint;
}

}  // namespace sonde::sql
