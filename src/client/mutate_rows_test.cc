#include "client/mutate_rows.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

RowWrite Row(size_t cells, size_t value_bytes) {
  RowWrite row;
  row.row_key = std::string("r");
  row.cells.resize(cells, CellWrite{"f", "q", 1000, std::string(value_bytes, 'v')});
  return row;
}

TEST(RowsInRequest, StopsBeforeTheMutationLimit) {
  const std::vector<RowWrite> rows = {Row(4, 1), Row(4, 1), Row(3, 1)};
  EXPECT_EQ(RowsInRequest(rows, 0, {.mutations_max = 8}), 2);
  EXPECT_EQ(RowsInRequest(rows, 0, {.mutations_max = 7}), 1);
  EXPECT_EQ(RowsInRequest(rows, 2, {.mutations_max = 8}), 1);
  EXPECT_EQ(RowsInRequest(rows, 3, {.mutations_max = 8}), 0);
}

TEST(RowsInRequest, CountsDeletesAsMutations) {
  std::vector<RowWrite> rows = {Row(1, 1), Row(1, 1)};
  rows[0].delete_columns = {{"f", "a"}, {"f", "b"}};
  EXPECT_EQ(RowsInRequest(rows, 0, {.mutations_max = 4}), 2);
  EXPECT_EQ(RowsInRequest(rows, 0, {.mutations_max = 3}), 1);
}

TEST(RowsInRequest, StopsBeforeTheByteLimit) {
  const std::vector<RowWrite> rows = {Row(1, 1000), Row(1, 1000), Row(1, 1000)};
  EXPECT_EQ(RowsInRequest(rows, 0, {.bytes_max = 2500}), 2);
}

TEST(RowsInRequest, SendsARowPastTheLimitsAlone) {
  const std::vector<RowWrite> rows = {Row(9, 1), Row(1, 5000), Row(1, 1)};
  EXPECT_EQ(RowsInRequest(rows, 0, {.mutations_max = 8}), 1);
  EXPECT_EQ(RowsInRequest(rows, 1, {.bytes_max = 4000}), 1);
}

}  // namespace
}  // namespace sonde
