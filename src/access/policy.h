// Policies: which members have which roles on a resource and all below it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "access/condition.h"
#include "access/roles.h"
#include "identity/principal.h"

namespace sonde {

constexpr size_t kPolicyMembersMax = 1'500;
constexpr size_t kPolicyBytesMax = 64 << 10;
constexpr int kPolicyVersionWithConditions = 3;

// The etag of the policy of a resource for which none was set: "ACAB" in base64.
inline constexpr std::string_view kNoPolicyEtag("\x00\x20\x01", 3);
constexpr size_t kPolicyEtagBytes = 8;

// google.type.Expr.
struct ConditionText {
  std::string expression, title, description, location;

  bool operator==(const ConditionText&) const = default;
};

struct Binding {
  std::string role;                                       // "roles/bigtable.reader"
  std::vector<std::string> members;                       // "serviceAccount:NAME@sonde.local"
  std::optional<ConditionText> condition = std::nullopt;  // nullopt: always

  bool operator==(const Binding&) const = default;
};

struct Policy {
  int version = 0;
  std::vector<Binding> bindings;
  std::string etag = std::string(kNoPolicyEtag);  // any bytes

  bool operator==(const Policy&) const = default;
};

// INVALID_ARGUMENT: a version other than 0, 1, 3; conditions without version 3; a role, member or condition that is not
// supported; more than kPolicyMembersMax or kPolicyBytesMax.
absl::Status CheckPolicy(const Policy& policy, const Roles& roles);

// A policy in the form that decisions ask.  Immutable.
class Grants {
 public:
  // `policy` passed CheckPolicy; a binding whose condition does not parse all the same grants nothing.
  explicit Grants(const Policy& policy);

  bool Allow(const Principal& principal, Permission permission, const Roles& roles,
             const ConditionFacts& facts) const;

 private:
  struct Grant {
    std::string role;
    absl::flat_hash_set<std::string> members;
    std::optional<Condition> condition;

    bool IsOf(const Principal& principal) const;
  };
  std::vector<Grant> grants_;
};

using GrantsRef = std::shared_ptr<const Grants>;

// The policies that were set for resources.
//
// Threads: Find may be called by all threads at once.
class PolicySource {
 public:
  // Null: none was set.
  virtual GrantsRef Find(std::string_view resource) const = 0;

 protected:
  ~PolicySource() = default;
};

}  // namespace sonde
