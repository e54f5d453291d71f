#include "wire/admin/iam_calls.h"

#include <google/iam/v1/iam_policy.pb.h>
#include <google/iam/v1/policy.pb.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "access/resource.h"
#include "base/bytes.h"
#include "base/format.h"
#include "wire/call/door.h"
#include "wire/call/service_names.h"

namespace sonde {
namespace {

namespace iam = google::iam::v1;

constexpr int kTestedPermissionsMax = 1'000;

// The parts that the calls work with.  Nothing is owned but the mark.
struct IamParts {
  bool is_of_tables;  // the service is BigtableTableAdmin
  IamStores stores;
  std::shared_ptr<std::atomic<bool>> has_warned = std::make_shared<std::atomic<bool>>(false);
};

bool IsOfTables(ResourceKind kind) {
  return kind == ResourceKind::kTable || kind == ResourceKind::kBackup ||
         kind == ResourceKind::kAuthorizedView || kind == ResourceKind::kSchemaBundle;
}

// INVALID_ARGUMENT: no name of a resource of the service's kinds.
absl::StatusOr<ResourceKind> KindOf(const IamParts& parts, const std::string& resource) {
  const std::optional<ResourceKind> kind = KindOfResource(resource);
  if (kind.has_value() && HasPolicy(*kind) && IsOfTables(*kind) == parts.is_of_tables) return *kind;
  return absl::InvalidArgumentError(
      fmt::format("Error in field 'resource' : must be the name of {}, but is '{}'",
                  parts.is_of_tables ? "a table, backup, authorized view or schema bundle"
                                     : "an instance, logical view or materialized view",
                  Printable(resource)));
}

// NOT_FOUND: there is no such resource.
absl::Status CheckExists(const IamStores& stores, ResourceKind kind, const std::string& resource) {
  const Catalog& catalog = stores.tables->catalog();
  switch (kind) {
    case ResourceKind::kInstance:
      return stores.instances->FindInstance(resource).status();
    case ResourceKind::kBackup:
      return stores.backups->Find(resource).status();
    case ResourceKind::kTable:
      return catalog.Find(resource).status();
    case ResourceKind::kAuthorizedView:
      return catalog.FindView(resource).status();
    case ResourceKind::kSchemaBundle:
      return catalog.FindBundle(resource).status();
    case ResourceKind::kLogicalView:
      return catalog.FindLogicalView(resource).status();
    case ResourceKind::kMaterializedView:
      return catalog.FindMaterializedView(resource).status();
    default:
      return absl::NotFoundError(fmt::format("Resource not found: {}", resource));
  }
}

void ToProto(const Policy& policy, iam::Policy* out) {
  out->set_version(policy.version);
  out->set_etag(policy.etag);
  for (const Binding& binding : policy.bindings) {
    iam::Binding* const to = out->add_bindings();
    to->set_role(binding.role);
    for (const std::string& member : binding.members) to->add_members(member);
    if (!binding.condition.has_value()) continue;
    to->mutable_condition()->set_expression(binding.condition->expression);
    to->mutable_condition()->set_title(binding.condition->title);
    to->mutable_condition()->set_description(binding.condition->description);
    to->mutable_condition()->set_location(binding.condition->location);
  }
}

std::vector<Binding> BindingsOf(const iam::Policy& policy) {
  std::vector<Binding> bindings;
  for (const iam::Binding& from : policy.bindings()) {
    Binding binding{from.role(), {from.members().begin(), from.members().end()}};
    if (from.has_condition()) {
      binding.condition = {from.condition().expression(), from.condition().title(),
                           from.condition().description(), from.condition().location()};
    }
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

bool HasConditions(const std::vector<Binding>& bindings) {
  return std::any_of(bindings.begin(), bindings.end(),
                     [](const Binding& binding) { return binding.condition.has_value(); });
}

absl::Status GetPolicy(const IamParts& parts, const iam::GetIamPolicyRequest& request,
                       iam::Policy* response) {
  const absl::StatusOr<ResourceKind> kind = KindOf(parts, request.resource());
  if (!kind.ok()) return kind.status();
  if (absl::Status status = CheckExists(parts.stores, *kind, request.resource()); !status.ok()) {
    return status;
  }
  ToProto(parts.stores.policies->Get(request.resource()), response);
  return absl::OkStatus();
}

// The policy that is set: the request's, or that of before with the fields that the mask names.
absl::StatusOr<Policy> MaskedPolicy(const iam::SetIamPolicyRequest& request, Policy before) {
  Policy policy = std::move(before);
  const Policy none;
  policy.etag = request.policy().etag();
  bool sets_bindings = !request.has_update_mask();
  // The version has a field of its own and belongs to the bindings, as it says how they are written.
  for (const std::string& path : request.update_mask().paths()) {
    if (path == "bindings") {
      sets_bindings = true;
    } else if (path != "etag" && path != "version") {
      return absl::InvalidArgumentError(
          fmt::format("Error in field 'update_mask' : It may name bindings, etag and version, but names '{}'",
                      Printable(path)));
    }
  }
  if (!sets_bindings) return policy;
  policy.version = request.policy().version();
  policy.bindings = BindingsOf(request.policy());
  return policy;
}

absl::Status SetPolicy(const IamParts& parts, const iam::SetIamPolicyRequest& request,
                       iam::Policy* response) {
  const std::string& resource = request.resource();
  const absl::StatusOr<ResourceKind> kind = KindOf(parts, resource);
  if (!kind.ok()) return kind.status();
  const auto roles =
      parts.stores.access == nullptr ? std::make_shared<const Roles>() : parts.stores.access->roles();
  Catalog& catalog = parts.stores.tables->catalog();
  // A table that is deleted meanwhile takes its policy with it, before or after, but leaves none.
  absl::Status status = catalog.WithoutChanges([&]() -> absl::Status {
    if (absl::Status exists = CheckExists(parts.stores, *kind, resource); !exists.ok()) return exists;
    absl::StatusOr<Policy> policy = MaskedPolicy(request, parts.stores.policies->Get(resource));
    if (!policy.ok()) return policy.status();
    if (absl::Status checked = CheckPolicy(*policy, *roles); !checked.ok()) return checked;
    if (HasConditions(policy->bindings) && policy->etag.empty()) {
      return absl::InvalidArgumentError(
          "Error in field 'policy' : A policy with conditions must have an etag");
    }
    absl::StatusOr<Policy> set = parts.stores.policies->Set(resource, *std::move(policy));
    if (set.ok()) ToProto(*set, response);
    return set.status();
  });
  if (status.ok() && parts.stores.access == nullptr && !parts.has_warned->exchange(true)) {
    spdlog::warn("a policy was set for {}, but authentication is off: policies are stored and not enforced",
                 Printable(resource));
  }
  return status;
}

absl::Status TestPermissions(const IamParts& parts, const rpc::Call& call,
                             const iam::TestIamPermissionsRequest& request,
                             iam::TestIamPermissionsResponse* response) {
  const absl::StatusOr<ResourceKind> kind = KindOf(parts, request.resource());
  if (!kind.ok()) return kind.status();
  if (request.permissions_size() > kTestedPermissionsMax) {
    return absl::InvalidArgumentError(fmt::format("Error in field 'permissions' : There are {}; limit {}",
                                                  request.permissions_size(), kTestedPermissionsMax));
  }
  for (const std::string& permission : request.permissions()) {
    if (permission.find('*') != std::string::npos) {
      return absl::InvalidArgumentError(
          fmt::format("Error in field 'permissions' : '{}' has a wildcard, which is not allowed here",
                      Printable(permission)));
    }
  }
  const CallAccess* const access = AccessOf(call);
  const absl::Status exists = CheckExists(parts.stores, *kind, request.resource());
  if (access != nullptr && absl::IsNotFound(exists)) return absl::OkStatus();
  if (access != nullptr && !exists.ok()) return exists;
  for (const std::string& name : request.permissions()) {
    const std::optional<Permission> permission = FindPermission(name);
    const bool is_had =
        access == nullptr || (permission.has_value() && access->IsAllowed(*permission, request.resource()));
    if (is_had) response->add_permissions(name);
  }
  return absl::OkStatus();
}

}  // namespace

void AddIamCalls(std::string_view service_name, const IamStores& stores, const CallResources& resources,
                 rpc::Router* router) {
  Service service(service_name, resources.metrics, router);
  const IamParts parts{service_name == kTableAdminService, stores};
  service.AddUnary<iam::GetIamPolicyRequest, iam::Policy>(
      resources.Administration(), [parts](const auto& in, auto* out) { return GetPolicy(parts, in, out); });
  service.AddUnary<iam::SetIamPolicyRequest, iam::Policy>(
      resources.Administration(), [parts](const auto& in, auto* out) { return SetPolicy(parts, in, out); });
  service.AddUnary<iam::TestIamPermissionsRequest, iam::TestIamPermissionsResponse>(
      resources.Administration(),
      [parts](const rpc::Call& call, const iam::TestIamPermissionsRequest& in,
              iam::TestIamPermissionsResponse* out) { return TestPermissions(parts, call, in, out); });
}

}  // namespace sonde
