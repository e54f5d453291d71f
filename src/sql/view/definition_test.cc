#include "sql/view/definition.h"

#include "sql/view/keep/view_test_support.h"
#include "sql/view/shown_rows.h"

namespace sonde::sql {
namespace {

class DefinitionTest : public ViewTest {
 protected:
  absl::StatusOr<std::shared_ptr<const ViewDefinition>> Define(std::string_view text) {
    return DefineView(text, BindOptionsOfView(store_.catalog.get(), &bundles_, kViewTestInstance));
  }
  std::string Refused(std::string_view text) {
    const auto definition = Define(text);
    return definition.ok() ? "taken" : definition.status().ToString();
  }

  BundleFinder bundles_{store_.catalog.get()};
};

TEST_F(DefinitionTest, NamesKeysTimesAndCells) {
  const auto groups = Define(
      "SELECT v AS v2, TIMESTAMP_TRUNC(_timestamp, HOUR) AS _timestamp, COUNT(*) AS `r.n.m`, MAX(v) AS m "
      "FROM UNPACK((SELECT f['v'] AS v FROM t(with_history => TRUE))) GROUP BY v2, 2");
  ASSERT_TRUE(groups.ok()) << groups.status();
  EXPECT_EQ((*groups)->keys, std::vector<size_t>{0});
  EXPECT_EQ((*groups)->time, 1U);
  EXPECT_EQ((*groups)->columns[2].family, "r");
  EXPECT_EQ((*groups)->columns[2].qualifier, "n.m");
  EXPECT_EQ((*groups)->columns[3].family, "default");
  ASSERT_TRUE((*groups)->schema.has_value());
  EXPECT_EQ((*groups)->schema->fields[0].name, "v2");
  const TableSchema storage = StorageOf(**groups);
  ASSERT_EQ(storage.families.size(), 2U);
  EXPECT_EQ(storage.families[0].name, "default");
  EXPECT_EQ(storage.families[1].name, "r");
}

TEST_F(DefinitionTest, CountsAllUnderAKeyOfItsOwn) {
  const auto view = Define("SELECT '*' AS _key, COUNT(*) AS n FROM t GROUP BY _key");
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_FALSE((*view)->schema.has_value());
}

TEST_F(DefinitionTest, IndexesAreOrdered) {
  const auto view =
      Define("SELECT f['v'] AS v, _key AS id, f['k'] AS k FROM t WHERE f['v'] IS NOT NULL ORDER BY v, id");
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ((*view)->kind, ViewDefinition::Kind::kIndex);
  EXPECT_EQ((*view)->keys, (std::vector<size_t>{0, 1}));
}

TEST_F(DefinitionTest, IndexesMayHaveWholeFamilies) {
  const auto view = Define("SELECT f['k'] AS k, _key AS id, f AS f, two AS other FROM t ORDER BY k, id");
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ((*view)->columns[3].family, "other");
  const TableSchema storage = StorageOf(**view);
  ASSERT_EQ(storage.families.size(), 3U);
  EXPECT_EQ(storage.families[1].name, "f");
  EXPECT_EQ(ShownColumns(**view), "`k` AS `k`, `id` AS `id`, `f` AS `f`, `other` AS `other`");
}

TEST_F(DefinitionTest, RefusesWhatProductionRefuses) {
  const auto refused = [this](std::string_view query, std::string_view what) {
    EXPECT_EQ(Refused(query), "INVALID_ARGUMENT: " + std::string(what)) << query;
  };
  refused("SELECT f['k'] AS k FROM t", "A materialized view must have GROUP BY or ORDER BY [at 1:1]");
  refused("SELECT f['k'] AS k, COUNT(*) AS n FROM t GROUP BY k ORDER BY k",
          "A materialized view cannot have both GROUP BY and ORDER BY [at 1:1]");
  refused("SELECT f['k'] AS k, COUNT(*) AS n FROM t GROUP BY k LIMIT 1",
          "A materialized view cannot have LIMIT [at 1:59]");
  refused("SELECT * FROM t ORDER BY _key", "A materialized view cannot have SELECT * [at 1:8]");
  refused("SELECT f['k'] AS k FROM t ORDER BY k DESC", "A materialized view cannot have DESC [at 1:36]");
  refused("SELECT DISTINCT f['k'] AS k FROM t ORDER BY k",
          "A materialized view cannot have SELECT DISTINCT [at 1:1]");
  refused("SELECT f['k'] AS k, COUNT(DISTINCT f['v']) AS n FROM t GROUP BY k",
          "A materialized view cannot have COUNT(DISTINCT ...) [at 1:21]");
  refused("SELECT f['k'] AS k, COUNTIF(TRUE) AS n FROM t GROUP BY k",
          "A materialized view cannot have COUNTIF [at 1:21]");
  refused("SELECT f['k'] AS k, ARRAY_AGG(f['v']) AS n FROM t GROUP BY k",
          "A materialized view cannot have ARRAY_AGG [at 1:21]");
  refused(
      "SELECT f['k'] AS k, COUNT(*) AS n FROM t WHERE CURRENT_TIMESTAMP() > TIMESTAMP '2020-01-01' GROUP BY "
      "k",
      "A materialized view cannot have CURRENT_TIMESTAMP [at 1:48]");
  refused("SELECT f['k'] AS k, RAND() AS n FROM t ORDER BY k",
          "A materialized view cannot have RAND [at 1:21]");
  refused("SELECT f['k'] AS k, [1] AS n FROM t ORDER BY k",
          "A materialized view cannot have ARRAY [at 1:21]");
  refused("SELECT f['k'] AS k, (1, 2) AS n FROM t ORDER BY k",
          "A materialized view cannot have STRUCT [at 1:21]");
  refused("SELECT f['k'] AS k, COUNT(*) OVER () AS n FROM t ORDER BY k",
          "A materialized view cannot have OVER [at 1:21]");
  refused("SELECT f['k'] AS k, COUNT(*) AS n FROM t GROUP BY k HAVING n > 1",
          "A materialized view cannot have HAVING [at 1:60]");
  refused("SELECT f['k'] AS k, COUNT(*) FROM t GROUP BY k",
          "Every column of a materialized view must have a name: expression AS name [at 1:21]");
  refused("SELECT COUNT(*) AS n FROM t GROUP BY f['k']",
          "A materialized view must select each key of its GROUP BY: f['k'] is not selected [at 1:38]");
  refused("SELECT f['k'] AS k, DATE '2020-01-01' AS d FROM t ORDER BY k",
          "A materialized view cannot have columns of type DATE: column d");
  refused("SELECT _key, f['k'] AS k, COUNT(*) AS n FROM t GROUP BY _key, k",
          "A materialized view with the key column _key cannot have another one");
  refused("SELECT 1 AS _key, COUNT(*) AS n FROM t GROUP BY _key",
          "A materialized view must have a column _key of type BYTES, not INT64");
  refused("SELECT f['k'] AS k, TIMESTAMP '2020-01-01' AS _timestamp FROM t ORDER BY k",
          "A materialized view with ORDER BY cannot have a column _timestamp");
  refused("SELECT 1.5 AS k, COUNT(*) AS n FROM t GROUP BY k",
          "A materialized view cannot have a key column of type FLOAT64: column k");
  refused("SELECT f['k'] AS k, COUNT(*) AS n, COUNT(*) AS N FROM t GROUP BY k",
          "A materialized view has two columns named N");
  refused("SELECT f['k'] AS k, (SELECT 1) AS n FROM t ORDER BY k",
          "A materialized view cannot have a subquery [at 1:21]");
  refused("SELECT a.k AS k FROM (SELECT f['k'] AS k FROM t) AS a ORDER BY k",
          "A materialized view cannot have a subquery [at 1:22]");
  refused("SELECT f['k'] AS k, @p AS n FROM t ORDER BY k",
          "A materialized view cannot have query parameters [at 1:21]");
  refused("SELECT f['k'] AS k, COUNT(*) AS n FROM t GROUP BY ROLLUP(k)",
          "A materialized view cannot have ROLLUP [at 1:51]");
  refused("SELECT f['k'] AS k, ANY_VALUE(f) AS f FROM t GROUP BY k",
          "A materialized view with GROUP BY cannot have columns of type MAP: column f");
  refused("SELECT f['k'] AS k, f AS `default` FROM t ORDER BY k",
          "A materialized view cannot have a column of type MAP with the name default, which no family of it "
          "may have: each "
          "row has a cell of its own there");
  refused("SELECT f['k'] AS k, f AS f, two['v'] AS `f.v` FROM t ORDER BY k",
          "A materialized view has a column f of type MAP and another one in its family");
  refused("SELECT f['k'] AS k, f['v'] AS n FROM t GROUP BY k",
          "SELECT list expression references column f which is neither grouped nor aggregated [at 1:21]");
}

TEST_F(DefinitionTest, RefusesViewsAsSource) {
  CreateView("v", "SELECT f['k'] AS k, COUNT(*) AS n FROM t GROUP BY k");
  EXPECT_EQ(Refused("SELECT n AS n, COUNT(*) AS m FROM v GROUP BY n"),
            "INVALID_ARGUMENT: A materialized view cannot read from a view: v");
}

TEST_F(DefinitionTest, SaysWhatIsNotBuilt) {
  EXPECT_EQ(Refused("SELECT site AS site, COUNT(*) AS n FROM series.balloon GROUP BY site"),
            "UNIMPLEMENTED: A materialized view that reads from a series is not built: series.balloon");
  EXPECT_EQ(Refused("@{outlive_source=true} SELECT f['k'] AS k, COUNT(*) AS n FROM t GROUP BY k"),
            "UNIMPLEMENTED: Materialized views that outlive their source are built over UNPACK only, whose "
            "rows are "
            "of one time each and expire as a whole");
  EXPECT_EQ(
      Refused("SELECT _key, sum AS s FROM t ORDER BY _key"),
      "UNIMPLEMENTED: Materialized views with columns of type MAP<BYTES, INT64> are not built: column s");
  EXPECT_EQ(Refused("FROM t |> AGGREGATE COUNT(*) AS n GROUP BY _key"),
            "UNIMPLEMENTED: Materialized views with pipe syntax are not built [at 1:1]");
  EXPECT_EQ(Refused("SELECT _key, COUNT(*) AS n FROM nope GROUP BY _key"),
            "NOT_FOUND: Table not found: nope [at 1:33]");
}

}  // namespace
}  // namespace sonde::sql
