#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/forwarding_engine.h"
#include "table/tables.h"
#include "table/tables_test_support.h"

namespace sonde {
namespace {

// Notes what it is told of writes: "rows cells errors" of each request.
class Writes final : public AccessObserver {
 public:
  void OnAccess(TableId, const AccessPart& part) override {
    std::string line;
    for (const AccessedRow& row : part.rows) line += fmt::format("{}/{} ", row.row_key, row.bytes);
    told.push_back(line + fmt::format("cells {} errors {}", part.cells, part.errors));
    EXPECT_TRUE(part.latency_micros.has_value());
  }
  void OnFullScan(TableId, const FullScan&) override {}
  std::vector<std::string> TabletStarts(TableId) override { return {}; }
  std::vector<std::string> told;
};

class MutateRowsOfEachTest : public TablesTest {
 protected:
  // "OK NOT_FOUND" of each request; or why they are not written together.
  std::vector<std::string> Mutate(Tables* tables, absl::Span<const std::vector<RowMutations>> requests,
                                  const AuthorizedView* view = nullptr) {
    size_t next = 0;
    const auto statuses = tables->MutateRowsOfEach(
        *schema_,
        [&]() -> std::optional<absl::Span<const RowMutations>> {
          if (next == requests.size()) return std::nullopt;
          return requests[next++];
        },
        view);
    if (!statuses.ok()) return {statuses.status().ToString()};
    std::vector<std::string> codes;
    for (const std::vector<absl::Status>& of_request : *statuses) {
      std::string& line = codes.emplace_back();
      for (const absl::Status& status : of_request) {
        line += (line.empty() ? "" : " ") + absl::StatusCodeToString(status.code());
      }
    }
    return codes;
  }

  const std::vector<Mutation> set_ = {SetCell{"z", "q", 0, "v"}, SetCell{"z", "r", 0, "vw"}};
  const std::vector<Mutation> mismatch_ = {AddToCell{"z", "q", 0, 1}};
  const std::vector<Mutation> unknown_ = {SetCell{"none", "q", 0, "v"}};
};

TEST_F(MutateRowsOfEachTest, FaultsAreThoseOfTheirRequest) {
  Writes writes;
  Tables tables(engine_.get(), catalog_.get(), &clock_, /*seed=*/1, &writes);
  EXPECT_THAT(Mutate(&tables, {{{"a", set_}, {"b", unknown_}},
                               {{"c", set_}, {"d", mismatch_}, {"e", unknown_}},
                               {{"f", unknown_}},
                               {{"g", set_}}}),
              testing::ElementsAre("OK NOT_FOUND", "INVALID_ARGUMENT INVALID_ARGUMENT INVALID_ARGUMENT",
                                   "NOT_FOUND", "OK"));
  EXPECT_EQ(Read({}), "a: z:q=v z:r=vw\ng: z:q=v z:r=vw\n");
  EXPECT_THAT(writes.told, testing::ElementsAre("a/5 b/2 cells 3 errors 1", "c/5 d/1 e/2 cells 4 errors 3",
                                                "f/2 cells 1 errors 1", "g/5 cells 2 errors 0"));
}

TEST_F(MutateRowsOfEachTest, AFailureIsThatOfAllThatWereAccepted) {
  class FailingEngine : public ForwardingEngine {
   public:
    using ForwardingEngine::ForwardingEngine;
    absl::Status ApplyParts(TableId, const NextChanges& next) override {
      while (takes_all && next().has_value()) continue;
      return status;
    }
    absl::Status status;
    bool takes_all = true;
  };
  FailingEngine failing(engine_.get());
  Writes writes;
  Tables tables(&failing, catalog_.get(), &clock_, /*seed=*/1, &writes);
  const std::vector<std::vector<RowMutations>> requests = {{{"a", set_}, {"b", unknown_}}, {{"c", set_}}};
  failing.status = absl::UnavailableError("held");
  EXPECT_THAT(Mutate(&tables, requests), testing::ElementsAre("UNAVAILABLE NOT_FOUND", "UNAVAILABLE"));
  EXPECT_THAT(writes.told, testing::SizeIs(2));
  // Each by itself may do better.
  for (const absl::Status& status : {absl::AbortedError("not now"), absl::ResourceExhaustedError("full")}) {
    failing.status = status;
    EXPECT_THAT(Mutate(&tables, requests), testing::ElementsAre(status.ToString()));
  }
  failing.takes_all = false;
  failing.status = absl::UnavailableError("closing");
  EXPECT_THAT(Mutate(&tables, requests), testing::ElementsAre("UNAVAILABLE: closing"));
  EXPECT_THAT(writes.told, testing::SizeIs(2)) << "who writes each by itself tells of it";
}

TEST_F(MutateRowsOfEachTest, AViewIsKept) {
  AuthorizedView view{.row_prefixes = {"in"}};
  view.families["z"].qualifiers = {"q", "r"};
  EXPECT_THAT(Mutate(&tables_, {{{"in1", set_}, {"out", set_}}, {{"in2", set_}}}, &view),
              testing::ElementsAre("OK PERMISSION_DENIED", "OK"));
  EXPECT_EQ(Read({}), "in1: z:q=v z:r=vw\nin2: z:q=v z:r=vw\n");
}

}  // namespace
}  // namespace sonde
