// The rules of instances, clusters and app profiles.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "wire/resources/cluster_rules.h"
#include "wire/resources/instance_rules.h"
#include "wire/resources/profile_rules.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
using absl::StatusCode;
using ::testing::HasSubstr;

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

google::protobuf::FieldMask Mask(const std::vector<std::string>& paths) {
  google::protobuf::FieldMask mask;
  for (const std::string& path : paths) mask.add_paths(path);
  return mask;
}

// --- Instances.

TEST(InstanceRules, KnowsIds) {
  for (const char* const good : {"abcdef", "a-1234", "a23456789012345678901234567890123"}) {
    EXPECT_EQ(CheckNewInstanceId(good), absl::OkStatus()) << good;
  }
  for (const char* const bad :
       {"", "abcde", "1bcdef", "Abcdef", "abcde-", "a234567890123456789012345678901234", "abc_def"}) {
    EXPECT_EQ(CheckNewInstanceId(bad).code(), StatusCode::kInvalidArgument) << bad;
  }
}

TEST(InstanceRules, FillsInWhatIsLeftOut) {
  auto instance =
      Parse<admin::Instance>("display_name: 'name' tags { key: 'a' value: 'b' } satisfies_pzs: true");
  ASSERT_EQ(CompleteInstance(&instance), absl::OkStatus());
  EXPECT_EQ(instance.DebugString(),
            Parse<admin::Instance>("display_name: 'name' type: PRODUCTION edition: ENTERPRISE state: READY")
                .DebugString());
}

TEST(InstanceRules, RefusesBadFields) {
  const auto error = [](const std::string& text) {
    auto instance = Parse<admin::Instance>(text);
    const absl::Status status = CompleteInstance(&instance);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    return std::string(status.message());
  };
  EXPECT_EQ(error("display_name: 'abc'"),
            "Error in field 'display_name' : must have 4 to 30 characters, but is 'abc'");
  EXPECT_THAT(error("display_name: '0123456789012345678901234567890'"), HasSubstr("display_name"));
  EXPECT_THAT(error("display_name: 'name' labels { key: 'Big' value: '' }"),
              HasSubstr("the key 'Big' must match"));
  EXPECT_THAT(error("display_name: 'name' labels { key: 'k' value: 'Big' }"),
              HasSubstr("the value 'Big' must match"));
  EXPECT_THAT(error("display_name: 'name' type: 9"), HasSubstr("'type' : 9 is none"));
  EXPECT_THAT(error("display_name: 'name' labels { key: 'k' value: '" + std::string(64, 'v') + "' }"),
              HasSubstr("the value"));
  EXPECT_THAT(error("display_name: 'name' labels { key: '1' value: '' }"), HasSubstr("the key '1'"));
  std::string many = "display_name: 'name'";
  for (int i = 0; i < 65; ++i) many += " labels { key: 'k" + std::to_string(i) + "' value: 'v' }";
  EXPECT_EQ(error(many), "Error in field 'labels' : 65 provided; limit 64");
  auto umlauts = Parse<admin::Instance>("display_name: 'äöüß' labels { key: 'ü' value: 'ß_1-' }");
  EXPECT_EQ(CompleteInstance(&umlauts), absl::OkStatus());
}

TEST(InstanceRules, UpdatesWhatTheMaskNames) {
  const auto before = Parse<admin::Instance>(
      "name: 'n' display_name: 'name' type: DEVELOPMENT edition: ENTERPRISE labels { key: 'a' value: 'b' }");
  const auto update = [&](const std::string& wanted, const std::vector<std::string>& paths,
                          admin::Instance* instance) {
    *instance = before;
    return UpdateInstanceFields(Parse<admin::Instance>(wanted), Mask(paths), instance);
  };
  admin::Instance instance;
  ASSERT_EQ(update("display_name: 'other' type: PRODUCTION", {"labels"}, &instance), absl::OkStatus());
  EXPECT_EQ(instance.labels_size(), 0);
  EXPECT_EQ(instance.display_name(), "name");
  ASSERT_EQ(update("type: PRODUCTION", {"type"}, &instance), absl::OkStatus());
  EXPECT_EQ(instance.type(), admin::Instance::PRODUCTION);
  EXPECT_EQ(
      UpdateInstanceFields(Parse<admin::Instance>("type: DEVELOPMENT"), Mask({"type"}), &instance).code(),
      StatusCode::kInvalidArgument);
  EXPECT_EQ(update("", {}, &instance),
            absl::InvalidArgumentError("A non-empty 'update_mask' must be specified"));
  EXPECT_THAT(std::string(update("", {"state"}, &instance).message()),
              HasSubstr("'state' cannot be updated"));
  EXPECT_EQ(update("", {"display_name"}, &instance).code(), StatusCode::kInvalidArgument);
}

// --- Clusters.

