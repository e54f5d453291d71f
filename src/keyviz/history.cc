#include "keyviz/history.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "base/varint.h"

namespace sonde {
namespace {

constexpr std::string_view kMagic = "sonde-keyviz-1\n";
constexpr uint64_t kPartitionRecord = 1;
constexpr uint64_t kColumnRecord = 2;
constexpr uint64_t kFactsRecord = 3;
constexpr size_t kStartsMax = 100'000;  // of a partition that is read; far more than any has

constexpr std::array kFields = {&AccessCounts::reads,
                                &AccessCounts::writes,
                                &AccessCounts::read_bytes,
                                &AccessCounts::write_bytes,
                                &AccessCounts::requests,
                                &AccessCounts::latency_micros,
                                &AccessCounts::latency_micros_max,
                                &AccessCounts::errors};

void PutCounts(std::string* out, const std::vector<AccessCounts>& counts) {
  size_t next = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    uint8_t mask = 0;
    for (size_t f = 0; f < kFields.size(); ++f) mask |= (counts[i].*kFields[f] != 0 ? 1 : 0) << f;
    if (mask == 0) continue;
    PutVarint(out, i - next);
    out->push_back(static_cast<char>(mask));
    for (size_t f = 0; f < kFields.size(); ++f) {
      if ((mask >> f & 1) != 0) PutVarint(out, counts[i].*kFields[f]);
    }
    next = i + 1;
  }
}

bool GetCounts(std::string_view in, std::vector<AccessCounts>* counts) {
  size_t next = 0;
  while (!in.empty()) {
    uint64_t skipped = 0;
    if (!GetVarint(&in, &skipped) || skipped >= counts->size() - next || in.empty()) return false;
    AccessCounts& to = (*counts)[next + skipped];
    const auto mask = static_cast<uint8_t>(in.front());
    in.remove_prefix(1);
    for (size_t f = 0; f < kFields.size(); ++f) {
      if ((mask >> f & 1) != 0 && !GetVarint(&in, &(to.*kFields[f]))) return false;
    }
    next += skipped + 1;
  }
  return true;
}

// The numbers of keys that may follow a partition.
std::vector<uint64_t> GetKeys(std::string_view in, size_t buckets) {
  std::vector<uint64_t> keys(in.empty() ? 0 : buckets);
  for (uint64_t& count : keys) {
    if (!GetVarint(&in, &count)) return {};
  }
  return keys;
}

}  // namespace

void PutRecord(std::string* out, std::string_view payload) {
  PutFixed32(out, static_cast<uint32_t>(payload.size()));
  PutFixed32(out, static_cast<uint32_t>(XXH3_64bits(payload.data(), payload.size())));
  out->append(payload);
}

bool GetRecord(std::string_view* in, std::string_view* payload) {
  uint32_t size = 0, checksum = 0;
  if (!GetFixed32(in, &size) || !GetFixed32(in, &checksum) || size > in->size()) return false;
  *payload = in->substr(0, size);
  in->remove_prefix(size);
  return static_cast<uint32_t>(XXH3_64bits(payload->data(), payload->size())) == checksum;
}

void PutPartition(std::string* out, const Partition& partition) {
  PutVarint(out, partition.size());
  std::string_view before;
  for (const std::string& start : partition.starts()) {
    size_t shared = 0;
    while (shared < before.size() && shared < start.size() && before[shared] == start[shared]) ++shared;
    PutVarint(out, shared);
    PutBytes(out, std::string_view(start).substr(shared));
    before = start;
  }
}

PartitionRef GetPartition(std::string_view* in) {
  uint64_t count = 0;
  if (!GetVarint(in, &count) || count == 0 || count > kStartsMax) return nullptr;
  std::vector<std::string> starts;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t shared = 0;
    std::string_view rest;
    if (!GetVarint(in, &shared) || !GetBytes(in, &rest)) return nullptr;
    const std::string_view before = starts.empty() ? std::string_view() : starts.back();
    if (shared > before.size()) return nullptr;
    std::string start(before.substr(0, shared));
    start.append(rest);
    if (i == 0 ? !start.empty() : start <= before) return nullptr;
    starts.push_back(std::move(start));
  }
  return std::make_shared<Partition>(std::move(starts));
}

