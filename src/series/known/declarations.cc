#include "series/known/declarations.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "series/known/declaration_store.h"
#include "series/known/series_tables.h"
#include "series/schema/check.h"
#include "series/schema/schema_parser.h"

namespace sonde::series {
namespace {

// How soon a declaration that another client has stored is seen; longer where looking takes long.
constexpr int64_t kLookAgainMicros = 2 * kMicrosPerSecond;
constexpr int64_t kLookShareMin = 50;

bool IsUtf8(std::string_view text) {
  const std::string kept = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::ignore);
  return nlohmann::json::parse(kept).get_ref<const std::string&>() == text;
}

absl::Status CheckOpenName(std::string_view what, std::string_view name) {
  if (name.empty() || name.size() > kOpenNameBytesMax) {
    return absl::InvalidArgumentError(fmt::format("{} '{}' of {} bytes; allowed: 1 to {}", what,
                                                  Printable(name, 40), name.size(), kOpenNameBytesMax));
  }
  if (IsUtf8(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("{} '{}' is not UTF-8", what, Printable(name, 40)));
}

// Whether it is an open series with these labels and fields.
bool HasAll(const KnownSeries& series, const std::vector<std::string_view>& labels,
            const std::vector<OpenField>& fields) {
  const auto has_label = [&](std::string_view label) {
    return std::find(series.labels.begin(), series.labels.end(), label) != series.labels.end();
  };
  const auto has_field = [&](const OpenField& field) {
    const std::optional<size_t> known = series.schema.FindField(field.name);
    return known && series.schema.fields[*known].type == field.type;
  };
  return series.is_open() && std::all_of(labels.begin(), labels.end(), has_label) &&
         std::all_of(fields.begin(), fields.end(), has_field);
}

}  // namespace

absl::Status Declarations::Load() {
  const absl::StatusOr<std::vector<StoredSeries>> all = ListStored(tables_);
  if (!all.ok()) return all.status();
  absl::flat_hash_map<std::string, KnownSeriesRef> series;
  for (const StoredSeries& stored : *all) {
    absl::StatusOr<KnownSeries> known = ParseStored(stored);
    if (!known.ok()) return known.status();
    series[stored.series] = std::make_shared<const KnownSeries>(*std::move(known));
  }
  next_look_micros_ = clock_->NowMicros() + kLookAgainMicros;
  const absl::MutexLock lock(&mutex_);
  series_ = std::move(series);
  return absl::OkStatus();
}

void Declarations::LookAgain() {
  const int64_t start_micros = clock_->NowMicros();
  if (start_micros < next_look_micros_.load(std::memory_order_relaxed) || !changing_.TryLock()) return;
  const absl::StatusOr<std::vector<StoredSeries>> all = ListDeclarations(tables_);
  if (all.ok()) TakeDeclarations(*all);
  const int64_t end_micros = clock_->NowMicros();
  next_look_micros_ = end_micros + std::max(kLookAgainMicros, kLookShareMin * (end_micros - start_micros));
  changing_.Unlock();
}

void Declarations::TakeDeclarations(const std::vector<StoredSeries>& all) {
  absl::flat_hash_set<std::string_view> names;
  for (const StoredSeries& stored : all) {
    names.insert(stored.series);
    const KnownSeriesRef before = Known(stored.series);
    if (before != nullptr && (before->is_open() || before->yaml == stored.text)) continue;
    absl::StatusOr<KnownSeries> known = ParseStored(stored);
    // One that this build does not understand leaves what was known.
    if (known.ok()) Keep(*std::move(known));
  }
  const absl::MutexLock lock(&mutex_);
  absl::erase_if(series_,
                 [&](const auto& entry) { return !entry.second->is_open() && !names.contains(entry.first); });
}

KnownSeriesRef Declarations::Known(std::string_view name) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = series_.find(absl::string_view(name.data(), name.size()));
  return found == series_.end() ? nullptr : found->second;
}

KnownSeriesRef Declarations::Keep(KnownSeries series) {
  auto kept = std::make_shared<const KnownSeries>(std::move(series));
  const absl::MutexLock lock(&mutex_);
  series_[kept->schema.name] = kept;
  return kept;
}

KnownSeriesRef Declarations::Find(std::string_view name) {
  LookAgain();
  return Known(name);
}

absl::StatusOr<KnownSeriesRef> Declarations::FindStored(std::string_view name) {
  KnownSeriesRef known = Find(name);
  if (known != nullptr) return known;
  const absl::MutexLock changing(&changing_);
  return ReadStored(name);
}

