#include "series/http/metric_metadata.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "promql/syntax/words.h"
#include "series/known/declaration_store.h"
#include "series/known/declarations.h"

namespace sonde::series {
namespace {

using nlohmann::json;

// Of table kDeclarationsTable, as declaration_store.cc makes it.
constexpr char kFamily[] = "d";
constexpr char kMetadataColumn[] = "metadata";
constexpr size_t kMetricsAWrite = 1'000;

bool IsName(std::string_view metric) {
  return !metric.empty() && metric.size() <= kOpenNameBytesMax && promql::IsUtf8(metric);
}

// The whole signs of `text` within so many bytes; what is no UTF-8 ends it.
std::string Cut(std::string_view text, size_t bytes_max) {
  size_t end = 0;
  while (end < text.size()) {
    const promql::Sign sign = promql::SignAt(text, end);
    const bool is_sign = sign.code != 0xFFFD || sign.bytes > 1;
    if (!is_sign || end + sign.bytes > bytes_max) break;
    end += sign.bytes;
  }
  return std::string(text.substr(0, end));
}

std::string TextOf(const MetricMetadata& metadata) {
  return json({{"type", metadata.type}, {"help", metadata.help}, {"unit", metadata.unit}}).dump();
}

bool Parse(const std::string& text, MetricMetadata* metadata) {
  const json parsed = json::parse(text, nullptr, false);
  if (!parsed.is_object()) return false;
  const std::pair<const char*, std::string*> members[] = {
      {"type", &metadata->type}, {"help", &metadata->help}, {"unit", &metadata->unit}};
  return std::all_of(std::begin(members), std::end(members), [&parsed](const auto& member) {
    const auto found = parsed.find(member.first);
    if (found == parsed.end() || !found->is_string()) return false;
    *member.second = found->template get<std::string>();
    return true;
  });
}

absl::Status Write(const std::vector<RowWrite>& rows, TableAccess* tables) {
  const absl::StatusOr<std::vector<absl::Status>> statuses = tables->MutateRows(kDeclarationsTable, rows);
  if (!statuses.ok()) return statuses.status();
  for (const absl::Status& status : *statuses) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::map<std::string, MetricMetadata>> ReadMetadata(std::string_view metric,
                                                                   TableAccess* tables) {
  std::map<std::string, MetricMetadata> all;
  RowRead read;
  read.ranges = {metric.empty() ? RowRange::All() : RowRange::Single(metric)};
  read.columns = {{kFamily, kMetadataColumn}};
  read.cells_per_column_max = 1;
  const absl::Status status = tables->ReadRows(kDeclarationsTable, read, [&all](ReadRow&& row) {
    MetricMetadata metadata;
    if (!row.cells.empty() && Parse(row.cells[0].value, &metadata)) {
      all.emplace(std::move(row.row_key), std::move(metadata));
    }
    return all.size() < kMetricsWithMetadataMax;
  });
  if (!status.ok() && !absl::IsNotFound(status)) return status;  // not found: nothing was ever stored
  return all;
}

std::string FamilyOf(std::string_view metric, std::string_view type) {
  const bool has_parts = type == "histogram" || type == "gaugehistogram" || type == "summary";
  for (const std::string_view ending : {"_bucket", "_count", "_sum"}) {
    if (has_parts && metric.size() > ending.size() && metric.ends_with(ending)) {
      return std::string(metric.substr(0, metric.size() - ending.size()));
    }
  }
  return std::string(metric);
}

absl::Status MetadataStore::Keep(std::map<std::string, MetricMetadata> all) {
  if (all.empty()) return absl::OkStatus();
  const absl::MutexLock lock(&mutex_);
  if (!is_read_) {
    absl::StatusOr<std::map<std::string, MetricMetadata>> stored = ReadMetadata("", tables_);
    if (!stored.ok()) return stored.status();
    known_.clear();
    for (auto& [metric, metadata] : *stored) known_.emplace(metric, std::move(metadata));
    is_read_ = true;
  }
  std::vector<RowWrite> rows;
  std::vector<std::pair<std::string, MetricMetadata>> changed;
  const auto write = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) -> absl::Status {
    if (rows.empty()) return absl::OkStatus();
    if (absl::Status status = EnsureDeclarationsTable(tables_); !status.ok()) return status;
    if (absl::Status status = Write(rows, tables_); !status.ok()) return status;
    for (auto& [metric, metadata] : changed) known_.insert_or_assign(metric, std::move(metadata));
    rows.clear();
    changed.clear();
    return absl::OkStatus();
  };
  for (auto& [metric, metadata] : all) {
    if (!IsName(metric)) continue;
    metadata.help = Cut(metadata.help, kHelpBytesMax);
    metadata.unit = Cut(metadata.unit, kUnitBytesMax);
    const auto known = known_.find(metric);
    if (known != known_.end() && known->second == metadata) continue;
    if (known == known_.end() && known_.size() + changed.size() >= kMetricsWithMetadataMax) continue;
    RowWrite& row = rows.emplace_back();
    row.row_key = metric;
    row.cells = {{kFamily, kMetadataColumn, 0, TextOf(metadata)}};
    changed.emplace_back(metric, std::move(metadata));
    if (rows.size() < kMetricsAWrite) continue;
    if (absl::Status status = write(); !status.ok()) return status;
  }
  return write();
}

}  // namespace sonde::series
