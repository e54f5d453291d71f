#include "hbase/wire/failure.h"

#include <gtest/gtest.h>

namespace sonde::hbase {
namespace {

constexpr char kPackage[] = "org.apache.hadoop.hbase.";

TEST(FailureTest, KnowsWhatHelps) {
  EXPECT_EQ(FailureOfException(std::string(kPackage) + "exceptions.RegionMovedException", "").remedy,
            Remedy::kLocate);
  EXPECT_EQ(FailureOfException(std::string(kPackage) + "RegionTooBusyException", "").remedy, Remedy::kWait);
  EXPECT_EQ(FailureOfException(std::string(kPackage) + "UnknownScannerException", "").remedy,
            Remedy::kReopen);
  EXPECT_EQ(FailureOfException(std::string(kPackage) + "TableNotFoundException", "").remedy, Remedy::kNone);
}

TEST(FailureTest, KnownRefusalsHaveDoneNothing) {
  const Failure failure =
      FailureOfException("org.apache.hadoop.hbase.NotServingRegionException", "x: gone\n\tat y");
  EXPECT_FALSE(failure.may_be_done);
  EXPECT_EQ(StatusOf(failure, true),
            absl::UnavailableError("HBase answered NotServingRegionException: x: gone"));
}

TEST(FailureTest, UnknownExceptionsMayHaveDoneIt) {
  const Failure failure =
      FailureOfException("java.io.IOException", "java.io.IOException: sync of the log failed\n\tat z");
  EXPECT_TRUE(failure.may_be_done);
  EXPECT_EQ(
      StatusOf(failure, true),
      absl::UnknownError(
          "Nobody knows whether the change was applied: HBase answered IOException: sync of the log failed"));
  EXPECT_EQ(StatusOf(failure, false).code(), absl::StatusCode::kInternal);
}

TEST(FailureTest, AbortingServerMayHaveDoneItAndIsElsewhereSoon) {
  const Failure failure =
      FailureOfException("org.apache.hadoop.hbase.regionserver.RegionServerAbortedException", "");
  EXPECT_TRUE(failure.may_be_done);
  EXPECT_EQ(failure.remedy, Remedy::kLocate);
}

TEST(FailureTest, TooLargeCellsAreRefusedAndNothingIsDone) {
  const std::string name = std::string(kPackage) + "DoNotRetryIOException";
  const Failure failure = FailureOfException(
      name, name + ": Cell[a/d:q/1/Put/vlen=9] with size 12000 exceeds limit of 10485 bytes\n\tat x");
  EXPECT_FALSE(failure.may_be_done);
  EXPECT_EQ(failure.cell_bytes_max, 10'485u);
  EXPECT_EQ(
      StatusOf(failure, true),
      absl::InvalidArgumentError("HBase takes cells of at most 10485 bytes here, keys and names included "
                                 "(hbase.server.keyvalue.maxsize)"));
  EXPECT_TRUE(FailureOfException(name, name + ": something exceeds limit of 5 bytes").may_be_done);
  EXPECT_TRUE(FailureOfException(name, "").may_be_done);
}

TEST(FailureTest, QuotaSaysHowLongToWait) {
  const auto wait = [](const char* text) {
    return FailureOfException("org.apache.hadoop.hbase.quotas.RpcThrottlingException", text).wait_min;
  };
  EXPECT_EQ(wait("number of requests exceeded - wait 1mins, 12sec"), absl::Seconds(72));
  EXPECT_EQ(wait("number of requests exceeded - wait 250ms"), absl::Milliseconds(250));
  EXPECT_EQ(wait("no number"), absl::ZeroDuration());
  EXPECT_EQ(wait("wait 99999999999999999999sec"), absl::Seconds(100'000));
}

TEST(FailureTest, MessagesArePrintableAndShort) {
  const Failure failure = FailureOfException(
      "Some\x01"
      "Class",
      std::string(100'000, '\x02'));
  EXPECT_LT(failure.message.size(), 2'000u);
  for (const char c : failure.message) EXPECT_TRUE(c >= ' ' && c <= '~');
}

}  // namespace
}  // namespace sonde::hbase
