#include "access/policies/policy_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "access/policies/policy_record.h"
#include "engine/memory/memory_engine.h"

namespace sonde {
namespace {

constexpr char kTable[] = "projects/p/instances/i/tables/t";
constexpr char kView[] = "projects/p/instances/i/tables/t/authorizedViews/v";

Policy ReadersAre(std::string member) {
  return {.bindings = {{std::string(kReaderRole), {std::move(member)}}}, .etag = ""};
}

class PolicyStoreTest : public testing::Test {
 protected:
  PolicyStoreTest() {
    catalog_->Accompany(store_.get());
    EXPECT_TRUE(catalog_->Create({.name = kTable}).ok());
    EXPECT_TRUE(catalog_->Create({.name = std::string(kTable) + "2"}).ok());
    EXPECT_TRUE(catalog_->CreateView({.name = kView}).ok());
  }

  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<PolicyStore> store_ = *PolicyStore::Open(engine_.get());
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
};

TEST_F(PolicyStoreTest, HasTheEmptyPolicyWhereNothingWasSet) {
  const Policy policy = store_->Get(kTable);
  EXPECT_EQ(policy, (Policy{.version = 0, .bindings = {}, .etag = std::string("\x00\x20\x01", 3)}));
  EXPECT_EQ(store_->Find(kTable), nullptr);
}

TEST_F(PolicyStoreTest, KeepsPoliciesAcrossAStart) {
  Policy policy = ReadersAre("user:a@b");
  policy.version = 3;
  policy.bindings[0].condition = ConditionText{R"(resource.name == "a")", "t", "d", "l"};
  const auto set = store_->Set(kTable, policy);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->etag.size(), kPolicyEtagBytes);
  EXPECT_EQ((*PolicyStore::Open(engine_.get()))->Get(kTable), *set);
  EXPECT_NE(store_->Find(kTable), nullptr);
}

TEST_F(PolicyStoreTest, TakesOnlyTheNewestEtag) {
  const Policy first = *store_->Set(kTable, ReadersAre("user:a@b"));
  Policy again = first;
  const Policy second = *store_->Set(kTable, again);
  EXPECT_NE(second.etag, first.etag);  // though it says the same
  EXPECT_EQ(store_->Set(kTable, again).status(),
            absl::AbortedError("There were concurrent policy changes. Please retry the whole "
                               "read-modify-write with exponential backoff."));
  again.etag = "";
  EXPECT_TRUE(store_->Set(kTable, again).ok());
  Policy of_nothing = ReadersAre("user:a@b");
  of_nothing.etag = std::string(kNoPolicyEtag);
  EXPECT_TRUE(store_->Set(kView, of_nothing).ok());
  EXPECT_EQ(store_->Set(kView, of_nothing).status().code(), absl::StatusCode::kAborted);
}

TEST_F(PolicyStoreTest, PoliciesEndWithTheirResources) {
  const std::string other = std::string(kTable) + "2";
  for (const std::string& name : {std::string(kTable), std::string(kView), other}) {
    ASSERT_TRUE(store_->Set(name, ReadersAre("user:a@b")).ok());
  }
  ASSERT_TRUE(catalog_->Delete(kTable).ok());
  const std::unique_ptr<PolicyStore> reopened = *PolicyStore::Open(engine_.get());
  for (const PolicyStore* store : {store_.get(), reopened.get()}) {
    EXPECT_EQ(store->Find(kTable), nullptr);
    EXPECT_EQ(store->Find(kView), nullptr);
    EXPECT_NE(store->Find(other), nullptr);
  }
}

TEST_F(PolicyStoreTest, AViewsPolicyEndsWithTheViewAlone) {
  ASSERT_TRUE(store_->Set(kTable, ReadersAre("user:a@b")).ok());
  ASSERT_TRUE(store_->Set(kView, ReadersAre("user:a@b")).ok());
  ASSERT_TRUE(catalog_->DeleteView(kView, "").ok());
  EXPECT_EQ(store_->Find(kView), nullptr);
  EXPECT_NE(store_->Find(kTable), nullptr);
}

TEST(PolicyRecord, RefusesWhatItCannotRead) {
  EXPECT_EQ(DecodePolicyRecord("{}").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(DecodePolicyRecord(R"({"version":2,"policy_version":1,"etag":"","bindings":[]})").status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace sonde
