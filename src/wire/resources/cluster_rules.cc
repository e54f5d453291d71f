#include "wire/resources/cluster_rules.h"

#include <fmt/format.h>
#include <google/protobuf/util/field_mask_util.h>
#include <re2/re2.h>

#include "base/bytes.h"
#include "wire/call/cluster.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
using google::protobuf::util::FieldMaskUtil;

constexpr std::string_view kAutoscaling = "cluster_config.cluster_autoscaling_config";
constexpr int kScalingRatioMax = 10;

struct Span {
  int least, most;
};
constexpr Span kCpuPercent{10, 80};
constexpr Span kSsdGib{2560, 5120};
constexpr Span kHddGib{8192, 16384};

absl::Status WrongCluster(std::string_view field, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("Error in field '{}' : {}", field, what));
}

absl::Status CheckSpan(std::string_view field, int value, Span span) {
  if (value >= span.least && value <= span.most) return absl::OkStatus();
  return WrongCluster(field, fmt::format("must be from {} to {}, but is {}", span.least, span.most, value));
}

bool IsScaled(const admin::Cluster& cluster) {
  return cluster.cluster_config().has_cluster_autoscaling_config();
}

bool IsDouble(const admin::Cluster& cluster) {
  return cluster.node_scaling_factor() == admin::Cluster::NODE_SCALING_FACTOR_2X;
}

absl::Status CheckNodes(const admin::Cluster& cluster, std::string_view field, int nodes) {
  if (nodes < 1) return WrongCluster(field, fmt::format("must be at least 1, but is {}", nodes));
  if (IsDouble(cluster) && nodes % 2 != 0) {
    return WrongCluster(field, fmt::format("must be even where node_scaling_factor is 2X, but is {}", nodes));
  }
  return absl::OkStatus();
}

absl::Status CompleteScaling(admin::Cluster* cluster) {
  admin::Cluster::ClusterAutoscalingConfig& config =
      *cluster->mutable_cluster_config()->mutable_cluster_autoscaling_config();
  const admin::AutoscalingLimits& limits = config.autoscaling_limits();
  const std::string of_limits = fmt::format("{}.autoscaling_limits", kAutoscaling);
  if (absl::Status status = CheckNodes(*cluster, of_limits + ".min_serve_nodes", limits.min_serve_nodes());
      !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckNodes(*cluster, of_limits + ".max_serve_nodes", limits.max_serve_nodes());
      !status.ok()) {
    return status;
  }
  if (limits.max_serve_nodes() < limits.min_serve_nodes() ||
      limits.max_serve_nodes() / kScalingRatioMax > limits.min_serve_nodes() ||
      (limits.max_serve_nodes() / kScalingRatioMax == limits.min_serve_nodes() &&
       limits.max_serve_nodes() % kScalingRatioMax != 0)) {
    return WrongCluster(
        of_limits,
        fmt::format(
            "max_serve_nodes must be from min_serve_nodes to {} times as many, but they are {} and {}",
            kScalingRatioMax, limits.max_serve_nodes(), limits.min_serve_nodes()));
  }
  admin::AutoscalingTargets& targets = *config.mutable_autoscaling_targets();
  const std::string of_targets = fmt::format("{}.autoscaling_targets", kAutoscaling);
  if (absl::Status status =
          CheckSpan(of_targets + ".cpu_utilization_percent", targets.cpu_utilization_percent(), kCpuPercent);
      !status.ok()) {
    return status;
  }
  const Span storage = cluster->default_storage_type() == admin::HDD ? kHddGib : kSsdGib;
  if (targets.storage_utilization_gib_per_node() == 0)
    targets.set_storage_utilization_gib_per_node(storage.least);
  return CheckSpan(of_targets + ".storage_utilization_gib_per_node",
                   targets.storage_utilization_gib_per_node(), storage);
}

absl::Status CheckLocation(const admin::Cluster& cluster) {
  static const RE2 kLocation("projects/[^/]+/locations/[a-z0-9-]+");
  if (RE2::FullMatch(cluster.location(), kLocation)) return absl::OkStatus();
  return WrongCluster("location", fmt::format("must be projects/<project>/locations/<zone>, but is '{}'",
                                              Printable(cluster.location())));
}

