#include "series/input/stream_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string_view>
#include <thread>

#include "codec/unpack.h"
#include "series/input/csv_loader.h"
#include "series/input/json_lines_loader.h"
#include "series/known/series_tables.h"
#include "series/schema/schema_parser.h"
#include "series/write/memory_tables_test_support.h"

namespace sonde::series {
namespace {

constexpr std::string_view kDeclaration =
    "series: s\ntags: { host: string }\nfields: { x: int }\nkey: [host, bucket]\nbucket: day\n";
constexpr auto kPatience = std::chrono::seconds(60);

// A load from a pipe that stays open.
template <typename Loader>
class HeldPipe {
 public:
  explicit HeldPipe(StreamPatience patience)
      : schema_(ParseSchema(kDeclaration, "s.yaml").value()), writer_(schema_, &tables_) {
    EXPECT_TRUE(EnsureSeriesTables(schema_, &tables_).ok());
    EXPECT_EQ(pipe(ends_.data()), 0);
    loading_ = std::thread([this, patience] {
      const auto flush = [this] {
        const absl::Status status = writer_.Flush();
        rows_written_ = writer_.totals().rows;
        return status;
      };
      Loader loader({.time_format = "epoch_ms"}, {});
      const auto totals =
          loader.Load(UnpackedBySign(SourceOfDescriptor(ends_[0], flush, patience)), &writer_);
      EXPECT_TRUE(totals.ok()) << totals.status();
      points_ = totals.ok() ? totals->points : -1;
    });
  }

  void Send(std::string_view text) {
    ASSERT_EQ(write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  bool WaitForRows(int64_t rows) const {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (rows_written_ < rows && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return rows_written_ >= rows;
  }
  int64_t Close() {
    close(ends_[1]);
    loading_.join();
    close(ends_[0]);
    return points_;
  }

 private:
  SeriesSchema schema_;
  MemoryTables tables_;
  PointWriter writer_;
  std::array<int, 2> ends_{};
  std::atomic<int64_t> rows_written_{0};
  std::atomic<int64_t> points_{0};
  std::thread loading_;
};

TEST(StreamSource, WritesLinesThatWaitInAPipe) {
  HeldPipe<JsonLinesLoader> pipe({});
  pipe.Send("{\"host\":\"a\",\"time\":1000,\"x\":1}\n{\"host\":\"b\",\"time\":1000,");
  EXPECT_TRUE(pipe.WaitForRows(1));
  pipe.Send("\"x\":2}\n");
  EXPECT_TRUE(pipe.WaitForRows(2));
  EXPECT_EQ(pipe.Close(), 2);
}

TEST(StreamSource, WritesCsvThatWaitsInAPipe) {
  HeldPipe<CsvLoader> pipe({});
  pipe.Send("host,time,x\na,1000,1\n");
  EXPECT_TRUE(pipe.WaitForRows(1));
  pipe.Send("a,2000,2");
  EXPECT_EQ(pipe.Close(), 2);
}

// With bytes there whenever it looks, only the time says when to write.
TEST(StreamSource, WritesWhatNeverCeasesToCome) {
  HeldPipe<JsonLinesLoader> pipe({.idle_max = kPatience, .busy_max = std::chrono::milliseconds(1)});
  pipe.Send("{\"host\":\"a\",\"time\":1000,\"x\":1}\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  pipe.Send("{\"host\":\"a\",\"time\":2000,\"x\":1}\n");
  EXPECT_TRUE(pipe.WaitForRows(1));
  EXPECT_EQ(pipe.Close(), 2);
}

TEST(StreamSource, SaysWhyItCannotRead) {
  std::array<char, 10> buffer{};
  EXPECT_EQ(SourceOfDescriptor(-1, nullptr)(buffer.data(), buffer.size()).status().message(),
            "reading the file: Bad file descriptor");
}

TEST(StreamSource, EndsWithTheErrorOfTheFlush) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  std::array<char, 10> buffer{};
  const auto source = SourceOfDescriptor(ends[0], [] { return absl::UnavailableError("gone"); });
  EXPECT_EQ(source(buffer.data(), buffer.size()).status(), absl::UnavailableError("gone"));
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace sonde::series
