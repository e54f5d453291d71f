// One row of HBase, played by its rule for families with NEW_VERSION_BEHAVIOR, and random changes of it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/varint.h"
#include "engine/row_store.h"
#include "hbase/wire/cell_block.h"
#include "hbase/wire/change_messages.h"
#include "model/cell.h"
#include "model/mutation.h"

namespace sonde {

// A put is seen unless a marker that covers it came later or with it, or another put of its place came later.
class PlayedHBase {
 public:
  void Apply(const hbase::RowChange& change) {
    ++commit_;
    for (const hbase::Cell& put : change.puts)
      puts_[{std::string(put.family), std::string(put.qualifier), -put.timestamp}] = {commit_,
                                                                                      std::string(put.value)};
    for (const hbase::Cell& marker : change.markers) {
      ASSERT_LE(marker.timestamp, hbase::kTimestampMax);
      std::erase_if(puts_, [&](const auto& put) {
        const auto& [family, qualifier, time] = put.first;
        if (family != marker.family) return false;
        if (marker.type == hbase::CellType::kDeleteFamily) return -time <= marker.timestamp;
        if (qualifier != marker.qualifier) return false;
        return marker.type == hbase::CellType::kDeleteColumn ? -time <= marker.timestamp
                                                             : -time == marker.timestamp;
      });
    }
  }
  // What is seen, in HBase's order.
  std::vector<hbase::Cell> Cells(std::string_view row) const {
    std::vector<hbase::Cell> cells;
    for (const auto& [place, put] : puts_) {
      const auto& [family, qualifier, time] = place;
      cells.push_back({row, family, qualifier, -time, hbase::CellType::kPut, put.second});
    }
    return cells;
  }

 private:
  uint64_t commit_ = 0;
  std::map<std::tuple<std::string, std::string, int64_t>, std::pair<uint64_t, std::string>> puts_;
};

struct Words {
  explicit Words(RandomSource* source) : random(source) {}
  std::string_view Qualifier() {
    static const std::vector<std::string> qualifiers = {"", std::string(1, '\0'), "a", "ab",
                                                        std::string("a\0\2", 3)};
    return qualifiers[random->Uniform(qualifiers.size())];
  }
  int64_t Micros() {
    static const std::vector<int64_t> times = {0, 1, 2, 1000, INT64_MAX - 1, INT64_MAX};
    return times[random->Uniform(times.size())];
  }
  RandomSource* random;
};

inline FamilyDelta DeltaOf(FamilyId family, AggregateKind aggregate, Words* words,
                           std::deque<std::string>* values) {
  FamilyDelta delta{.family = family, .aggregate = aggregate, .delete_all = words->random->Uniform(6) == 0};
  std::map<std::string_view, TimeRange> deletes;
  for (uint64_t i = words->random->Uniform(3); i > 0; --i) {
    const int64_t start = words->random->Uniform(2) == 0 ? 0 : words->Micros();
    const int64_t end = words->random->Uniform(2) == 0 ? 0 : words->Micros();
    if (end != 0 && end <= start) continue;
    deletes[words->Qualifier()] = {start, end};
  }
  for (const auto& [qualifier, range] : deletes) delta.deletes.push_back({qualifier, range});
  std::map<std::pair<std::string_view, int64_t>, bool>
      written;  // by place, newest first: whether it is an add
  for (uint64_t i = words->random->Uniform(4); i > 0; --i)
    written[{words->Qualifier(), -words->Micros()}] =
        aggregate != AggregateKind::kNone && words->random->Uniform(3) > 0;
  for (const auto& [place, is_add] : written) {
    const int64_t number = static_cast<int64_t>(words->random->Uniform(100));
    if (is_add) {
      delta.adds.push_back({place.first, -place.second, number});
      continue;
    }
    std::string& value = values->emplace_back();
    PutFixed64(&value, static_cast<uint64_t>(number));
    delta.puts.push_back({place.first, -place.second, value});
  }
  return delta;
}

using Seen = std::vector<std::tuple<FamilyId, std::string, int64_t, std::string>>;

inline Seen SeenOf(const std::vector<RowFamily>& families) {
  Seen seen;
  for (const RowFamily& family : families) {
    for (const CellView& cell : family.cells)
      seen.emplace_back(family.family, std::string(cell.qualifier), cell.timestamp_micros,
                        std::string(cell.value));
  }
  return seen;
}

}  // namespace sonde
