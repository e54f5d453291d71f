// The policies that SetIamPolicy sets: records "policy/" + name of the resource, served from memory.
//
// A policy is deleted with its resource, in one step (Catalog::Accompany), so that a new resource of the name has none.
//
// Where several servers share the store, each reads the policies again when it has not done so for kReadAgainAfter.  When the store
// cannot be read, the policies that were read last go on.
//
// Threads: all functions may be called at once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "access/policy.h"
#include "catalog/catalog.h"
#include "engine/engine.h"

namespace sonde {

class PolicyStore final : public PolicySource, public Companions {
 public:
  static constexpr std::string_view kRecordPrefix = "policy/";
  static constexpr absl::Duration kReadAgainAfter = absl::Seconds(2);

  // `engine` must outlive it.  DATA_LOSS: a record cannot be read.
  static absl::StatusOr<std::unique_ptr<PolicyStore>> Open(Engine* engine);

  // The policy that was set, or one without bindings and with kNoPolicyEtag.
  Policy Get(std::string_view resource) const;

  // Puts `policy`, which passed CheckPolicy, in the place of the resource's, and returns it with its new etag.  ABORTED: its etag is
  // neither empty nor that of the policy as it was.  Errors: those of the engine.
  absl::StatusOr<Policy> Set(std::string_view resource, Policy policy);

  // --- PolicySource
  GrantsRef Find(std::string_view resource) const override;

  // --- Companions
  std::string_view record_prefix() const override { return kRecordPrefix; }
  std::vector<RecordChange> RecordsToDelete(std::string_view resource) override;
  void OnDeleted(std::string_view resource) override;

 private:
  struct Entry {
    Policy policy;
    GrantsRef grants;
    int64_t version = 0;  // of the record; 0: it is not known
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  explicit PolicyStore(Engine* engine) : engine_(engine), is_shared_(engine->traits().is_shared) {}
  absl::Status Read() const;
  void ReadAgainIfOld() const;

  Engine* const engine_;
  const bool is_shared_;
  absl::Mutex set_mutex_;  // held through a Set
  mutable absl::Mutex mutex_;
  mutable Entries entries_ ABSL_GUARDED_BY(mutex_);
  mutable absl::Time read_at_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace sonde