constexpr char kPlace[] = "location: 'projects/p/locations/z' ";

absl::StatusOr<admin::Cluster> Completed(const std::string& text) {
  auto cluster = Parse<admin::Cluster>(text);
  if (absl::Status status = CompleteCluster(&cluster); !status.ok()) return status;
  return cluster;
}

std::string Scaled(int least, int most, int cpu, int storage = 0) {
  return "cluster_config { cluster_autoscaling_config { autoscaling_limits { min_serve_nodes: " +
         std::to_string(least) + " max_serve_nodes: " + std::to_string(most) +
         " } autoscaling_targets { cpu_utilization_percent: " + std::to_string(cpu) +
         " storage_utilization_gib_per_node: " + std::to_string(storage) + " } } } ";
}

TEST(ClusterRules, FillsInWhatIsLeftOut) {
  const absl::StatusOr<admin::Cluster> manual =
      Completed(std::string(kPlace) + "encryption_config { } cluster_config { }");
  ASSERT_TRUE(manual.ok()) << manual.status();
  EXPECT_EQ(
      manual->DebugString(),
      Parse<admin::Cluster>(std::string(kPlace) + "serve_nodes: 1 default_storage_type: SSD state: READY")
          .DebugString());
  EXPECT_EQ(Completed(std::string(kPlace) + "node_scaling_factor: NODE_SCALING_FACTOR_2X")->serve_nodes(), 2);
  const absl::StatusOr<admin::Cluster> scaled = Completed(kPlace + Scaled(3, 5, 50));
  ASSERT_TRUE(scaled.ok()) << scaled.status();
  EXPECT_EQ(scaled->serve_nodes(), 3);
  EXPECT_EQ(AsCreated(*scaled).serve_nodes(), 0);
  EXPECT_EQ(AsCreated(*manual).serve_nodes(), 1);
  const auto& targets = scaled->cluster_config().cluster_autoscaling_config().autoscaling_targets();
  EXPECT_EQ(targets.storage_utilization_gib_per_node(), 2560);
  EXPECT_EQ(Completed(kPlace + Scaled(1, 1, 10) + "default_storage_type: HDD")
                ->cluster_config()
                .cluster_autoscaling_config()
                .autoscaling_targets()
                .storage_utilization_gib_per_node(),
            8192);
}

TEST(ClusterRules, RefusesBadFields) {
  for (const std::string& bad :
       {std::string(""), std::string("location: 'z'"), kPlace + std::string("serve_nodes: -1"),
        kPlace + std::string("serve_nodes: 3 node_scaling_factor: NODE_SCALING_FACTOR_2X"),
        kPlace + Scaled(0, 5, 50), kPlace + Scaled(5, 4, 50), kPlace + Scaled(1, 11, 50),
        kPlace + Scaled(1, 5, 9), kPlace + Scaled(1, 5, 81), kPlace + Scaled(1, 5, 50, 2559),
        kPlace + Scaled(1, 5, 50, 5121), kPlace + Scaled(1, 5, 50, 2560) + "default_storage_type: HDD",
        kPlace + std::string("default_storage_type: 7"),
        kPlace + Scaled(1, 4, 50) + "node_scaling_factor: NODE_SCALING_FACTOR_2X"}) {
    EXPECT_EQ(Completed(bad).status().code(), StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_TRUE(Completed(kPlace + Scaled(1, 10, 80, 5120)).ok());
  EXPECT_EQ(Completed(std::string(kPlace) + "encryption_config { kms_key_name: 'K' }").status(),
            absl::FailedPreconditionError(
                "Error in field 'cluster' : Error in field 'encryption_config.kms_key_name' : CMEK "
                "key K cannot be used to protect a cluster in zone projects/p/locations/z"));
}

TEST(ClusterRules, UpdatesAsClientsMaskIt) {
  const auto updated = [](const admin::Cluster& before, const std::string& wanted,
                          const std::vector<std::string>& paths) -> absl::StatusOr<admin::Cluster> {
    admin::Cluster cluster = before;
    if (absl::Status status = UpdateClusterFields(Parse<admin::Cluster>(wanted), Mask(paths), &cluster);
        !status.ok()) {
      return status;
    }
    return cluster;
  };
  const std::string config = "cluster_config.cluster_autoscaling_config";
  const admin::Cluster manual = *Completed(std::string(kPlace) + "serve_nodes: 3");
  const admin::Cluster scaled = *Completed(kPlace + Scaled(2, 8, 50));
  EXPECT_EQ(updated(manual, "serve_nodes: 4", {"serve_nodes"})->serve_nodes(), 4);
  EXPECT_TRUE(updated(manual, Scaled(2, 8, 50), {config})->has_cluster_config());
  // Go ends autoscaling with both paths, Python with `cluster_config`.
  const auto by_go = updated(scaled, "serve_nodes: 1", {"serve_nodes", config});
  ASSERT_TRUE(by_go.ok()) << by_go.status();
  EXPECT_FALSE(by_go->has_cluster_config());
  EXPECT_EQ(by_go->serve_nodes(), 1);
  const auto by_python = updated(scaled, "serve_nodes: 5", {"serve_nodes", "cluster_config"});
  ASSERT_TRUE(by_python.ok()) << by_python.status();
  EXPECT_FALSE(by_python->has_cluster_config());
  // One limit only.
  const auto limit = updated(scaled, Scaled(1, 9, 10), {config + ".autoscaling_limits.max_serve_nodes"});
  ASSERT_TRUE(limit.ok()) << limit.status();
  const auto& limits = limit->cluster_config().cluster_autoscaling_config();
  EXPECT_EQ(limits.autoscaling_limits().max_serve_nodes(), 9);
  EXPECT_EQ(limits.autoscaling_limits().min_serve_nodes(), 2);
  EXPECT_EQ(limits.autoscaling_targets().cpu_utilization_percent(), 50);
  EXPECT_EQ(limit->serve_nodes(), 2);
  for (const auto& [wanted, paths] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"", {}},
           {"location: 'x'", {"location"}},
           {"default_storage_type: HDD", {"default_storage_type"}},
           {"", {"serve_nodes"}},
           {"serve_nodes: 4 " + Scaled(2, 8, 50), {"serve_nodes", config}}}) {
    EXPECT_EQ(updated(manual, wanted, paths).status().code(), StatusCode::kInvalidArgument) << wanted;
  }
}

