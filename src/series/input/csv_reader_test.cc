#include "series/input/csv_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace sonde::series {
namespace {

// A record a line: `line: value|value` or `line! problem`.
std::vector<std::string> Read(ByteSource source) {
  CsvReader reader(std::move(source));
  CsvReader::Record record;
  std::vector<std::string> result;
  while (reader.Next(&record).value()) {
    result.push_back(record.problem.empty()
                         ? fmt::format("{}: {}", record.line, fmt::join(record.values, "|"))
                         : fmt::format("{}! {}", record.line, record.problem));
  }
  return result;
}
std::vector<std::string> Read(std::string_view text) { return Read(SourceOfText(text)); }

using Records = std::vector<std::string>;

TEST(CsvReader, ReadsPlainRecords) {
  EXPECT_EQ(Read("a,b\n1,2\n"), (Records{"1: a|b", "2: 1|2"}));
  EXPECT_EQ(Read("a,b\r\n1,2"), (Records{"1: a|b", "2: 1|2"}));
  EXPECT_EQ(Read("a,,\n,\n"), (Records{"1: a||", "2: |"}));
  EXPECT_EQ(Read(""), Records{});
  EXPECT_EQ(Read("\n\r\n\na\n"), Records{"4: a"});
  EXPECT_EQ(Read("\xEF\xBB\xBF"
                 "a,b\n"),
            Records{"1: a|b"});
}

TEST(CsvReader, ReadsQuotes) {
  EXPECT_EQ(Read("\"a,b\",\"c\"\"d\",\"\"\n"), Records{"1: a,b|c\"d|"});
  EXPECT_EQ(Read("\"x\r\ny\",1\r\nnext,2\r\n"), (Records{"1: x\r\ny|1", "3: next|2"}));
  EXPECT_EQ(Read("\"end\""), Records{"1: end"});
  EXPECT_EQ(Read("5\" disk,x\n"), Records{"1: 5\" disk|x"});
  EXPECT_EQ(Read("\"a\",\n"), Records{"1: a|"});
}

TEST(CsvReader, GoesOnBehindADamagedRecord) {
  EXPECT_EQ(Read("a,b\n\"x\"y,1\nc,d\n"), (Records{"1: a|b", "2! text behind a closing quote", "3: c|d"}));
  EXPECT_EQ(Read("a,b\n\"x,1\nc,d\n"), (Records{"1: a|b", "2! a quote that never ends", "3: c|d"}));
}

TEST(CsvReader, HasALimitOnRecords) {
  const std::string big(3 << 20, 'x');
  const Records records = Read(big + "\na\n");
  ASSERT_GE(records.size(), 2);
  EXPECT_EQ(records.front(), "1! a record of more than 1048576 bytes");
  EXPECT_TRUE(records.back().ends_with(": a"));
  const Records quoted = Read("\"" + big + "\"\na\n");
  EXPECT_EQ(quoted.front(), "1! a quote that does not end within 1048576 bytes");
}

TEST(CsvReader, ReadsWhatWasWrittenWhereverTheBytesAreCut) {
  SeededRandom random(5);
  for (int i = 0; i < 300; ++i) {
    std::string text;
    std::vector<std::vector<std::string>> expected;
    for (size_t r = 0, records = 1 + random.Uniform(20); r < records; ++r) {
      auto& values = expected.emplace_back();
      for (size_t v = 0, count = 2 + random.Uniform(3); v < count; ++v) {
        std::string value;
        for (size_t c = 0, size = random.Uniform(6); c < size; ++c)
          value.push_back("ab,\"\n\r 1"[random.Uniform(8)]);
        const bool is_plain = value.find_first_of(",\"\n\r") == std::string::npos;
        text += v == 0 ? "" : ",";
        if (is_plain && random.Uniform(2) == 0) {
          text += value;
        } else {
          std::string quoted;
          for (const char c : value) quoted += c == '"' ? "\"\"" : std::string(1, c);
          text += fmt::format("\"{}\"", quoted);
        }
        values.push_back(std::move(value));
      }
      text += random.Uniform(2) == 0 ? "\r\n" : "\n";
    }
    size_t at = 0;
    CsvReader reader([&](char* buffer, size_t bytes_max) -> absl::StatusOr<size_t> {
      const size_t bytes = std::min({bytes_max, text.size() - at, size_t{1} + random.Uniform(7)});
      text.copy(buffer, bytes, at);
      at += bytes;
      return bytes;
    });
    CsvReader::Record record;
    for (const auto& values : expected) {
      ASSERT_TRUE(reader.Next(&record).value());
      ASSERT_EQ(record.problem, "") << text;
      EXPECT_EQ(std::vector<std::string>(record.values.begin(), record.values.end()), values) << text;
    }
    EXPECT_FALSE(reader.Next(&record).value());
    EXPECT_EQ(reader.bytes_read(), static_cast<int64_t>(text.size()));
  }
}

}  // namespace
}  // namespace sonde::series
