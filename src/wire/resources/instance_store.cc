#include "wire/resources/instance_store.h"

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <set>
#include <utility>

#include "model/limits.h"
#include "model/names.h"
#include "wire/resources/cluster_rules.h"
#include "wire/resources/instance_rules.h"
#include "wire/resources/profile_rules.h"

namespace sonde {
namespace {

absl::Status NoResource(std::string_view name) {
  return absl::NotFoundError(fmt::format("Failed to read: {}", name));
}

absl::Status HasResource(std::string_view kind, std::string_view name) {
  return absl::AlreadyExistsError(fmt::format("{} already exists: {}", kind, name));
}

std::vector<std::string> IdsOf(const std::vector<InstanceStore::Cluster>& clusters) {
  std::vector<std::string> ids;
  for (const InstanceStore::Cluster& cluster : clusters) ids.emplace_back(IdOfCluster(cluster.name()));
  return ids;
}

// projects/P/instances/I of a name that begins so; all of it, if it has fewer parts.
std::string_view InstanceOfResource(std::string_view name) {
  size_t end = 0;
  for (int part = 0; part < 4 && end != std::string_view::npos; ++part)
    end = name.find('/', part == 0 ? 0 : end + 1);
  return name.substr(0, end);
}

std::string ClusterPrefixOf(std::string_view instance) { return fmt::format("{}/clusters/", instance); }
std::string ProfilePrefixOf(std::string_view instance) { return fmt::format("{}/appProfiles/", instance); }

}  // namespace

absl::StatusOr<std::unique_ptr<InstanceStore>> InstanceStore::Open(Engine* engine, Catalog* catalog,
                                                                   const Backups* backups, const Clock* clock,
                                                                   const InstanceStoreOptions& options) {
  std::unique_ptr<InstanceStore> store(new InstanceStore(engine, catalog, backups, clock, options));
  const absl::MutexLock lock(&store->mutex_);
  absl::Status status = store->instances_.Load(engine);
  status.Update(store->clusters_.Load(engine));
  status.Update(store->profiles_.Load(engine));
  if (!status.ok()) return status;
  store->NoteProfiles();
  return store;
}

void InstanceStore::NoteProfiles() {
  bool plain = !options_.is_strict;
  for (const AppProfile& profile : profiles_.List("")) plain = plain && IsPlainProfile(profile);
  are_all_plain_.store(plain, std::memory_order_relaxed);
}

template <typename Message>
absl::Status InstanceStore::Store(ResourceMap<Message>* map, const Message& message) {
  const RecordChange change = map->Stored(message);
  if (absl::Status status = engine_->WriteRecords({change}); !status.ok()) return status;
  map->Apply(change, &message);
  return absl::OkStatus();
}

template <typename Message>
absl::Status InstanceStore::Erase(ResourceMap<Message>* map, std::string_view name) {
  const RecordChange change = map->Deleted(name);
  if (absl::Status status = engine_->WriteRecords({change}); !status.ok()) return status;
  map->Apply(change, nullptr);
  return absl::OkStatus();
}

// --- Instances.

bool InstanceStore::HasTables(std::string_view instance) const {
  return !catalog_->List(instance, "", 1).empty();
}

absl::Status InstanceStore::CheckInstance(std::string_view name) const {
  return instances_.Find(name) != nullptr || HasTables(name) ? absl::OkStatus() : NoResource(name);
}

absl::StatusOr<InstanceStore::Instance> InstanceStore::FindInstance(std::string_view name) const {
  const absl::ReaderMutexLock lock(&mutex_);
  if (const Instance* const found = instances_.Find(name); found != nullptr) return *found;
  if (HasTables(name)) return ImplicitInstance(name);
  return NoResource(name);
}

std::vector<InstanceStore::Instance> InstanceStore::ListInstances(std::string_view project) const {
  const std::string prefix = fmt::format("{}/instances/", project);
  const absl::ReaderMutexLock lock(&mutex_);
  std::vector<Instance> all = instances_.List(prefix);
  std::set<std::string, std::less<>> implicit;
  for (const TableSchemaRef& table : catalog_->ListAll()) {
    const std::string_view instance = InstanceOfTable(table->name);
    if (instance.starts_with(prefix) && instances_.Find(instance) == nullptr) implicit.emplace(instance);
  }
  for (const std::string& name : implicit) all.push_back(ImplicitInstance(name));
  std::sort(all.begin(), all.end(), [](const Instance& a, const Instance& b) { return a.name() < b.name(); });
  return all;
}

absl::Status InstanceStore::CheckZones(const std::vector<Cluster>& clusters) const {
  if (clusters.empty() || clusters.size() > kClustersMax) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'clusters' : an instance has 1 to {} clusters, but {} are provided",
                    kClustersMax, clusters.size()));
  }
  if (options_.refuses_clusters && clusters.size() > 1) {
    return absl::FailedPreconditionError(
        "This server keeps one copy of the data: an instance has one cluster here.");
  }
  std::set<std::string_view> zones;
  for (const Cluster& cluster : clusters) {
    if (zones.insert(cluster.location()).second) continue;
    return absl::FailedPreconditionError("Cannot create multiple clusters in the same zone.");
  }
  return absl::OkStatus();
}