absl::Status CheckClusterPath(const std::string& path) {
  static const RE2 kPath(
      R"(serve_nodes|cluster_config|cluster_config\.cluster_autoscaling_config)"
      R"((\.autoscaling_limits(\.(min|max)_serve_nodes)?|\.autoscaling_targets(\.(cpu_utilization_percent|storage_utilization_gib_per_node))?)?)");
  if (RE2::FullMatch(path, kPath)) return absl::OkStatus();
  return WrongCluster("update_mask", fmt::format("'{}' cannot be updated; serve_nodes and cluster_config can",
                                                 Printable(path)));
}

}  // namespace

absl::Status CompleteCluster(admin::Cluster* cluster) {
  if (absl::Status status = CheckLocation(*cluster); !status.ok()) return status;
  if (!admin::StorageType_IsValid(cluster->default_storage_type())) {
    return WrongCluster("default_storage_type",
                        fmt::format("{} is none", static_cast<int>(cluster->default_storage_type())));
  }
  if (!admin::Cluster::NodeScalingFactor_IsValid(cluster->node_scaling_factor())) {
    return WrongCluster("node_scaling_factor",
                        fmt::format("{} is none", static_cast<int>(cluster->node_scaling_factor())));
  }
  if (!cluster->encryption_config().kms_key_name().empty()) {
    return absl::FailedPreconditionError(
        fmt::format("Error in field 'cluster' : Error in field 'encryption_config.kms_key_name' : CMEK key "
                    "{} cannot be used to "
                    "protect a cluster in zone {}",
                    Printable(cluster->encryption_config().kms_key_name()), cluster->location()));
  }
  cluster->clear_encryption_config();
  cluster->set_state(admin::Cluster::READY);
  if (cluster->default_storage_type() == admin::STORAGE_TYPE_UNSPECIFIED)
    cluster->set_default_storage_type(admin::SSD);
  if (!IsScaled(*cluster)) {
    cluster->clear_cluster_config();
    if (cluster->serve_nodes() == 0) cluster->set_serve_nodes(IsDouble(*cluster) ? 2 : 1);
    return CheckNodes(*cluster, "serve_nodes", cluster->serve_nodes());
  }
  if (absl::Status status = CompleteScaling(cluster); !status.ok()) return status;
  if (cluster->serve_nodes() == 0) {
    cluster->set_serve_nodes(
        cluster->cluster_config().cluster_autoscaling_config().autoscaling_limits().min_serve_nodes());
  }
  return absl::OkStatus();
}

absl::Status UpdateClusterFields(const admin::Cluster& wanted, const google::protobuf::FieldMask& mask,
                                 admin::Cluster* cluster) {
  if (mask.paths().empty()) return absl::InvalidArgumentError("A non-empty 'update_mask' must be specified");
  bool sets_nodes = false;
  for (const std::string& path : mask.paths()) {
    if (absl::Status status = CheckClusterPath(path); !status.ok()) return status;
    sets_nodes = sets_nodes || path == "serve_nodes";
  }
  FieldMaskUtil::MergeOptions options;
  options.set_replace_message_fields(true);
  FieldMaskUtil::MergeMessageTo(wanted, mask, options, cluster);
  if (sets_nodes && wanted.serve_nodes() != 0 && IsScaled(*cluster)) {
    return WrongCluster("serve_nodes",
                        "only one of serve_nodes and cluster_config.cluster_autoscaling_config may be set");
  }
  if (sets_nodes && wanted.serve_nodes() == 0 && !IsScaled(*cluster)) {
    return WrongCluster("serve_nodes", "must be at least 1, but is 0");
  }
  return CompleteCluster(cluster);
}

admin::Cluster ImplicitCluster(std::string_view instance_name) {
  admin::Cluster cluster;
  const std::string_view project = instance_name.substr(0, instance_name.rfind("/instances/"));
  cluster.set_name(fmt::format("{}/clusters/{}", instance_name, kClusterId));
  cluster.set_location(fmt::format("{}/locations/local", project));
  cluster.set_state(admin::Cluster::READY);
  cluster.set_serve_nodes(1);
  cluster.set_default_storage_type(admin::SSD);
  return cluster;
}

admin::Cluster AsCreated(admin::Cluster cluster) {
  if (IsScaled(cluster)) cluster.clear_serve_nodes();
  return cluster;
}

}  // namespace sonde
