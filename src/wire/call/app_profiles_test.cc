#include "wire/call/app_profiles.h"

#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <google/bigtable/v2/bigtable.pb.h>
#include <gtest/gtest.h>

#include <string>

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

// Notes what it is asked.
class NotingProfiles final : public AppProfiles {
 public:
  bool AreAllPlain() const override { return is_plain; }
  absl::StatusOr<Priority> Admit(std::string_view resource, std::string_view profile_id,
                                 ProfileUse) const override {
    asked = std::string(resource) + " as " + std::string(profile_id);
    if (profile_id == "none") return absl::NotFoundError("none");
    return Priority::kLow;
  }

  bool is_plain = false;
  mutable std::string asked;
};

class ProfileFieldsTest : public testing::Test {
 protected:
  template <typename Request>
  absl::StatusOr<Priority> Admit(const Request& request, ProfileUse use = ProfileUse::kRead) {
    profiles_.asked = "nothing";
    return ProfileFields(*Request::descriptor()).Admit(&profiles_, use, request.SerializeAsString());
  }
  NotingProfiles profiles_;
};

TEST_F(ProfileFieldsTest, AsksForTheProfileOnTheResourceThatIsNamed) {
  pb::ReadRowsRequest read;
  read.set_table_name("t");
  read.set_app_profile_id("p");
  EXPECT_EQ(*Admit(read), Priority::kLow);
  EXPECT_EQ(profiles_.asked, "t as p");
  read.set_table_name("");
  read.set_authorized_view_name("v");
  read.set_app_profile_id("none");
  EXPECT_EQ(Admit(read).status(), absl::NotFoundError("none"));
  EXPECT_EQ(profiles_.asked, "v as none");
  pb::ExecuteQueryRequest query;
  query.set_instance_name("i");
  EXPECT_EQ(*Admit(query), Priority::kLow);
  EXPECT_EQ(profiles_.asked, "i as ");
  pb::MutateRowsRequest write;
  for (int i = 0; i < 1'000; ++i) write.add_entries()->set_row_key("app_profile_id");
  write.set_table_name("t");
  write.set_app_profile_id("behind");
  EXPECT_EQ(*Admit(write, ProfileUse::kWrite), Priority::kLow);
  EXPECT_EQ(profiles_.asked, "t as behind");
}

TEST_F(ProfileFieldsTest, DoesNotLookWhereNothingCanComeOfIt) {
  pb::MutateRowRequest write;
  write.set_table_name("t");
  profiles_.is_plain = true;
  EXPECT_EQ(*Admit(write, ProfileUse::kWrite), Priority::kHigh);
  EXPECT_EQ(profiles_.asked, "nothing");
  // Of these a plain profile may still say no.
  pb::CheckAndMutateRowRequest check;
  check.set_table_name("t");
  EXPECT_EQ(*Admit(check, ProfileUse::kTransaction), Priority::kLow);
  EXPECT_EQ(profiles_.asked, "t as ");
  profiles_.is_plain = false;
  EXPECT_EQ(*Admit(pb::MutateRowRequest(), ProfileUse::kWrite), Priority::kHigh) << "it names no table";
  google::bigtable::admin::v2::GetTableRequest get;
  get.set_name("t");
  EXPECT_EQ(*Admit(get), Priority::kHigh) << "its method knows no profiles";
  EXPECT_EQ(profiles_.asked, "nothing");
  EXPECT_EQ(
      *ProfileFields(*pb::ReadRowsRequest::descriptor()).Admit(nullptr, ProfileUse::kRead, "no message"),
      Priority::kHigh);
}

TEST_F(ProfileFieldsTest, RefusesBytesThatAreNoMessage) {
  EXPECT_EQ(ProfileFields(*pb::ReadRowsRequest::descriptor())
                .Admit(&profiles_, ProfileUse::kRead, "\xff\xff")
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sonde
