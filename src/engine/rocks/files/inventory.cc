#include "engine/rocks/files/inventory.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/varint.h"
#include "engine/rocks/files/rocks_status.h"
#include "engine/rocks/files/sync_directory.h"
#include "rocksdb/env.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/metadata.h"

namespace sonde {
namespace {

constexpr std::string_view kFirstLine = "sonde inventory ";
constexpr int kVersion = 1;
constexpr std::string_view kCrc = "crc32c ";

std::vector<std::string_view> Split(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

template <typename Number>
bool Parse(std::string_view text, Number* number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number, base);
  return error == std::errc() && end == text.data() + text.size();
}

// One line after the first; `database` is the one that lines belong to.
bool TakeLine(std::string_view line, Inventory* inventory, DatabaseInventory** database) {
  const std::vector<std::string_view> words = Split(line);
  if (words.empty()) return false;
  const std::string_view what = words[0];
  uint64_t number = 0, bytes = 0;
  if (what == "session" && words.size() == 2) {
    inventory->synced = words[1] == "synced";
    return inventory->synced || words[1] == "unsynced";
  }
  if (what == "database" && words.size() == 2) {
    *database = &inventory->databases[std::string(words[1])];
    return true;
  }
  if (*database == nullptr || words.size() < 2 || !Parse(words[1], &number)) return false;
  if (what == "sequence" && words.size() == 2) {
    (*database)->sequence = number;
    return true;
  }
  if (words.size() < 3 || !Parse(words[2], &bytes)) return false;
  if (what == "manifest" && words.size() == 3) {
    (*database)->manifest_number = number;
    (*database)->manifest_bytes = bytes;
    return true;
  }
  if (what == "log" && words.size() == 3) return (*database)->logs.emplace(number, bytes).second;
  if (what != "table" || words.size() > 4) return false;
  TableFile table{.bytes = bytes};
  if (words.size() == 4 && !Parse(words[3], &table.crc32c.emplace(), 16)) return false;
  return (*database)->tables.emplace(number, table).second;
}

absl::StatusOr<std::optional<Inventory>> ReadOne(rocksdb::Env* env, const std::string& path) {
  std::string text;
  const rocksdb::Status status = rocksdb::ReadFileToString(env, path, &text);
  if (status.IsNotFound() || status.IsPathNotFound()) return std::nullopt;
  if (!status.ok()) return FromRocks(status, fmt::format("Reading {}", path));
  absl::StatusOr<Inventory> inventory = DecodeInventory(text);
  if (inventory.ok()) return std::optional<Inventory>(*std::move(inventory));
  return absl::Status(inventory.status().code(),
                      fmt::format("{}: {}", path, std::string(inventory.status().message())));
}

}  // namespace

TableFile TableFileOf(const rocksdb::FileStorageInfo& file) {
  TableFile table{.bytes = file.size};
  static const std::string kName = rocksdb::GetFileChecksumGenCrc32cFactory()
                                       ->CreateFileChecksumGenerator(rocksdb::FileChecksumGenContext())
                                       ->Name();
  std::string_view bytes = file.file_checksum;
  uint32_t crc32c = 0;
  if (file.file_checksum_func_name == kName && GetFixed32(&bytes, &crc32c)) table.crc32c = crc32c;
  return table;
}

std::string EncodeInventory(const Inventory& inventory) {
  std::string text =
      fmt::format("{}{}\nsession {}\n", kFirstLine, kVersion, inventory.synced ? "synced" : "unsynced");
  for (const auto& [name, database] : inventory.databases) {
    text += fmt::format("database {}\nmanifest {} {}\nsequence {}\n", name, database.manifest_number,
                        database.manifest_bytes, database.sequence);
    for (const auto& [number, table] : database.tables) {
      text += fmt::format("table {} {}", number, table.bytes);
      if (table.crc32c.has_value()) text += fmt::format(" {:08x}", *table.crc32c);
      text += '\n';
    }
    for (const auto& [number, bytes] : database.logs) text += fmt::format("log {} {}\n", number, bytes);
  }
  return text + fmt::format("{}{:08x}\n", kCrc, Crc32c(text));
}

absl::StatusOr<Inventory> DecodeInventory(std::string_view text) {
  const size_t last_line = text.rfind(kCrc);
  uint32_t crc = 0;
  if (last_line == std::string_view::npos || text.back() != '\n' ||
      !Parse(text.substr(last_line + kCrc.size(), text.size() - last_line - kCrc.size() - 1), &crc, 16) ||
      Crc32c(text.substr(0, last_line)) != crc) {
    return absl::DataLossError("damaged: its checksum does not match");
  }
  std::string_view lines = text.substr(0, last_line);
  Inventory inventory;
  DatabaseInventory* database = nullptr;
  for (int line_number = 1; !lines.empty(); ++line_number) {
    const size_t end = std::min(lines.find('\n'), lines.size() - 1);
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end + 1);
    if (line_number == 1) {
      int version = 0;
      if (!line.starts_with(kFirstLine) || !Parse(line.substr(kFirstLine.size()), &version)) {
        return absl::DataLossError("not an inventory");
      }
      if (version > kVersion) {
        return absl::FailedPreconditionError(fmt::format(
            "has version {}, written by a newer Sonde; this one knows versions up to {}", version, kVersion));
      }
    } else if (!TakeLine(line, &inventory, &database)) {
      return absl::DataLossError(
          fmt::format("line {} is not understood: '{}'", line_number, Printable(line)));
    }
  }
  return inventory;
}

absl::StatusOr<std::optional<Inventory>> ReadInventory(rocksdb::Env* env, const std::string& data_dir,
                                                       std::string* note) {
  absl::StatusOr<std::optional<Inventory>> newest = ReadOne(env, data_dir + "/" + kInventoryFile);
  if (newest.ok() && newest->has_value()) return newest;
  if (!newest.ok() && !absl::IsDataLoss(newest.status())) return newest;
  // Missing: a crash came between the two steps that replace it, or somebody deleted it.
  absl::StatusOr<std::optional<Inventory>> before = ReadOne(env, data_dir + "/" + kInventoryBeforeFile);
  if (newest.ok()) return before;
  if (!before.ok() || !before->has_value()) return newest.status();
  *note = fmt::format("{}; the one before it is used", std::string(newest.status().message()));
  return before;
}

absl::Status WriteInventory(rocksdb::Env* env, const std::string& data_dir, const Inventory& inventory) {
  const std::string newest = data_dir + "/" + kInventoryFile;
  const std::string written = data_dir + "/" + kInventoryNewFile;
  rocksdb::Status status =
      rocksdb::WriteStringToFile(env, EncodeInventory(inventory), written, /*should_sync=*/true);
  if (status.ok() && env->FileExists(newest).ok()) {
    status = env->RenameFile(newest, data_dir + "/" + kInventoryBeforeFile);
  }
  if (status.ok()) status = env->RenameFile(written, newest);
  if (!status.ok()) return FromRocks(status, fmt::format("Writing {}", newest));
  return SyncDirectory(env, data_dir);
}

}  // namespace sonde