absl::StatusOr<std::string> ReadWholeFile(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return absl::ErrnoToStatus(errno, "Reading " + path.string());
  std::string all;
  char buffer[1 << 16];
  ssize_t count = 0;
  while ((count = read(file, buffer, sizeof(buffer))) > 0) all.append(buffer, count);
  const int error = errno;
  close(file);
  if (count < 0) return absl::ErrnoToStatus(error, "Reading " + path.string());
  return all;
}

struct AccessHistory::TierFile {
  int64_t start_seconds = 0;
  int file = -1;
  uint64_t bytes = 0;
  // The partitions that the file has, by table: which, and under which number.
  std::map<TableId, std::pair<PartitionRef, uint64_t>> partitions;
  uint64_t next_partition = 1;
  bool full = false;

  ~TierFile() {
    if (file >= 0) close(file);
  }
  void Append(std::string_view bytes_to_write) {
    if (full || file < 0) return;
    if (bytes + bytes_to_write.size() > kFileBytesMax) {
      full = true;
      return;
    }
    // A disk that is full stops the map, not the database.
    if (write(file, bytes_to_write.data(), bytes_to_write.size()) !=
        static_cast<ssize_t>(bytes_to_write.size())) {
      spdlog::warn("keyviz: writing history: {}; the rest of this file's time is not kept",
                   std::strerror(errno));
      full = true;
    }
    bytes += bytes_to_write.size();
  }
};

AccessHistory::AccessHistory(std::filesystem::path directory) : directory_(std::move(directory)) {}

absl::StatusOr<std::unique_ptr<AccessHistory>> AccessHistory::Open(std::filesystem::path directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return absl::ErrnoToStatus(error.value(), "Making " + directory.string());
  return std::unique_ptr<AccessHistory>(new AccessHistory(std::move(directory)));
}

AccessHistory::~AccessHistory() { Flush(); }

std::filesystem::path AccessHistory::PathOf(size_t tier, int64_t file_start_seconds) const {
  return directory_ / fmt::format("{}s-{}.log", kTiers[tier].seconds, file_start_seconds);
}

AccessHistory::TierFile* AccessHistory::FileFor(size_t tier, int64_t start_seconds) {
  const int64_t file_start = start_seconds - start_seconds % kTiers[tier].file_seconds;
  std::unique_ptr<TierFile>& current = files_[tier];
  if (current != nullptr && current->start_seconds == file_start) return current.get();
  current = std::make_unique<TierFile>();
  current->start_seconds = file_start;
  const std::filesystem::path path = PathOf(tier, file_start);
  // A torn end would hide what comes after it.
  if (absl::StatusOr<std::string> before = ReadWholeFile(path); before.ok() && before->starts_with(kMagic)) {
    std::string_view rest = std::string_view(*before).substr(kMagic.size());
    std::string_view record;
    size_t whole = before->size() - rest.size();
    while (GetRecord(&rest, &record)) whole = before->size() - rest.size();
    if (truncate(path.c_str(), static_cast<off_t>(whole)) == 0) current->bytes = whole;
    // Numbers of partitions go on behind all that may be in it.
    current->next_partition = whole;
  } else if (before.ok()) {
    current->full = truncate(path.c_str(), 0) != 0;
  }
  current->file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (current->file < 0) spdlog::warn("keyviz: {}: {}", path.string(), std::strerror(errno));
  if (current->bytes == 0) current->Append(kMagic);
  return current.get();
}

void AccessHistory::Write(size_t tier, const Column& column) {
  TierFile* file = FileFor(tier, column.start_seconds);
  std::string out;
  auto& [known, number] = file->partitions[column.table];
  if (known != column.partition) {
    known = column.partition;
    number = file->next_partition++;
    std::string payload;
    PutVarint(&payload, kPartitionRecord);
    PutVarint(&payload, column.table);
    PutVarint(&payload, number);
    PutPartition(&payload, *column.partition);
    for (const uint64_t count : column.partition->keys()) PutVarint(&payload, count);
    PutRecord(&out, payload);
  }
  std::string payload;
  PutVarint(&payload, kColumnRecord);
  PutVarint(&payload, column.table);
  PutVarint(&payload, number);
  PutVarint(&payload, static_cast<uint64_t>(column.start_seconds));
  PutCounts(&payload, column.counts);
  PutRecord(&out, payload);
  if (!column.facts.IsEmpty()) {
    payload.clear();
    PutVarint(&payload, kFactsRecord);
    PutVarint(&payload, column.table);
    PutVarint(&payload, number);
    PutVarint(&payload, static_cast<uint64_t>(column.start_seconds));
    PutFacts(&payload, column.facts);
    PutRecord(&out, payload);
  }
  file->Append(out);
}

