#include "engine/rocks/store/directory_cache.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde {
namespace {

constexpr TableId kTable = 3;
constexpr FamilyId kFamily = 1;

// The page that begins with the row.
DirectoryEntryRef Entry(const std::string& row_key, FamilyId family = kFamily) {
  auto entry = std::make_shared<DirectoryEntry>();
  entry->key = PageKey(kTable, family, row_key, "q", 5);
  entry->first = {.table = kTable, .family = family, .row_key = row_key, .qualifier = "q"};
  return entry;
}

class DirectoryCacheTest : public testing::Test {
 protected:
  // "b to d": what is known around the place where pages of the row begin.
  std::string Before(const std::string& row_key, uint64_t version = 2, FamilyId family = kFamily) {
    const auto known = cache_.FindBefore(version, kTable, family, StartOfPageRow(kTable, family, row_key));
    if (!known.known()) return "unknown";
    return known.before->first.row_key + " to " +
           (known.after == nullptr ? "the end" : known.after->first.row_key);
  }

  DirectoryCache cache_{100'000};
};

TEST_F(DirectoryCacheTest, KnowsWhatLiesBetweenNeighbors) {
  EXPECT_EQ(Before("c"), "unknown");
  const DirectoryEntryRef b = Entry("b"), d = Entry("d"), f = Entry("f");
  cache_.Put(2, {b, d});
  cache_.Put(2, {f, nullptr});
  EXPECT_EQ(Before("a"), "unknown");
  EXPECT_EQ(Before("b"), "unknown") << "the page that begins there is not before it";
  EXPECT_EQ(Before("c"), "b to d");
  EXPECT_EQ(Before("d"), "b to d");
  EXPECT_EQ(Before("e"), "unknown") << "what follows d is not known";
  EXPECT_EQ(Before("f"), "unknown");
  EXPECT_EQ(Before("x"), "f to the end");
  EXPECT_EQ(cache_.FindAt(2, b->key).after, d);
  EXPECT_FALSE(cache_.FindAt(2, d->key).known());
  EXPECT_TRUE(cache_.FindAt(2, f->key).known());
  EXPECT_EQ(cache_.FindAt(2, f->key).after, nullptr);
}

TEST_F(DirectoryCacheTest, FamiliesEndForThemselves) {
  cache_.Put(2, {Entry("b"), nullptr});
  EXPECT_EQ(Before("a", 2, kFamily + 1), "unknown");
  cache_.Put(2, {Entry("a", kFamily + 1), nullptr});
  EXPECT_EQ(Before("c", 2, kFamily + 1), "a to the end");
  EXPECT_EQ(Before("c"), "b to the end");
}

TEST_F(DirectoryCacheTest, ForgetsOlderVersionsAndTakesNoneBack) {
  cache_.Put(2, {Entry("b"), Entry("d")});
  EXPECT_EQ(Before("c", 4), "unknown") << "pages have changed";
  EXPECT_EQ(Before("c", 2), "unknown") << "a reader of before";
  cache_.Put(2, {Entry("b"), Entry("d")});
  EXPECT_EQ(Before("c", 4), "unknown");
  EXPECT_EQ(Before("c", 2), "unknown");
  cache_.Put(4, {Entry("b"), Entry("e")});
  EXPECT_EQ(Before("c", 4), "b to e");
}

TEST_F(DirectoryCacheTest, ForgetsAllWhenItIsFull) {
  DirectoryCache cache(10'000);
  size_t known = 0;
  for (int i = 0; i < 1'000; ++i) {
    const DirectoryEntryRef entry = Entry("row" + std::to_string(i));
    cache.Put(2, {entry, nullptr});
    EXPECT_TRUE(cache.FindAt(2, entry->key).known());
  }
  for (int i = 0; i < 1'000; ++i) known += cache.FindAt(2, Entry("row" + std::to_string(i))->key).known();
  EXPECT_GT(known, 0);
  EXPECT_LT(known, 10'000 / sizeof(DirectoryEntry));
  cache.Put(2, {Entry(std::string(20'000, 'x')), nullptr});
  EXPECT_FALSE(cache.FindAt(2, Entry(std::string(20'000, 'x'))->key).known()) << "it does not fit";
}

}  // namespace
}  // namespace sonde
