// The engine conformance suite: what engine/engine.h promises, as tests.  A program that links
// sonde_engine_conformance and instantiates EngineConformance has all of them, for each of its sources.
//
//   INSTANTIATE_TEST_SUITE_P(Rocks, EngineConformance, testing::Values(source), SourceName);
//   INSTANTIATE_TEST_SUITE_P(Rocks, PersistentEngineConformance, testing::Values(source), SourceName);
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine_under_test.h"
#include "observed_rows.h"

namespace sonde {

class EngineConformance : public testing::TestWithParam<EngineSource> {
 protected:
  static constexpr TableId kTable = 7;
  static constexpr FamilyId kPlain = 1;
  static constexpr FamilyId kOther = 2;
  static constexpr FamilyId kSum = 3;
  static constexpr FamilyId kMin = 4;
  static constexpr FamilyId kMax = 5;
  static constexpr FamilyId kHll = 6;

  // Opens the engine and makes kTable.
  void SetUp() override;

  void Restart();
  void FlushOrCompact();

  // Applies one change of one row, which must succeed.
  void Apply(std::string_view row_key, FamilyDelta delta);
  void Put(std::string_view row_key, std::string_view qualifier, int64_t timestamp_micros,
           std::string_view value, FamilyId family = kPlain);

  // All rows of `ranges`; a failed expectation when the scan breaks a promise.
  std::vector<ObservedRow> Rows(std::vector<RowRange> ranges = {RowRange::All()}, bool reverse = false,
                                TableId table = kTable);
  std::vector<std::string> RowKeys(std::vector<RowRange> ranges = {RowRange::All()}, bool reverse = false);
  // The cells of one family of one row, as "qualifier@timestamp=value ...".
  std::string Cells(std::string_view row_key, FamilyId family = kPlain);

  // The keys and values of the records.
  using Records = std::vector<std::pair<std::string, std::string>>;
  Records ReadRecords(std::string_view prefix);

  EngineUnderTest under_test_;
  std::unique_ptr<Engine> engine_;
};

// What only an engine can do that outlives its process: instantiate this as well for such a one.
class PersistentEngineConformance : public EngineConformance {};

// A delta of one family.
FamilyDelta PutsOf(FamilyId family, std::vector<CellView> puts);

// 8 bytes, big-endian.
std::string StateBytes(int64_t state);

inline std::string SourceName(const testing::TestParamInfo<EngineSource>& source) {
  return source.param.name;
}

}  // namespace sonde
