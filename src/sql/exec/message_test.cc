// Messages and enums of schema bundles in queries.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "sql/descriptor/music_test_support.h"
#include "sql/exec/bundle_finder.h"
#include "sql/exec/exec_test_support.h"

namespace sonde::sql {
namespace {

template <size_t N>
std::string Bytes(const char (&text)[N]) {
  return std::string(text, N - 1);
}

class MessageTest : public ExecTest {
 protected:
  void SetUp() override {
    ExecTest::SetUp();
    ASSERT_TRUE(
        catalog_->CreateBundle({"projects/p/instances/i/tables/t/schemaBundles/m", MusicDescriptors()}).ok());
    // title: "Kind of Blue" year: 1959 genre: JAZZ artist { name: "Miles" } tracks { title: "So What" seconds: 545 }
    // tracks { title: "Blue" } tags: "a" tags: "b" plays { key: "x" value: 3 }
    Put("1", "a", "q", 1,
        Bytes(
            "\x0a\x0cKind of Blue\x10\xa7\x0f\x18\x01\x22\x07\x0a\x05Miles\x2a\x0c\x0a\x07So What\x10\xa1\x04"
            "\x2a\x06\x0a\x04"
            "Blue\x32\x01"
            "a\x32\x01"
            "b\x42\x05\x0a\x01x\x10\x03"));
    Put("2", "a", "q", 1,
        Bytes("\x0a\x05"
              "Empty\x39\x00\x00\x00\x00\x00\x00\x00\x00"));
    Put("3", "a", "other", 1, "x");
  }

  std::string Ask(const std::string& sql) {
    BindOptions options;
    options.find_table = [this](std::string_view id) {
      return catalog_->Find("projects/p/instances/i/tables/" + std::string(id));
    };
    options.find_bundle = [this](const TableSchema& table, std::string_view id) {
      return finder_.Find(table, id);
    };
    const absl::StatusOr<BoundQuery> query = ParseAndBind(sql, options);
    if (!query.ok()) return query.status().ToString();
    last_bundles_ = query->bundles.size();
    const absl::StatusOr<std::unique_ptr<Execution>> execution = Execute(*query, {}, Environment());
    if (!execution.ok()) return execution.status().ToString();
    return Rest(execution->get(), TypesOf(*query));
  }
  // Returns `what` of each album; `what` may use m.
  std::string Field(const std::string& what) {
    return Ask("SELECT " + what + " FROM (SELECT CAST(a['q'] AS m.music.Album) AS m FROM t)");
  }