absl::Status InstanceStore::CreateLocked(const Instance& instance, const std::vector<Cluster>& clusters) {
  const AppProfile profile = DefaultProfile(instance.name(), IdsOf(clusters));
  std::vector<RecordChange> changes = {instances_.Stored(instance), profiles_.Stored(profile)};
  for (const Cluster& cluster : clusters) changes.push_back(clusters_.Stored(cluster));
  if (absl::Status status = engine_->WriteRecords(changes); !status.ok()) return status;
  instances_.Apply(changes[0], &instance);
  profiles_.Apply(changes[1], &profile);
  for (size_t i = 0; i < clusters.size(); ++i) clusters_.Apply(changes[2 + i], &clusters[i]);
  return absl::OkStatus();
}

absl::StatusOr<InstanceStore::Instance> InstanceStore::CreateInstance(Instance instance,
                                                                      const std::vector<Cluster>& clusters) {
  if (absl::Status status = CheckZones(clusters); !status.ok()) return status;
  *instance.mutable_create_time() =
      google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(clock_->NowMicros());
  const absl::MutexLock changing(&changes_mutex_);
  const absl::MutexLock lock(&mutex_);
  if (CheckInstance(instance.name()).ok()) return HasResource("Instance", instance.name());
  if (absl::Status status = CreateLocked(instance, clusters); !status.ok()) return status;
  return instance;
}

absl::Status InstanceStore::EnsureInstanceLocked(std::string_view name) {
  if (instances_.Find(name) != nullptr) return absl::OkStatus();
  Instance instance = ImplicitInstance(name);
  *instance.mutable_create_time() =
      google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(clock_->NowMicros());
  return CreateLocked(instance, {ImplicitCluster(name)});
}

absl::Status InstanceStore::EnsureInstance(std::string_view name) {
  {
    const absl::ReaderMutexLock lock(&mutex_);
    if (instances_.Find(name) != nullptr) return absl::OkStatus();
  }
  const absl::MutexLock changing(&changes_mutex_);
  const absl::MutexLock lock(&mutex_);
  return EnsureInstanceLocked(name);
}

absl::StatusOr<InstanceStore::Instance> InstanceStore::UpdateInstance(
    std::string_view name, const std::function<absl::Status(Instance* instance)>& change) {
  const absl::MutexLock changing(&changes_mutex_);
  const absl::MutexLock lock(&mutex_);
  if (absl::Status status = CheckInstance(name); !status.ok()) return status;
  if (absl::Status status = EnsureInstanceLocked(name); !status.ok()) return status;
  Instance instance = *instances_.Find(name);
  if (absl::Status status = change(&instance); !status.ok()) return status;
  if (absl::Status status = Store(&instances_, instance); !status.ok()) return status;
  return instance;
}

absl::Status InstanceStore::CheckCanGo(std::string_view name,
                                       const std::vector<TableSchemaRef>& tables) const {
  if (absl::Status status = CheckInstance(name); !status.ok()) return status;
  if (backups_ != nullptr) {
    const absl::StatusOr<std::vector<Backup>> backups = backups_->List(ClusterPrefixOf(name));
    if (!backups.ok()) return backups.status();
    if (!backups->empty()) {
      return absl::FailedPreconditionError(
          fmt::format("Instance {} has {} backups, such as {}: delete them first", name, backups->size(),
                      backups->front().name));
    }
  }
  for (const TableSchemaRef& table : tables) {
    if (!table->deletion_protection) continue;
    return absl::FailedPreconditionError(fmt::format("Table {} is protected against deletion", table->name));
  }
  return absl::OkStatus();
}

