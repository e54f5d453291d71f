#include "access/policies/policy_store.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "absl/time/clock.h"
#include "access/policies/policy_record.h"
#include "base/hash.h"

namespace sonde {
namespace {

std::string KeyOfPolicy(std::string_view resource) {
  return fmt::format("{}{}", PolicyStore::kRecordPrefix, resource);
}

// Another one for each set, whatever is set.
std::string NewEtag(const Policy& policy, const Policy& before) {
  uint64_t hash = HashBytes(EncodePolicyRecord(policy), static_cast<uint64_t>(absl::GetCurrentTimeNanos()));
  std::string etag(kPolicyEtagBytes, '\0');
  do {
    std::memcpy(etag.data(), &hash, kPolicyEtagBytes);
    ++hash;
  } while (etag == before.etag);
  return etag;
}

// Whether `name` is that of the resource or of one below it.
bool IsAtOrBelow(std::string_view name, std::string_view resource) {
  return name.starts_with(resource) && (name.size() == resource.size() || name[resource.size()] == '/');
}

}  // namespace

absl::StatusOr<std::unique_ptr<PolicyStore>> PolicyStore::Open(Engine* engine) {
  std::unique_ptr<PolicyStore> store(new PolicyStore(engine));
  if (absl::Status status = store->Read(); !status.ok()) return status;
  return store;
}

absl::Status PolicyStore::Read() const {
  const absl::Time now = absl::Now();
  absl::StatusOr<std::vector<Record>> records = engine_->ReadRecords(kRecordPrefix);
  if (!records.ok()) return records.status();
  Entries entries;
  for (const Record& record : *records) {
    absl::StatusOr<Policy> policy = DecodePolicyRecord(record.value);
    if (!policy.ok()) return policy.status();
    auto grants = std::make_shared<const Grants>(*policy);
    entries.emplace(record.key.substr(kRecordPrefix.size()),
                    Entry{*std::move(policy), std::move(grants), record.version});
  }
  const absl::MutexLock lock(&mutex_);
  entries_ = std::move(entries);
  read_at_ = now;
  return absl::OkStatus();
}

void PolicyStore::ReadAgainIfOld() const {
  if (!is_shared_) return;
  {
    const absl::MutexLock lock(&mutex_);
    if (absl::Now() - read_at_ < kReadAgainAfter) return;
    read_at_ = absl::Now();  // the others go on meanwhile
  }
  Read().IgnoreError();
}

Policy PolicyStore::Get(std::string_view resource) const {
  ReadAgainIfOld();
  const absl::ReaderMutexLock lock(&mutex_);
  const auto found = entries_.find(resource);
  return found == entries_.end() ? Policy() : found->second.policy;
}

GrantsRef PolicyStore::Find(std::string_view resource) const {
  ReadAgainIfOld();
  const absl::ReaderMutexLock lock(&mutex_);
  const auto found = entries_.find(resource);
  return found == entries_.end() ? nullptr : found->second.grants;
}

absl::StatusOr<Policy> PolicyStore::Set(std::string_view resource, Policy policy) {
  const absl::MutexLock set_lock(&set_mutex_);
  if (is_shared_) {
    if (absl::Status status = Read(); !status.ok()) return status;
  }
  Entry before;
  {
    const absl::ReaderMutexLock lock(&mutex_);
    if (const auto found = entries_.find(resource); found != entries_.end()) before = found->second;
  }
  static constexpr char kConcurrent[] =
      "There were concurrent policy changes. Please retry the whole read-modify-write with exponential "
      "backoff.";
  if (!policy.etag.empty() && policy.etag != before.policy.etag) return absl::AbortedError(kConcurrent);
  policy.etag = NewEtag(policy, before.policy);
  RecordChange change{KeyOfPolicy(resource), EncodePolicyRecord(policy)};
  if (is_shared_) change.expected_version = before.version;
  if (absl::Status status = engine_->WriteRecords({change}); !status.ok()) {
    return absl::IsAborted(status) ? absl::AbortedError(kConcurrent) : status;
  }
  auto grants = std::make_shared<const Grants>(policy);
  const absl::MutexLock lock(&mutex_);
  entries_.insert_or_assign(std::string(resource), Entry{policy, std::move(grants), 0});
  return policy;
}

std::vector<RecordChange> PolicyStore::RecordsToDelete(std::string_view resource) {
  const absl::ReaderMutexLock lock(&mutex_);
  std::vector<RecordChange> changes;
  for (auto at = entries_.lower_bound(resource); at != entries_.end() && at->first.starts_with(resource);
       ++at) {
    if (IsAtOrBelow(at->first, resource)) changes.push_back({KeyOfPolicy(at->first), std::nullopt});
  }
  return changes;
}

void PolicyStore::OnDeleted(std::string_view resource) {
  const absl::MutexLock lock(&mutex_);
  std::erase_if(entries_, [resource](const auto& entry) { return IsAtOrBelow(entry.first, resource); });
}

}  // namespace sonde
