// The manifest of a backup in a repository: which files a data directory had at one moment, and what is in them.
//
// Its text is JSON, with the SHA-256 of the JSON as the last line (docs/formats/repository.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sonde {

constexpr size_t kManifestBytesMax = size_t{256} << 20;
constexpr size_t kManifestFilesMax = 1'000'000;

struct ManifestFile {
  std::string path;  // below the data directory, with '/' between its parts
  uint64_t bytes = 0;
  std::string sha256;              // the name of the blob
  std::optional<uint32_t> crc32c;  // of the file's bytes, where the store knows it

  bool operator==(const ManifestFile&) const = default;
};

// The place of a backup in the journal of its store (docs/formats/journal-segment.md).
struct JournalPlace {
  std::string id;
  int64_t from_micros = 0;     // all changes at positions up to this one are in the backup
  int64_t through_micros = 0;  // no change behind this one is in it

  bool operator==(const JournalPlace&) const = default;
};

struct Manifest {
  std::string id;      // the name of the manifest's file, without ".json"
  std::string server;  // the version of Sonde that wrote it
  // All changes that were acknowledged before this moment are in the backup.  Microseconds.
  absl::Time moment;
  // Which store it is; names, sizes and checksums of files are compared within a store only.
  std::string store;
  // The name of the only table that it holds; empty: it holds a whole store.
  std::string table;
  std::vector<std::string> tables;  // the names of the tables in it
  std::string parent;               // the id of the backup before, empty if there was none; for people
  std::optional<JournalPlace> journal = std::nullopt;  // nullopt: the store has no journal
  std::vector<ManifestFile> files;                     // by path

  uint64_t bytes() const;
  bool operator==(const Manifest&) const = default;
};

// An id is 20260102T030405.123456Z-0123abcd: the moment to the microsecond, and something random.  Ids are in the order of their
// moments.
std::string MakeBackupId(absl::Time moment, uint32_t random);
bool IsBackupId(std::string_view text);
// Whether a path may stand in a manifest: relative, of at most three parts, each of [A-Za-z0-9._-] and none "." or "..".
bool IsManifestPath(std::string_view path);

// Whether a text may be the id of a journal: hexadecimal digits in lower case.
constexpr size_t kJournalIdBytes = 16;
bool IsJournalId(std::string_view text);

std::string EncodeManifest(const Manifest& manifest);
// `id`: the one that the file's name says.  DATA_LOSS: the text is damaged.  FAILED_PRECONDITION: a newer Sonde wrote it.
absl::StatusOr<Manifest> DecodeManifest(std::string_view id, std::string_view text);

}  // namespace sonde