void AccessHistory::Append(const Column& second) {
  const absl::MutexLock lock(&mutex_);
  Write(0, second);
  for (size_t tier = 1; tier < kTiers.size(); ++tier) {
    const int64_t start = second.start_seconds - second.start_seconds % kTiers[tier].seconds;
    Pending& pending = pending_[tier][second.table];
    if (pending.partition != nullptr && pending.start_seconds != start) {
      Write(tier, ColumnOf(second.table, pending));
      pending.partition = nullptr;
    }
    if (pending.partition == nullptr) {
      pending = {start, second.partition, second.counts, second.facts};
      continue;
    }
    if (pending.partition != second.partition) {
      std::vector<AccessCounts> counts(second.partition->size());
      Project(*pending.partition, pending.counts, *second.partition, &counts);
      pending.partition = second.partition;
      pending.counts = std::move(counts);
    }
    for (size_t i = 0; i < second.counts.size(); ++i) pending.counts[i].Add(second.counts[i]);
    pending.facts.Add(second.facts);
  }
}

void AccessHistory::Flush() {
  const absl::MutexLock lock(&mutex_);
  for (size_t tier = 1; tier < kTiers.size(); ++tier) {
    for (const auto& [table, pending] : pending_[tier]) {
      if (pending.partition != nullptr) Write(tier, ColumnOf(table, pending));
    }
    pending_[tier].clear();
  }
}

void AccessHistory::Expire(int64_t now_seconds) {
  const absl::MutexLock lock(&mutex_);
  // Tables that have been still for long have nothing to add to what they have.
  for (size_t tier = 1; tier < kTiers.size(); ++tier) {
    for (auto it = pending_[tier].begin(); it != pending_[tier].end();) {
      const Pending& pending = it->second;
      if (pending.partition == nullptr || pending.start_seconds + kTiers[tier].seconds > now_seconds) {
        ++it;
        continue;
      }
      Write(tier, ColumnOf(it->first, pending));
      it = pending_[tier].erase(it);
    }
  }
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
    for (size_t tier = 0; tier < kTiers.size(); ++tier) {
      const std::string name = entry.path().filename().string();
      const std::string prefix = fmt::format("{}s-", kTiers[tier].seconds);
      int64_t start = 0;
      if (!name.starts_with(prefix) ||
          std::from_chars(name.data() + prefix.size(), name.data() + name.size(), start).ec != std::errc()) {
        continue;
      }
      if (start + kTiers[tier].file_seconds + kTiers[tier].kept_seconds < now_seconds) {
        std::filesystem::remove(entry.path(), error);
      }
    }
  }
}

absl::Status AccessHistory::ReadFiles(size_t tier, int64_t start_seconds, int64_t end_seconds,
                                      const std::function<void(const FileRecord&)>& visit) const {
  const Tier& what = kTiers[tier];
  for (int64_t file = start_seconds - start_seconds % what.file_seconds; file < end_seconds;
       file += what.file_seconds) {
    absl::StatusOr<std::string> bytes = ReadWholeFile(PathOf(tier, file));
    if (absl::IsNotFound(bytes.status())) continue;
    if (!bytes.ok()) return bytes.status();
    if (!bytes->starts_with(kMagic)) continue;
    std::string_view rest = std::string_view(*bytes).substr(kMagic.size());
    std::string_view payload;
    while (GetRecord(&rest, &payload)) {
      FileRecord record{.file = static_cast<uint64_t>(file)};
      uint64_t table = 0, start = 0;
      if (!GetVarint(&payload, &record.kind) || !GetVarint(&payload, &table) ||
          !GetVarint(&payload, &record.number))
        continue;
      record.table = static_cast<TableId>(table);
      if (record.kind != kPartitionRecord) {
        if (!GetVarint(&payload, &start)) continue;
        record.start_seconds = static_cast<int64_t>(start);
        if (record.start_seconds < start_seconds || record.start_seconds >= end_seconds) continue;
      }
      record.rest = payload;
      visit(record);
    }
  }
  return absl::OkStatus();
}