// --- App profiles.

const std::vector<std::string>& Clusters() {
  static const std::vector<std::string> clusters = {"a", "b"};
  return clusters;
}

TEST(ProfileRules, FillsInTheIsolation) {
  auto profile = Parse<admin::AppProfile>("single_cluster_routing { cluster_id: 'a' } etag: 'e'");
  ASSERT_EQ(CompleteProfile(Clusters(), &profile), absl::OkStatus());
  EXPECT_EQ(profile.standard_isolation().priority(), admin::AppProfile::PRIORITY_HIGH);
  EXPECT_EQ(profile.etag(), "");
  profile = Parse<admin::AppProfile>("multi_cluster_routing_use_any { } priority: PRIORITY_LOW");
  ASSERT_EQ(CompleteProfile(Clusters(), &profile), absl::OkStatus());
  EXPECT_EQ(profile.standard_isolation().priority(), admin::AppProfile::PRIORITY_LOW);
  profile = Parse<admin::AppProfile>(
      "single_cluster_routing { cluster_id: 'a' } data_boost_isolation_read_only { compute_billing_owner: "
      "HOST_PAYS }");
  ASSERT_EQ(CompleteProfile(Clusters(), &profile), absl::OkStatus());
  EXPECT_TRUE(profile.has_data_boost_isolation_read_only());
}

TEST(ProfileRules, RefusesBadFields) {
  for (const char* const bad : {"", "single_cluster_routing { cluster_id: 'c' }",
                                "multi_cluster_routing_use_any { cluster_ids: ['a', 'c'] }",
                                "multi_cluster_routing_use_any { } standard_isolation { priority: 8 }",
                                "multi_cluster_routing_use_any { } data_boost_isolation_read_only { }"}) {
    auto profile = Parse<admin::AppProfile>(bad);
    EXPECT_EQ(CompleteProfile(Clusters(), &profile).code(), StatusCode::kInvalidArgument) << bad;
  }
}

TEST(ProfileRules, TransactionsAreAllowedWithIgnoreWarningsOnly) {
  const auto before = Parse<admin::AppProfile>("single_cluster_routing { cluster_id: 'a' }");
  const auto wanted =
      Parse<admin::AppProfile>("single_cluster_routing { cluster_id: 'a' allow_transactional_writes: true }");
  admin::AppProfile profile = before;
  EXPECT_EQ(UpdateProfileFields(wanted, Mask({"single_cluster_routing"}), false, Clusters(), &profile).code(),
            StatusCode::kFailedPrecondition);
  profile = before;
  EXPECT_EQ(UpdateProfileFields(wanted, Mask({"single_cluster_routing"}), true, Clusters(), &profile),
            absl::OkStatus());
  EXPECT_TRUE(profile.single_cluster_routing().allow_transactional_writes());
  const auto multi = Parse<admin::AppProfile>("multi_cluster_routing_use_any { } description: 'd'");
  EXPECT_EQ(UpdateProfileFields(multi, Mask({"multi_cluster_routing_use_any"}), false, Clusters(), &profile),
            absl::OkStatus());
  EXPECT_TRUE(profile.has_multi_cluster_routing_use_any());
  EXPECT_EQ(profile.description(), "");
  EXPECT_EQ(UpdateProfileFields(multi, Mask({"name"}), false, Clusters(), &profile).code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sonde
