#include "backup/copy/restored_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/time/time.h"
#include "catalog/record/table_record.h"
#include "engine/engine_errors.h"
#include "journal/journal.h"
#include "model/names.h"

namespace sonde {
namespace {

constexpr std::string_view kTableKeys = "table/", kBackupKeys = "backup/";
constexpr uint64_t kCheckBytesPerSecondMax = uint64_t{4} << 30;  // as fast as the disk is

absl::StatusOr<uint64_t> RemoveBackupRecords(RocksEngine* engine) {
  const absl::StatusOr<std::vector<Record>> records =
      engine->ReadRecords(kBackupKeys, absl::InfiniteFuture());
  if (!records.ok()) return records.status();
  std::vector<RecordChange> changes;
  for (const Record& record : *records) changes.push_back({record.key, std::nullopt});
  if (!changes.empty()) {
    if (absl::Status status = engine->WriteRecords(changes); !status.ok()) return status;
  }
  return changes.size();
}

// RocksDB makes a new database where there is none.
absl::Status CheckHasDatabases(const Manifest& manifest) {
  for (const std::string_view path : {"FORMAT", "cells/CURRENT", "records/CURRENT"}) {
    if (std::ranges::find(manifest.files, path, &ManifestFile::path) == manifest.files.end()) {
      return absl::DataLossError(fmt::format("Backup {} has no {}", manifest.id, path));
    }
  }
  return absl::OkStatus();
}

absl::Status CompareTables(RocksEngine* engine, const Manifest& manifest) {
  const absl::StatusOr<std::vector<Record>> records = engine->ReadRecords(kTableKeys, absl::InfiniteFuture());
  if (!records.ok()) return records.status();
  for (const std::string& name : manifest.tables) {
    const std::string key = fmt::format("{}{}", kTableKeys, name);
    if (std::ranges::find(*records, key, &Record::key) == records->end()) {
      return absl::DataLossError(
          fmt::format("Backup {} names the table {}, which its files do not have", manifest.id, name));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TableSchema> ReadSchema(RocksEngine* engine, const std::string& directory,
                                       const std::string& source_table) {
  if (!std::filesystem::exists(directory + "/FORMAT")) {
    return absl::NotFoundError(fmt::format("There is no copy {}", directory));
  }
  const absl::StatusOr<std::unique_ptr<RocksEngine>> copy = engine->OpenCopy(directory);
  if (!copy.ok()) return copy.status();
  const std::string key = fmt::format("{}{}", kTableKeys, source_table);
  const absl::StatusOr<std::vector<Record>> records = (*copy)->ReadRecords(key, absl::InfiniteFuture());
  if (!records.ok()) return records.status();
  if (records->empty() || records->front().key != key) {
    return absl::NotFoundError(fmt::format("The store that is restored has no table {}", source_table));
  }
  absl::StatusOr<TableRecord> record = DecodeTableRecord(records->front().value);
  if (!record.ok()) return record.status();
  return std::move(record->schema);
}

// Makes a table of the cells of a snapshot.
absl::StatusOr<TableSchemaRef> AddTable(RocksEngine* engine, Catalog* catalog, const std::string& snapshot,
                                        TableSchema schema, const std::string& as) {
  const absl::StatusOr<TableId> id = catalog->Reserve();
  if (!id.ok()) return id.status();
  absl::StatusOr<TableSchemaRef> made;
  if (absl::Status status = engine->snapshots()->Restore(snapshot, *id); !status.ok()) {
    made = std::move(status);
  } else {
    schema.name = as;
    schema.id = *id;
    schema.deletion_protection = false;
    schema.StopLogging();
    made = catalog->CreateReserved(std::move(schema));
  }
  if (!made.ok()) catalog->Abandon(*id).IgnoreError();  // otherwise the next start does
  return made;
}

}  // namespace

absl::StatusOr<CheckedStore> CheckRestored(const std::string& directory, const Manifest& manifest,
                                           JournalRecords journal) {
  if (absl::Status status = CheckHasDatabases(manifest); !status.ok()) return status;
  const absl::StatusOr<std::unique_ptr<RocksEngine>> engine = RocksEngine::Open(
      {.data_dir = directory, .scrub_bytes_per_second_max = kCheckBytesPerSecondMax, .settles = false});
  if (!engine.ok()) return engine.status();
  if (absl::Status status = CompareTables(engine->get(), manifest); !status.ok()) return status;
  const absl::StatusOr<uint64_t> removed = RemoveBackupRecords(engine->get());
  if (!removed.ok()) return removed.status();
  if (journal == JournalRecords::kForget) {
    if (absl::Status status = Journal::Forget(engine->get()); !status.ok()) return status;
  }
  // A record that cannot be read is found here.
  if (absl::Status status = Catalog::Open(engine->get()).status(); !status.ok()) return status;
  if (absl::Status status = (*engine)->Scrub(); !status.ok()) return status;
  const ScrubProgress progress = (*engine)->scrub_progress();
  return CheckedStore{.tables_count = manifest.tables.size(),
                      .files_bytes = progress.bytes_done,
                      .backups_removed = *removed};
}

std::string CopyDirectory(const std::string& data_dir, const std::string& copy) {
  return fmt::format("{}/snapshots/{}.part", data_dir, copy);
}

absl::StatusOr<TableSchemaRef> AddTableOfCopy(RocksEngine* engine, Catalog* catalog,
                                              const std::string& data_dir, const std::string& copy,
                                              const std::string& source_table, const std::string& as) {
  absl::Status status = CheckSnapshotName(copy);
  if (status.ok()) status = CheckTableName(as);
  if (!status.ok()) return status;
  const std::string directory = CopyDirectory(data_dir, copy);
  const absl::Cleanup remove = [&] {
    std::error_code ignored;  // the next start removes it
    std::filesystem::remove_all(directory, ignored);
  };
  if (catalog->Find(as).ok()) return absl::AlreadyExistsError(fmt::format("Table already exists: {}", as));
  const absl::StatusOr<TableSchema> source = ReadSchema(engine, directory, source_table);
  if (!source.ok()) return source.status();
  std::error_code error;
  std::filesystem::rename(directory, fmt::format("{}/snapshots/{}@{}", data_dir, copy, source->id), error);
  if (error) return absl::UnavailableError(fmt::format("Naming {}: {}", directory, error.message()));
  absl::StatusOr<TableSchemaRef> made = AddTable(engine, catalog, copy, *source, as);
  status = engine->snapshots()->Drop(copy);
  if (made.ok() && !status.ok()) return status;
  return made;
}

}  // namespace sonde
