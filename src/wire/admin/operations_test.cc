#include "wire/admin/operations.h"

#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
namespace lro = google::longrunning;

constexpr char kTable[] = "projects/p/instances/i/tables/t";

lro::Operation Update(Operations* operations, const std::string& table = kTable) {
  admin::UpdateTableMetadata metadata;
  metadata.set_name(table);
  admin::Table response;
  response.set_name(table);
  return operations->Done(table, metadata, response);
}

TEST(Operations, AreDoneAndFoundAgain) {
  Operations operations(77);
  const lro::Operation made = Update(&operations);
  EXPECT_EQ(made.name(), "operations/projects/p/instances/i/tables/t/operations/77");
  EXPECT_TRUE(made.done());
  admin::Table response;
  admin::UpdateTableMetadata metadata;
  ASSERT_TRUE(made.response().UnpackTo(&response));
  ASSERT_TRUE(made.metadata().UnpackTo(&metadata));
  EXPECT_EQ(response.name(), kTable);
  EXPECT_EQ(metadata.name(), kTable);

  const absl::StatusOr<lro::Operation> found = operations.Get(made.name());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->SerializeAsString(), made.SerializeAsString());
}

TEST(Operations, RefusesNamesThatAreNone) {
  Operations operations(1);
  EXPECT_EQ(operations.Get("").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(operations.Get("operations/").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(operations.Get("operations/projects/p/operations/1").status(),
            absl::NotFoundError("Operation not found: operations/projects/p/operations/1"));
  EXPECT_EQ(operations.Delete("operations/projects/p/operations/1").code(), absl::StatusCode::kNotFound);
}

TEST(Operations, ForgetsWhatIsDeleted) {
  Operations operations(1);
  const std::string name = Update(&operations).name();
  EXPECT_TRUE(operations.Delete(name).ok());
  EXPECT_EQ(operations.Get(name).status().code(), absl::StatusCode::kNotFound);
}

TEST(Operations, ForgetsTheOldestPastItsLimits) {
  Operations operations(1);
  const std::string first = Update(&operations).name();
  const std::string second = Update(&operations).name();
  for (size_t i = 0; i + 1 < Operations::kOperationsMax; ++i) Update(&operations);
  EXPECT_EQ(operations.Get(first).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(operations.Get(second).ok());

  admin::Table large;
  large.set_name(std::string(Operations::kOperationsBytesMax, 'x'));
  const std::string last = operations.Done(kTable, admin::UpdateTableMetadata(), large).name();
  EXPECT_TRUE(operations.Get(last).ok()) << "the newest one is kept, however large";
  EXPECT_EQ(operations.Get(second).status().code(), absl::StatusCode::kNotFound);
}

TEST(Operations, ListsThoseBelowANameInPages) {
  Operations operations(1);
  for (int i = 0; i < 3; ++i) Update(&operations);
  Update(&operations, "projects/p/instances/i2/tables/t");
  lro::ListOperationsRequest request;
  request.set_name("operations/projects/p/instances/i");
  request.set_page_size(2);
  lro::ListOperationsResponse page;
  ASSERT_TRUE(operations.List(request, &page).ok());
  EXPECT_EQ(page.operations_size(), 2);
  request.set_page_token(page.next_page_token());
  page.Clear();
  ASSERT_TRUE(operations.List(request, &page).ok());
  ASSERT_EQ(page.operations_size(), 1);
  EXPECT_EQ(page.operations(0).name(), "operations/projects/p/instances/i/tables/t/operations/3");
  EXPECT_EQ(page.next_page_token(), "");

  request.set_page_token("x");
  EXPECT_EQ(operations.List(request, &page).code(), absl::StatusCode::kInvalidArgument);
  request.clear_page_token();
  request.set_page_size(-1);
  EXPECT_EQ(operations.List(request, &page).code(), absl::StatusCode::kInvalidArgument);
  request.clear_page_size();
  request.set_filter("done=true");
  EXPECT_EQ(operations.List(request, &page).code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace sonde
