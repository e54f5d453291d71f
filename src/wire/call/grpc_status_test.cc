#include "wire/call/grpc_status.h"

#include <gmock/gmock.h>
#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <gtest/gtest.h>

#include <set>

#include "base/admission.h"
#include "base/large_room.h"

namespace sonde {
namespace {

google::rpc::Status Details(const rpc::CallStatus& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.details));
  return details;
}

TEST(GrpcStatus, KeepsCodeAndMessage) {
  EXPECT_TRUE(ToCallStatus(absl::OkStatus()).ok());
  const rpc::CallStatus status = ToCallStatus(absl::NotFoundError("no such table"));
  EXPECT_EQ(status.code, absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message, "no such table");
  EXPECT_EQ(status.details, "");
}

TEST(GrpcStatus, CarriesDetails) {
  absl::Status status = absl::FailedPreconditionError("too large");
  google::rpc::ErrorInfo info;
  info.set_reason("LargeRowReadError");
  AddDetail(info, &status);
  const google::rpc::Status whole = Details(ToCallStatus(status));
  EXPECT_EQ(whole.code(), 9);
  EXPECT_EQ(whole.message(), "too large");
  ASSERT_EQ(whole.details_size(), 1);
  EXPECT_EQ(whole.details(0).type_url(), "type.googleapis.com/google.rpc.ErrorInfo");
  google::rpc::ErrorInfo read;
  ASSERT_TRUE(whole.details(0).UnpackTo(&read));
  EXPECT_EQ(read.reason(), "LargeRowReadError");
}

TEST(GrpcStatus, TellsWhenAQuotaIsThereAgain) {
  Admission admission("reads", {.requests = 1, .bytes = 1, .per_second = 1});
  ASSERT_TRUE(admission.Admit(1).ok());
  const google::rpc::Status whole = Details(ToCallStatus(admission.Admit(1).status()));
  EXPECT_EQ(whole.code(), static_cast<int>(absl::StatusCode::kResourceExhausted));
  ASSERT_EQ(whole.details_size(), 1);
  google::rpc::RetryInfo retry;
  EXPECT_TRUE(whole.details(0).UnpackTo(&retry));
  EXPECT_EQ(Details(ToCallStatus(absl::ResourceExhaustedError("for good"))).details_size(), 0);
}

TEST(GrpcStatus, SendsWhatIsLargeAwayForLonger) {
  absl::Status status = absl::UnavailableError("busy");
  status.SetPayload(kTryLaterPayload, absl::Cord());
  std::set<int64_t> delays;
  for (int i = 0; i < 50; ++i) {
    const google::rpc::Status whole = Details(ToCallStatus(status));
    ASSERT_EQ(whole.details_size(), 1);
    google::rpc::RetryInfo retry;
    ASSERT_TRUE(whole.details(0).UnpackTo(&retry));
    const int64_t millis = retry.retry_delay().seconds() * 1'000 + retry.retry_delay().nanos() / 1'000'000;
    EXPECT_GE(millis, 500);
    EXPECT_LE(millis, 1'500);
    delays.insert(millis);
  }
  EXPECT_GT(delays.size(), 40u);
}

TEST(GrpcStatus, OfAWriteThatMayHaveBeenAppliedInvitesNobodyToTryAgain) {
  const rpc::CallStatus status = ToCallStatus(absl::UnknownError("it may or may not have been applied"));
  EXPECT_EQ(status.code, absl::StatusCode::kUnknown);
  EXPECT_EQ(status.details, "");
}

TEST(GrpcStatus, TellsWhenToTryAgainAndNotEveryoneTheSame) {
  std::set<int32_t> delays;
  for (int i = 0; i < 50; ++i) {
    const google::rpc::Status whole = Details(ToCallStatus(absl::UnavailableError("busy")));
    ASSERT_EQ(whole.details_size(), 1);
    google::rpc::RetryInfo retry;
    ASSERT_TRUE(whole.details(0).UnpackTo(&retry));
    EXPECT_EQ(retry.retry_delay().seconds(), 0);
    EXPECT_GE(retry.retry_delay().nanos(), 50'000'000);
    EXPECT_LE(retry.retry_delay().nanos(), 150'000'000);
    delays.insert(retry.retry_delay().nanos());
  }
  EXPECT_EQ(delays.size(), 50);
}

}  // namespace
}  // namespace sonde
