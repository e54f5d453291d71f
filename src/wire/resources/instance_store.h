// The instances of a store with their clusters and app profiles, as records that are served from memory.
//
// An instance is created by name, or implicit: the first of its tables made it, as emulators do.  An implicit instance has one
// cluster (wire/call/cluster.h) and the profile `default`; the rules for new ids do not hold for it.
//
// All clusters of an instance are this one store: a cluster is a name for what routes and reads ask, not a second copy.
//
// Threads: all functions may be called at once; changes are made one by one.
// Errors of all functions: those of the engine.  One process changes the records of a store at a time.
#pragma once

#include <google/bigtable/admin/v2/instance.pb.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "backup/store/backups.h"
#include "base/clock.h"
#include "catalog/catalog.h"
#include "engine/engine.h"
#include "wire/call/app_profiles.h"
#include "wire/resources/resource_map.h"

namespace sonde {

struct InstanceStoreOptions {
  bool refuses_clusters = false;  // an instance has one cluster, as there is one copy of the data
  // Tables need an instance that was created, and data calls an app profile that exists.
  bool is_strict = false;
  // The records of other parts of the server that end with an instance.  Null: there are none.  Must outlive the store.
  Companions* companions = nullptr;
};

class InstanceStore final : public AppProfiles {
 public:
  using Instance = google::bigtable::admin::v2::Instance;
  using Cluster = google::bigtable::admin::v2::Cluster;
  using AppProfile = google::bigtable::admin::v2::AppProfile;

  static constexpr size_t kClustersMax = 8;  // an instance

  // `backups` may be null: there are none.  All must outlive this.  DATA_LOSS: a record is damaged.
  static absl::StatusOr<std::unique_ptr<InstanceStore>> Open(Engine* engine, Catalog* catalog,
                                                             const Backups* backups, const Clock* clock,
                                                             const InstanceStoreOptions& options = {});

  // --- Instances.  NOT_FOUND: there is none of this name.
  absl::StatusOr<Instance> FindInstance(std::string_view name) const;
  // Returns the instances of projects/P, by name.
  std::vector<Instance> ListInstances(std::string_view project) const;
  // Creates an instance that is complete, with its clusters and the profile `default`.  ALREADY_EXISTS.
  // INVALID_ARGUMENT: no clusters, or too many.  FAILED_PRECONDITION: two clusters are in one zone, or one store has one cluster.
  absl::StatusOr<Instance> CreateInstance(Instance instance, const std::vector<Cluster>& clusters);
  // `change` gets a copy; an error of it is the answer.
  absl::StatusOr<Instance> UpdateInstance(std::string_view name,
                                          const std::function<absl::Status(Instance* instance)>& change);
  // Deletes an instance with its tables and views.  FAILED_PRECONDITION: it has backups, or a table or view that cannot be deleted.
  absl::Status DeleteInstance(std::string_view name);
  // Makes the record of an instance whose first table or view is being created, if there is none.
  absl::Status EnsureInstance(std::string_view name);

  // --- Clusters.  NOT_FOUND: there is none of this name, or no such instance.
  absl::StatusOr<Cluster> FindCluster(std::string_view name) const;
  // `instance`: projects/P/instances/I; I may be '-', for all.
  absl::StatusOr<std::vector<Cluster>> ListClusters(std::string_view instance) const;
  // Creates a cluster that is complete.  ALREADY_EXISTS, FAILED_PRECONDITION: as CreateInstance.
  absl::StatusOr<Cluster> CreateCluster(const Cluster& cluster);
  absl::StatusOr<Cluster> UpdateCluster(std::string_view name,
                                        const std::function<absl::Status(Cluster* cluster)>& change);
  // FAILED_PRECONDITION: it is the instance's last one, has backups, or an app profile routes to it.
  absl::Status DeleteCluster(std::string_view name);

  // --- App profiles.  NOT_FOUND: there is none of this name, or no such instance.
  absl::StatusOr<AppProfile> FindProfile(std::string_view name) const;
  absl::StatusOr<std::vector<AppProfile>> ListProfiles(std::string_view instance) const;  // as ListClusters
  // Completes and creates a profile.  ALREADY_EXISTS, RESOURCE_EXHAUSTED: kAppProfilesMax.
  absl::StatusOr<AppProfile> CreateProfile(AppProfile profile);
  // `change` gets a copy, and the clusters of the instance.  ABORTED: `etag` is neither empty nor that of the profile.
  absl::StatusOr<AppProfile> UpdateProfile(
      std::string_view name, std::string_view etag,
      const std::function<absl::Status(const std::vector<std::string>& cluster_ids, AppProfile* profile)>&
          change);
  // FAILED_PRECONDITION: it is `default`.
  absl::Status DeleteProfile(std::string_view name);

  // --- Data calls, by their app profiles (AppProfiles).  A profile that does not exist allows all, unless instances are strict.
  bool AreAllPlain() const override { return are_all_plain_.load(std::memory_order_relaxed); }
  absl::StatusOr<Priority> Admit(std::string_view resource, std::string_view profile_id,
                                 ProfileUse use) const override;

  // Whether tables may be made in an instance.  NOT_FOUND: it was never created, and instances are strict.
  absl::Status CheckMayHaveTables(std::string_view instance) const;
  // Whether its tables may have tiers of storage.  INVALID_ARGUMENT: a cluster stores on HDD.
  absl::Status CheckMayHaveTiers(std::string_view instance) const;

 private:
  InstanceStore(Engine* engine, Catalog* catalog, const Backups* backups, const Clock* clock,
                const InstanceStoreOptions& options)
      : engine_(engine), catalog_(catalog), backups_(backups), clock_(clock), options_(options) {}

  bool HasTables(std::string_view instance) const;
  absl::Status CheckInstance(std::string_view name) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  std::vector<Cluster> ClustersOf(std::string_view instance) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  std::vector<AppProfile> ProfilesOf(std::string_view instance) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::vector<std::string>> InstancesOf(std::string_view instance) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // FAILED_PRECONDITION: the instance has backups, or a table that cannot be deleted.
  absl::Status CheckCanGo(std::string_view name, const std::vector<TableSchemaRef>& tables) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  absl::Status DeleteRecords(std::string_view name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckZones(const std::vector<Cluster>& clusters) const;
  absl::Status EnsureInstanceLocked(std::string_view name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CreateLocked(const Instance& instance, const std::vector<Cluster>& clusters)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteProfiles() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  template <typename Message>
  absl::Status Store(ResourceMap<Message>* map, const Message& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  template <typename Message>
  absl::Status Erase(ResourceMap<Message>* map, std::string_view name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Engine* const engine_;
  Catalog* const catalog_;
  const Backups* const backups_;
  const Clock* const clock_;
  const InstanceStoreOptions options_;

  // Held through a change.  It comes before the catalog's changes, and mutex_ behind them: whoever holds up the catalog may look
  // for an instance.
  absl::Mutex changes_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  mutable absl::Mutex mutex_;
  ResourceMap<Instance> instances_ ABSL_GUARDED_BY(mutex_){"instance/"};
  ResourceMap<Cluster> clusters_ ABSL_GUARDED_BY(mutex_){"cluster/"};
  ResourceMap<AppProfile> profiles_ ABSL_GUARDED_BY(mutex_){"profile/"};
  std::atomic<bool> are_all_plain_ = true;
};

}  // namespace sonde