absl::Status InstanceStore::DeleteRecords(std::string_view name) {
  std::vector<RecordChange> changes = {instances_.Deleted(name)};
  for (const Cluster& cluster : clusters_.List(ClusterPrefixOf(name))) {
    changes.push_back(clusters_.Deleted(cluster.name()));
  }
  for (const AppProfile& profile : profiles_.List(ProfilePrefixOf(name))) {
    changes.push_back(profiles_.Deleted(profile.name()));
  }
  if (options_.companions != nullptr) {
    for (RecordChange& change : options_.companions->RecordsToDelete(name))
      changes.push_back(std::move(change));
  }
  if (absl::Status status = engine_->WriteRecords(changes); !status.ok()) return status;
  if (options_.companions != nullptr) options_.companions->OnDeleted(name);
  for (const RecordChange& change : changes) {
    instances_.Apply(change, nullptr);
    clusters_.Apply(change, nullptr);
    profiles_.Apply(change, nullptr);
  }
  NoteProfiles();
  return absl::OkStatus();
}

absl::Status InstanceStore::DeleteInstance(std::string_view name) {
  const absl::MutexLock changing(&changes_mutex_);
  const std::vector<TableSchemaRef> tables = catalog_->List(name, "", kTablesMax);
  {
    const absl::ReaderMutexLock lock(&mutex_);
    if (absl::Status status = CheckCanGo(name, tables); !status.ok()) return status;
  }
  // They read from the tables.
  if (absl::Status status = catalog_->DeleteSqlViews(name); !status.ok()) return status;
  for (const TableSchemaRef& table : tables) {
    if (absl::Status status = catalog_->Delete(table->name); !status.ok() && !absl::IsNotFound(status))
      return status;
  }
  // What was deleted before goes for good, too: nothing could bring it back into an instance that is gone.
  for (const DeletedTableRef& table : catalog_->ListDeleted()) {
    if (InstanceOfTable(table->record.schema.name) != name) continue;
    const absl::Status status = catalog_->Purge(table->record.schema.id);
    if (!status.ok() && !absl::IsNotFound(status)) return status;
  }
  return catalog_->WithoutChanges([&] {
    const absl::MutexLock lock(&mutex_);
    return DeleteRecords(name);
  });
}

// --- Clusters.

std::vector<InstanceStore::Cluster> InstanceStore::ClustersOf(std::string_view instance) const {
  if (instances_.Find(instance) != nullptr) return clusters_.List(ClusterPrefixOf(instance));
  return {ImplicitCluster(instance)};
}

absl::StatusOr<std::vector<std::string>> InstanceStore::InstancesOf(std::string_view instance) const {
  constexpr std::string_view kAnyInstance = "/instances/-";
  std::vector<std::string> names;
  if (!instance.ends_with(kAnyInstance)) {
    if (absl::Status status = CheckInstance(instance); !status.ok()) return status;
    names.emplace_back(instance);
    return names;
  }
  const std::string_view prefix = instance.substr(0, instance.size() - 1);
  std::set<std::string, std::less<>> found;
  for (const Instance& one : instances_.List(prefix)) found.insert(one.name());
  for (const TableSchemaRef& table : catalog_->ListAll()) {
    if (table->name.starts_with(prefix)) found.emplace(InstanceOfTable(table->name));
  }
  names.assign(found.begin(), found.end());
  return names;
}

absl::StatusOr<InstanceStore::Cluster> InstanceStore::FindCluster(std::string_view name) const {
  const absl::ReaderMutexLock lock(&mutex_);
  if (CheckInstance(InstanceOfCluster(name)).ok()) {
    for (Cluster& cluster : ClustersOf(InstanceOfCluster(name))) {
      if (cluster.name() == name) return std::move(cluster);
    }
  }
  return NoResource(name);
}

absl::StatusOr<std::vector<InstanceStore::Cluster>> InstanceStore::ListClusters(
    std::string_view instance) const {
  const absl::ReaderMutexLock lock(&mutex_);
  const absl::StatusOr<std::vector<std::string>> names = InstancesOf(instance);
  if (!names.ok()) return names.status();
  std::vector<Cluster> all;
  for (const std::string& name : *names) {
    for (Cluster& cluster : ClustersOf(name)) all.push_back(std::move(cluster));
  }
  return all;
}