  BundleFinder finder_{catalog_.get()};
  size_t last_bundles_ = 0;
};

TEST_F(MessageTest, FieldsAreRead) {
  EXPECT_EQ(Ask("SELECT CAST(a['q'] AS `m.music.Album`).title FROM t"),
            "\"Kind of Blue\"\n\"Empty\"\nNULL\n");
  EXPECT_EQ(last_bundles_, 1);
  EXPECT_EQ(Field("m.year, m.artist.name, m.rating"), "1959 \"Miles\" 0\n0 NULL 0\nNULL NULL NULL\n");
  EXPECT_EQ(Field("m.has_artist, m.has_rating, m.has_year, m.artist.has_name"),
            "true false true true\nfalse true false NULL\nNULL NULL NULL NULL\n");
  EXPECT_EQ(Field("m.tags, ARRAY_LENGTH(m.tracks), m.tracks[SAFE_OFFSET(0)].title"),
            "[\"a\", \"b\"] 2 \"So What\"\n[] 0 NULL\nNULL NULL NULL\n");
  EXPECT_EQ(
      Ask("SELECT track.title, track.seconds FROM t, UNNEST(CAST(a['q'] AS m.music.Album).tracks) AS track"),
      "\"So What\" 545\n\"Blue\" 0\n");
  EXPECT_EQ(Field("m.plays[SAFE_OFFSET(0)].key, m.plays[SAFE_OFFSET(0)].value"),
            "\"x\" 3\nNULL NULL\nNULL NULL\n");
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM t WHERE CAST(a['q'] AS m.music.Album).TITLE LIKE 'Kind%'"), "1\n");
}

TEST_F(MessageTest, EnumsAreTheirOwnType) {
  EXPECT_EQ(Field("CAST(m.genre AS STRING), CAST(m.genre AS INT64)"),
            "\"JAZZ\" 1\n\"UNKNOWN\" 0\nNULL NULL\n");
  EXPECT_EQ(Field("m.genre = 'JAZZ', m.genre IN ('ROCK', 'JAZZ'), m.genre > 'UNKNOWN'"),
            "true true true\nfalse false false\nNULL NULL NULL\n");
  EXPECT_EQ(
      Ask("SELECT CAST(g AS STRING), COUNT(*) FROM (SELECT CAST(a['q'] AS m.music.Album).genre AS g FROM t) "
          "GROUP BY g ORDER BY g"),
      "NULL 1\n\"UNKNOWN\" 1\n\"JAZZ\" 1\n");
  EXPECT_EQ(Ask("SELECT CAST(CAST(2 AS m.music.Genre) AS STRING), CAST(CAST('ROCK' AS m.music.Genre) AS "
                "INT64) FROM t "
                "LIMIT 1"),
            "\"ROCK\" 2\n");
  EXPECT_EQ(Ask("SELECT CAST(CAST(LENGTH(_key) + 6 AS m.music.Genre) AS STRING) FROM t"),
            "OUT_OF_RANGE: Out of range cast of integer 7 to enum type ENUM<music.Genre>");
  EXPECT_EQ(Ask("SELECT SAFE_CAST(CAST(a['other'] AS STRING) AS m.music.Genre) FROM t LIMIT 1"), "NULL\n");
  EXPECT_EQ(Ask("SELECT CAST(CAST(a['other'] AS STRING) AS m.music.Genre) FROM t"),
            "OUT_OF_RANGE: Out of range cast of string 'x' to enum type ENUM<music.Genre>");
  EXPECT_EQ(Field("m.genre = 1"), "true\nfalse\nNULL\n") << "a literal";
}

TEST_F(MessageTest, BytesThatAreNoMessageAreErrors) {
  Put("4", "a", "bad", 1, Bytes("\x0a\x05x"));
  EXPECT_EQ(Ask("SELECT CAST(a['bad'] AS m.music.Album).title FROM t"),
            "OUT_OF_RANGE: Corrupted protocol buffer: Failed to parse a message of type music.Album");
  EXPECT_EQ(Ask("SELECT SAFE_CAST(a['bad'] AS m.music.Album).title FROM t WHERE _key = '4'"), "NULL\n");
  Put("5", "a", "latin", 1, Bytes("\x0a\x01\xe9"));
  EXPECT_EQ(Ask("SELECT CAST(a['latin'] AS m.music.Album).title FROM t"),
            "OUT_OF_RANGE: Corrupted protocol buffer: Failed to interpret value for field music.Album.title: "
            "it is no "
            "UTF-8");
}

TEST_F(MessageTest, MessagesAreNeitherComparedNorGrouped) {
  EXPECT_EQ(Field("m = m"),
            "INVALID_ARGUMENT: No matching signature for operator = for argument types: PROTO<music.Album>, "
            "PROTO<music.Album> [at 1:8]");
  EXPECT_EQ(Field("m IS NULL"), "false\nfalse\ntrue\n");
  EXPECT_EQ(Ask("SELECT COUNT(*) FROM (SELECT CAST(a['q'] AS m.music.Album) AS m FROM t) GROUP BY m"),
            "INVALID_ARGUMENT: Grouping by expressions of type PROTO<music.Album> is not allowed [at 1:82]");
  EXPECT_EQ(Field("CAST(m AS BYTES) = CAST(CAST(m AS BYTES) AS BYTES)"), "true\ntrue\nNULL\n");
}

TEST_F(MessageTest, NamesThatAreNotThereAreErrors) {
  EXPECT_EQ(Ask("SELECT CAST(a['q'] AS m.music.None) FROM t"),
            "INVALID_ARGUMENT: Type not found: m.music.None [at 1:23]");
  EXPECT_EQ(Ask("SELECT CAST(a['q'] AS none.music.Album) FROM t"),
            "INVALID_ARGUMENT: Type not found: none.music.Album [at 1:23]");
  EXPECT_EQ(Field("m.none"),
            "INVALID_ARGUMENT: Protocol buffer music.Album does not have a field called none [at 1:10]");
  EXPECT_EQ(Field("m.has_tracks"),
            "INVALID_ARGUMENT: Protocol buffer music.Album field tracks is repeated, so has_tracks is not "
            "allowed [at "
            "1:10]");
  EXPECT_EQ(Field("m.plays[OFFSET(0)].has_key"),
            "INVALID_ARGUMENT: music.Album.PlaysEntry is a synthetic map entry proto. has_key is not allowed "
            "for map "
            "entries because all map entry fields are considered to be present by definition [at 1:8]");
}

}  // namespace
}  // namespace sonde::sql
