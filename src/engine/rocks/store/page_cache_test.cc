#include "engine/rocks/store/page_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "cellblock/page_writer.h"

namespace sonde {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// A page of its own for each number, of about `bytes`.
std::unique_ptr<OpenPage> MakePage(int number, size_t bytes = 100) {
  PageWriter writer;
  const std::string row_key = "row" + std::to_string(number);
  const std::string value(bytes, static_cast<char>('a' + number % 26));
  const CellView cell{.qualifier = "q", .timestamp_micros = 5, .value = value};
  EXPECT_EQ(writer.Add(row_key, {&cell, 1}), 1);
  std::string page;
  writer.Finish(&page);
  page.append(bytes, '\0');
  page.resize(page.size() - bytes);  // as much memory as the value, however well it is packed
  absl::StatusOr<std::unique_ptr<OpenPage>> open = OpenPage::Open(std::move(page));
  EXPECT_TRUE(open.ok()) << open.status();
  return *std::move(open);
}

TEST(PageCacheTest, GivesAPageToOneReaderAtATime) {
  PageCache cache(kMiB);
  const uint64_t checksum = MakePage(1)->Checksum();
  EXPECT_EQ(cache.Take(checksum), nullptr);
  cache.Give(MakePage(1));
  std::unique_ptr<OpenPage> page = cache.Take(checksum);
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page->Checksum(), checksum);
  EXPECT_EQ(cache.Take(checksum), nullptr) << "another reader has it";
  EXPECT_EQ(cache.Bytes(), 0);
  // A reader that came meanwhile has opened it once more; both are kept.
  cache.Give(std::move(page));
  cache.Give(MakePage(1));
  EXPECT_NE(cache.Take(checksum), nullptr);
  EXPECT_NE(cache.Take(checksum), nullptr);
  EXPECT_EQ(cache.Take(checksum), nullptr);
}

TEST(PageCacheTest, ForgetsWhatWasUsedLongestAgo) {
  const size_t bytes = MakePage(0)->MemoryBytes();
  PageCache cache(10 * bytes + bytes / 2);
  std::vector<uint64_t> checksums;
  for (int i = 0; i < 10; ++i) {
    checksums.push_back(MakePage(i)->Checksum());
    cache.Give(MakePage(i));
  }
  EXPECT_LE(cache.Bytes(), cache.bytes_max());
  cache.Give(cache.Take(checksums[0]));  // is used
  cache.Give(MakePage(10));
  EXPECT_LE(cache.Bytes(), cache.bytes_max());
  EXPECT_EQ(cache.Take(checksums[1]), nullptr);
  EXPECT_NE(cache.Take(checksums[0]), nullptr);
  EXPECT_NE(cache.Take(checksums[2]), nullptr);
}

TEST(PageCacheTest, LeavesOutWhatIsLargerThanAllOfIt) {
  PageCache cache(1000);
  const uint64_t checksum = MakePage(1, 10'000)->Checksum();
  cache.Give(MakePage(1, 10'000));
  EXPECT_EQ(cache.Take(checksum), nullptr);
  EXPECT_EQ(cache.Bytes(), 0);
  PageCache none(0);
  none.Give(MakePage(1));
  EXPECT_EQ(none.Bytes(), 0);
}

// Enough for 16 shards: each takes a page of a megabyte, and all together no more than was said.
TEST(PageCacheTest, ShardsHoldTogetherWhatWasSaid) {
  PageCache cache(128 * kMiB);
  std::vector<uint64_t> checksums;
  for (int i = 0; i < 300; ++i) {
    std::unique_ptr<OpenPage> page = MakePage(i, kMiB);
    ASSERT_GE(page->MemoryBytes(), kMiB);
    checksums.push_back(page->Checksum());
    cache.Give(std::move(page));
    ASSERT_LE(cache.Bytes(), 128 * kMiB);
  }
  EXPECT_GE(cache.Bytes(), 64 * kMiB) << "pages are spread evenly, about";
  EXPECT_NE(cache.Take(checksums.back()), nullptr);
  EXPECT_EQ(cache.Take(checksums.front()), nullptr);
}

TEST(PageCacheTest, ManyReadersAtOnce) {
  constexpr int kPages = 64, kReaders = 4, kReads = 2000;
  PageCache cache(128 * kMiB);
  std::vector<uint64_t> checksums;
  for (int i = 0; i < kPages; ++i) {
    checksums.push_back(MakePage(i)->Checksum());
    cache.Give(MakePage(i));
  }
  const size_t bytes = cache.Bytes();
  std::vector<std::thread> readers;
  for (int reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&, reader] {
      for (int i = 0; i < kReads; ++i) {
        const uint64_t checksum = checksums[(i * 7 + reader) % kPages];
        std::unique_ptr<OpenPage> page = cache.Take(checksum);
        if (page == nullptr) continue;  // another one has it
        EXPECT_EQ(page->Checksum(), checksum);
        cache.Give(std::move(page));
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(cache.Bytes(), bytes);
  for (const uint64_t checksum : checksums) EXPECT_NE(cache.Take(checksum), nullptr);
}

}  // namespace
}  // namespace sonde
