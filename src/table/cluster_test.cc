// Several servers over one store: each with its own catalog and clock, a second apart, and a network between
// that is late and loses calls and answers.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <set>
#include <thread>

#include "base/varint.h"
#include "engine/memory/cluster_member.h"
#include "model/limits.h"
#include "table/row_time.h"
#include "table/tables_test_support.h"

namespace sonde {
namespace {

using absl::StatusCode;

constexpr char kName[] = "projects/p/instances/i/tables/t";
const CatalogOptions kOptions = {.seen_within = absl::Milliseconds(60)};

// A member of the cluster whose changes of a row may wait while others come first.
class LateMember final : public ClusterMember {
 public:
  using ClusterMember::ClusterMember;
  absl::Status Update(TableId table, std::string_view row_key, const ReadHints& hints, const Decide& decide,
                      const WriteOptions& options) override {
    if (before_update) std::exchange(before_update, nullptr)();
    return ClusterMember::Update(table, row_key, hints, decide, options);
  }

  std::function<void()> before_update;  // of the next one
};

struct Server {
  Server(Engine* store, const ClusterFaults& faults, int64_t now_micros)
      : engine(store, faults), clock(now_micros) {
    absl::StatusOr<std::unique_ptr<Catalog>> opened = absl::UnavailableError("");
    for (int i = 0; i < 100 && !opened.ok(); ++i) opened = Catalog::Open(&engine, kOptions);
    catalog = *std::move(opened);
    tables.emplace(&engine, catalog.get(), &clock, /*seed=*/1);
  }

  absl::Status Write(std::string_view row, std::vector<Mutation> mutations,
                     std::optional<Idempotency> idempotency = std::nullopt) {
    const absl::StatusOr<TableSchemaRef> schema = catalog->Find(kName);
    if (!schema.ok()) return schema.status();
    const RowMutations write{row, mutations, idempotency};
    return tables->MutateRows(**schema, {&write, 1}).front();
  }
  // The value of the newest cell of a column; "": there is none.
  absl::StatusOr<std::string> Newest(std::string_view row, std::string_view family, std::string_view column) {
    const absl::StatusOr<TableSchemaRef> schema = catalog->Find(kName);
    if (!schema.ok()) return schema.status();
    ReadRequest request;
    request.ranges = {RowRange::Single(row)};
    absl::StatusOr<std::unique_ptr<RowReader>> reader = tables->Read(*schema, std::move(request));
    if (!reader.ok()) return reader.status();
    const absl::StatusOr<RowReader::Step> step = (*reader)->Next(1);
    if (!step.ok()) return step.status();
    if (*step == RowReader::Step::kEnd) return "";
    for (const FilterCell& cell : (*reader)->cells()) {
      if ((*reader)->family_name(cell) == family && cell.cell.qualifier == column)
        return std::string(cell.cell.value);
    }
    return "";
  }

  LateMember engine;
  ManualClock clock;
  std::unique_ptr<Catalog> catalog;
  std::optional<Tables> tables;
};

class ClusterTest : public testing::Test {
 protected:
  void Start(const ClusterFaults& faults = {}) {
    ClusterFaults others = faults;
    ++others.seed;
    fast_ = std::make_unique<Server>(store_.get(), faults, kNow + kSecond);
    slow_ = std::make_unique<Server>(store_.get(), others, kNow);
    TableSchema schema;
    schema.name = kName;
    schema.families = {{.name = "f"}, {.name = "last", .gc_rule = {GcRule::MaxVersions{1}}}};
    const absl::Status made = Insist([&] { return fast_->catalog->Create(schema).status(); });
    ASSERT_TRUE(made.ok() || absl::IsAlreadyExists(made)) << made;  // an attempt before was applied
  }

  // The answer of `change` once the store is in reach.  On a busy machine its answers may be later than a server waits.
  static absl::Status Insist(const std::function<absl::Status()>& change) {
    absl::Status status;
    do status = change();
    while (absl::IsUnavailable(status));
    return status;
  }

  static std::vector<Mutation> Set(std::string_view value, std::string_view family = "f") {
    return {SetCell{family, "q", kServerTimestamp, value}};
  }

