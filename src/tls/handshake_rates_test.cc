#include "tls/handshake_rates.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde::tls {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr HandshakeRates::TimePoint kStart{seconds(1'000)};

int Taken(HandshakeRates* rates, const std::string& address, int asked, HandshakeRates::TimePoint now) {
  int taken = 0;
  for (int i = 0; i < asked; ++i) taken += rates->Take(address, now) ? 1 : 0;
  return taken;
}

TEST(HandshakeRates, AnAddressHasABurstAndARate) {
  HandshakeRates rates(/*at_once_max=*/5, /*per_second_max=*/10);
  EXPECT_EQ(Taken(&rates, "a", 100, kStart), 5);
  EXPECT_EQ(Taken(&rates, "a", 100, kStart + milliseconds(250)), 2);
  EXPECT_EQ(Taken(&rates, "a", 100, kStart + milliseconds(300)), 1) << "half a handshake was left";
  EXPECT_EQ(Taken(&rates, "a", 100, kStart + seconds(60)), 5) << "no more than the burst";
  EXPECT_EQ(Taken(&rates, "b", 3, kStart), 3) << "another address is counted for itself";
}

TEST(HandshakeRates, RemembersABoundedNumberOfAddresses) {
  HandshakeRates rates(/*at_once_max=*/2, /*per_second_max=*/1);
  const auto name = [](size_t i) { return "10." + std::to_string(i); };
  for (size_t i = 0; i < HandshakeRates::kAddressesMax; ++i) EXPECT_TRUE(rates.Take(name(i), kStart));
  EXPECT_EQ(Taken(&rates, "busy", 9, kStart), 2) << "there is room for it again";
  EXPECT_EQ(rates.addresses(), 1U) << "all had used some of their burst, so all were forgotten";
  for (size_t i = 0; i < HandshakeRates::kAddressesMax - 1; ++i) EXPECT_TRUE(rates.Take(name(i), kStart));
  // A second later the others have a whole burst again.
  EXPECT_EQ(Taken(&rates, "busy", 9, kStart + milliseconds(1'000)), 1);
  EXPECT_TRUE(rates.Take("new", kStart + milliseconds(1'000)));
  EXPECT_EQ(rates.addresses(), 2U);
  EXPECT_EQ(Taken(&rates, "busy", 9, kStart + milliseconds(1'000)), 0) << "it is not forgotten";
}

}  // namespace
}  // namespace sonde::tls