absl::StatusOr<InstanceStore::Cluster> InstanceStore::CreateCluster(const Cluster& cluster) {
  const std::string_view instance = InstanceOfCluster(cluster.name());
  const absl::MutexLock changing(&changes_mutex_);
  const absl::MutexLock lock(&mutex_);
  if (absl::Status status = CheckInstance(instance); !status.ok()) return status;
  if (absl::Status status = EnsureInstanceLocked(instance); !status.ok()) return status;
  if (clusters_.Find(cluster.name()) != nullptr) return HasResource("Cluster", cluster.name());
  std::vector<Cluster> all = ClustersOf(instance);
  all.push_back(cluster);
  if (absl::Status status = CheckZones(all); !status.ok()) return status;
  if (absl::Status status = Store(&clusters_, cluster); !status.ok()) return status;
  return cluster;
}

absl::StatusOr<InstanceStore::Cluster> InstanceStore::UpdateCluster(
    std::string_view name, const std::function<absl::Status(Cluster* cluster)>& change) {
  const absl::MutexLock changing(&changes_mutex_);
  const absl::MutexLock lock(&mutex_);
  if (absl::Status status = CheckInstance(InstanceOfCluster(name)); !status.ok()) return NoResource(name);
  if (absl::Status status = EnsureInstanceLocked(InstanceOfCluster(name)); !status.ok()) return status;
  const Cluster* const found = clusters_.Find(name);
  if (found == nullptr) return NoResource(name);
  Cluster cluster = *found;
  if (absl::Status status = change(&cluster); !status.ok()) return status;
  if (absl::Status status = Store(&clusters_, cluster); !status.ok()) return status;
  return cluster;
}

absl::Status InstanceStore::DeleteCluster(std::string_view name) {
  const std::string_view instance = InstanceOfCluster(name);
  const absl::MutexLock changing(&changes_mutex_);
  const absl::MutexLock lock(&mutex_);
  if (!CheckInstance(instance).ok()) return NoResource(name);
  if (absl::Status status = EnsureInstanceLocked(instance); !status.ok()) return status;
  if (clusters_.Find(name) == nullptr) return NoResource(name);
  if (clusters_.Count(ClusterPrefixOf(instance)) == 1) {
    return absl::FailedPreconditionError(
        fmt::format("Cluster {} is the last one of its instance: delete the instance", name));
  }
  if (backups_ != nullptr) {
    const absl::StatusOr<std::vector<Backup>> backups = backups_->List(fmt::format("{}/backups/", name));
    if (!backups.ok()) return backups.status();
    if (!backups->empty()) {
      return absl::FailedPreconditionError(
          fmt::format("Cluster {} has {} backups, such as {}: delete them first", name, backups->size(),
                      backups->front().name));
    }
  }
  for (const AppProfile& profile : profiles_.List(ProfilePrefixOf(instance))) {
    if (!NamesCluster(profile, IdOfCluster(name))) continue;
    return absl::FailedPreconditionError(
        fmt::format("App profile {} routes to cluster {}: update or delete it first", profile.name(), name));
  }
  return Erase(&clusters_, name);
}

// --- App profiles.

std::vector<InstanceStore::AppProfile> InstanceStore::ProfilesOf(std::string_view instance) const {
  if (instances_.Find(instance) != nullptr) return profiles_.List(ProfilePrefixOf(instance));
  return {DefaultProfile(instance, IdsOf(ClustersOf(instance)))};
}

absl::StatusOr<InstanceStore::AppProfile> InstanceStore::FindProfile(std::string_view name) const {
  const absl::ReaderMutexLock lock(&mutex_);
  if (CheckInstance(InstanceOfAppProfile(name)).ok()) {
    for (AppProfile& profile : ProfilesOf(InstanceOfAppProfile(name))) {
      if (profile.name() == name) return std::move(profile);
    }
  }
  return NoResource(name);
}

absl::StatusOr<std::vector<InstanceStore::AppProfile>> InstanceStore::ListProfiles(
    std::string_view instance) const {
  const absl::ReaderMutexLock lock(&mutex_);
  const absl::StatusOr<std::vector<std::string>> names = InstancesOf(instance);
  if (!names.ok()) return names.status();
  std::vector<AppProfile> all;
  for (const std::string& name : *names) {
    for (AppProfile& profile : ProfilesOf(name)) all.push_back(std::move(profile));
  }
  return all;
}

