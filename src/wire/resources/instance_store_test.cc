#include "wire/resources/instance_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/memory/memory_engine.h"
#include "wire/resources/cluster_rules.h"
#include "wire/resources/instance_rules.h"
#include "wire/resources/profile_rules.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kNamed[] = "projects/p/instances/named";
constexpr char kImplicit[] = "projects/p/instances/i";

class InstanceStoreTest : public testing::Test {
 protected:
  void SetUp() override { Reopen(); }
  void Reopen(bool refuses_clusters = false) {
    store_.reset();
    catalog_ = *Catalog::Open(engine_.get());
    backups_ = *Backups::Open(engine_.get(), catalog_.get(), &clock_);
    store_ = *InstanceStore::Open(engine_.get(), catalog_.get(), backups_.get(), &clock_,
                                  {.refuses_clusters = refuses_clusters});
  }
  static admin::Instance MakeInstance(const std::string& name = kNamed) {
    admin::Instance instance;
    instance.set_name(name);
    instance.set_display_name("display");
    EXPECT_EQ(CompleteInstance(&instance), absl::OkStatus());
    return instance;
  }
  static admin::Cluster MakeCluster(const std::string& id, const std::string& zone,
                                    const std::string& instance = kNamed) {
    admin::Cluster cluster;
    cluster.set_name(instance + "/clusters/" + id);
    cluster.set_location("projects/p/locations/" + zone);
    EXPECT_EQ(CompleteCluster(&cluster), absl::OkStatus());
    return cluster;
  }
  static admin::AppProfile MakeProfile(const std::string& id, const std::string& cluster) {
    admin::AppProfile profile;
    profile.set_name(std::string(kNamed) + "/appProfiles/" + id);
    profile.mutable_single_cluster_routing()->set_cluster_id(cluster);
    return profile;
  }
  void CreateNamed() {
    ASSERT_TRUE(store_->CreateInstance(MakeInstance(), {MakeCluster("a", "x"), MakeCluster("b", "y")}).ok());
  }
  void CreateTable(const std::string& instance, bool is_protected = false) {
    TableSchema schema{.name = instance + "/tables/t", .deletion_protection = is_protected};
    schema.families = {{.name = "f"}};
    ASSERT_TRUE(catalog_->Create(schema).ok());
  }
  template <typename Message>
  static std::vector<std::string> Names(const std::vector<Message>& all) {
    std::vector<std::string> names;
    for (const Message& one : all) names.push_back(one.name().substr(one.name().rfind('/') + 1));
    return names;
  }
  template <typename Message>
  static std::vector<std::string> Names(const absl::StatusOr<std::vector<Message>>& all) {
    EXPECT_TRUE(all.ok()) << all.status();
    return all.ok() ? Names(*all) : std::vector<std::string>();
  }

  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  ManualClock clock_{1'700'000'000'000'000};
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Backups> backups_;
  std::unique_ptr<InstanceStore> store_;
};

TEST(ResourceRecord, KeepsMembersThatANewerVersionWrote) {
  admin::Instance instance;
  instance.set_name("n");
  const std::string bytes =
      R"({"version":1,"resource":{"name":"n","display_name":"old","newer":[1]},"else":1})";
  ASSERT_EQ(DecodeResource(bytes, &instance), absl::OkStatus());
  EXPECT_EQ(instance.display_name(), "old");
  instance.clear_display_name();
  EXPECT_EQ(EncodeResource(instance, bytes), R"({"resource":{"name":"n","newer":[1]},"version":1})");
  for (const char* const damaged : {"", "[]", "{}", R"({"version":2,"resource":{}})", R"({"version":1})",
                                    R"({"version":1,"resource":{"name":5}})"}) {
    EXPECT_EQ(DecodeResource(damaged, &instance).code(), StatusCode::kDataLoss) << damaged;
  }
}

TEST_F(InstanceStoreTest, WhatIsCreatedOutlivesARestart) {
  CreateNamed();
  EXPECT_EQ(store_->CreateInstance(MakeInstance(), {MakeCluster("a", "x")}).status().code(),
            StatusCode::kAlreadyExists);
  Reopen();
  const auto found = store_->FindInstance(kNamed);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->create_time().seconds(), 1'700'000'000);
  EXPECT_THAT(Names(store_->ListInstances("projects/p")), ElementsAre("named"));
  EXPECT_THAT(Names(store_->ListClusters(kNamed)), ElementsAre("a", "b"));
  EXPECT_THAT(Names(store_->ListProfiles(kNamed)), ElementsAre("default"));
  EXPECT_TRUE(
      store_->FindProfile(std::string(kNamed) + "/appProfiles/default")->has_multi_cluster_routing_use_any());
  EXPECT_EQ(store_->FindInstance("projects/p/instances/none").status(),
            absl::NotFoundError("Failed to read: projects/p/instances/none"));
}

TEST_F(InstanceStoreTest, AnInstanceThatATableMadeIsThere) {
  EXPECT_EQ(store_->FindInstance(kImplicit).status().code(), StatusCode::kNotFound);
  CreateTable(kImplicit);
  EXPECT_EQ(store_->FindInstance(kImplicit)->display_name(), "i");
  EXPECT_THAT(Names(store_->ListClusters(kImplicit)), ElementsAre("sonde"));
  EXPECT_THAT(Names(store_->ListProfiles(kImplicit)), ElementsAre("default"));
  const auto rename = [](admin::Instance* instance) {
    instance->set_display_name("renamed");
    return absl::OkStatus();
  };
  ASSERT_TRUE(store_->UpdateInstance(kImplicit, rename).ok());
  ASSERT_EQ(catalog_->Delete(std::string(kImplicit) + "/tables/t"), absl::OkStatus());
  Reopen();
  EXPECT_EQ(store_->FindInstance(kImplicit)->display_name(), "renamed");
  EXPECT_THAT(Names(store_->ListClusters(kImplicit)), ElementsAre("sonde"));
  EXPECT_THAT(Names(store_->ListClusters("projects/p/instances/-")), ElementsAre("sonde"));
}

TEST_F(InstanceStoreTest, TheFirstTableMakesARecordThatStays) {
  ASSERT_EQ(store_->EnsureInstance(kImplicit), absl::OkStatus());
  ASSERT_EQ(store_->EnsureInstance(kImplicit), absl::OkStatus());
  Reopen();
  EXPECT_TRUE(store_->FindInstance(kImplicit).ok());
}

TEST_F(InstanceStoreTest, ClustersAreInZonesOfTheirOwn) {
  const absl::Status same_zone =
      store_->CreateInstance(MakeInstance(), {MakeCluster("a", "x"), MakeCluster("b", "x")}).status();
  EXPECT_EQ(same_zone, absl::FailedPreconditionError("Cannot create multiple clusters in the same zone."));
  EXPECT_EQ(store_->CreateInstance(MakeInstance(), {}).status().code(), StatusCode::kInvalidArgument);
  CreateNamed();
  EXPECT_EQ(store_->CreateCluster(MakeCluster("c", "x")).status(), same_zone);
  EXPECT_EQ(store_->CreateCluster(MakeCluster("a", "z")).status().code(), StatusCode::kAlreadyExists);
  EXPECT_TRUE(store_->CreateCluster(MakeCluster("c", "z")).ok());
  EXPECT_EQ(store_->CreateCluster(MakeCluster("c", "z", "projects/p/instances/none")).status().code(),
            StatusCode::kNotFound);
  Reopen(/*refuses_clusters=*/true);
  EXPECT_EQ(store_->CreateCluster(MakeCluster("d", "w")).status(),
            absl::FailedPreconditionError(
                "This server keeps one copy of the data: an instance has one cluster here."));
}

TEST_F(InstanceStoreTest, AClusterThatIsNeededStays) {
  CreateNamed();
  ASSERT_TRUE(store_->CreateProfile(MakeProfile("pinned", "b")).ok());
  const std::string a = std::string(kNamed) + "/clusters/a", b = std::string(kNamed) + "/clusters/b";
  EXPECT_THAT(std::string(store_->DeleteCluster(b).message()), HasSubstr("App profile"));
  ASSERT_EQ(store_->DeleteProfile(std::string(kNamed) + "/appProfiles/pinned"), absl::OkStatus());
  CreateTable(kNamed);
  const NewBackup wanted{.name = b + "/backups/x",
                         .expire = absl::FromUnixMicros(clock_.NowMicros()) + absl::Hours(24)};
  ASSERT_TRUE(backups_->Begin(wanted, std::string(kNamed) + "/tables/t").ok());
  EXPECT_THAT(std::string(store_->DeleteCluster(b).message()), HasSubstr("has 1 backups"));
  EXPECT_EQ(store_->DeleteInstance(kNamed).code(), StatusCode::kFailedPrecondition);
  ASSERT_EQ(backups_->Delete(wanted.name), absl::OkStatus());
  ASSERT_EQ(store_->DeleteCluster(b), absl::OkStatus());
  EXPECT_EQ(store_->DeleteCluster(b).code(), StatusCode::kNotFound);
  EXPECT_THAT(std::string(store_->DeleteCluster(a).message()), HasSubstr("is the last one"));
}

// Production refuses a second change of a cluster while an operation on it runs.  Here each change is one step, so that none is lost.
TEST_F(InstanceStoreTest, ChangesOfOneClusterAtOnceComeOneAfterTheOther) {
  constexpr int kThreads = 8, kChanges = 50;
  CreateNamed();
  const std::string name = std::string(kNamed) + "/clusters/a";
  const int32_t before = store_->FindCluster(name)->serve_nodes();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < kChanges; ++i) {
        EXPECT_TRUE(store_
                        ->UpdateCluster(name,
                                        [](admin::Cluster* cluster) {
                                          cluster->set_serve_nodes(cluster->serve_nodes() + 1);
                                          return absl::OkStatus();
                                        })
                        .ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store_->FindCluster(name)->serve_nodes(), before + kThreads * kChanges);
  Reopen();
  EXPECT_EQ(store_->FindCluster(name)->serve_nodes(), before + kThreads * kChanges);
}

TEST_F(InstanceStoreTest, AClusterThatIsDeletedWhileItIsChangedStaysAway) {
  constexpr int kRounds = 50;
  CreateNamed();
  const std::string name = std::string(kNamed) + "/clusters/b";
  for (int round = 0; round < kRounds; ++round) {
    absl::Status deleted;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&] {
        const absl::Status changed = store_
                                         ->UpdateCluster(name,
                                                         [](admin::Cluster* cluster) {
                                                           cluster->set_serve_nodes(7);
                                                           return absl::OkStatus();
                                                         })
                                         .status();
        EXPECT_TRUE(changed.ok() || changed == absl::NotFoundError("Failed to read: " + name)) << changed;
      });
    }
    threads.emplace_back([&] { deleted = store_->DeleteCluster(name); });
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(deleted, absl::OkStatus());
    EXPECT_EQ(store_->FindCluster(name).status().code(), StatusCode::kNotFound);
    Reopen();
    EXPECT_EQ(store_->FindCluster(name).status().code(), StatusCode::kNotFound);
    ASSERT_TRUE(store_->CreateCluster(MakeCluster("b", "y")).ok());
  }
}

