// Random rows: orders, groups, joins and windows against slower ways to the same rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <tuple>

#include "rows/column.h"
#include "sql/exec/exec_test_support.h"
#include "sql/operator/groups.h"
#include "sql/operator/sort_order.h"

namespace sonde::sql {
namespace {

// A column with some NULLs, some NaNs, and values that repeat.
rows::Column RandomColumn(ColumnType type, size_t rows, size_t values, std::mt19937_64* random) {
  rows::Column column(type);
  for (size_t i = 0; i < rows; ++i) {
    const auto value = static_cast<int64_t>((*random)() % values) - static_cast<int64_t>(values / 2);
    if ((*random)() % 8 == 0) {
      column.AppendMissing();
    } else if (type == ColumnType::kInt64) {
      column.AppendInt(value);
    } else if (type == ColumnType::kDouble) {
      column.AppendDouble((*random)() % 10 == 0 ? std::nan("")
                          : value == 0          ? -0.0
                                                : static_cast<double>(value) / 4);
    } else {
      column.AppendBytes((value % 3 == 0 ? "a long prefix " : "") + std::to_string(value));
    }
  }
  return column;
}

constexpr ColumnType kTypes[] = {ColumnType::kInt64, ColumnType::kDouble, ColumnType::kBytes};

TEST(SortOrderTest, IsThatOfAStableSort) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 60; ++round) {
    const size_t rows = random() % (round % 10 == 0 ? 20'000 : 300);
    std::vector<rows::Column> columns;
    std::vector<SortColumn> keys;
    for (size_t i = 0; i < 1 + random() % 3; ++i) {
      columns.push_back(RandomColumn(kTypes[random() % 3], rows, 1 + random() % 50, &random));
    }
    for (const rows::Column& column : columns) {
      keys.push_back({column.View(), random() % 2 == 0, random() % 2 == 0});
    }
    std::vector<size_t> expected(rows);
    for (size_t i = 0; i < rows; ++i) expected[i] = i;
    std::stable_sort(expected.begin(), expected.end(), [&](size_t a, size_t b) {
      for (const SortColumn& key : keys) {
        const bool a_is_there = key.values.IsThere(a);
        const bool b_is_there = key.values.IsThere(b);
        if (a_is_there != b_is_there) return key.nulls_first ? b_is_there : a_is_there;
        const int order = Compare(key.values, a, key.values, b);
        if (order != 0) return key.descending ? order > 0 : order < 0;
      }
      return false;
    });
    const rows::Interrupted interrupted;
    rows::WorkCheck check(interrupted);
    EXPECT_EQ(*SortOrder(keys, rows, &check), expected);
  }
}

struct DatumsLess {
  bool operator()(const std::vector<Datum>& a, const std::vector<Datum>& b) const {
    for (size_t i = 0; i < a.size(); ++i) {
      if (const int order = Compare(a[i], b[i]); order != 0) return order < 0;
    }
    return false;
  }
};

TEST(GroupsTest, AreThoseOfAMap) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 40; ++round) {
    std::vector<ColumnType> types;
    for (size_t i = 0; i < 1 + random() % 3; ++i) types.push_back(kTypes[random() % 3]);
    const size_t values = 1 + random() % 200;
    Groups groups(types);
    std::map<std::vector<Datum>, uint32_t, DatumsLess> known;
    std::vector<std::vector<rows::Column>> batches;  // which the keys of the map view
    for (int batch = 0; batch < 5; ++batch) {
      const size_t rows = 1 + random() % 500;
      std::vector<rows::Column>& columns = batches.emplace_back();
      std::vector<ColumnView> keys;
      for (const ColumnType type : types) columns.push_back(RandomColumn(type, rows, values, &random));
      for (const rows::Column& column : columns) {
        const bool is_constant = random() % 4 == 0;
        keys.push_back(is_constant ? ColumnView::Constant(column.View().Part(0, 1), rows) : column.View());
      }
      groups.Find(keys, rows);
      const absl::Span<const uint32_t> found = groups.of_rows();
      for (size_t row = 0; row < rows; ++row) {
        std::vector<Datum> key;
        for (const ColumnView& column : keys) key.push_back(DatumAt(column, row));
        const auto [entry, is_new] = known.try_emplace(key, static_cast<uint32_t>(known.size()));
        ASSERT_EQ(found[row], entry->second);
      }
      ASSERT_EQ(groups.size(), known.size());
    }
  }
}

