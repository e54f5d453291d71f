// From a load to a finding, to the declaration that cures it, and to the same load under that: it raises
// nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/memory/memory_engine.h"
#include "keyviz/key_visualizer.h"
#include "series/key/key_codec.h"
#include "series/known/declaration_store.h"
#include "series/schema/check.h"
#include "series/schema/schema_parser.h"
#include "server/table_declarations.h"
#include "table/local_tables.h"

namespace sonde {
namespace {

constexpr int64_t kStartSeconds = 1'700'000'000;
constexpr int kSeconds = 60;

class DeclaredCuresTest : public testing::Test {
 protected:
  // A catalog with the declaration in it, in an instance of anybody's.
  void Declare(const std::string& yaml) {
    const absl::StatusOr<series::SeriesSchema> schema = series::ParseSchema(yaml, "test");
    ASSERT_TRUE(schema.ok()) << schema.status();
    schema_ = *schema;
    ASSERT_EQ(series::StoreDeclaration(schema_, &local_, clock_), absl::OkStatus());
  }

  // What the load of `write` (seconds, then the keys of the points of that second) shows, when the series is
  // declared so.
  using Points = std::function<void(int second, const std::function<void(std::vector<std::string_view>)>&)>;
  std::vector<Finding> Watch(const series::SeriesSchema& schema, const Points& points) {
    const auto directory =
        std::filesystem::path(testing::TempDir()) / fmt::format("declared-cures-{}", getpid());
    std::filesystem::remove_all(directory);
    ManualClock clock(kStartSeconds * 1'000'000);
    KeyVisualizer::Options options;
    options.directory = directory;
    auto visualizer = *KeyVisualizer::Open(std::move(options), &clock);
    const series::KeyCodec codec(schema);
    for (int second = 0; second < kSeconds; ++second) {
      int64_t micros = (kStartSeconds + second) * 1'000'000;
      points(second, [&](std::vector<std::string_view> tags) {
        std::string key;
        ASSERT_EQ(codec.Encode(tags, micros += 1'000, &key), absl::OkStatus());
        const AccessedRow row{key, 100, 1};
        visualizer->OnAccess(1, {.kind = AccessKind::kWrite,
                                 .rows = absl::MakeSpan(&row, 1),
                                 .cells = 1,
                                 .latency_micros = 300,
                                 .errors = 0});
      });
      clock.Advance(1'000'000);
      visualizer->Tick();
    }
    std::vector<Finding> findings =
        *visualizer->Findings(1, schema.table, kStartSeconds, kStartSeconds + kSeconds,
                              declarations_.Find(kInstance + ("/tables/" + schema.table)));
    visualizer.reset();
    std::filesystem::remove_all(directory);
    return findings;
  }

  static std::vector<std::string> Names(const std::vector<Finding>& findings) {
    std::vector<std::string> names;
    for (const Finding& finding : findings) names.emplace_back(NameOf(finding.pattern));
    return names;
  }

  // The declaration of the finding's cure, which `sonde series check` must take.
  static series::SeriesSchema Cured(const Finding& finding) {
    EXPECT_TRUE(finding.cure.has_value());
    const absl::StatusOr<series::SeriesSchema> schema =
        series::ParseSchema(finding.cure.value_or(Cure()).declaration, "cured");
    EXPECT_TRUE(schema.ok()) << schema.status();
    EXPECT_EQ(series::RefuseErrors(*schema), absl::OkStatus());
    return *schema;
  }

  static inline const std::string kInstance = "projects/anybody/instances/anywhere";
  ManualClock clock_{kStartSeconds * 1'000'000};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  Tables tables_{engine_.get(), catalog_.get(), &clock_, 1};
  LocalTables local_{&tables_, kInstance};
  TableDeclarations declarations_{&tables_};
  series::SeriesSchema schema_;
};

TEST_F(DeclaredCuresTest, SequentialKeysAreCuredByThePromotedTag) {
  uint64_t meter = 0;
  const Points points = [&](int, const auto& write) {
    for (int i = 0; i < 200; ++i) write({fmt::format("{}", (meter += 7919) % 20'000)});
  };
  Declare(
      "series: meters\ntable: READINGS\ntags: { meter: { type: int, width: 6 } }\nfields: { kwh: double }\n"
      "bucket: 1s\nkey: [{ bucket: 1s, format: epoch_s }, meter]\nretention: { max_age: 30d }\n");
  const std::vector<Finding> findings = Watch(schema_, points);
  ASSERT_THAT(Names(findings), testing::Contains("sequential_keys"));
  const Finding& found = *std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.pattern == Pattern::kSequentialKeys;
  });
  EXPECT_THAT(found.text, testing::HasSubstr("READINGS (series meters)"));
  const series::SeriesSchema cured = Cured(found);
  EXPECT_EQ(cured.key[0].kind, series::KeyPart::Kind::kTag);
  EXPECT_THAT(Names(Watch(cured, points)), testing::IsEmpty());
}

TEST_F(DeclaredCuresTest, SequentialKeysWithoutATagAreCuredByASalt) {
  Declare("series: log\nfields: { line: string }\nlayout: row\nkey: [time]\nretention: { max_age: 1d }\n");
  const Points points = [](int, const auto& write) {
    for (int i = 0; i < 200; ++i) write({});
  };
  const std::vector<Finding> findings = Watch(schema_, points);
  ASSERT_THAT(Names(findings), testing::ElementsAre("sequential_keys"));
  EXPECT_THAT(findings[0].cure.value_or(Cure()).change, testing::HasSubstr("salt"));
  EXPECT_THAT(Names(Watch(Cured(findings[0]), points)), testing::IsEmpty());
}

TEST_F(DeclaredCuresTest, AHotRowIsCuredByARowForEachPoint) {
  Declare(
      "series: machines\ntags: { host: string }\nfields: { cpu: double }\nkey: [host, bucket]\nbucket: day\n"
      "retention: { max_age: 30d }\n");
  int host = 0;
  const Points points = [&](int, const auto& write) {
    for (int i = 0; i < 200; ++i) {
      write({fmt::format("host{:03}", ++host % 300)});
      write({"gateway"});
    }
  };
  const std::vector<Finding> findings = Watch(schema_, points);
  ASSERT_THAT(Names(findings), testing::Contains("hot_row"));
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& finding) { return finding.pattern == Pattern::kHotRow; });
  const series::SeriesSchema cured = Cured(*found);
  EXPECT_THAT(Names(Watch(cured, points)), testing::Not(testing::Contains("hot_row")));
}

TEST_F(DeclaredCuresTest, EachInstanceHasItsOwnDeclarations) {
  Declare(
      "series: machines\ntable: METRIC\ntags: { host: string }\nfields: { cpu: double }\nkey: [host, "
      "bucket]\n"
      "bucket: day\nretention: { max_age: 30d }\nderive:\n  - latest: NOW\n");
  const auto found = declarations_.Find(kInstance + "/tables/METRIC");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->name, "machines");
  EXPECT_TRUE(found->find_cure(CureKind::kShorterBucket).has_value());
  EXPECT_FALSE(found->find_cure(CureKind::kLatestTable).has_value()) << "it has one";
  const auto derived = declarations_.Find(kInstance + "/tables/NOW");
  ASSERT_TRUE(derived.has_value());
  EXPECT_EQ(derived->name, "machines");
  EXPECT_FALSE(derived->find_cure);
  EXPECT_FALSE(declarations_.Find(kInstance + "/tables/OTHER").has_value());
  EXPECT_FALSE(declarations_.Find("projects/p/instances/i/tables/METRIC").has_value());
}

TEST_F(DeclaredCuresTest, KnowsWhichTablesAreThereToBeReadWhole) {
  Declare(
      "series: sensors\ntable: SENSOR\ntags: { sensor: string }\nfields: { value: double }\n"
      "key: [sensor, bucket]\nbucket: 1h\nretention: { max_age: 30d }\n"
      "derive:\n  - latest: CURRENT_SENSOR\n  - period: { table: \"SENSOR_{yyyymmdd}\", every: day }\n");
  const auto is_read_whole = [&](const std::string& table) {
    const std::optional<DeclaredSeries> found = declarations_.Find(kInstance + "/tables/" + table);
    EXPECT_TRUE(found.has_value()) << table;
    return found.has_value() && found->is_read_whole;
  };
  EXPECT_TRUE(is_read_whole("CURRENT_SENSOR"));
  EXPECT_TRUE(is_read_whole("SENSOR_20240101"));
  EXPECT_FALSE(is_read_whole("SENSOR"));
  EXPECT_TRUE(TableDeclarations::IsOwnTable(kInstance + "/tables/sonde_series"));
  EXPECT_TRUE(TableDeclarations::IsOwnTable(kInstance + "/tables/sonde_rollup_marks"));
  EXPECT_FALSE(TableDeclarations::IsOwnTable(kInstance + "/tables/SENSOR"));
}

}  // namespace
}  // namespace sonde
