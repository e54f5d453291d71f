#include "wire/operations/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "base/hash.h"

namespace sonde {
namespace {

namespace lro = google::longrunning;
using google::protobuf::Any;

constexpr std::string_view kNamePrefix = "operations/projects/";
constexpr std::string_view kOperationPrefix = "operation/";  // + name

absl::Status CheckOperationName(std::string_view name) {
  if (name.starts_with(kNamePrefix) && name.size() > kNamePrefix.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("Error in field 'name' : must begin with '{}', but is '{}'", kNamePrefix, Printable(name)));
}

std::string KeyOfOperation(std::string_view name) { return fmt::format("{}{}", kOperationPrefix, name); }

std::string NameOfOperation(std::string_view resource, uint64_t number) {
  return fmt::format("operations/{}/operations/{}", resource, number);
}

// operations/RESOURCE/operations/NUMBER
std::string_view ResourceOfOperation(std::string_view name) {
  const size_t first = name.find('/') + 1, number = name.rfind('/');
  return name.substr(first, name.rfind('/', number - 1) - first);
}

std::string KindOfMetadata(std::string_view type) {
  type.remove_prefix(type.rfind('.') + 1);
  constexpr std::string_view kSuffix = "Metadata";
  if (type.ends_with(kSuffix)) type.remove_suffix(kSuffix.size());
  return std::string(type);
}

absl::Status NoOperation(std::string_view name) {
  return absl::NotFoundError(fmt::format("Operation not found: {}", Printable(name)));
}

absl::Status ReadNumber(std::string_view name, uint64_t* number) {
  const std::string_view last = name.substr(name.rfind('/') + 1);
  const auto [end, error] = std::from_chars(last.data(), last.data() + last.size(), *number);
  const bool is_number = error == std::errc() && end == last.data() + last.size();
  return is_number ? absl::OkStatus() : NoOperation(name);
}

// Whether operations must be done, or must not be; nullopt: either.
absl::StatusOr<std::optional<bool>> ParseDone(std::string_view filter) {
  if (filter.empty()) return std::nullopt;
  if (filter == "done=true") return true;
  if (filter == "done=false") return false;
  return absl::InvalidArgumentError(fmt::format(
      "Error in field 'filter' : must be empty, done=true or done=false, but is '{}'", Printable(filter)));
}

// The token of a page: the last number before it, and the digest of the request that it continues.
std::string PageTokenOf(const lro::ListOperationsRequest& request, uint64_t last_number) {
  const std::string asked = fmt::format("{}\n{}\n{}", request.name(), request.filter(), request.page_size());
  return fmt::format("{}-{:016x}", last_number, HashBytes(asked));
}

absl::StatusOr<uint64_t> NumberOfToken(const lro::ListOperationsRequest& request) {
  const std::string& token = request.page_token();
  uint64_t number = 0;
  if (token.empty()) return number;
  std::from_chars(token.data(), token.data() + token.size(), number);
  if (token == PageTokenOf(request, number)) return number;
  return absl::InvalidArgumentError(
      "Error in field 'page_token' : not one that ListOperations gave for this name, filter and page size");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Operations>> Operations::Open(RecordStore* store, const Clock* clock,
                                                             bool is_shared) {
  std::unique_ptr<Operations> operations(new Operations(store, clock, is_shared));
  if (absl::Status status = operations->Load(); !status.ok()) return status;
  return operations;
}

absl::Status Operations::Load() {
  const absl::StatusOr<std::vector<Record>> records = store_->ReadRecords(kOperationPrefix);
  if (!records.ok()) return records.status();
  const absl::MutexLock lock(&mutex_);
  for (const Record& record : *records) {
    absl::StatusOr<OperationRecord> decoded = DecodeOperationRecord(record.value);
    if (!decoded.ok()) return decoded.status();
    last_number_ = std::max(last_number_, decoded->number);
    Keep(*std::move(decoded), record.value.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> Operations::Follow() {
  const absl::StatusOr<int64_t> version = store_->RecordsVersion();
  if (!version.ok()) return version.status();
  const absl::MutexLock changes_lock(&changes_mutex_);
  std::vector<std::string> cancelled;
  if (*version == followed_version_) return cancelled;
  const absl::StatusOr<std::vector<Record>> records = store_->ReadRecords(kOperationPrefix);
  if (!records.ok()) return records.status();
  const absl::MutexLock lock(&mutex_);
  std::set<uint64_t> seen;
  for (const Record& record : *records) {
    absl::StatusOr<OperationRecord> decoded = DecodeOperationRecord(record.value);
    if (!decoded.ok()) return decoded.status();
    const uint64_t number = decoded->number;
    seen.insert(number);
    if (own_.contains(number)) {
      OperationRecord& own = entries_.at(number).record;
      if (decoded->is_cancelled && !own.is_cancelled) cancelled.push_back(own.operation.name());
      own.is_cancelled |= decoded->is_cancelled;
      continue;
    }
    Keep(*std::move(decoded), record.value.size());
    entries_.at(number).version = record.version;
  }
  std::vector<uint64_t> gone;
  for (const auto& [number, entry] : entries_) {
    if (!seen.contains(number) && !own_.contains(number)) gone.push_back(number);
  }
  for (const uint64_t number : gone) Forget(number);
  followed_version_ = *version;
  return cancelled;
}

void Operations::TakeOver(const std::string& name) {
  const absl::MutexLock lock(&mutex_);
  const Entry* const entry = Find(name);
  if (entry != nullptr && !entry->record.end_micros.has_value()) own_.insert(entry->record.number);
}

absl::Status Operations::Missing(const std::string& name) const {
  uint64_t number = 0;
  if (!is_shared_ || !ReadNumber(name, &number).ok()) return NoOperation(name);
  // A number is the time at which the operation began.
  const int64_t age_micros = clock_->NowMicros() - static_cast<int64_t>(number);
  if (absl::AbsDuration(absl::Microseconds(age_micros)) > kUnknownMax || gone_.contains(number))
    return NoOperation(name);
  return absl::UnavailableError(
      fmt::format("Operation {} is not known here yet. Try again", Printable(name)));
}

uint64_t Operations::NewNumber() {
  // A time, so that a number is not given again after its operation was forgotten.
  last_number_ = std::max(last_number_ + 1, static_cast<uint64_t>(clock_->NowMicros()));
  return last_number_;
}

Operations::Entry* Operations::Find(const std::string& name) {
  return const_cast<Entry*>(static_cast<const Operations*>(this)->Find(name));
}

const Operations::Entry* Operations::Find(const std::string& name) const {
  uint64_t number = 0;
  if (!ReadNumber(name, &number).ok()) return nullptr;
  const auto found = entries_.find(number);
  const bool is_found = found != entries_.end() && found->second.record.operation.name() == name;
  return is_found ? &found->second : nullptr;
}

void Operations::Keep(OperationRecord record, size_t bytes) {
  Forget(record.number);
  bytes_ += bytes;
  if (record.end_micros.has_value()) {
    finished_.emplace(*record.end_micros, record.number);
  } else {
    running_.insert(record.number);
  }
  const uint64_t number = record.number;
  entries_[number] = {std::move(record), bytes};
}

void Operations::Forget(uint64_t number) {
  const auto found = entries_.find(number);
  if (found == entries_.end()) return;
  const auto oldest = static_cast<uint64_t>(clock_->NowMicros() - absl::ToInt64Microseconds(kUnknownMax));
  gone_.erase(gone_.begin(), gone_.lower_bound(oldest));
  if (is_shared_ && number >= oldest) gone_.insert(number);
  const Entry& entry = found->second;
  if (entry.record.end_micros.has_value()) finished_.erase({*entry.record.end_micros, number});
  running_.erase(number);
  own_.erase(number);
  bytes_ -= entry.bytes;
  entries_.erase(found);
}

std::vector<uint64_t> Operations::ToForget(size_t count, size_t bytes) const {
  const int64_t oldest = clock_->NowMicros() - absl::ToInt64Microseconds(kKept);
  size_t count_left = entries_.size() + count, bytes_left = bytes_ + bytes;
  std::vector<uint64_t> forgotten;
  for (const auto& [end_micros, number] : finished_) {
    if (end_micros >= oldest && count_left <= kOperationsMax && bytes_left <= kBytesMax) break;
    forgotten.push_back(number);
    --count_left;
    bytes_left -= entries_.at(number).bytes;
  }
  return forgotten;
}

absl::Status Operations::Write(std::vector<OperationRecord> records, const Commit& commit) {
  std::vector<RecordChange> changes;
  std::vector<uint64_t> forgotten;
  size_t bytes = 0;
  for (const OperationRecord& record : records) {
    changes.push_back({KeyOfOperation(record.operation.name()), EncodeOperationRecord(record)});
    bytes += changes.back().value->size();
  }
  {
    const absl::MutexLock lock(&mutex_);
    forgotten = ToForget(records.size(), bytes);
    for (const uint64_t number : forgotten) {
      changes.push_back({KeyOfOperation(entries_.at(number).record.operation.name()), std::nullopt});
    }
  }
  std::vector<size_t> sizes;
  for (size_t i = 0; i < records.size(); ++i) sizes.push_back(changes[i].value->size());
  const absl::Status status = commit ? commit(std::move(changes)) : store_->WriteRecords(changes);
  if (!status.ok()) return status;
  const absl::MutexLock lock(&mutex_);
  for (const uint64_t number : forgotten) Forget(number);
  for (size_t i = 0; i < records.size(); ++i) {
    const uint64_t number = records[i].number;
    Keep(std::move(records[i]), sizes[i]);
    if (running_.contains(number)) own_.insert(number);
  }
  return absl::OkStatus();
}

absl::Status Operations::WriteProgress(OperationRecord record) {
  const std::string key = KeyOfOperation(record.operation.name());
  const absl::StatusOr<std::vector<Record>> stored = store_->ReadRecords(key);
  if (!stored.ok()) return stored.status();
  for (const Record& one : *stored) {  // other names may begin with this one
    if (one.key != key) continue;
    const absl::StatusOr<OperationRecord> before = DecodeOperationRecord(one.value);
    if (!before.ok()) return before.status();
    record.is_cancelled |= before->is_cancelled;
    const absl::Status status = store_->WriteRecords({{key, EncodeOperationRecord(record), one.version}});
    return absl::IsAborted(status) ? absl::OkStatus() : status;  // the next progress is written
  }
  return absl::OkStatus();
}

std::string Operations::NewName(std::string_view resource) {
  const absl::MutexLock lock(&mutex_);
  return NameOfOperation(resource, NewNumber());
}

absl::Status Operations::Done(std::string_view resource, const Message& metadata, const Message& response,
                              Operation* out) {
  const absl::MutexLock changes_lock(&changes_mutex_);
  OperationRecord record;
  {
    const absl::MutexLock lock(&mutex_);
    record.number = NewNumber();
  }
  record.kind = KindOfMetadata(metadata.GetTypeName());
  record.start_micros = record.end_micros.emplace(clock_->NowMicros());
  record.operation.set_name(NameOfOperation(resource, record.number));
  record.operation.set_done(true);
  record.operation.mutable_metadata()->PackFrom(metadata);
  record.operation.mutable_response()->PackFrom(response);
  *out = record.operation;
  return Write({std::move(record)}, nullptr);
}

absl::Status Operations::Begin(std::string_view resource, const Message& request, const Message& metadata,
                               const Commit& commit, Operation* out) {
  const absl::MutexLock changes_lock(&changes_mutex_);
  OperationRecord record;
  {
    const absl::MutexLock lock(&mutex_);
    for (const uint64_t number : running_) {
      const std::string& name = entries_.at(number).record.operation.name();
      if (!Excludes(number) || ResourceOfOperation(name) != resource) continue;
      return absl::FailedPreconditionError(
          fmt::format("{} is currently being modified, by {}", resource, name));
    }
    record.number = NewNumber();
  }
  record.kind = KindOfMetadata(metadata.GetTypeName());
  record.start_micros = clock_->NowMicros();
  record.request.PackFrom(request);
  record.operation.set_name(NameOfOperation(resource, record.number));
  record.operation.mutable_metadata()->PackFrom(metadata);
  *out = record.operation;
  return Write({std::move(record)}, commit);
}

absl::Status Operations::Update(const std::string& name, const Message& metadata, bool write) {
  const absl::MutexLock changes_lock(&changes_mutex_);
  OperationRecord record;
  {
    const absl::MutexLock lock(&mutex_);
    Entry* const entry = Find(name);
    if (entry == nullptr || entry->record.end_micros.has_value()) return NoOperation(name);
    entry->record.operation.mutable_metadata()->PackFrom(metadata);
    if (!write) return absl::OkStatus();
    record = entry->record;
  }
  if (is_shared_) return WriteProgress(std::move(record));
  return Write({std::move(record)}, nullptr);
}

absl::Status Operations::Finish(const std::string& name, const OperationEnd& end) {
  const absl::MutexLock changes_lock(&changes_mutex_);
  std::optional<OperationRecord> found = FindRecord(name);
  if (!found.has_value() || found->end_micros.has_value()) return NoOperation(name);
  const int64_t now = clock_->NowMicros();
  found->end_micros = std::max(now, found->start_micros);
  Operation& operation = found->operation;
  operation.set_done(true);
  if (!end.metadata.type_url().empty()) *operation.mutable_metadata() = end.metadata;
  if (end.status.ok()) {
    *operation.mutable_response() = end.response;
  } else {
    operation.mutable_error()->set_code(static_cast<int>(end.status.code()));
    operation.mutable_error()->set_message(std::string(end.status.message()));
  }
  std::vector<OperationRecord> records = {*std::move(found)};
  if (end.next.has_value()) {
    OperationRecord& next = records.emplace_back();
    if (absl::Status status = ReadNumber(end.next->name, &next.number); !status.ok()) return status;
    next.kind = KindOfMetadata(end.next->metadata.type_url());
    next.request = end.next->request;
    next.start_micros = now;
    next.operation.set_name(end.next->name);
    *next.operation.mutable_metadata() = end.next->metadata;
  }
  return Write(std::move(records), nullptr);
}

std::optional<OperationRecord> Operations::FindRecord(const std::string& name) const {
  const absl::MutexLock lock(&mutex_);
  const Entry* const entry = Find(name);
  if (entry == nullptr) return std::nullopt;
  return entry->record;
}

bool Operations::Runs(const std::string& name) const {
  const absl::MutexLock lock(&mutex_);
  const Entry* const entry = Find(name);
  return entry != nullptr && !entry->record.end_micros.has_value();
}

std::vector<std::string> Operations::Running() const {
  const absl::MutexLock lock(&mutex_);
  std::vector<std::string> names;
  for (const uint64_t number : running_) names.push_back(entries_.at(number).record.operation.name());
  return names;
}

absl::Status Operations::CheckNoneRuns(std::string_view resource) const {
  const absl::MutexLock lock(&mutex_);
  for (const uint64_t number : running_) {
    const std::string& name = entries_.at(number).record.operation.name();
    const std::string_view of = ResourceOfOperation(name);
    if (!Excludes(number)) continue;
    if (!of.starts_with(resource) || (of.size() > resource.size() && of[resource.size()] != '/')) continue;
    return absl::FailedPreconditionError(
        fmt::format("{} is currently being modified, by {}", resource, name));
  }
  return absl::OkStatus();
}

absl::StatusOr<lro::Operation> Operations::Get(const std::string& name) const {
  if (absl::Status status = CheckOperationName(name); !status.ok()) return status;
  const absl::MutexLock lock(&mutex_);
  const Entry* const entry = Find(name);
  if (entry == nullptr) return Missing(name);
  return entry->record.operation;
}

absl::StatusOr<bool> Operations::RequestCancel(const std::string& name) {
  if (absl::Status status = CheckOperationName(name); !status.ok()) return status;
  const absl::MutexLock changes_lock(&changes_mutex_);
  std::optional<OperationRecord> found = FindRecord(name);
  if (!found.has_value()) {
    const absl::MutexLock lock(&mutex_);
    return Missing(name);
  }
  if (found->end_micros.has_value()) return false;
  if (found->is_cancelled) return true;
  found->is_cancelled = true;
  std::optional<int64_t> others_version;
  {
    const absl::MutexLock lock(&mutex_);
    if (!own_.contains(found->number)) others_version = entries_.at(found->number).version;
  }
  if (is_shared_ && others_version.has_value()) {
    // Whoever runs it must not lose what it has written meanwhile.
    const absl::Status status =
        store_->WriteRecords({{KeyOfOperation(name), EncodeOperationRecord(*found), *others_version}});
    if (!absl::IsAborted(status)) return status.ok() ? absl::StatusOr<bool>(true) : status;
    return absl::UnavailableError(
        fmt::format("Another server has changed operation {} a moment ago. Try again", Printable(name)));
  }
  if (absl::Status status = Write({*std::move(found)}, nullptr); !status.ok()) return status;
  return true;
}

absl::Status Operations::Delete(const std::string& name) {
  if (absl::Status status = CheckOperationName(name); !status.ok()) return status;
  const absl::MutexLock changes_lock(&changes_mutex_);
  const std::optional<OperationRecord> found = FindRecord(name);
  if (!found.has_value()) return NoOperation(name);
  if (!found->end_micros.has_value()) {
    return absl::FailedPreconditionError(
        fmt::format("Operation {} is running: cancel it, or delete it when it has ended", name));
  }
  if (absl::Status status = store_->WriteRecords({{KeyOfOperation(name), std::nullopt}}); !status.ok()) {
    return status;
  }
  const absl::MutexLock lock(&mutex_);
  Forget(found->number);
  return absl::OkStatus();
}

absl::Status Operations::List(const lro::ListOperationsRequest& request,
                              lro::ListOperationsResponse* response) const {
  if (absl::Status status = CheckOperationName(request.name()); !status.ok()) return status;
  const absl::StatusOr<std::optional<bool>> is_done = ParseDone(request.filter());
  if (!is_done.ok()) return is_done.status();
  if (request.page_size() < 0) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'page_size' : must not be negative, but is {}", request.page_size()));
  }
  const absl::StatusOr<uint64_t> after = NumberOfToken(request);
  if (!after.ok()) return after.status();
  const size_t page = request.page_size() == 0 ? kPageMax : std::min<size_t>(request.page_size(), kPageMax);
  const std::string prefix = request.name() + "/";
  uint64_t last_number = 0;
  size_t bytes = 0;
  const absl::MutexLock lock(&mutex_);
  for (auto at = entries_.upper_bound(*after); at != entries_.end(); ++at) {
    const Operation& operation = at->second.record.operation;
    if (!operation.name().starts_with(prefix)) continue;
    if (is_done->has_value() && operation.done() != **is_done) continue;
    bytes += at->second.bytes;
    const auto count = static_cast<size_t>(response->operations_size());
    if (count == page || (count > 0 && bytes > kPageBytesMax)) {
      response->set_next_page_token(PageTokenOf(request, last_number));
      break;
    }
    *response->add_operations() = operation;
    last_number = at->first;
  }
  return absl::OkStatus();
}

}  // namespace sonde
