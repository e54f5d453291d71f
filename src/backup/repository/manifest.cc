#include "backup/repository/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "backup/repository/sha256_stream.h"

namespace sonde {
namespace {

using Json = nlohmann::json;

constexpr int kManifestFormat = 1;
constexpr std::string_view kDigestLine = "sha256 ";
constexpr size_t kPathPartsMax = 3, kPathBytesMax = 255;
constexpr char kIdTime[] = "%Y%m%dT%H%M%E6SZ";

absl::Status Damaged(std::string_view id, std::string_view why) {
  return absl::DataLossError(fmt::format("The manifest of backup {} is damaged: {}", id, why));
}

ManifestFile FileOf(const Json& json) {
  ManifestFile file{.path = json.at("path").get<std::string>(),
                    .bytes = json.at("bytes").get<uint64_t>(),
                    .sha256 = json.at("sha256").get<std::string>()};
  if (const auto crc32c = json.find("crc32c"); crc32c != json.end()) file.crc32c = crc32c->get<uint32_t>();
  return file;
}

bool HasSoundFiles(const Manifest& manifest) {
  std::string_view before;
  for (const ManifestFile& file : manifest.files) {
    if (!IsManifestPath(file.path) || !IsSha256Hex(file.sha256) || file.path <= before) return false;
    before = file.path;
  }
  return manifest.files.size() <= kManifestFilesMax;
}

// The JSON in front of the last line, which must be its digest; nullopt: it is not.
std::optional<std::string_view> CheckedJson(std::string_view text) {
  if (!text.ends_with('\n')) return std::nullopt;
  const size_t end = text.rfind('\n', text.size() - 2);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view json = text.substr(0, end + 1), last = text.substr(end + 1);
  if (last != fmt::format("{}{}\n", kDigestLine, Sha256Hex(json))) return std::nullopt;
  return json;
}

}  // namespace

uint64_t Manifest::bytes() const {
  return std::accumulate(files.begin(), files.end(), uint64_t{0},
                         [](uint64_t sum, const ManifestFile& file) { return sum + file.bytes; });
}

std::string MakeBackupId(absl::Time moment, uint32_t random) {
  return fmt::format("{}-{:08x}", absl::FormatTime(kIdTime, moment, absl::UTCTimeZone()), random);
}

bool IsBackupId(std::string_view text) {
  constexpr std::string_view kForm = "00000000T000000.000000Z-xxxxxxxx";
  if (text.size() != kForm.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    const bool fits = kForm[i] == '0'   ? is_digit
                      : kForm[i] == 'x' ? is_digit || (text[i] >= 'a' && text[i] <= 'f')
                                        : text[i] == kForm[i];
    if (!fits) return false;
  }
  return true;
}

bool IsManifestPath(std::string_view path) {
  if (path.empty() || path.size() > kPathBytesMax) return false;
  size_t parts = 0;
  for (size_t start = 0; start <= path.size(); ++parts) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return false;
    const bool is_plain = std::ranges::all_of(part, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
             c == '_' || c == '-';
    });
    if (!is_plain) return false;
    start = end + 1;
  }
  return parts <= kPathPartsMax;
}

bool IsJournalId(std::string_view text) {
  return text.size() == kJournalIdBytes &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string EncodeManifest(const Manifest& manifest) {
  Json files = Json::array();
  for (const ManifestFile& file : manifest.files) {
    Json json = {{"path", file.path}, {"bytes", file.bytes}, {"sha256", file.sha256}};
    if (file.crc32c.has_value()) json["crc32c"] = *file.crc32c;
    files.push_back(std::move(json));
  }
  Json json = {{"format", kManifestFormat}, {"id", manifest.id},
               {"server", manifest.server}, {"moment_micros", absl::ToUnixMicros(manifest.moment)},
               {"store", manifest.store},   {"table", manifest.table},
               {"tables", manifest.tables}, {"parent", manifest.parent},
               {"files", std::move(files)}};
  if (manifest.journal.has_value()) {
    json["journal"] = {{"id", manifest.journal->id},
                       {"from_micros", manifest.journal->from_micros},
                       {"through_micros", manifest.journal->through_micros}};
  }
  const std::string text = json.dump(1) + "\n";
  return fmt::format("{}{}{}\n", text, kDigestLine, Sha256Hex(text));
}

absl::StatusOr<Manifest> DecodeManifest(std::string_view id, std::string_view text) {
  const std::optional<std::string_view> checked = CheckedJson(text);
  if (!checked.has_value()) return Damaged(id, "its last line is not the SHA-256 of what is before it");
  try {
    const Json json = Json::parse(*checked);
    const int format = json.at("format").get<int>();
    if (format > kManifestFormat) {
      return absl::FailedPreconditionError(
          fmt::format("The manifest of backup {} has format {}, written by a newer Sonde; this one knows "
                      "formats up to {}",
                      id, format, kManifestFormat));
    }
    Manifest manifest{.id = json.at("id").get<std::string>(),
                      .server = json.at("server").get<std::string>(),
                      .moment = absl::FromUnixMicros(json.at("moment_micros").get<int64_t>()),
                      .store = json.at("store").get<std::string>(),
                      .table = json.at("table").get<std::string>(),
                      .tables = json.at("tables").get<std::vector<std::string>>(),
                      .parent = json.at("parent").get<std::string>()};
    if (const auto journal = json.find("journal"); journal != json.end()) {
      manifest.journal = {.id = journal->at("id").get<std::string>(),
                          .from_micros = journal->at("from_micros").get<int64_t>(),
                          .through_micros = journal->at("through_micros").get<int64_t>()};
      if (!IsJournalId(manifest.journal->id)) return Damaged(id, "the id of its journal is none");
    }
    for (const Json& file : json.at("files")) manifest.files.push_back(FileOf(file));
    if (manifest.id != id) return Damaged(id, fmt::format("it says that it is of backup {}", manifest.id));
    if (!HasSoundFiles(manifest)) return Damaged(id, "its list of files is none");
    return manifest;
  } catch (const Json::exception& e) {
    return Damaged(id, e.what());
  }
}

}  // namespace sonde
