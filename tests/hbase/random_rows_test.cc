// Random changes of rows against a map, while the table is flushed, compacted, split, and its regions move: what the engine relies on.
// SONDE_HBASE_COMMITS: how many (default 600); SONDE_TEST_SEED.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <utility>

#include "base/random.h"
#include "cluster_under_test.h"

namespace sonde::hbase {
namespace {

constexpr int kRows = 20;

uint64_t NumberOf(const char* name, uint64_t without) {
  const char* const text = std::getenv(name);
  return text == nullptr ? without : std::strtoull(text, nullptr, 10);
}

// A row's cells, by qualifier and time.
using Model = std::map<std::pair<std::string, int64_t>, std::string>;

// A change with the bytes that its cells view.
class RandomChange {
 public:
  RandomChange(std::string row, RandomSource* random) {
    change_.row = row_ = std::move(row);
    const uint64_t deletes = random->Uniform(4);
    if (deletes == 0) AddMarker("", kTimestampMax, CellType::kDeleteFamily);
    if (deletes == 1) AddMarker(Qualifier(random), 1 + random->Uniform(6), CellType::kDeleteColumn);
    if (deletes == 2) AddMarker(Qualifier(random), 1 + random->Uniform(6), CellType::kDeleteCell);
    for (uint64_t i = random->Uniform(4) + (deletes == 3 ? 1 : 0); i > 0; --i) {
      const std::pair<std::string, int64_t> at{Qualifier(random), 1 + random->Uniform(6)};
      if (!IsCovered(at.first, at.second)) puts_[at] = std::to_string(random->Uniform(1'000'000));
    }
    for (const auto& [qualifier, time, type] : markers_)
      change_.markers.push_back({row_, "d", qualifier, time, type});
    for (const auto& [at, value] : puts_)
      change_.puts.push_back({row_, "d", at.first, at.second, CellType::kPut, value});
  }
  RandomChange(const RandomChange&) = delete;

  bool is_empty() const { return markers_.empty() && puts_.empty(); }
  const RowChange& change() const { return change_; }
  void ApplyTo(Model* model) const {
    std::erase_if(*model, [&](const auto& cell) { return IsCovered(cell.first.first, cell.first.second); });
    for (const auto& [at, value] : puts_) (*model)[at] = value;
  }

 private:
  struct Marker {
    std::string qualifier;
    int64_t time;
    CellType type;
  };
  static std::string Qualifier(RandomSource* random) {
    return std::string(1 + random->Uniform(2), static_cast<char>('a' + random->Uniform(3)));
  }
  void AddMarker(std::string qualifier, int64_t time, CellType type) {
    markers_.push_back({std::move(qualifier), time, type});
  }
  bool IsCovered(const std::string& qualifier, int64_t time) const {
    for (const Marker& marker : markers_) {
      if (marker.type == CellType::kDeleteFamily) return true;
      if (marker.qualifier != qualifier) continue;
      if (marker.type == CellType::kDeleteColumn ? time <= marker.time : time == marker.time) return true;
    }
    return false;
  }

  std::string row_;
  std::vector<Marker> markers_;
  std::map<std::pair<std::string, int64_t>, std::string> puts_;
  RowChange change_;
};

class RandomRowsTest : public ClusterTest {
 protected:
  static void Append(const Cell& cell, Model* model) {
    model->insert({{std::string(cell.qualifier), cell.timestamp}, std::string(cell.value)});
  }
  void CompareRow(const std::string& row, const Model& expected) {
    const absl::StatusOr<RowCells> cells =
        client_->rows()->Get(table_, row, {.families = {"d"}}, InAMinute());
    ASSERT_TRUE(cells.ok()) << cells.status();
    Model found;
    for (const Cell& cell : cells->cells()) Append(cell, &found);
    ASSERT_EQ(found, expected) << row;
  }
  void CompareAll(const std::map<std::string, Model>& expected, RandomSource* random) {
    const bool reverse = random->Uniform(2) == 0;
    const ScanBounds bounds{.rows_max = 1 + static_cast<uint32_t>(random->Uniform(5)),
                            .bytes_max = 200 + random->Uniform(2'000)};
    const std::unique_ptr<RowScan> scan =
        client_->Scan(table_, {.reverse = reverse}, {.families = {"d"}}, bounds, InAMinute());
    std::map<std::string, Model> found;
    std::string last;
    RowScan::Part part;
    while (true) {
      const absl::StatusOr<bool> more = scan->Next(&part);
      ASSERT_TRUE(more.ok()) << more.status();
      if (!*more) break;
      ASSERT_TRUE(last.empty() || (reverse ? part.row <= last : part.row >= last));
      last = std::string(part.row);
      for (const Cell& cell : part.cells) Append(cell, &found[last]);
    }
    std::map<std::string, Model> with_cells = expected;
    std::erase_if(with_cells, [](const auto& row) { return row.second.empty(); });
    ASSERT_EQ(found, with_cells);
  }
  void Disturb(RandomSource* random) {
    const std::string row = std::to_string(100 + random->Uniform(kRows));
    absl::Status status;
    switch (random->Uniform(10)) {
      case 0:
        status = client_->tables()->Compact(table_, true, InAMinute());
        break;
      case 1:
      case 2:
      case 3:
        status = client_->tables()->Move(table_, row, std::nullopt, InAMinute());
        break;
      case 4:
        if (splits_++ >= 2) return;
        status = client_->tables()->Split(table_, row, InAMinute());
        if (absl::IsInternal(status) || absl::IsUnknown(status) || absl::IsFailedPrecondition(status))
          return;  // at an edge of a region
        break;
      default:
        status = client_->tables()->Flush(table_, InAMinute());
    }
    ASSERT_TRUE(status.ok()) << status;
  }

  int splits_ = 0;
};

TEST_F(RandomRowsTest, RowsAreAsAMapSays) {
  SeededRandom random(NumberOf("SONDE_TEST_SEED", 1));
  const uint64_t commits = NumberOf("SONDE_HBASE_COMMITS", 600);
  Create({"110"});
  std::map<std::string, Model> expected;
  for (uint64_t i = 0; i < commits; ++i) {
    const std::string row = std::to_string(100 + random.Uniform(kRows));
    const RandomChange change(row, &random);
    if (change.is_empty()) continue;
    const absl::Status status = Apply(change.change());
    ASSERT_TRUE(status.ok()) << status;
    change.ApplyTo(&expected[row]);
    if (random.Uniform(4) == 0) CompareRow(row, expected[row]);
    if (random.Uniform(40) == 0) CompareAll(expected, &random);
    if (random.Uniform(30) == 0) Disturb(&random);
    if (HasFatalFailure()) return;
  }
  CompareAll(expected, &random);
}

}  // namespace
}  // namespace sonde::hbase