TEST_F(InstanceStoreTest, AnInstanceGoesWithItsTables) {
  CreateNamed();
  CreateTable(kNamed, /*is_protected=*/true);
  EXPECT_EQ(store_->DeleteInstance(kNamed).code(), StatusCode::kFailedPrecondition);
  ASSERT_TRUE(catalog_
                  ->Update(std::string(kNamed) + "/tables/t",
                           [](TableSchema* schema) {
                             schema->deletion_protection = false;
                             return absl::OkStatus();
                           })
                  .ok());
  ASSERT_EQ(store_->DeleteInstance(kNamed), absl::OkStatus());
  EXPECT_EQ(store_->DeleteInstance(kNamed).code(), StatusCode::kNotFound);
  EXPECT_TRUE(catalog_->ListAll().empty());
  EXPECT_EQ(store_->FindProfile(std::string(kNamed) + "/appProfiles/default").status().code(),
            StatusCode::kNotFound);
  Reopen();
  EXPECT_TRUE(store_->ListInstances("projects/p").empty());
}

TEST_F(InstanceStoreTest, ProfilesKeepTheirEtag) {
  CreateNamed();
  const std::string name = std::string(kNamed) + "/appProfiles/one";
  const auto created = store_->CreateProfile(MakeProfile("one", "a"));
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(created->etag(), "");
  EXPECT_EQ(store_->CreateProfile(MakeProfile("one", "a")).status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(store_->CreateProfile(MakeProfile("two", "none")).status().code(), StatusCode::kInvalidArgument);
  const auto describe = [](const std::vector<std::string>& clusters, admin::AppProfile* profile) {
    EXPECT_THAT(clusters, ElementsAre("a", "b"));
    profile->set_description("d");
    return absl::OkStatus();
  };
  EXPECT_EQ(store_->UpdateProfile(name, "wrong", describe).status().code(), StatusCode::kAborted);
  EXPECT_TRUE(store_->UpdateProfile(name, "", describe).ok());
  Reopen();
  EXPECT_EQ(store_->FindProfile(name)->description(), "d");
  EXPECT_EQ(store_->DeleteProfile(std::string(kNamed) + "/appProfiles/default").code(),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(store_->DeleteProfile(name), absl::OkStatus());
  EXPECT_EQ(store_->DeleteProfile(name).code(), StatusCode::kNotFound);
}

TEST_F(InstanceStoreTest, ProfilesSayWhoMayReadAndWriteInOneStep) {
  CreateNamed();
  const absl::Status refused =
      absl::FailedPreconditionError("Single-row transactions are not allowed by this app profile");
  const auto transact = [this](std::string_view instance, std::string_view profile_id) {
    return store_->Admit(std::string(instance) + "/tables/t", profile_id, ProfileUse::kTransaction).status();
  };
  EXPECT_EQ(transact(kNamed, ""), refused) << "two clusters: the default routes to any";
  EXPECT_EQ(transact(kNamed, "none"), absl::OkStatus());
  EXPECT_EQ(transact(kImplicit, ""), absl::OkStatus());
  admin::AppProfile profile = MakeProfile("one", "a");
  ASSERT_TRUE(store_->CreateProfile(profile).ok());
  EXPECT_EQ(transact(kNamed, "one"), refused);
  profile.set_name(std::string(kNamed) + "/appProfiles/two");
  profile.mutable_single_cluster_routing()->set_allow_transactional_writes(true);
  ASSERT_TRUE(store_->CreateProfile(profile).ok());
  EXPECT_EQ(transact(kNamed, "two"), absl::OkStatus());
  profile.set_name(std::string(kNamed) + "/appProfiles/boost");
  profile.mutable_data_boost_isolation_read_only()->set_compute_billing_owner(
      admin::AppProfile::DataBoostIsolationReadOnly::HOST_PAYS);
  ASSERT_TRUE(store_->CreateProfile(profile).ok());
  EXPECT_EQ(transact(kNamed, "boost").code(), StatusCode::kFailedPrecondition);
}

TEST_F(InstanceStoreTest, ProfilesSayHowSoonCallsAreServed) {
  CreateNamed();
  const auto admit = [this](std::string_view profile_id, ProfileUse use) {
    return store_->Admit(std::string(kNamed) + "/tables/t/authorizedViews/v", profile_id, use);
  };
  EXPECT_TRUE(store_->AreAllPlain());
  EXPECT_EQ(*admit("", ProfileUse::kRead), Priority::kHigh);
  EXPECT_EQ(*admit("unknown", ProfileUse::kWrite), Priority::kHigh);
  for (const auto& [id, asked, served] :
       {std::tuple{"low", admin::AppProfile::PRIORITY_LOW, Priority::kLow},
        std::tuple{"medium", admin::AppProfile::PRIORITY_MEDIUM, Priority::kMedium}}) {
    admin::AppProfile profile = MakeProfile(id, "a");
    profile.mutable_standard_isolation()->set_priority(asked);
    ASSERT_TRUE(store_->CreateProfile(profile).ok());
    EXPECT_FALSE(store_->AreAllPlain());
    EXPECT_EQ(*admit(id, ProfileUse::kRead), served);
    EXPECT_EQ(*admit(id, ProfileUse::kWrite), served);
    EXPECT_EQ(admit(id, ProfileUse::kChangeStream).status(), absl::OkStatus());
    ASSERT_EQ(store_->DeleteProfile(profile.name()), absl::OkStatus());
    EXPECT_TRUE(store_->AreAllPlain());
  }
  admin::AppProfile boost = MakeProfile("boost", "a");
  boost.mutable_data_boost_isolation_read_only()->set_compute_billing_owner(
      admin::AppProfile::DataBoostIsolationReadOnly::HOST_PAYS);
  ASSERT_TRUE(store_->CreateProfile(boost).ok());
  EXPECT_EQ(*admit("boost", ProfileUse::kRead), Priority::kLow);
  EXPECT_EQ(admit("boost", ProfileUse::kWrite).status(),
            absl::FailedPreconditionError("App profiles with Data Boost are for reads only"));
  EXPECT_EQ(admit("boost", ProfileUse::kChangeStream).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(admit("", ProfileUse::kChangeStream).status().code(), StatusCode::kFailedPrecondition)
      << "two clusters: the default routes to any";
}

TEST_F(InstanceStoreTest, StrictInstancesMustBeCreatedAndSoMustProfiles) {
  const auto strict =
      *InstanceStore::Open(engine_.get(), catalog_.get(), backups_.get(), &clock_, {.is_strict = true});
  EXPECT_FALSE(strict->AreAllPlain());
  EXPECT_EQ(strict->CheckMayHaveTables("projects/p/instances/other"),
            absl::NotFoundError("Failed to read: projects/p/instances/other"));
  EXPECT_EQ(store_->CheckMayHaveTables("projects/p/instances/other"), absl::OkStatus());
  EXPECT_EQ(strict->Admit("projects/p/instances/other/tables/t", "", ProfileUse::kRead).status().code(),
            StatusCode::kNotFound);
  EXPECT_EQ(strict->Admit("no name", "", ProfileUse::kRead).status(), absl::OkStatus());
  ASSERT_EQ(strict->EnsureInstance("projects/p/instances/other"), absl::OkStatus());
  EXPECT_EQ(strict->CheckMayHaveTables("projects/p/instances/other"), absl::OkStatus());
  EXPECT_EQ(strict->Admit("projects/p/instances/other/tables/t", "", ProfileUse::kRead).status(),
            absl::OkStatus());
  EXPECT_EQ(strict->Admit("projects/p/instances/other/tables/t", "x", ProfileUse::kRead).status(),
            absl::NotFoundError("App profile not found: projects/p/instances/other/appProfiles/x"));
}

TEST_F(InstanceStoreTest, DeletedTablesGoWithTheirInstance) {
  CreateNamed();
  const std::string table = std::string(kNamed) + "/tables/t";
  ASSERT_TRUE(catalog_->Create({.name = table}).ok());
  ASSERT_EQ(catalog_->Delete(table, /*keep_from_micros=*/1), absl::OkStatus());
  ASSERT_EQ(catalog_->ListDeleted().size(), 1u);
  ASSERT_EQ(store_->DeleteInstance(kNamed), absl::OkStatus());
  EXPECT_TRUE(catalog_->ListDeleted().empty());
  EXPECT_EQ(catalog_->Undelete(table).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace sonde
