#include "model/table_schema.h"

#include <algorithm>

namespace sonde {

const FamilySchema* TableSchema::FindFamily(std::string_view family) const {
  const auto at = std::lower_bound(families.begin(), families.end(), family,
                                   [](const FamilySchema& a, std::string_view b) { return a.name < b; });
  return at != families.end() && at->name == family ? &*at : nullptr;
}

const FamilySchema* TableSchema::FindFamily(FamilyId family) const {
  for (const FamilySchema& candidate : families) {
    if (candidate.id == family) return &candidate;
  }
  return nullptr;
}

bool TableSchema::LogsGarbage() const {
  return change_stream.has_value() || std::ranges::any_of(log_uses, &LogUse::reads_garbage);
}

const LogUse* TableSchema::FindLogUse(std::string_view use) const {
  const auto at = std::ranges::find(log_uses, use, &LogUse::name);
  return at == log_uses.end() ? nullptr : &*at;
}

int64_t TableSchema::LogPositionMin() const {
  int64_t position = change_stream.has_value() ? change_stream->start_micros : 0;
  for (const LogUse& use : log_uses) position = std::max(position, use.start_micros);
  return position;
}

int64_t TableSchema::LogNeededFromMicros(int64_t now_micros) const {
  int64_t oldest = now_micros;
  const auto need = [&](int64_t start_micros, int64_t retention_micros) {
    oldest = std::min(oldest, std::max(start_micros, now_micros - retention_micros));
  };
  if (change_stream.has_value()) need(change_stream->start_micros, change_stream->retention_micros);
  for (const LogUse& use : log_uses) need(use.start_micros, use.retention_micros);
  return oldest;
}

int64_t TableSchema::LogKeptMicros() const {
  int64_t kept = change_stream.has_value() ? change_stream->retention_micros : 0;
  for (const LogUse& use : log_uses) kept = std::max(kept, use.retention_micros);
  return kept;
}

void TableSchema::StopLogging() {
  change_stream.reset();
  log_uses.clear();
}

}  // namespace sonde