absl::StatusOr<InstanceStore::AppProfile> InstanceStore::CreateProfile(AppProfile profile) {
  const std::string instance(InstanceOfAppProfile(profile.name()));
  const absl::MutexLock changing(&changes_mutex_);
  const absl::MutexLock lock(&mutex_);
  if (absl::Status status = CheckInstance(instance); !status.ok()) return status;
  if (absl::Status status = EnsureInstanceLocked(instance); !status.ok()) return status;
  if (profiles_.Find(profile.name()) != nullptr) return HasResource("App profile", profile.name());
  if (profiles_.Count(ProfilePrefixOf(instance)) >= kAppProfilesMax) {
    return absl::ResourceExhaustedError(
        fmt::format("Too many app profiles: the limit is {}", kAppProfilesMax));
  }
  if (absl::Status status = CompleteProfile(IdsOf(ClustersOf(instance)), &profile); !status.ok())
    return status;
  if (absl::Status status = Store(&profiles_, profile); !status.ok()) return status;
  NoteProfiles();
  return profile;
}

absl::StatusOr<InstanceStore::AppProfile> InstanceStore::UpdateProfile(
    std::string_view name, std::string_view etag,
    const std::function<absl::Status(const std::vector<std::string>& cluster_ids, AppProfile* profile)>&
        change) {
  const std::string_view instance = InstanceOfAppProfile(name);
  const absl::MutexLock changing(&changes_mutex_);
  const absl::MutexLock lock(&mutex_);
  if (!CheckInstance(instance).ok()) return NoResource(name);
  if (absl::Status status = EnsureInstanceLocked(instance); !status.ok()) return status;
  const AppProfile* const found = profiles_.Find(name);
  if (found == nullptr) return NoResource(name);
  if (!etag.empty() && etag != EtagOfRecord(profiles_.RecordOf(name))) {
    return absl::AbortedError(fmt::format("App profile {} was changed since its etag was read", name));
  }
  AppProfile profile = *found;
  if (absl::Status status = change(IdsOf(ClustersOf(instance)), &profile); !status.ok()) return status;
  if (absl::Status status = Store(&profiles_, profile); !status.ok()) return status;
  NoteProfiles();
  return profile;
}

absl::StatusOr<Priority> InstanceStore::Admit(std::string_view resource, std::string_view profile_id,
                                              ProfileUse use) const {
  const std::string_view instance = InstanceOfResource(resource);
  const std::string name =
      fmt::format("{}{}", ProfilePrefixOf(instance), profile_id.empty() ? kDefaultProfileId : profile_id);
  const absl::ReaderMutexLock lock(&mutex_);
  const AppProfile* const profile = profiles_.Find(name);
  if (profile != nullptr) {
    absl::Status allowed = CheckProfileUse(*profile, use);
    if (!allowed.ok()) return allowed;
    return PriorityOfProfile(*profile);
  }
  // A name that is none is the handler's to refuse.
  if (!options_.is_strict || !CheckInstanceName(instance).ok()) return Priority::kHigh;
  return absl::NotFoundError(fmt::format("App profile not found: {}", name));
}

absl::Status InstanceStore::CheckMayHaveTables(std::string_view instance) const {
  const absl::ReaderMutexLock lock(&mutex_);
  return !options_.is_strict || instances_.Find(instance) != nullptr ? absl::OkStatus()
                                                                     : NoResource(instance);
}

absl::Status InstanceStore::CheckMayHaveTiers(std::string_view instance) const {
  const absl::ReaderMutexLock lock(&mutex_);
  for (const Cluster& cluster : ClustersOf(instance)) {
    if (cluster.default_storage_type() != google::bigtable::admin::v2::HDD) continue;
    return absl::InvalidArgumentError(fmt::format(
        "Error in field 'tiered_storage_config' : tiers are for SSD, and cluster {} stores on HDD",
        cluster.name()));
  }
  return absl::OkStatus();
}

absl::Status InstanceStore::DeleteProfile(std::string_view name) {
  const absl::MutexLock changing(&changes_mutex_);
  const absl::MutexLock lock(&mutex_);
  if (!CheckInstance(InstanceOfAppProfile(name)).ok()) return NoResource(name);
  if (IdOfAppProfile(name) == kDefaultProfileId) {
    return absl::FailedPreconditionError("The app profile 'default' cannot be deleted");
  }
  if (profiles_.Find(name) == nullptr) return NoResource(name);
  absl::Status status = Erase(&profiles_, name);
  NoteProfiles();
  return status;
}

}  // namespace sonde
