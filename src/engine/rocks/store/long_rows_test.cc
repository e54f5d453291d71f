#include "engine/rocks/store/long_rows.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(LongRows, AreFullEachByItself) {
  LongRows rows(100);
  rows.Add(1, "a", 60);
  rows.Add(1, "b", 60);
  rows.Add(2, "a", 60);
  EXPECT_FALSE(rows.AnyFull());
  rows.Add(1, "a", 40);
  EXPECT_TRUE(rows.AnyFull());
  EXPECT_TRUE(rows.IsFull(1, "a"));
  EXPECT_FALSE(rows.IsFull(1, "b"));
  EXPECT_FALSE(rows.IsFull(2, "a"));
  EXPECT_EQ(rows.bytes(), 220u);
  rows.Switch();
  EXPECT_FALSE(rows.AnyFull());
  EXPECT_FALSE(rows.IsFull(1, "a"));
  EXPECT_EQ(rows.bytes(), 0u);
  // What rests is still known.
  EXPECT_EQ(rows.MostOfRow(), 100u);
  rows.Add(1, "a", 5);
  EXPECT_EQ(rows.BytesOf(1, "a"), 105u);
  EXPECT_EQ(rows.BytesOf(1, "c"), 0u);
  EXPECT_EQ(rows.longest(), 60u);
  rows.Switch();
  EXPECT_EQ(rows.BytesOf(1, "a"), 5u);
}

}  // namespace
}  // namespace sonde
