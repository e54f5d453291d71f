// Queries over declared and open series in memory, for tests.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "series/known/declarations.h"
#include "series/write/point_writer.h"
#include "sql/exec/exec_test_support.h"
#include "sql/exec/instance_names.h"
#include "sql/exec/series_finder.h"
#include "table/local_tables.h"

namespace sonde::sql {

class SeriesTest : public ExecTest {
 protected:
  static constexpr char kInstance[] = "projects/p/instances/i";

  struct Point {
    std::vector<std::string_view> tags;
    int64_t second = 0;
    std::vector<std::string_view> fields;  // "": it has none
  };

  void Declare(std::string_view yaml) {
    const absl::StatusOr<series::KnownSeriesRef> known = declarations_.Declare(yaml);
    ASSERT_TRUE(known.ok()) << known.status();
    known_ = *known;
  }
  // Of the series that was declared last.
  void Write(const std::vector<Point>& points) {
    series::PointWriter writer(known_->schema, &local_);
    for (const Point& point : points) {
      std::vector<std::string_view> fields = point.fields;
      for (std::string_view& field : fields) {
        if (field.empty()) field = {};  // unlike a text of no letters
      }
      const absl::Status status = writer.Add({point.tags, point.second * 1'000'000, fields});
      ASSERT_TRUE(status.ok()) << status;
    }
    ASSERT_TRUE(writer.Flush().ok());
  }

  absl::StatusOr<BoundQuery> BindSeries(std::string_view sql, std::vector<QueryParameter> parameters = {}) {
    const InstanceNames names(catalog_.get(), &bundles_, &finder_, kInstance, Dialect::kSonde);
    BindOptions options = names.Options(std::move(parameters));
    options.rewrite.newest_points = uses_newest_points_;
    return ParseAndBind(sql, options);
  }
  // A line a row; after an error its text.
  std::string Ask(std::string_view sql, std::vector<QueryParameter> parameters = {},
                  std::vector<Value> values = {}) {
    const absl::StatusOr<BoundQuery> query = BindSeries(sql, std::move(parameters));
    if (!query.ok()) return query.status().ToString();
    const absl::StatusOr<std::unique_ptr<Execution>> execution =
        Execute(*query, std::move(values), Environment());
    if (!execution.ok()) return execution.status().ToString();
    return Rest(execution->get(), TypesOf(*query));
  }
  std::string Planned(std::string_view sql) {
    const absl::StatusOr<BoundQuery> query = BindSeries(sql);
    return query.ok() ? ToString(*query->plan) : query.status().ToString();
  }

  bool uses_newest_points_ = true;
  LocalTables local_{&tables_, kInstance};
  series::Declarations declarations_{&local_, &clock_};
  SeriesFinder finder_{&tables_};
  BundleFinder bundles_{catalog_.get()};
  series::KnownSeriesRef known_;
};

}  // namespace sonde::sql
