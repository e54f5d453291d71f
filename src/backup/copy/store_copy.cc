#include "backup/copy/store_copy.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "catalog/record/table_record.h"
#include "engine/rocks/files/inventory.h"

namespace sonde {
namespace {

constexpr std::string_view kTableRecords = "table/";
constexpr std::string_view kTableSuffix = ".sst";
// An engine that nobody uses but to copy.
constexpr uint64_t kCopyingMemoryBytes = uint64_t{64} << 20;
constexpr size_t kInventoryBytesMax = size_t{256} << 20;
// The snapshot of the store that a table is extracted from.
constexpr char kWholeStore[] = "whole-store";

absl::StatusOr<std::vector<std::string>> TableNames(RocksEngine* engine) {
  const absl::StatusOr<std::vector<Record>> records =
      engine->ReadRecords(kTableRecords, absl::InfiniteFuture());
  if (!records.ok()) return records.status();
  std::vector<std::string> names;
  for (const Record& record : *records) names.push_back(record.key.substr(kTableRecords.size()));
  return names;
}

// The files of a database, and those beside the databases, that a backup needs.
bool IsOfBackup(const std::string& name) {
  return name != "LOCK" && name != "BALLAST" && !name.starts_with("LOG");
}

absl::Status AddFiles(FileSystem* files, const std::string& directory, const std::string& below,
                      const DatabaseInventory* inventory, CopiedStore* copy) {
  const absl::StatusOr<std::vector<FileFacts>> entries = files->List(directory);
  if (!entries.ok()) return entries.status();
  for (const FileFacts& entry : *entries) {
    if (entry.is_directory || !IsOfBackup(entry.name)) continue;
    CopiedFile file{.path = below + entry.name, .from = directory + "/" + entry.name, .bytes = entry.bytes};
    if (inventory != nullptr && entry.name.ends_with(kTableSuffix)) {
      uint64_t number = 0;
      std::from_chars(entry.name.data(), entry.name.data() + entry.name.size(), number);
      const auto table = inventory->tables.find(number);
      if (table != inventory->tables.end() && table->second.bytes == entry.bytes)
        file.crc32c = table->second.crc32c;
    }
    copy->files.push_back(std::move(file));
  }
  return absl::OkStatus();
}

absl::Status AddAllFiles(FileSystem* files, const std::string& directory, const Inventory& inventory,
                         CopiedStore* copy) {
  absl::Status status = AddFiles(files, directory, "", nullptr, copy);
  for (const char* const directory_name : {"cells", "records"}) {
    const std::string name = directory_name;
    const auto database = inventory.databases.find(name);
    const DatabaseInventory* const known =
        database == inventory.databases.end() ? nullptr : &database->second;
    if (status.ok()) status = AddFiles(files, directory + "/" + name, name + "/", known, copy);
  }
  return status;
}

// Checksums only save work: without them, files are read.
Inventory ReadKnownFiles(FileSystem* files, const std::string& data_dir) {
  const absl::StatusOr<std::string> text =
      ReadFile(files, data_dir + "/" + kInventoryFile, kInventoryBytesMax);
  if (!text.ok()) return {};
  absl::StatusOr<Inventory> inventory = DecodeInventory(*text);
  return inventory.ok() ? *std::move(inventory) : Inventory();
}

RocksOptions CopyingOptions(const std::string& directory) {
  return {.data_dir = directory, .memory_bytes = kCopyingMemoryBytes, .settles = false};
}

struct TableRecords {
  TableSchema schema;
  std::vector<RecordChange> records;
};

// The records of a table, its views and its bundles in a checkpoint.
absl::StatusOr<TableRecords> ReadTable(const std::string& directory, const std::string& name) {
  const absl::StatusOr<std::unique_ptr<RocksEngine>> engine = RocksEngine::Open(CopyingOptions(directory));
  if (!engine.ok()) return engine.status();
  const std::string key = fmt::format("{}{}", kTableRecords, name);
  const absl::StatusOr<std::vector<Record>> found = (*engine)->ReadRecords(key, absl::InfiniteFuture());
  if (!found.ok()) return found.status();
  if (found->empty() || found->front().key != key) {
    return absl::NotFoundError(fmt::format("There is no table {}", name));
  }
  absl::StatusOr<TableRecord> record = DecodeTableRecord(found->front().value);
  if (!record.ok()) return record.status();
  record->schema.StopLogging();
  TableRecords table{.schema = record->schema, .records = {{key, EncodeTableRecord(*record)}}};
  for (const std::string& prefix :
       {fmt::format("view/{}/", name), fmt::format("bundle/{}/", name), std::string("next_table_id")}) {
    const absl::StatusOr<std::vector<Record>> more = (*engine)->ReadRecords(prefix, absl::InfiniteFuture());
    if (!more.ok()) return more.status();
    for (const Record& each : *more) table.records.push_back({each.key, each.value});
  }
  return table;
}

}  // namespace

absl::StatusOr<Checkpointed> CheckpointStore(RocksEngine* engine, const std::string& data_dir,
                                             RandomSource* random) {
  std::error_code error;
  std::filesystem::create_directory(data_dir + "/snapshots", error);
  if (error) {
    return absl::FailedPreconditionError(fmt::format("Making {}/snapshots: {}", data_dir, error.message()));
  }
  Checkpointed checkpoint{
      .directory = fmt::format("{}/snapshots/copy-{:016x}.part", data_dir, random->Next()),
      .moment = absl::FromUnixMicros(absl::ToUnixMicros(absl::Now()))};
  absl::StatusOr<std::vector<std::string>> tables = TableNames(engine);
  if (!tables.ok()) return tables.status();
  checkpoint.tables = *std::move(tables);
  if (absl::Status status = engine->Checkpoint(checkpoint.directory); !status.ok()) {
    std::filesystem::remove_all(checkpoint.directory, error);
    return status;
  }
  return checkpoint;
}

absl::StatusOr<CopiedStore> DescribeCheckpoint(FileSystem* files, const Checkpointed& checkpoint,
                                               const std::string& data_dir, const std::string& version) {
  // The identity of the cells' database is made when a store begins.
  constexpr size_t kIdentityBytesMax = 4096;
  const absl::StatusOr<std::string> identity =
      ReadFile(files, data_dir + "/cells/IDENTITY", kIdentityBytesMax);
  if (!identity.ok()) return identity.status();
  CopiedStore copy{.server = version,
                   .moment = checkpoint.moment,
                   .store = *identity,
                   .tables = checkpoint.tables,
                   .journal = checkpoint.journal};
  // A number of a file is never used twice, so it does not matter that the store moves on.
  const Inventory known = ReadKnownFiles(files, data_dir);
  if (absl::Status status = AddAllFiles(files, checkpoint.directory, known, &copy); !status.ok())
    return status;
  return copy;
}

absl::StatusOr<CopiedStore> ExtractTable(FileSystem* files, const Checkpointed& checkpoint,
                                         const std::string& table, const std::string& work,
                                         const std::string& version) {
  const absl::StatusOr<TableRecords> found = ReadTable(checkpoint.directory, table);
  if (!found.ok()) return found.status();
  const std::string extracted = work + "/copy";
  if (absl::Status status = files->MakeDirectory(work); !status.ok()) return status;
  {
    absl::StatusOr<std::unique_ptr<RocksEngine>> engine = RocksEngine::Open(CopyingOptions(work + "/store"));
    if (!engine.ok()) return engine.status();
    const TableId id = found->schema.id;
    const std::string snapshots = work + "/store/snapshots";
    absl::Status status = files->MakeDirectory(snapshots);
    if (status.ok()) {
      status = files->Rename(checkpoint.directory, fmt::format("{}/{}@{}", snapshots, kWholeStore, id));
    }
    if (status.ok()) status = (*engine)->CreateTable({.id = id});
    if (status.ok()) status = (*engine)->snapshots()->Restore(kWholeStore, id);
    if (status.ok()) status = (*engine)->snapshots()->Drop(kWholeStore);
    if (status.ok()) status = (*engine)->WriteRecords(found->records);
    if (status.ok()) status = (*engine)->Checkpoint(extracted);
    if (!status.ok()) return status;
  }
  CopiedStore copy{
      .server = version, .moment = checkpoint.moment, .store = "", .table = table, .tables = {table}};
  if (absl::Status status = AddAllFiles(files, extracted, Inventory(), &copy); !status.ok()) return status;
  return copy;
}

}  // namespace sonde
