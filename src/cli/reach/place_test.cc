#include "cli/reach/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(PlaceTest, TellsDirectoriesStoresAndEndpointsApart) {
  EXPECT_EQ(KindOfPlace("hbase://master/sonde"), PlaceKind::kHBase);
  for (const char* const endpoint :
       {"127.0.0.1:8086", "example.org:443", "https://bigtable.googleapis.com", "http://[::1]:8086"}) {
    EXPECT_EQ(KindOfPlace(endpoint), PlaceKind::kEndpoint) << endpoint;
  }
  for (const char* const directory : {"data", "/var/lib/sonde", "./a:1", "a:b", ":8086", "a:", ""}) {
    EXPECT_EQ(KindOfPlace(directory), PlaceKind::kDirectory) << directory;
  }
}

TEST(PlaceTest, SaysWhatAPlaceMayBe) {
  const absl::Status status = OpenPlace("--from", "/nowhere", {}, {}, DataDir::kIsThere).status();
  EXPECT_EQ(
      status,
      absl::InvalidArgumentError(
          "--from: '/nowhere' is no data directory of Sonde (it has no file FORMAT), no HOST:PORT and no "
          "hbase://HOST[:PORT]/NAMESPACE"));
  EXPECT_EQ(OpenPlace("--to", "/nowhere", {.ca_file = "ca.pem"}, {}, DataDir::kMayBeMade).status(),
            absl::InvalidArgumentError(
                "--to-ca-file and --to-key-file are for an endpoint, which '/nowhere' is not"));
  EXPECT_EQ(
      OpenPlace("--to", "/nowhere", {}, {.files = {.ca = "ca.pem"}}, DataDir::kMayBeMade).status(),
      absl::InvalidArgumentError("--to-tls-ca is for a store in an HBase cluster, which '/nowhere' is not"));
  EXPECT_EQ(
      OpenPlace("--to", "hbase://master/space", {}, {.server_name = "n"}, DataDir::kMayBeMade).status(),
      absl::InvalidArgumentError("--to-tls-server-name needs --to-tls-ca, the CA of the certificates that "
                                 "HBase's servers show"));
  EXPECT_THAT(
      std::string(OpenPlace("--to", "hbase://master", {}, {}, DataDir::kMayBeMade).status().message()),
      testing::HasSubstr("is not hbase://HOST[:PORT]/NAMESPACE"));
}

}  // namespace
}  // namespace sonde
