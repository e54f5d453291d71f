// The resources of one kind: in memory, as their records.  Not for several threads.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/record_store.h"
#include "wire/resources/resource_record.h"

namespace sonde {

// `Message` has a field `name`.
template <typename Message>
class ResourceMap {
 public:
  // `prefix`: of the records' keys; the name follows it.
  explicit ResourceMap(std::string_view prefix) : prefix_(prefix) {}

  // DATA_LOSS: a record is damaged.
  absl::Status Load(RecordStore* store) {
    const absl::StatusOr<std::vector<Record>> records = store->ReadRecords(prefix_);
    if (!records.ok()) return records.status();
    for (const Record& record : *records) {
      Message message;
      if (absl::Status status = DecodeResource(record.value, &message); !status.ok()) return status;
      all_[record.key.substr(prefix_.size())] = {std::move(message), record.value};
    }
    return absl::OkStatus();
  }

  // Returns null if there is none of this name.
  const Message* Find(std::string_view name) const {
    const auto found = all_.find(name);
    return found == all_.end() ? nullptr : &found->second.message;
  }
  // Returns the record of a resource that is there.
  const std::string& RecordOf(std::string_view name) const { return all_.find(name)->second.bytes; }

  // Returns the resources whose names begin with `prefix`, by name.
  std::vector<Message> List(std::string_view prefix) const {
    std::vector<Message> found;
    for (auto at = all_.lower_bound(prefix); at != all_.end() && at->first.starts_with(prefix); ++at) {
      found.push_back(at->second.message);
    }
    return found;
  }
  size_t Count(std::string_view prefix) const {
    size_t count = 0;
    for (auto at = all_.lower_bound(prefix); at != all_.end() && at->first.starts_with(prefix); ++at) ++count;
    return count;
  }
  bool IsEmpty() const { return all_.empty(); }

  // The change of a record that stores or deletes a resource.  It is to be applied when the change is written.
  RecordChange Stored(const Message& message) const {
    const auto before = all_.find(message.name());
    return {prefix_ + message.name(),
            EncodeResource(
                message, before == all_.end() ? std::string_view() : std::string_view(before->second.bytes))};
  }
  RecordChange Deleted(std::string_view name) const {
    return {fmt::format("{}{}", prefix_, name), std::nullopt};
  }

  // Applies a change of a record of this kind, which was written.  Ignores others.
  void Apply(const RecordChange& change, const Message* message) {
    if (!change.key.starts_with(prefix_)) return;
    const std::string name = change.key.substr(prefix_.size());
    if (change.value.has_value()) {
      all_[name] = {*message, *change.value};
    } else {
      all_.erase(name);
    }
  }

 private:
  struct Entry {
    Message message;
    std::string bytes;  // of its record
  };
  const std::string prefix_;
  std::map<std::string, Entry, std::less<>> all_;
};

}  // namespace sonde
