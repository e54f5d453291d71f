#include "engine/hbase/store_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>

#include "absl/time/clock.h"
#include "hbase/fake_hbase_test_support.h"

namespace sonde {
namespace {

TEST(StoreLayout, AddressesAreTakenApart) {
  const absl::StatusOr<HBaseStoreAddress> one = ParseHBaseStore("hbase://example.org/sonde");
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->space, "sonde");
  EXPECT_EQ(one->masters, (std::vector<hbase::ServerAddress>{{"example.org", 16000}}));
  const absl::StatusOr<HBaseStoreAddress> two = ParseHBaseStore("hbase://a:1,10.0.0.2:65535/s_1");
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ(two->space, "s_1");
  EXPECT_EQ(two->masters, (std::vector<hbase::ServerAddress>{{"a", 1}, {"10.0.0.2", 65535}}));
}

TEST(StoreLayout, OtherAddressesAreRefused) {
  for (const std::string text :
       {"", "hbase", "hbase://", "hbase://host", "hbase:///sonde", "hbase://host/", "hbase://host/a-b",
        "hbase://host/a/b", "hbase://host/hbase", "hbase://host/default", "hbase://host:0/s",
        "hbase://host:65536/s", "hbase://host:x/s", "hbase://a,,b/s", "http://host/s",
        "hbase://a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a/s"}) {
    const absl::Status status = ParseHBaseStore(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text << ": " << status;
    EXPECT_EQ(std::count(status.message().begin(), status.message().end(), '\n'), 0);
  }
}

// A master that takes over answers before region servers have told it that they are there.
TEST(StoreLayout, AMasterThatKnowsNoServerYetIsAskedAgain) {
  hbase::FakeHBase hbase;
  std::atomic<int> looks = 0;
  hbase.SetInterceptor([&](const hbase::FakeCall& call) -> std::optional<hbase::FakeAnswer> {
    if (call.method == "ListNamespaces") return hbase::FakeAnswer{};
    if (call.method != "GetClusterStatus") return std::nullopt;
    hbase::pb::GetClusterStatusResponse response;
    response.mutable_cluster_status()->mutable_hbase_version()->set_version("2.6.4");
    if (++looks >= 3) response.mutable_cluster_status()->add_live_servers()->mutable_server()->set_port(1);
    return hbase::FakeAnswer{.parameter = response.SerializeAsString()};
  });
  const auto client = *hbase::Client::Create({.roots = hbase.roots()});
  const HBaseStoreAddress address{hbase.roots(), "sonde"};
  const absl::StatusOr<StoreFacts> facts = LookAtStore(client.get(), address, absl::Now() + absl::Minutes(1));
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->servers_count, 1u);
  EXPECT_EQ(looks, 3);
  looks = -1'000'000;
  const absl::Status none =
      LookAtStore(client.get(), address, absl::Now() + absl::Milliseconds(200)).status();
  EXPECT_TRUE(absl::IsUnavailable(none)) << none;
  EXPECT_TRUE(std::string(none.message()).ends_with("has no region server")) << none;
}

TEST(StoreLayout, FlagsOfTlsGoTogether) {
  using Tls = hbase::TlsToServers;
  EXPECT_EQ(*StoreTlsOf("--t", {}), std::nullopt);
  const Tls whole{.files = {"ca", "certificate", "key"}, .server_name = "name"};
  EXPECT_EQ(*StoreTlsOf("--t", whole), whole);
  EXPECT_EQ(*StoreTlsOf("--t", {.files = {.ca = "ca"}}), (Tls{.files = {.ca = "ca"}}));
  const auto fault_of = [](const Tls& given) {
    return std::string(StoreTlsOf("--t", given).status().message());
  };
  const std::string both = "--t-certificate and --t-key go together: a certificate is shown with its key";
  EXPECT_EQ(fault_of({.files = {"ca", "certificate", ""}}), both);
  EXPECT_EQ(fault_of({.files = {"ca", "", "key"}}), both);
  EXPECT_EQ(fault_of({.files = {"", "certificate", "key"}}),
            "--t-certificate needs --t-ca, the CA of the certificates that HBase's servers show");
  EXPECT_EQ(fault_of({.server_name = "name"}),
            "--t-server-name needs --t-ca, the CA of the certificates that HBase's servers show");
}

TEST(StoreLayout, TablesHaveTheirIdsAsNames) {
  for (const TableId id : {1u, 7u, 0xABCDEFu, 0xFFFFFFFEu}) EXPECT_EQ(CellsTableId(CellsTable("s", id)), id);
  EXPECT_EQ(CellsTable("s", 0x1f).Text(), "s:t0000001f");
  for (const char* name : {"catalog", "t1", "t0000001F", "t000000001", "u00000001", "t0000000g", ""})
    EXPECT_EQ(CellsTableId({"s", name}), std::nullopt) << name;
}

}  // namespace
}  // namespace sonde
