#include "series/advise/cure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "series/schema/check.h"
#include "series/schema/schema_parser.h"

namespace sonde::series {
namespace {

using testing::HasSubstr;

// 2026-03-05T12:04:00Z
constexpr int64_t kNow = 1'772'712'240 * kMicrosPerSecond;

SeriesSchema Declared(const std::string& text) {
  absl::StatusOr<SeriesSchema> schema = ParseSchema(text, "test");
  EXPECT_TRUE(schema.ok()) << schema.status();
  return *std::move(schema);
}

constexpr char kByTime[] =
    "# which machine does what\n"
    "series: metrics\n"
    "table: METRIC\n"
    "tags:\n  host: string\n  disk: string   # its name\n"
    "fields: { used: int }\n"
    "key: [bucket, host, disk]\n"
    "bucket: day\n"
    "time: { interval: 1s }\n"
    "retention: { max_age: 30d }\n";

TEST(Cure, PutsTheTagsBeforeTheTime) {
  const std::optional<CuredDeclaration> cured =
      CureDeclaration(Declared(kByTime), DeclarationChange::kPromoteTags, kNow);
  ASSERT_TRUE(cured.has_value());
  EXPECT_EQ(cured->change, "key: [host, disk, bucket]");
  EXPECT_EQ(cured->schema.text,
            "# which machine does what\n"
            "series: metrics\n"
            "table: METRIC_2\n"
            "tags:\n  host: string\n  disk: string   # its name\n"
            "fields: { used: int }\n"
            "key: [host, disk, bucket]\n"
            "bucket: day\n"
            "time: { interval: 1s }\n"
            "retention: { max_age: 30d }\n"
            "versions:\n"
            "  - { until: 2026-03-06, table: METRIC, key: [bucket, host, disk], bucket: day }\n");
  ASSERT_EQ(cured->schema.earlier.size(), 1u);
  EXPECT_EQ(cured->schema.earlier[0].table, "METRIC");
  EXPECT_TRUE(RefuseErrors(cured->schema).ok());
  // There is nothing more to be promoted; a later cure goes on from here.
  EXPECT_FALSE(CureDeclaration(cured->schema, DeclarationChange::kPromoteTags, kNow).has_value());
  const std::optional<CuredDeclaration> again =
      CureDeclaration(cured->schema, DeclarationChange::kSalt, kNow + 2 * kMicrosPerDay);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->schema.table, "METRIC_3");
  EXPECT_EQ(again->schema.earlier.size(), 2u);
}

TEST(Cure, SaltsKeysOnce) {
  const SeriesSchema declared = Declared(
      "series: battery\nfields: { level: int }\nlayout: row\n"
      "key:\n  - { const: BATTERY }\n  - { time: yyyymmddhhmmssmmm }\n");
  const std::optional<CuredDeclaration> cured =
      CureDeclaration(declared, DeclarationChange::kSaltByTime, kNow);
  ASSERT_TRUE(cured.has_value());
  EXPECT_THAT(cured->schema.text,
              HasSubstr("\nkey: [{ salt: 8, of: time }, {const: BATTERY}, {time: yyyymmddhhmmssmmm}]\n"));
  EXPECT_EQ(cured->schema.table, "battery_2");
  EXPECT_FALSE(CureDeclaration(cured->schema, DeclarationChange::kSaltByTime, kNow).has_value());
  EXPECT_FALSE(CureDeclaration(declared, DeclarationChange::kPromoteTags, kNow).has_value())
      << "it has no tags";
  EXPECT_FALSE(CureDeclaration(declared, DeclarationChange::kSalt, kNow).has_value());
  EXPECT_FALSE(CureDeclaration(declared, DeclarationChange::kShorterBucket, kNow).has_value());
}

TEST(Cure, ShortensBucketsUntilRowsAreSmall) {
  // 1 ms: some 2 GB a day.
  const SeriesSchema declared = Declared(
      "series: wave\ntags: { probe: string }\nfields: { level: double }\nkey: [probe, bucket]\n"
      "bucket: month\ntime: { interval: 1ms }\nretention: { max_age: 30d }\n");
  const std::optional<CuredDeclaration> cured =
      CureDeclaration(declared, DeclarationChange::kShorterBucket, kNow);
  ASSERT_TRUE(cured.has_value());
  const std::optional<SeriesSizes> sizes = EstimateSizes(cured->schema);
  ASSERT_TRUE(sizes.has_value());
  EXPECT_LT(sizes->row_bytes, 100e6);
  EXPECT_EQ(cured->change, "bucket: " + cured->schema.bucket->Name());
  EXPECT_THAT(cured->schema.text, HasSubstr("until: 2026-04-01, table: wave, key: [probe, bucket], "
                                            "bucket: month }"));
}

TEST(Cure, GivesEachPointARow) {
  const std::optional<CuredDeclaration> cured =
      CureDeclaration(Declared(kByTime), DeclarationChange::kRowPerPoint, kNow);
  ASSERT_TRUE(cured.has_value());
  EXPECT_EQ(cured->change, "layout: row, key: [{ salt: 8, of: time }, host, disk, time]");
  EXPECT_TRUE(cured->schema.IsRowPerPoint());
  EXPECT_EQ(cured->schema.earlier.at(0).layout, Layout::kCells);
  EXPECT_TRUE(cured->schema.earlier.at(0).bucket.has_value());
}

TEST(Cure, AddsTablesThatFollow) {
  const SeriesSchema declared = Declared(
      std::string(kByTime) + "queries:\n  - { ask: one disk of all hosts, tags: [disk], range: 1h }\n");
  const std::optional<CuredDeclaration> latest =
      CureDeclaration(declared, DeclarationChange::kLatestTable, kNow);
  ASSERT_TRUE(latest.has_value());
  EXPECT_THAT(latest->schema.text, HasSubstr("derive:\n  - latest: METRIC_latest\n"));
  EXPECT_EQ(latest->schema.table, "METRIC") << "nothing moves";
  EXPECT_FALSE(CureDeclaration(latest->schema, DeclarationChange::kLatestTable, kNow).has_value());
  const std::optional<CuredDeclaration> second =
      CureDeclaration(latest->schema, DeclarationChange::kSecondTable, kNow);
  ASSERT_TRUE(second.has_value());
  EXPECT_THAT(second->schema.text,
              HasSubstr("  - order: { table: METRIC_by_disk, key: [disk, bucket, host], bucket: day }\n"));
  EXPECT_EQ(second->schema.latest.size(), 1u);
}

TEST(Cure, LeavesAloneWhatItCannotWrite) {
  SeriesSchema declared =
      Declared(std::string(kByTime) + "derive: [{ rollup: { table: by_hour, every: 1h } }]\n");
  EXPECT_FALSE(CureDeclaration(declared, DeclarationChange::kLatestTable, kNow).has_value());
  EXPECT_TRUE(CureDeclaration(declared, DeclarationChange::kPromoteTags, kNow).has_value());
  declared.text.clear();
  EXPECT_FALSE(CureDeclaration(declared, DeclarationChange::kPromoteTags, kNow).has_value());
}

}  // namespace
}  // namespace sonde::series