  std::unique_ptr<MemoryEngine> store_ = MemoryEngine::Create();
  std::unique_ptr<Server> fast_, slow_;  // by their clocks
};

TEST_F(ClusterTest, ALaterWriteIsNeverHiddenByTheClockOfAnotherServer) {
  Start();
  for (const char* family : {"f", "last"}) {
    ASSERT_EQ(fast_->Write("row", Set("first", family)), absl::OkStatus());
    ASSERT_EQ(slow_->Write("row", Set("second", family)), absl::OkStatus());
    EXPECT_EQ(*fast_->Newest("row", family, "q"), "second");
    ASSERT_EQ(fast_->Write("row", Set("third", family)), absl::OkStatus());
    EXPECT_EQ(*slow_->Newest("row", family, "q"), "third");
  }
}

TEST_F(ClusterTest, AConditionalWriteIsNotHiddenEither) {
  Start();
  ASSERT_EQ(fast_->Write("row", Set("first")), absl::OkStatus());
  const TableSchemaRef schema = *slow_->catalog->Find(kName);
  const std::vector<Mutation> second = Set("second");
  EXPECT_EQ(slow_->tables->CheckAndMutateRow(schema, "row", {nullptr, second, {}}),
            absl::StatusOr<bool>(true));
  EXPECT_EQ(*slow_->Newest("row", "f", "q"), "second");
}

TEST_F(ClusterTest, AWriteThatWaitedLongIsNotHiddenEither) {
  Start();
  const auto others_write = [&] {
    for (Server* server : {fast_.get(), slow_.get()}) server->clock.Advance(2 * kClocksDifferMicros);
    ASSERT_EQ(fast_->Write("row", Set("meanwhile")), absl::OkStatus());
  };
  slow_->engine.before_update = others_write;
  ASSERT_EQ(slow_->Write("row", Set("waited")), absl::OkStatus());
  EXPECT_EQ(*slow_->Newest("row", "f", "q"), "waited");

  const TableSchemaRef schema = *slow_->catalog->Find(kName);
  const std::vector<Mutation> set = Set("waited, too");
  slow_->engine.before_update = others_write;
  EXPECT_EQ(slow_->tables->CheckAndMutateRow(schema, "row", {nullptr, set, {}}), absl::StatusOr<bool>(true));
  EXPECT_EQ(*slow_->Newest("row", "f", "q"), "waited, too");
}

TEST_F(ClusterTest, ACellOfTheFarFutureMovesNoTime) {
  Start();
  const int64_t future = kNow + 3'600 * kSecond;
  ASSERT_EQ(fast_->Write("row", {SetCell{"f", "q", future, "future"}}), absl::OkStatus());
  ASSERT_EQ(slow_->Write("row", Set("now")), absl::OkStatus());
  EXPECT_EQ(*slow_->Newest("row", "f", "q"), "future");
}

TEST_F(ClusterTest, RowsOfOneRequestAreAppliedInTheirOrder) {
  Start();
  const TableSchemaRef schema = *slow_->catalog->Find(kName);
  const std::vector<Mutation> set = {SetCell{"f", "q", 1'000, "1"}}, clear = {DeleteFromRow{}},
                              now = Set("2"), wrong = {SetCell{"none", "q", kServerTimestamp, ""}};
  const std::vector<RowMutations> rows = {{"a", now}, {"a", clear}, {"a", set}, {"b", wrong}, {"b", now}};
  std::vector<StatusCode> codes;
  for (const absl::Status& status : slow_->tables->MutateRows(*schema, rows)) codes.push_back(status.code());
  EXPECT_EQ(codes, (std::vector{StatusCode::kOk, StatusCode::kOk, StatusCode::kOk, StatusCode::kNotFound,
                                StatusCode::kOk}));
  EXPECT_EQ(*fast_->Newest("a", "f", "q"), "1");
  EXPECT_EQ(*fast_->Newest("b", "f", "q"), "2");
}

TEST_F(ClusterTest, ATokenIsUsedOnceByAllServers) {
  Start({.delay_max = absl::Milliseconds(1)});
  for (const bool server_time : {false, true}) {
    const std::string row = server_time ? "of the server's time" : "of its own time";
    const auto write = [&](Server* server, std::string_view value) {
      const int64_t time = server_time ? kServerTimestamp : kNow;
      return server->Write(row, {SetCell{"f", value, time, value}}, Idempotency{"token", std::nullopt});
    };
    absl::Status status;
    std::thread other([&] { status = write(fast_.get(), "a"); });
    EXPECT_EQ(write(slow_.get(), "b"), absl::OkStatus());
    other.join();
    EXPECT_EQ(status, absl::OkStatus());
    EXPECT_EQ(fast_->Newest(row, "f", "a")->size() + slow_->Newest(row, "f", "b")->size(), 1u);
  }
}

TEST_F(ClusterTest, WhatOneServerChangesOfTheTablesTheOthersGoBy) {
  Start();
  EXPECT_EQ(slow_->Write("row", Set("v")), absl::OkStatus()) << "a new table is found at once";
  ASSERT_TRUE(fast_->catalog->Modify(kName, {CreateFamily{{.name = "new"}}}).ok());
  EXPECT_EQ(slow_->Write("row", Set("v", "new")), absl::OkStatus());
  ASSERT_TRUE(fast_->catalog->Modify(kName, {DropFamily{"new"}, CreateFamily{{.name = "new"}}}).ok());
  EXPECT_EQ(*slow_->Newest("row", "new", "q"), "");
  ASSERT_TRUE(fast_->catalog->Modify(kName, {DropFamily{"new"}}).ok());
  EXPECT_EQ(slow_->Write("row", Set("v", "new")).code(), StatusCode::kNotFound);
  ASSERT_EQ(fast_->catalog->Delete(kName), absl::OkStatus());
  EXPECT_EQ(slow_->Write("row", Set("v")).code(), StatusCode::kNotFound);
  EXPECT_EQ(slow_->catalog->ListAll().size(), 0u);
}

TEST_F(ClusterTest, ServersThatChangeTablesAtOnceLoseNoChange) {
  Start({.delay_max = absl::Milliseconds(2), .lost_calls = 20, .lost_answers = 50});
  std::vector<std::thread> threads;
  std::atomic<int> unexpected = 0;
  for (Server* server : {fast_.get(), slow_.get()}) {
    threads.emplace_back([&, server] {
      const std::string mine = server == fast_.get() ? "fast" : "slow";
      for (int i = 0; i < 8; ++i) {
        const std::string name = mine + std::to_string(i);
        TableSchema schema;
        schema.name = "projects/p/instances/i/tables/" + name;
        absl::Status made;
        do made = server->catalog->Create(schema).status();
        while (absl::IsUnavailable(made) || absl::IsUnknown(made));
        absl::Status added;
        do added = server->catalog->Modify(kName, {CreateFamily{{.name = name}}}).status();
        while (absl::IsUnavailable(added) || absl::IsUnknown(added));
        for (const absl::Status& status : {made, added}) {
          if (!status.ok() && !absl::IsAlreadyExists(status)) ++unexpected;  // an attempt before was applied
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(unexpected.load(), 0);
  const auto catalog = *Catalog::Open(store_.get());
  std::set<TableId> ids;
  for (const TableSchemaRef& table : catalog->ListAll()) ids.insert(table->id);
  EXPECT_EQ(ids.size(), 17u);
  const TableSchemaRef table = *catalog->Find(kName);
  std::set<FamilyId> families;
  for (const FamilySchema& family : table->families) families.insert(family.id);
  EXPECT_EQ(families.size(), 18u);
}

TEST_F(ClusterTest, AWriteByASchemaOfThePastIsFoundOut) {
  Start();
  const TableSchemaRef old = *slow_->catalog->Find(kName);
  const std::vector<Mutation> now = Set("v"), then = {SetCell{"f", "q", kNow, "v"}};
  ASSERT_TRUE(fast_->catalog->Modify(kName, {CreateFamily{{.name = "new"}}}).ok());
  EXPECT_EQ(MutateRow(*slow_->tables, *old, {"row", then}), absl::OkStatus()) << "what it wrote is there";
  ASSERT_TRUE(fast_->catalog->Modify(kName, {DropFamily{"f"}, CreateFamily{{.name = "f"}}}).ok());
  for (const std::vector<Mutation>& mutations : {now, then})
    EXPECT_EQ(MutateRow(*slow_->tables, *old, {"row", mutations}).code(), StatusCode::kUnknown);
  EXPECT_EQ(slow_->tables->CheckAndMutateRow(old, "row", {nullptr, now, now}).status().code(),
            StatusCode::kUnknown);
  const ReadModifyWriteRule rule{"f", "sum", ReadModifyWriteRule::Increment{1}};
  EXPECT_EQ(slow_->tables->ReadModifyWriteRow(old, "row", {&rule, 1}).status().code(), StatusCode::kUnknown);
}

// A write that is acknowledged after its family was dropped would be lost.
TEST_F(ClusterTest, NoWriteIsAcknowledgedByASchemaOfThePast) {
  Start({.delay_max = absl::Milliseconds(20)});
  std::atomic<int> dropped = 0;  // how often
  std::atomic<bool> over = false;
  int acknowledged = 0, refused = 0;
  std::thread writer([&] {
    for (int i = 0; !over; ++i) {
      const int before = dropped;
      const std::string row = "row" + std::to_string(i);
      const absl::Status status = slow_->Write(row, Set("v"));
      status.ok() ? ++acknowledged : ++refused;
      if (!status.ok()) continue;
      const std::string value = *fast_->Newest(row, "f", "q");
      // Unless a drop began or ended since, the write is there.
      if (dropped == before && before % 2 == 0) {
        EXPECT_EQ(value, "v") << row;
      }
    }
  });
  for (int i = 0; i < 5; ++i) {
    ++dropped;
    EXPECT_EQ(Insist([&] {
                return fast_->catalog->Modify(kName, {DropFamily{"f"}, CreateFamily{{.name = "f"}}}).status();
              }),
              absl::OkStatus());
    ++dropped;
    absl::SleepFor(absl::Milliseconds(100));
  }
  over = true;
  writer.join();
  EXPECT_GT(acknowledged, 0);
  RecordProperty("refused", refused);
}

TEST_F(ClusterTest, AServerThatCannotReachTheStoreGoesByNothing) {
  Start();
  ASSERT_EQ(slow_->Write("row", Set("v")), absl::OkStatus());
  slow_->engine.CutOff(true);
  absl::SleepFor(kOptions.seen_within * 2);
  EXPECT_EQ(slow_->catalog->Find(kName).status().code(), StatusCode::kUnavailable);
  slow_->engine.CutOff(false);
  EXPECT_EQ(slow_->Write("row", Set("v")), absl::OkStatus());
}

TEST_F(ClusterTest, IncrementsOfSeveralServersAreAppliedOnceOrToldToBeUnknown) {
  Start({.delay_max = absl::Milliseconds(2), .lost_calls = 20, .lost_answers = 30});
  std::atomic<int> acknowledged = 0, unknown = 0;
  std::vector<std::thread> threads;
  for (Server* server : {fast_.get(), slow_.get(), fast_.get(), slow_.get()}) {
    threads.emplace_back([&, server] {
      for (int i = 0; i < 100; ++i) {
        const absl::StatusOr<TableSchemaRef> schema = server->catalog->Find(kName);
        if (!schema.ok()) continue;
        const ReadModifyWriteRule rule{"f", "sum", ReadModifyWriteRule::Increment{1}};
        const absl::Status status = server->tables->ReadModifyWriteRow(*schema, "row", {&rule, 1}).status();
        if (status.ok()) ++acknowledged;
        if (absl::IsUnknown(status)) ++unknown;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  absl::StatusOr<std::string> value = absl::UnavailableError("");
  while (!value.ok()) value = slow_->Newest("row", "f", "sum");
  std::string_view bytes = *value;
  uint64_t sum = 0;
  ASSERT_TRUE(GetFixed64(&bytes, &sum));
  EXPECT_GE(static_cast<int>(sum), acknowledged.load());
  EXPECT_LE(static_cast<int>(sum), acknowledged.load() + unknown.load());
  EXPECT_GT(unknown.load(), 0);
  EXPECT_GT(fast_->engine.conflicts() + slow_->engine.conflicts(), 0u);
}

}  // namespace
}  // namespace sonde
