#include "backup/journal/journal_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

namespace sonde {
namespace {

constexpr size_t kPositionDigits = 20;
constexpr std::string_view kSegmentSuffix = ".log", kPartSuffix = ".part";

bool ParseDigits(std::string_view text, int64_t* position) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *position);
  return text.size() == kPositionDigits && error == std::errc() && end == text.data() + text.size() &&
         *position >= 0;
}

std::optional<std::pair<int64_t, int64_t>> ParseSegmentName(std::string_view name) {
  if (!name.ends_with(kSegmentSuffix)) return std::nullopt;
  name.remove_suffix(kSegmentSuffix.size());
  if (name.size() != 2 * kPositionDigits + 1 || name[kPositionDigits] != '-') return std::nullopt;
  std::pair<int64_t, int64_t> positions;
  if (!ParseDigits(name.substr(0, kPositionDigits), &positions.first) ||
      !ParseDigits(name.substr(kPositionDigits + 1), &positions.second)) {
    return std::nullopt;
  }
  return positions;
}

absl::StatusOr<std::vector<FileFacts>> ListIfThere(const Repository& repository,
                                                   const std::string& directory) {
  absl::StatusOr<std::vector<FileFacts>> entries = repository.files()->List(directory);
  if (absl::IsNotFound(entries.status())) return std::vector<FileFacts>();
  return entries;
}

std::string RangeText(const RestorableRange& range) {
  return fmt::format("{} to {}", MomentText(range.earliest), MomentText(range.latest));
}

// Why no backup reaches the moment; `ranges` are in the order of their backups and not empty.
absl::Status Unreachable(const std::vector<RestorableRange>& ranges, absl::Time moment) {
  const auto earliest = std::ranges::min_element(ranges, {}, &RestorableRange::earliest);
  const auto latest = std::ranges::max_element(ranges, {}, &RestorableRange::latest);
  if (moment < earliest->earliest) {
    return absl::OutOfRangeError(fmt::format("{} is before the earliest moment that can be restored, {}",
                                             MomentText(moment), MomentText(earliest->earliest)));
  }
  if (moment > latest->latest) {
    return absl::OutOfRangeError(fmt::format("{} is after the latest moment that can be restored, {}",
                                             MomentText(moment), MomentText(latest->latest)));
  }
  std::string text;
  for (const RestorableRange& range : ranges) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", RangeText(range));
  }
  return absl::OutOfRangeError(fmt::format("The journal has a gap at {}: moments that can be restored are {}",
                                           MomentText(moment), text));
}

}  // namespace

std::string JournalsPath(const Repository& repository) { return repository.directory() + "/changes"; }

std::string JournalPath(const Repository& repository, std::string_view journal) {
  return fmt::format("{}/{}", JournalsPath(repository), journal);
}

std::string SegmentName(int64_t first, int64_t last) {
  return fmt::format("{:020}-{:020}{}", first, last, kSegmentSuffix);
}

absl::StatusOr<std::vector<std::string>> ListJournals(const Repository& repository) {
  const absl::StatusOr<std::vector<FileFacts>> entries = ListIfThere(repository, JournalsPath(repository));
  if (!entries.ok()) return entries.status();
  std::vector<std::string> ids;
  for (const FileFacts& entry : *entries) {
    if (entry.is_directory && IsJournalId(entry.name)) ids.push_back(entry.name);
  }
  return ids;
}

absl::StatusOr<std::vector<SegmentFile>> ListSegments(const Repository& repository,
                                                      std::string_view journal) {
  const std::string directory = JournalPath(repository, journal);
  const absl::StatusOr<std::vector<FileFacts>> entries = ListIfThere(repository, directory);
  if (!entries.ok()) return entries.status();
  std::vector<SegmentFile> segments;
  for (const FileFacts& entry : *entries) {
    const auto positions = ParseSegmentName(entry.name);
    if (entry.is_directory || !positions.has_value()) continue;
    segments.push_back({.place = {std::string(journal), positions->first, positions->second},
                        .path = fmt::format("{}/{}", directory, entry.name),
                        .bytes = entry.bytes,
                        .modified = entry.modified});
  }
  std::ranges::sort(segments, {}, [](const SegmentFile& segment) {
    return std::pair(segment.place.first, -segment.place.last);
  });
  return segments;
}