std::vector<Column> AccessHistory::ReadPending(size_t tier, int64_t start_seconds,
                                               int64_t end_seconds) const {
  std::vector<Column> columns;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [table, pending] : pending_[tier]) {
    if (pending.partition != nullptr && pending.start_seconds >= start_seconds &&
        pending.start_seconds < end_seconds) {
      columns.push_back(ColumnOf(table, pending));
    }
  }
  return columns;
}

absl::Status AccessHistory::Read(size_t tier, TableId table, int64_t start_seconds, int64_t end_seconds,
                                 const std::function<void(const Column&)>& visit) const {
  std::map<std::pair<uint64_t, uint64_t>, PartitionRef> partitions;  // of this table
  absl::Status status = ReadFiles(tier, start_seconds, end_seconds, [&](const FileRecord& record) {
    if (record.table != table) return;
    std::string_view rest = record.rest;
    if (record.kind == kPartitionRecord) {
      const PartitionRef partition = GetPartition(&rest);
      if (partition == nullptr) return;
      partitions[{record.file, record.number}] =
          std::make_shared<Partition>(partition->starts(), GetKeys(rest, partition->size()));
    } else if (record.kind == kColumnRecord) {
      const auto found = partitions.find({record.file, record.number});
      if (found == partitions.end()) return;
      Column column{table, record.start_seconds, found->second, {}, {}};
      column.counts.resize(found->second->size());
      if (GetCounts(rest, &column.counts)) visit(column);
    }
  });
  if (!status.ok()) return status;
  for (const Column& column : ReadPending(tier, start_seconds, end_seconds)) {
    if (column.table == table) visit(column);
  }
  return absl::OkStatus();
}

absl::Status AccessHistory::ReadFacts(
    size_t tier, TableId table, int64_t start_seconds, int64_t end_seconds,
    const std::function<void(int64_t start_seconds, const ColumnFacts&)>& visit) const {
  absl::Status status = ReadFiles(tier, start_seconds, end_seconds, [&](const FileRecord& record) {
    if (record.table != table || record.kind != kFactsRecord) return;
    ColumnFacts facts;
    std::string_view rest = record.rest;
    if (GetFacts(&rest, &facts)) visit(record.start_seconds, facts);
  });
  if (!status.ok()) return status;
  for (const Column& column : ReadPending(tier, start_seconds, end_seconds)) {
    if (column.table == table) visit(column.start_seconds, column.facts);
  }
  return absl::OkStatus();
}

absl::StatusOr<PartitionRef> AccessHistory::LastPartition(size_t tier, TableId table, int64_t start_seconds,
                                                          int64_t end_seconds) const {
  std::map<std::pair<uint64_t, uint64_t>, std::string> partitions;  // as they are written
  std::pair<uint64_t, uint64_t> last;
  const absl::Status status = ReadFiles(tier, start_seconds, end_seconds, [&](const FileRecord& record) {
    if (record.table != table) return;
    if (record.kind == kPartitionRecord) partitions[{record.file, record.number}] = record.rest;
    if (record.kind == kColumnRecord) last = {record.file, record.number};
  });
  if (!status.ok()) return status;
  for (Column& column : ReadPending(tier, start_seconds, end_seconds)) {
    if (column.table == table) return std::move(column.partition);
  }
  const auto found = partitions.find(last);
  if (found == partitions.end()) return nullptr;
  std::string_view rest = found->second;
  return GetPartition(&rest);
}

absl::StatusOr<std::set<TableId>> AccessHistory::ListTables(size_t tier, int64_t start_seconds,
                                                            int64_t end_seconds) const {
  std::set<TableId> tables;
  const absl::Status status = ReadFiles(tier, start_seconds, end_seconds, [&](const FileRecord& record) {
    if (record.kind == kColumnRecord) tables.insert(record.table);
  });
  if (!status.ok()) return status;
  for (const Column& column : ReadPending(tier, start_seconds, end_seconds)) tables.insert(column.table);
  return tables;
}

uint64_t AccessHistory::bytes_on_disk() const {
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
    if (entry.is_regular_file(error)) bytes += entry.file_size(error);
  }
  return bytes;
}

}  // namespace sonde