absl::StatusOr<KnownSeriesRef> Declarations::ReadStored(std::string_view name) {
  const absl::StatusOr<std::optional<KnownSeries>> stored = FindKnownSeries(name, tables_);
  if (!stored.ok()) return stored.status();
  return stored->has_value() ? Keep(**stored) : nullptr;
}

std::vector<KnownSeriesRef> Declarations::List() {
  LookAgain();
  std::vector<KnownSeriesRef> result;
  {
    const absl::MutexLock lock(&mutex_);
    for (const auto& [name, series] : series_) result.push_back(series);
  }
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a->schema.name < b->schema.name; });
  return result;
}

absl::Status Declarations::Store(const KnownSeries& series) {
  if (!has_table_) {
    if (absl::Status status = EnsureDeclarationsTable(tables_); !status.ok()) return status;
    if (absl::Status status = tables_->EnsureTable(kOpenSeriesTable, {{"m", GcRule{}}}); !status.ok())
      return status;
    has_table_ = true;
  }
  return StoreOpenSeries(series, tables_);
}

absl::StatusOr<KnownSeriesRef> Declarations::Declare(std::string_view yaml) {
  absl::StatusOr<SeriesSchema> schema = ParseSchema(yaml, "declaration");
  if (!schema.ok()) return schema.status();
  if (absl::Status status = RefuseErrors(*schema); !status.ok()) return status;
  KnownSeries series{*std::move(schema), std::string(yaml), {}};
  const absl::MutexLock changing(&changing_);
  if (absl::Status status = EnsureSeriesTables(series.schema, tables_, clock_); !status.ok()) return status;
  return Keep(std::move(series));
}

absl::StatusOr<KnownSeriesRef> Declarations::Extend(std::string_view name,
                                                    const std::vector<std::string_view>& labels,
                                                    const std::vector<OpenField>& fields) {
  KnownSeriesRef before = Known(name);
  if (before != nullptr && HasAll(*before, labels, fields)) return before;
  if (absl::Status status = CheckOpenName("series", name); !status.ok()) return status;
  const absl::MutexLock changing(&changing_);
  before = Known(name);
  if (before == nullptr) {
    absl::StatusOr<KnownSeriesRef> stored = ReadStored(name);
    if (!stored.ok()) return stored.status();
    before = *std::move(stored);
  }
  if (before != nullptr && !before->is_open()) {
    return absl::FailedPreconditionError(fmt::format("series '{}' is declared", Printable(name)));
  }
  KnownSeries series = before == nullptr ? NewOpenSeries(name) : *before;
  bool is_changed = before == nullptr;
  for (const std::string_view label : labels) {
    if (std::find(series.labels.begin(), series.labels.end(), label) != series.labels.end()) continue;
    if (absl::Status status = CheckOpenName("label", label); !status.ok()) return status;
    series.labels.emplace_back(label);
    is_changed = true;
  }
  for (const OpenField& field : fields) {
    const std::optional<size_t> known = series.schema.FindField(field.name);
    if (known && series.schema.fields[*known].type != field.type) {
      return absl::InvalidArgumentError(fmt::format(
          "field type conflict: field \"{}\" on measurement \"{}\" is type {}, already exists as type {}",
          Printable(field.name), Printable(name), FieldTypeName(field.type),
          FieldTypeName(series.schema.fields[*known].type)));
    }
    if (known) continue;
    if (absl::Status status = CheckOpenName("field", field.name); !status.ok()) return status;
    AddOpenField(field.name, field.type, &series);
    is_changed = true;
  }
  if (!is_changed) return before;
  const auto exhausted = [&](std::string_view what, size_t max) {
    return absl::ResourceExhaustedError(
        fmt::format("series '{}': more than {} {}; declare it, or send fewer", Printable(name), max, what));
  };
  if (series.labels.size() > kOpenLabelsMax) return exhausted("labels", kOpenLabelsMax);
  if (series.schema.fields.size() > kOpenFieldsMax) return exhausted("fields", kOpenFieldsMax);
  {
    const absl::MutexLock lock(&mutex_);
    if (before == nullptr && series_.size() >= kSeriesMax) return exhausted("series before it", kSeriesMax);
  }
  if (absl::Status status = Store(series); !status.ok()) return status;
  return Keep(std::move(series));
}

}  // namespace sonde::series