absl::StatusOr<std::vector<std::pair<std::string, FileFacts>>> ListSegmentParts(const Repository& repository,
                                                                                std::string_view journal) {
  const std::string directory = JournalPath(repository, journal);
  const absl::StatusOr<std::vector<FileFacts>> entries = ListIfThere(repository, directory);
  if (!entries.ok()) return entries.status();
  std::vector<std::pair<std::string, FileFacts>> parts;
  for (const FileFacts& entry : *entries) {
    if (!entry.is_directory && entry.name.ends_with(kPartSuffix))
      parts.emplace_back(fmt::format("{}/{}", directory, entry.name), entry);
  }
  return parts;
}

SegmentChain ChainFrom(const std::vector<SegmentFile>& segments, int64_t after) {
  SegmentChain chain{.after = after, .through = after};
  const SegmentFile* next = nullptr;  // of those that go on from `through`, the one that reaches furthest
  for (const SegmentFile& segment : segments) {
    if (segment.place.last <= chain.through) continue;
    if (segment.place.first > chain.through + 1 && next != nullptr) {
      chain.segments.push_back(*next);
      chain.through = next->place.last;
      next = nullptr;
      if (segment.place.last <= chain.through) continue;
    }
    if (segment.place.first > chain.through + 1) {
      chain.next_first = segment.place.first;
      return chain;
    }
    if (next == nullptr || segment.place.last > next->place.last) next = &segment;
  }
  if (next != nullptr) {
    chain.segments.push_back(*next);
    chain.through = next->place.last;
  }
  return chain;
}

absl::StatusOr<std::optional<RestorableRange>> FindRestorable(const Repository& repository,
                                                              Manifest manifest) {
  if (!manifest.journal.has_value()) return std::nullopt;
  const JournalPlace& place = *manifest.journal;
  const absl::StatusOr<std::vector<SegmentFile>> segments = ListSegments(repository, place.id);
  if (!segments.ok()) return segments.status();
  const SegmentChain chain = ChainFrom(*segments, place.from_micros);
  if (chain.through < place.through_micros) return std::nullopt;
  RestorableRange range{.earliest = absl::FromUnixMicros(place.through_micros),
                        .latest = absl::FromUnixMicros(chain.through)};
  range.manifest = std::move(manifest);
  return range;
}

absl::StatusOr<RestorableRange> FindBase(const Repository& repository, absl::Time moment,
                                         std::string_view only) {
  const absl::StatusOr<std::vector<std::string>> ids =
      only.empty() ? repository.BackupIds() : std::vector<std::string>{std::string(only)};
  if (!ids.ok()) return ids.status();
  std::vector<RestorableRange> ranges;
  for (const std::string& id : *ids) {
    absl::StatusOr<Manifest> manifest = repository.Read(id);
    if (absl::IsNotFound(manifest.status()) && only.empty()) continue;  // it was removed meanwhile
    if (!manifest.ok()) return manifest.status();
    absl::StatusOr<std::optional<RestorableRange>> range = FindRestorable(repository, *std::move(manifest));
    if (!range.ok()) return range.status();
    if (range->has_value()) ranges.push_back(**std::move(range));
  }
  if (ranges.empty()) {
    return absl::NotFoundError(
        fmt::format("{} has no {} with a journal: nothing but whole backups can be restored",
                    repository.directory(), only.empty() ? "backup" : fmt::format("backup {}", only)));
  }
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
    if (moment >= range->earliest && moment <= range->latest) return std::move(*range);
  }
  return Unreachable(ranges, moment);
}

std::string MomentText(absl::Time moment) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", moment, absl::UTCTimeZone());
}

}  // namespace sonde
