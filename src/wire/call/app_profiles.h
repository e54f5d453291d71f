// What the app profile of a data call means for it: whether it may be made at all, and how soon it is served.
//
// The profile is named in the request, so that it is read from the bytes (request_fields.h) before the request waits for anything.
#pragma once

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "wire/call/request_fields.h"
#include "work/priority.h"

namespace sonde {

// What a call does to the data.
enum class ProfileUse : uint8_t { kRead, kWrite, kTransaction, kChangeStream };

// Threads: all functions may be called at once.
class AppProfiles {
 public:
  // Whether every profile lets reads and writes in at the highest priority, and unknown ones do so, too.  Cheap.
  virtual bool AreAllPlain() const = 0;
  // `resource`: the instance, or a table, view or bundle in it.  `profile_id`: empty for `default`.
  // FAILED_PRECONDITION: the profile does not allow such calls.  NOT_FOUND: there is no such profile, and it must be there.
  virtual absl::StatusOr<Priority> Admit(std::string_view resource, std::string_view profile_id,
                                         ProfileUse use) const = 0;

 protected:
  ~AppProfiles() = default;
};

// The fields of a method's requests that name a resource and an app profile.
class ProfileFields {
 public:
  // Of requests without a profile, which are let in.
  ProfileFields() = default;
  // A request without a field `app_profile_id` has no profile, either.
  explicit ProfileFields(const google::protobuf::Descriptor& request);

  // Decides by the bytes of a request.  `profiles` may be null: all is let in.  Errors: those of AppProfiles::Admit and ReadFields.
  absl::StatusOr<Priority> Admit(const AppProfiles* profiles, ProfileUse use, std::string_view bytes) const;

 private:
  std::vector<FieldPath>
      paths_;  // the profile's, and then those of resources, of which a request has one; none: no profile
};

}  // namespace sonde
