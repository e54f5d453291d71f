#include "backup/backup_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

constexpr char kCluster[] = "projects/p/instances/i/clusters/c/backups/";
constexpr char kTables[] = "projects/p/instances/i/tables/";

absl::Time At(int64_t seconds) { return absl::FromUnixSeconds(1'700'000'000 + seconds); }

Backup MakeBackup() {
  return {.name = absl::StrCat(kCluster, "Howling"),
          .source_table = absl::StrCat(kTables, "prod-1"),
          .start = At(0),
          .end = At(60),
          .expire = At(86'400),
          .size_bytes = 5'000,
          .state = BackupState::kReady};
}

bool Lets(std::string_view text, const Backup& backup = MakeBackup()) {
  const absl::StatusOr<BackupFilter> filter = BackupFilter::Parse(text);
  EXPECT_TRUE(filter.ok()) << text << ": " << filter.status();
  return filter.ok() && filter->Matches(backup);
}

std::string ErrorOf(std::string_view text) {
  const absl::StatusOr<BackupFilter> filter = BackupFilter::Parse(text);
  EXPECT_EQ(filter.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(filter.status().message());
}

TEST(BackupFilter, LetsAllThroughIfEmpty) {
  EXPECT_TRUE(Lets(""));
  EXPECT_TRUE(Lets(" \n"));
}

TEST(BackupFilter, ComparesTextsWithoutCase) {
  EXPECT_TRUE(Lets("name:howl"));
  EXPECT_TRUE(Lets("NAME:HOWL"));
  EXPECT_FALSE(Lets("name:\"howl\""));
  EXPECT_TRUE(Lets("name:\"howling\""));
  EXPECT_TRUE(Lets("name = howling"));
  EXPECT_TRUE(Lets("name = projects/p/instances/i/clusters/c/backups/howling"));
  EXPECT_FALSE(Lets("name != Howling"));
  EXPECT_FALSE(Lets("source_table = prod-1"));
  EXPECT_TRUE(Lets("source_table:prod"));
}

TEST(BackupFilter, TakesNamesWithSlashesUnquoted) {
  EXPECT_TRUE(Lets("source_table:projects/p/instances/i/tables/prod-1"));
  EXPECT_TRUE(Lets("(source_table:projects/p/instances/i/tables/prod-1) AND (name:howl)"));
}

TEST(BackupFilter, ComparesTimesAndSizes) {
  EXPECT_TRUE(Lets("start_time = 2023-11-14T22:13:20Z"));
  EXPECT_TRUE(Lets("start_time:\"2023-11-14T22:13:20Z\""));
  EXPECT_TRUE(Lets("start_time < \"2023-11-14T22:13:20.000001Z\""));
  EXPECT_FALSE(Lets("start_time<2023-11-14t22:13:20z"));
  EXPECT_TRUE(Lets("start_time >= 2023-11-14T23:13:20+01:00"));
  EXPECT_TRUE(Lets("size_bytes > 4999"));
  EXPECT_FALSE(Lets("size_bytes > 5000"));
  EXPECT_TRUE(Lets("size_bytes:5000"));
  EXPECT_TRUE(Lets("size_bytes>=-9223372036854775808"));
}

TEST(BackupFilter, KnowsStates) {
  EXPECT_TRUE(Lets("state:ready"));
  EXPECT_TRUE(Lets("state != CREATING"));
  EXPECT_THAT(ErrorOf("state:GONE"), HasSubstr("at byte 6: expected CREATING or READY, but found 'GONE'"));
}

TEST(BackupFilter, ABackupWithoutAnEndDiffersFromEveryTime) {
  Backup backup = MakeBackup();
  backup.end.reset();
  EXPECT_FALSE(Lets("end_time < 2100-01-01T00:00:00Z", backup));
  EXPECT_FALSE(Lets("end_time >= 2000-01-01T00:00:00Z", backup));
  EXPECT_TRUE(Lets("end_time != 2000-01-01T00:00:00Z", backup));
  EXPECT_TRUE(Lets("NOT end_time < 2100-01-01T00:00:00Z", backup));
}

TEST(BackupFilter, JoinsParts) {
  EXPECT_TRUE(Lets("name:howl size_bytes=5000"));
  EXPECT_FALSE(Lets("name:howl size_bytes=5001"));
  EXPECT_TRUE(Lets("name:none OR name:howl AND size_bytes=5000"));
  EXPECT_TRUE(Lets("name:howl OR name:none AND size_bytes=5001"));
  EXPECT_FALSE(Lets("(name:howl OR name:none) AND size_bytes=5001"));
  EXPECT_FALSE(Lets("-name:howl"));
  EXPECT_TRUE(Lets("NOT(name:none)"));
  EXPECT_FALSE(Lets("-(name:howl)"));
}

TEST(BackupFilter, ReadsQuotedTexts) {
  Backup backup = MakeBackup();
  backup.source_table = R"(a "b" \c)";
  EXPECT_TRUE(Lets(R"(source_table:"A \"b\" \\c")", backup));
  EXPECT_THAT(ErrorOf("name:\"open"),
              HasSubstr("at byte 5: a text that begins with a quotation mark ends with none"));
}

TEST(BackupFilter, TellsWhereItIsWrong) {
  EXPECT_THAT(ErrorOf("colour:red"), HasSubstr("at byte 0: expected a field (name, source_table"));
  EXPECT_THAT(ErrorOf("name"), HasSubstr("at byte 4: expected one of < > <= >= != = :, but the filter ends"));
  EXPECT_THAT(ErrorOf("name ~ x"), HasSubstr("at byte 5: expected one of"));
  EXPECT_THAT(ErrorOf("name:"), HasSubstr("at byte 5: expected a value, but the filter ends"));
  EXPECT_THAT(ErrorOf("(name:a"), HasSubstr("at byte 7: expected ')', but the filter ends"));
  EXPECT_THAT(ErrorOf("name:a)"), HasSubstr("at byte 6: expected AND, OR or the end, but found ')'"));
  EXPECT_THAT(ErrorOf("name:a OR"), HasSubstr("expected a field"));
  EXPECT_THAT(ErrorOf("AND name:a"), HasSubstr("expected a field"));
  EXPECT_THAT(ErrorOf("NOT NOT name:a"), HasSubstr("expected a field"));
  EXPECT_THAT(ErrorOf("start_time < yesterday"), HasSubstr("at byte 13: expected a time as"));
  EXPECT_THAT(ErrorOf("size_bytes < 1e3"), HasSubstr("at byte 13: expected a number of bytes"));
  EXPECT_THAT(ErrorOf("size_bytes < 9223372036854775808"), HasSubstr("expected a number of bytes"));
}

TEST(BackupFilter, HasBounds) {
  const auto nested = [](int depth) {
    return std::string(depth, '(') + "name:howl" + std::string(depth, ')');
  };
  EXPECT_TRUE(Lets(nested(kBackupFilterDepthMax)));
  EXPECT_THAT(ErrorOf(nested(kBackupFilterDepthMax + 1)),
              HasSubstr("more than 32 parentheses within each other"));
  const std::string long_filter = "name:" + std::string(kBackupFilterBytesMax - 5, 'h');
  EXPECT_FALSE(Lets(long_filter));
  EXPECT_THAT(ErrorOf(long_filter + "h"), HasSubstr("must have at most 4096 bytes, but has 4097"));
}

// A random filter: its text, and what it means by another evaluator than the one that is tested.
struct RandomFilter {
  std::string text;
  std::function<bool(const Backup&)> lets;
};

class FilterMaker {
 public:
  explicit FilterMaker(uint64_t seed) : random_(seed) {}

  RandomFilter MakeFilter(int depth) {
    RandomFilter made = MakeAll(depth);
    while (depth > 0 && random_.Uniform(3) == 0) {
      RandomFilter other = MakeAll(depth);
      made = {made.text + Blanks(1) + "OR" + Blanks(1) + other.text,
              [a = made.lets, b = other.lets](const Backup& backup) { return a(backup) || b(backup); }};
    }
    return made;
  }
  Backup MakeBackup() {
    Backup backup{.name = absl::StrCat(kCluster, Pick({"a", "ab", "B", "c-1"})),
                  .source_table = absl::StrCat(kTables, Pick({"t", "T2", "u"})),
                  .start = At(random_.Uniform(4)),
                  .expire = At(10 + random_.Uniform(4)),
                  .size_bytes = static_cast<int64_t>(random_.Uniform(4))};
    if (random_.Uniform(2) == 0) {
      backup.end = At(4 + random_.Uniform(4));
      backup.state = BackupState::kReady;
    }
    return backup;
  }

 private:
  std::string Pick(const std::vector<std::string>& texts) { return texts[random_.Uniform(texts.size())]; }
  std::string Blanks(size_t least) { return std::string(least + random_.Uniform(2), ' '); }

  RandomFilter MakeAll(int depth) {
    RandomFilter made = MakeOne(depth);
    while (depth > 0 && random_.Uniform(3) == 0) {
      RandomFilter other = MakeOne(depth);
      made = {made.text + Blanks(1) + Pick({"AND ", ""}) + other.text,
              [a = made.lets, b = other.lets](const Backup& backup) { return a(backup) && b(backup); }};
    }
    return made;
  }
  RandomFilter MakeOne(int depth) {
    RandomFilter made = MakeTerm();
    if (depth > 0 && random_.Uniform(2) == 0) {
      made = MakeFilter(depth - 1);
      made.text = "(" + Blanks(0) + made.text + Blanks(0) + ")";
    }
    if (random_.Uniform(4) > 0) return made;
    return {Pick({"NOT ", "-"}) + made.text, [a = made.lets](const Backup& backup) { return !a(backup); }};
  }
  RandomFilter MakeTerm() {
    switch (random_.Uniform(4)) {
      case 0: {
        const std::string asked = Pick({"a", "AB", "b", "backups/b"});
        if (random_.Uniform(2) == 0) {
          return {"name:" + asked, [asked](const Backup& backup) {
                    return absl::AsciiStrToLower(backup.name).find(absl::AsciiStrToLower(asked)) !=
                           std::string::npos;
                  }};
        }
        return {"name" + Blanks(0) + Pick({"=", ":"}) + Blanks(0) + '"' + asked + '"',
                [asked](const Backup& backup) {
                  const std::string id = backup.name.substr(std::string(kCluster).size());
                  return absl::AsciiStrToLower(id) == absl::AsciiStrToLower(asked);
                }};
      }
      case 1: {
        const bool is_ready = random_.Uniform(2) == 0;
        return {std::string("state:") + (is_ready ? "READY" : "creating"), [is_ready](const Backup& backup) {
                  return (backup.state == BackupState::kReady) == is_ready;
                }};
      }
      case 2: {
        const auto asked = static_cast<int64_t>(random_.Uniform(4));
        return Compared("size_bytes", absl::StrCat(asked),
                        [asked](const Backup& backup) { return Sign(backup.size_bytes, asked); });
      }
      default: {
        const absl::Time asked = At(random_.Uniform(14));
        const std::string text = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", asked, absl::UTCTimeZone());
        const std::string field = Pick({"start_time", "end_time", "expire_time"});
        return Compared(field, random_.Uniform(2) == 0 ? text : '"' + text + '"',
                        [asked, field](const Backup& backup) {
                          if (field == "start_time") return Sign(backup.start, asked);
                          if (field == "expire_time") return Sign(backup.expire, asked);
                          return backup.end.has_value() ? Sign(*backup.end, asked) : kUnknown;
                        });
      }
    }
  }

  static constexpr int kUnknown = 2;  // neither before, at, nor after
  template <typename T>
  static int Sign(const T& a, const T& b) {
    return a < b ? -1 : (a == b ? 0 : 1);
  }
  RandomFilter Compared(const std::string& field, const std::string& value,
                        std::function<int(const Backup&)> sign) {
    const std::string op = Pick({"<", "<=", ">", ">=", "=", "!=", ":"});
    return {field + Blanks(0) + op + Blanks(0) + value, [op, sign](const Backup& backup) {
              const int is = sign(backup);
              if (is == kUnknown) return op == "!=";
              if (op == "<") return is < 0;
              if (op == "<=") return is <= 0;
              if (op == ">") return is > 0;
              if (op == ">=") return is >= 0;
              return op == "!=" ? is != 0 : is == 0;
            }};
  }

  SeededRandom random_;
};

TEST(BackupFilter, AgreesWithAnotherEvaluatorOnRandomFilters) {
  FilterMaker maker(20261125);
  int let = 0;
  int kept = 0;
  for (int i = 0; i < 10'000; ++i) {
    const RandomFilter made = maker.MakeFilter(3);
    if (made.text.size() > kBackupFilterBytesMax) continue;
    const absl::StatusOr<BackupFilter> filter = BackupFilter::Parse(made.text);
    ASSERT_TRUE(filter.ok()) << made.text << ": " << filter.status();
    for (int j = 0; j < 10; ++j) {
      const Backup backup = maker.MakeBackup();
      ASSERT_EQ(filter->Matches(backup), made.lets(backup)) << made.text << " of " << backup.name;
      ++(made.lets(backup) ? let : kept);
    }
  }
  EXPECT_GT(let, 10'000);
  EXPECT_GT(kept, 10'000);
}

}  // namespace
}  // namespace sonde
