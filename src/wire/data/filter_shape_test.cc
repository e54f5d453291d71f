#include "wire/data/filter_shape.h"

#include <google/bigtable/v2/data.pb.h>
#include <gtest/gtest.h>

#include <string>

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

TEST(FilterShape, NamesKindsAndNothingElse) {
  pb::RowFilter filter;
  EXPECT_EQ(FilterShape(filter), "");
  pb::RowFilter* const first = filter.mutable_chain()->add_filters();
  first->set_family_name_regex_filter("secret");
  pb::RowFilter::Condition* const condition = filter.mutable_chain()->add_filters()->mutable_condition();
  condition->mutable_predicate_filter()->set_value_regex_filter("secret");
  condition->mutable_true_filter()->mutable_interleave()->add_filters()->set_sink(true);
  EXPECT_EQ(FilterShape(filter),
            "chain(family_name_regex_filter,condition(value_regex_filter,interleave(sink),))");
}

TEST(FilterShape, HasABound) {
  pb::RowFilter filter;
  pb::RowFilter* inner = &filter;
  for (int i = 0; i < 50; ++i) inner = inner->mutable_chain()->add_filters();
  for (int i = 0; i < 1'000; ++i) filter.mutable_chain()->add_filters()->set_block_all_filter(true);
  const std::string shape = FilterShape(filter);
  EXPECT_EQ(shape.size(), kFilterShapeBytesMax);
  EXPECT_TRUE(shape.ends_with("...")) << shape;
}

}  // namespace
}  // namespace sonde