class RandomQueryTest : public ExecTest {
 protected:
  // UNNEST of rows (x, y, s), some of whose values are NULL.
  std::string Rows(size_t rows, int values) {
    std::string text =
        "UNNEST([STRUCT(CAST(NULL AS INT64) AS x, CAST(NULL AS FLOAT64) AS y, CAST(NULL AS STRING) AS s)";
    const auto value = [&] { return static_cast<int>(random_() % values) - values / 2; };
    for (size_t i = 0; i < rows; ++i) {
      const std::string x = random_() % 9 == 0 ? "CAST(NULL AS INT64)" : std::to_string(value());
      const std::string y = random_() % 9 == 0   ? "CAST(NULL AS FLOAT64)"
                            : random_() % 9 == 0 ? "CAST('nan' AS FLOAT64)"
                                                 : std::to_string(value()) + ".5";
      const std::string s = random_() % 9 == 0 ? "CAST(NULL AS STRING)" : "'" + std::to_string(value()) + "'";
      text += ", STRUCT(" + x + ", " + y + ", " + s + ")";
    }
    return text + "])";
  }

  void ExpectSame(const std::string& a, const std::string& b) {
    std::string rows[2] = {Query(a), Query(b)};
    for (std::string& text : rows) {
      std::vector<std::string> lines;
      for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
      }
      std::sort(lines.begin(), lines.end());
      text.clear();
      for (const std::string& line : lines) text += line + "\n";
    }
    EXPECT_EQ(rows[0], rows[1]) << a << "\n" << b;
  }

  std::mt19937_64 random_{3};
};

TEST_F(RandomQueryTest, JoinsAreFilteredPairs) {
  for (int round = 0; round < 6; ++round) {
    const std::string a = "(SELECT * FROM " + Rows(60, 20) + ")";
    const std::string b = "(SELECT * FROM " + Rows(60, 20) + ")";
    for (const std::string condition :
         {"a.x = b.x", "a.y = b.y AND a.x < b.x", "a.s = b.s AND a.x = b.x", "a.x + 1 = b.x AND a.s > 'a'"}) {
      const std::string pairs = " FROM " + a + " a, " + b + " b WHERE IF(" + condition + ", TRUE, FALSE)";
      ExpectSame("SELECT a.x, b.y, a.s FROM " + a + " a JOIN " + b + " b ON " + condition,
                 "SELECT a.x, b.y, a.s" + pairs);
      ExpectSame("SELECT a.x, a.s, b.y FROM " + a + " a LEFT JOIN " + b + " b ON " + condition +
                     " WHERE b.s IS NULL",
                 "SELECT a.x, a.s, b.y FROM " + a + " a LEFT JOIN " + b + " b ON IF(" + condition +
                     ", TRUE, FALSE) WHERE b.s IS NULL");
      ExpectSame(
          "SELECT a.x, b.x FROM " + a + " a FULL JOIN " + b + " b ON " + condition,
          "SELECT a.x, b.x FROM " + a + " a FULL JOIN " + b + " b ON IF(" + condition + ", TRUE, FALSE)");
    }
  }
}

TEST_F(RandomQueryTest, AsofJoinsTakeTheNearest) {
  for (int round = 0; round < 6; ++round) {
    const std::string a = "(SELECT x, s, o FROM " + Rows(60, 20) + " WITH OFFSET o)";
    const std::string b = "(SELECT DISTINCT x, s FROM " + Rows(60, 20) + ")";
    const std::tuple<std::string, std::string, std::string> kWays[] = {{"a.x >= b.x", "MAX", "b.x <= a.x"},
                                                                       {"a.x > b.x", "MAX", "b.x < a.x"},
                                                                       {"a.x <= b.x", "MIN", "b.x >= a.x"},
                                                                       {"b.x > a.x", "MIN", "b.x > a.x"}};
    for (const auto& [join, extreme, condition] : kWays) {
      ExpectSame("SELECT a.o, b.x FROM " + a + " a ASOF LEFT JOIN " + b + " b ON a.s = b.s AND " + join,
                 "SELECT a.o, (SELECT " + extreme + "(b.x) FROM " + b + " b WHERE a.s = b.s AND " +
                     condition + ") FROM " + a + " a");
      ExpectSame("SELECT a.o, b.x FROM " + a + " a ASOF JOIN " + b + " b ON " + join + " AND b.s = a.s",
                 "SELECT a.o, b.x FROM " + a + " a ASOF LEFT JOIN " + b + " b ON a.s = b.s AND " + join +
                     " WHERE b.x IS NOT NULL");
    }
  }
}

TEST_F(RandomQueryTest, WindowsAreSubqueries) {
  for (int round = 0; round < 4; ++round) {
    const std::string rows = "(SELECT x, s, o FROM " + Rows(80, 12) + " WITH OFFSET o)";
    const std::pair<std::string, std::string> kFrames[] = {
        {"PARTITION BY s ORDER BY o ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING", ""},
        {"ORDER BY o ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING", "b.o < a.o"},
        {"ORDER BY o ROWS BETWEEN 5 PRECEDING AND 1 FOLLOWING", "b.o BETWEEN a.o - 5 AND a.o + 1"},
        {"ORDER BY o RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "b.o >= a.o"},
        {"PARTITION BY s", "b.s IS NOT DISTINCT FROM a.s"},
        {"PARTITION BY s ORDER BY o", "b.s IS NOT DISTINCT FROM a.s AND b.o <= a.o"}};
    for (const auto& [frame, condition] : kFrames) {
      if (condition.empty()) continue;
      ExpectSame("SELECT o, SUM(x) OVER (" + frame + "), COUNT(x) OVER (" + frame + "), MAX(x) OVER (" +
                     frame + ") FROM " + rows,
                 "SELECT o, (SELECT SUM(b.x) FROM " + rows + " b WHERE " + condition +
                     "), (SELECT COUNT(b.x) FROM " + rows + " b WHERE " + condition +
                     "), (SELECT MAX(b.x) FROM " + rows + " b WHERE " + condition + ") FROM " + rows + " a");
    }
  }
}

TEST_F(RandomQueryTest, TheFirstRowsOfAnOrderAreThoseOfTheWholeOrder) {
  const std::string rows =
      "(SELECT MOD(x * 7919 + y * 104729, 10007) AS k, MOD(x + y, 13) AS j, x * 100 + y AS n "
      "FROM UNNEST(GENERATE_ARRAY(0, 199)) x, UNNEST(GENERATE_ARRAY(0, 99)) y)";
  for (const std::string order : {"k, n", "j DESC, n", "n DESC", "j, k DESC, n"}) {
    const std::string all = Query("SELECT k, j, n FROM " + rows + " ORDER BY " + order);
    for (const size_t count : {1, 10, 1000, 6000}) {
      size_t end = 0;
      for (size_t i = 0; i < count; ++i) end = all.find('\n', end) + 1;
      EXPECT_TRUE(Query("SELECT k, j, n FROM " + rows + " ORDER BY " + order + " LIMIT " +
                        std::to_string(count)) == all.substr(0, end))
          << order << " " << count;
    }
  }
}

TEST_F(RandomQueryTest, GroupsAreSubqueries) {
  for (int round = 0; round < 4; ++round) {
    const std::string rows = "(SELECT x, y, s FROM " + Rows(150, 10) + ")";
    ExpectSame("SELECT s, COUNT(*), SUM(x), COUNT(DISTINCT x), MIN(x) FROM " + rows + " GROUP BY s",
               "SELECT a.s, (SELECT COUNT(*) FROM " + rows +
                   " b WHERE b.s IS NOT DISTINCT FROM a.s), (SELECT SUM(x) FROM " + rows +
                   " b WHERE b.s IS NOT DISTINCT FROM a.s), (SELECT COUNT(*) FROM (SELECT DISTINCT x FROM " +
                   rows + " b WHERE b.s IS NOT DISTINCT FROM a.s AND x IS NOT NULL)), (SELECT MIN(x) FROM " +
                   rows + " b WHERE b.s IS NOT DISTINCT FROM a.s) FROM (SELECT DISTINCT s FROM " + rows +
                   ") a");
  }
}

}  // namespace
}  // namespace sonde::sql
