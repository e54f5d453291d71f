// RemoteTables against a service in the same process, whose answers each test writes.
#include "client/remote_tables.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <google/rpc/error_details.pb.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace sonde {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::StartsWith;
namespace admin = google::bigtable::admin::v2;
namespace data = google::bigtable::v2;

constexpr char kInstance[] = "projects/p/instances/i";
constexpr char kTable[] = "projects/p/instances/i/tables/t";

grpc::Status WithRetryInfo(grpc::StatusCode code, const std::string& message, int delay_ms) {
  google::rpc::RetryInfo info;
  info.mutable_retry_delay()->set_nanos(delay_ms * 1'000'000);
  google::rpc::Status details;
  details.set_code(code);
  details.add_details()->PackFrom(info);
  return grpc::Status(code, message, details.SerializeAsString());
}

// Answers MutateRows and ReadRows with one scripted answer after the other.
class FakeData final : public data::Bigtable::Service {
 public:
  struct Answer {
    data::ReadRowsResponse read;
    std::vector<std::pair<int64_t, grpc::StatusCode>> entries;  // index in the request, code
    grpc::Status end;
  };

  grpc::Status MutateRows(grpc::ServerContext*, const data::MutateRowsRequest* request,
                          grpc::ServerWriter<data::MutateRowsResponse>* writer) override {
    std::string keys;
    for (const auto& entry : request->entries()) keys += entry.row_key() + " ";
    const Answer answer = Next(request->table_name() + ": " + keys);
    data::MutateRowsResponse response;
    for (const auto& [index, code] : answer.entries) {
      auto* entry = response.add_entries();
      entry->set_index(index);
      entry->mutable_status()->set_code(code);
      if (code != grpc::StatusCode::OK) entry->mutable_status()->set_message("no luck");
    }
    if (answer.end.ok() || response.entries_size() > 0) writer->Write(response);
    return answer.end;
  }

  grpc::Status ReadRows(grpc::ServerContext*, const data::ReadRowsRequest* request,
                        grpc::ServerWriter<data::ReadRowsResponse>* writer) override {
    data::ReadRowsRequest shown = *request;
    shown.clear_table_name();
    const Answer answer = Next(shown.ShortDebugString());
    writer->Write(answer.read);
    return answer.end;
  }

  void Add(Answer answer) {
    const absl::MutexLock lock(&mutex_);
    answers_.push_back(std::move(answer));
  }
  std::vector<std::string> calls() {
    const absl::MutexLock lock(&mutex_);
    return calls_;
  }

 private:
  Answer Next(const std::string& call) {
    const absl::MutexLock lock(&mutex_);
    calls_.push_back(call);
    if (answers_.empty()) return {{}, {}, grpc::Status(grpc::StatusCode::INTERNAL, "no answer was written")};
    Answer answer = std::move(answers_.front());
    answers_.pop_front();
    return answer;
  }

  absl::Mutex mutex_;
  std::deque<Answer> answers_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> calls_ ABSL_GUARDED_BY(mutex_);
};

// Tables in a map; `failures` come first.
class FakeAdmin final : public admin::BigtableTableAdmin::Service {
 public:
  std::map<std::string, admin::Table> tables;
  std::deque<grpc::Status> failures;
  int calls = 0;
  // Another client makes the table between GetTable and CreateTable.
  bool race = false;

  grpc::Status GetTable(grpc::ServerContext*, const admin::GetTableRequest* request,
                        admin::Table* response) override {
    ++calls;
    if (!failures.empty()) {
      const grpc::Status failure = failures.front();
      failures.pop_front();
      return failure;
    }
    const auto found = tables.find(request->name());
    if (found == tables.end()) {
      if (race) tables[request->name()].set_name(request->name());
      return grpc::Status(grpc::StatusCode::NOT_FOUND, "no such table");
    }
    *response = found->second;
    return grpc::Status::OK;
  }

  grpc::Status CreateTable(grpc::ServerContext*, const admin::CreateTableRequest* request,
                           admin::Table* response) override {
    const std::string name = request->parent() + "/tables/" + request->table_id();
    if (tables.contains(name)) return grpc::Status(grpc::StatusCode::ALREADY_EXISTS, "it is there");
    tables[name] = request->table();
    tables[name].set_name(name);
    *response = tables[name];
    return grpc::Status::OK;
  }

  grpc::Status ModifyColumnFamilies(grpc::ServerContext*, const admin::ModifyColumnFamiliesRequest* request,
                                    admin::Table* response) override {
    for (const auto& modification : request->modifications()) {
      (*tables[request->name()].mutable_column_families())[modification.id()] =
          modification.has_create() ? modification.create() : modification.update();
    }
    *response = tables[request->name()];
    return grpc::Status::OK;
  }

  // Pages of one table.
  grpc::Status ListTables(grpc::ServerContext*, const admin::ListTablesRequest* request,
                          admin::ListTablesResponse* response) override {
    auto next = tables.upper_bound(request->page_token());
    if (next == tables.end()) return grpc::Status::OK;
    response->add_tables()->set_name(next->first);
    if (std::next(next) != tables.end()) response->set_next_page_token(next->first);
    return grpc::Status::OK;
  }
};

class RemoteTablesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&data_);
    builder.RegisterService(&admin_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    options_.endpoint = fmt::format("127.0.0.1:{}", port);
    options_.project = "p";
    options_.instance = "i";
    options_.jitter_seed = 1;
    options_.retry.attempts_max = 4;
    options_.retry.sleep = [this](milliseconds delay) { sleeps_.push_back(delay); };
    Connect();
  }
  void Connect() {
    auto tables = RemoteTables::Connect(options_);
    ASSERT_TRUE(tables.ok()) << tables.status();
    tables_ = *std::move(tables);
  }
  void TearDown() override {
    tables_.reset();
    server_->Shutdown();
  }

  static RowWrite Write(const std::string& key, int64_t timestamp_micros = 1000) {
    return RowWrite{key, {CellWrite{"f", "q", timestamp_micros, "v"}}, {}};
  }
  // Rows of one cell; a key that ends in '+' is left without its commit.
  static FakeData::Answer Rows(const std::vector<std::string>& keys, grpc::Status end = grpc::Status::OK) {
    FakeData::Answer answer;
    for (const std::string& key : keys) {
      const bool open = key.back() == '+';
      auto* chunk = answer.read.add_chunks();
      chunk->set_row_key(open ? key.substr(0, key.size() - 1) : key);
      chunk->mutable_family_name()->set_value("f");
      chunk->mutable_qualifier()->set_value("q");
      chunk->set_commit_row(!open);
    }
    answer.end = std::move(end);
    return answer;
  }
  // The keys, then the status.
  std::string Read(const RowRead& read, size_t rows_wanted = 1000) {
    std::string keys;
    size_t count = 0;
    const absl::Status status = tables_->ReadRows("t", read, [&](ReadRow&& row) {
      keys += row.row_key + " ";
      return ++count < rows_wanted;
    });
    return keys + std::string(status.ToString());
  }
  static RowRead ReadAll() {
    RowRead read;
    read.ranges = {RowRange::All()};
    return read;
  }

  FakeData data_;
  FakeAdmin admin_;
  std::vector<milliseconds> sleeps_;
  RemoteOptions options_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<RemoteTables> tables_;
};

const grpc::Status kUnavailable(grpc::StatusCode::UNAVAILABLE, "come back later");

TEST_F(RemoteTablesTest, SaysWhatToDoWhenNobodyAnswers) {
  RemoteOptions options{.endpoint = "127.0.0.1:1", .connect_timeout = milliseconds(50)};
  EXPECT_EQ(
      RemoteTables::Connect(options).status(),
      absl::UnavailableError("no Bigtable server answers at 127.0.0.1:1 (waited 50 ms): start one there, for "
                             "example with `sonde serve`, or correct the endpoint"));
}

TEST_F(RemoteTablesTest, RefusesAnEndpointWithoutPort) {
  for (const char* endpoint : {"", "localhost", "localhost:", ":8086"}) {
    EXPECT_EQ(RemoteTables::Connect({.endpoint = endpoint}).status(),
              absl::InvalidArgumentError(
                  fmt::format("an endpoint is HOST:PORT, for example 127.0.0.1:8086; got \"{}\"", endpoint)));
  }
}

TEST_F(RemoteTablesTest, MakesATableWithFamiliesAndRules) {
  GcRule rule{GcRule::Union{{GcRule{GcRule::MaxVersions{2}}, GcRule{GcRule::MaxAge{3'000'001}}}}};
  ASSERT_TRUE(tables_->EnsureTable("t", {{"f", rule}, {"g", {}}}).ok());
  const auto& families = admin_.tables[kTable].column_families();
  EXPECT_EQ(
      families.at("f").ShortDebugString(),
      "gc_rule { union { rules { max_num_versions: 2 } rules { max_age { seconds: 3 nanos: 1000 } } } }");
  EXPECT_EQ(families.at("g").ShortDebugString(), "");
}

TEST_F(RemoteTablesTest, AddsMissingFamiliesOnly) {
  (*admin_.tables[kTable].mutable_column_families())["f"].mutable_gc_rule()->set_max_num_versions(7);
  ASSERT_TRUE(tables_->EnsureTable("t", {{"f", GcRule{GcRule::MaxVersions{1}}}, {"g", {}}}).ok());
  const auto& families = admin_.tables[kTable].column_families();
  EXPECT_EQ(families.size(), 2);
  EXPECT_EQ(families.at("f").gc_rule().max_num_versions(), 7);
}

TEST_F(RemoteTablesTest, ListsFamiliesAndGivesThemOtherRules) {
  EXPECT_TRUE(absl::IsNotFound(tables_->ListFamilies("t").status()));
  const GcRule rule{
      GcRule::Intersection{{GcRule{GcRule::MaxVersions{2}},
                            GcRule{GcRule::Union{{GcRule{GcRule::MaxAge{3'000'001}}, GcRule{}}}}}}};
  ASSERT_TRUE(tables_->EnsureTable("t", {{"f", rule}, {"g", {}}}).ok());
  const auto rules = [&] {
    std::map<std::string, GcRule> all;
    const std::vector<FamilyRequest> families = tables_->ListFamilies("t").value();
    for (const FamilyRequest& family : families) all[family.name] = family.gc_rule;
    return all;
  };
  EXPECT_EQ(rules(), (std::map<std::string, GcRule>{{"f", rule}, {"g", {}}}));
  const GcRule age{GcRule::MaxAge{5'000'000}};
  ASSERT_TRUE(tables_->UpdateFamilies("t", {{"f", {}}, {"g", age}}).ok());
  EXPECT_EQ(rules(), (std::map<std::string, GcRule>{{"f", {}}, {"g", age}}));
}

TEST_F(RemoteTablesTest, LooksAgainWhenSomebodyElseMakesTheTable) {
  admin_.race = true;
  ASSERT_TRUE(tables_->EnsureTable("t", {{"f", {}}}).ok());
  EXPECT_TRUE(admin_.tables[kTable].column_families().contains("f"));
}

TEST_F(RemoteTablesTest, RetriesAdminCallsAndKeepsTheServersCode) {
  admin_.failures = {kUnavailable, grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "not you")};
  EXPECT_EQ(tables_->EnsureTable("t", {}),
            absl::PermissionDeniedError(fmt::format("GetTable of {}: not you", kTable)));
  EXPECT_EQ(admin_.calls, 2);
  EXPECT_EQ(sleeps_.size(), 1);
}

TEST_F(RemoteTablesTest, ListsAllPagesSorted) {
  for (const char* id : {"b", "a", "c"}) admin_.tables[fmt::format("{}/tables/{}", kInstance, id)];
  const auto tables = tables_->ListTables();
  ASSERT_TRUE(tables.ok()) << tables.status();
  EXPECT_THAT(*tables, ElementsAre("a", "b", "c"));
}

TEST_F(RemoteTablesTest, GivesEachRowItsOwnStatus) {
  data_.Add({{}, {{1, grpc::StatusCode::NOT_FOUND}, {0, grpc::StatusCode::OK}}, {}});
  const auto statuses = tables_->MutateRows("t", {Write("a"), Write("b")});
  ASSERT_TRUE(statuses.ok()) << statuses.status();
  EXPECT_THAT(*statuses, ElementsAre(absl::OkStatus(),
                                     absl::NotFoundError(fmt::format("MutateRows on {}: no luck", kTable))));
}

TEST_F(RemoteTablesTest, WritesNothingForNoRows) {
  const auto statuses = tables_->MutateRows("t", {});
  ASSERT_TRUE(statuses.ok());
  EXPECT_TRUE(statuses->empty());
  EXPECT_TRUE(data_.calls().empty());
}

TEST_F(RemoteTablesTest, SendsAgainOnlyTheRowsThatFailedForNow) {
  data_.Add(
      {{},
       {{0, grpc::StatusCode::OK}, {1, grpc::StatusCode::UNAVAILABLE}, {2, grpc::StatusCode::NOT_FOUND}},
       {}});
  data_.Add({{}, {{0, grpc::StatusCode::OK}}, {}});
  const auto statuses = tables_->MutateRows("t", {Write("a"), Write("b"), Write("c")});
  ASSERT_TRUE(statuses.ok()) << statuses.status();
  EXPECT_THAT(data_.calls(), ElementsAre(fmt::format("{}: a b c ", kTable), fmt::format("{}: b ", kTable)));
  EXPECT_TRUE((*statuses)[1].ok());
  EXPECT_TRUE(absl::IsNotFound((*statuses)[2]));
}

TEST_F(RemoteTablesTest, SendsAgainTheRowsThatABrokenCallLeftUnanswered) {
  data_.Add({{}, {{0, grpc::StatusCode::OK}}, kUnavailable});
  data_.Add({{}, {{0, grpc::StatusCode::OK}}, {}});
  const auto statuses = tables_->MutateRows("t", {Write("a"), Write("b")});
  ASSERT_TRUE(statuses.ok()) << statuses.status();
  EXPECT_THAT(data_.calls(), ElementsAre(fmt::format("{}: a b ", kTable), fmt::format("{}: b ", kTable)));
  EXPECT_THAT(*statuses, ElementsAre(absl::OkStatus(), absl::OkStatus()));
}

TEST_F(RemoteTablesTest, DoesNotRepeatARowAtTheServersTime) {
  data_.Add({{}, {}, kUnavailable});
  const auto statuses = tables_->MutateRows("t", {Write("a", kServerTimestamp)});
  EXPECT_EQ(statuses.status(),
            absl::UnavailableError(fmt::format("MutateRows on {}: come back later", kTable)));
  EXPECT_EQ(data_.calls().size(), 1);
}

TEST_F(RemoteTablesTest, WaitsAsLongAsTheServerAsks) {
  data_.Add({{}, {}, WithRetryInfo(grpc::StatusCode::UNAVAILABLE, "busy", 321)});
  data_.Add({{}, {{0, grpc::StatusCode::OK}}, {}});
  ASSERT_TRUE(tables_->MutateRows("t", {Write("a")}).ok());
  EXPECT_THAT(sleeps_, ElementsAre(milliseconds(321)));
}

TEST_F(RemoteTablesTest, GivesUpWhenTheServerAsksForTooLong) {
  options_.retry.server_delay_max = milliseconds(100);
  Connect();
  data_.Add({{}, {}, WithRetryInfo(grpc::StatusCode::UNAVAILABLE, "busy", 321)});
  EXPECT_TRUE(absl::IsUnavailable(tables_->MutateRows("t", {Write("a")}).status()));
  EXPECT_TRUE(sleeps_.empty());
}

TEST_F(RemoteTablesTest, StopsAfterTheLastAttemptWithGrowingWaits) {
  for (int i = 0; i < 9; ++i) data_.Add({{}, {}, kUnavailable});
  EXPECT_TRUE(absl::IsUnavailable(tables_->MutateRows("t", {Write("a")}).status()));
  EXPECT_EQ(data_.calls().size(), 4);
  ASSERT_EQ(sleeps_.size(), 3);
  for (size_t i = 0; i < sleeps_.size(); ++i) {
    EXPECT_GE(sleeps_[i], milliseconds(10 << i));
    EXPECT_LE(sleeps_[i], milliseconds(20 << i));
  }
}

TEST_F(RemoteTablesTest, DoesNotRetryAFinalError) {
  data_.Add({{}, {}, grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "bad key")});
  EXPECT_EQ(tables_->MutateRows("t", {Write("a")}).status(),
            absl::InvalidArgumentError(fmt::format("MutateRows on {}: bad key", kTable)));
  EXPECT_EQ(data_.calls().size(), 1);
}

TEST_F(RemoteTablesTest, ReportsAnAnswerThatIsMissing) {
  data_.Add({{}, {{0, grpc::StatusCode::OK}}, {}});
  const auto statuses = tables_->MutateRows("t", {Write("a"), Write("b")});
  ASSERT_TRUE(statuses.ok());
  EXPECT_EQ((*statuses)[1],
            absl::InternalError(fmt::format("MutateRows on {}: no answer for row \"b\"", kTable)));
}

TEST_F(RemoteTablesTest, ReportsAnAnswerThatNobodyAskedFor) {
  data_.Add({{}, {{5, grpc::StatusCode::OK}}, {}});
  EXPECT_EQ(tables_->MutateRows("t", {Write("a")}).status(),
            absl::InternalError(
                fmt::format("MutateRows on {}: an answer for entry 5 of a request of 1 entries", kTable)));
}

TEST_F(RemoteTablesTest, SplitsLargeWritesAndStopsAtTheFirstCallThatFails) {
  options_.mutate_limits.mutations_max = 2;
  Connect();
  data_.Add({{}, {{0, grpc::StatusCode::OK}, {1, grpc::StatusCode::OK}}, {}});
  data_.Add({{}, {}, grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "full")});
  const auto statuses =
      tables_->MutateRows("t", {Write("a"), Write("b"), Write("c"), Write("d"), Write("e")});
  ASSERT_TRUE(statuses.ok()) << statuses.status();
  EXPECT_THAT(data_.calls(), ElementsAre(fmt::format("{}: a b ", kTable), fmt::format("{}: c d ", kTable)));
  const absl::Status full = absl::ResourceExhaustedError(fmt::format("MutateRows on {}: full", kTable));
  EXPECT_THAT(*statuses, ElementsAre(absl::OkStatus(), absl::OkStatus(), full, full, full));
}

TEST_F(RemoteTablesTest, ReadsRows) {
  data_.Add(Rows({"a", "b"}));
  EXPECT_EQ(Read(ReadAll()), "a b OK");
}

TEST_F(RemoteTablesTest, SortsFamilies) {
  FakeData::Answer answer = Rows({"a+"});
  answer.read.mutable_chunks(0)->mutable_family_name()->set_value("z");
  *answer.read.add_chunks() = answer.read.chunks(0);
  answer.read.mutable_chunks(1)->mutable_family_name()->set_value("a");
  answer.read.mutable_chunks(1)->set_commit_row(true);
  data_.Add(std::move(answer));
  std::string families;
  ASSERT_TRUE(tables_
                  ->ReadRows("t", ReadAll(),
                             [&](ReadRow&& row) {
                               for (const ReadCell& cell : row.cells) families += cell.family;
                               return true;
                             })
                  .ok());
  EXPECT_EQ(families, "az");
}

TEST_F(RemoteTablesTest, GoesOnAfterTheLastRowWhenTheStreamBreaks) {
  data_.Add(Rows({"a", "b", "c+"}, kUnavailable));
  data_.Add(Rows({"c", "d"}));
  RowRead read = ReadAll();
  read.rows_max = 10;
  EXPECT_EQ(Read(read), "a b c d OK");
  EXPECT_THAT(data_.calls(),
              ElementsAre("rows { row_ranges { } } rows_limit: 10",
                          "rows { row_ranges { start_key_closed: \"b\\000\" } } rows_limit: 8"));
}

TEST_F(RemoteTablesTest, GoesOnBackwardsWhenAReversedStreamBreaks) {
  data_.Add(Rows({"d", "c"}, kUnavailable));
  data_.Add(Rows({"a"}));
  RowRead read = ReadAll();
  read.reversed = true;
  EXPECT_EQ(Read(read), "d c a OK");
  EXPECT_THAT(data_.calls(), ElementsAre("rows { row_ranges { } } reversed: true",
                                         "rows { row_ranges { end_key_open: \"c\" } } reversed: true"));
}

TEST_F(RemoteTablesTest, GoesOnAfterWhatWasScanned) {
  FakeData::Answer answer = Rows({"a"}, kUnavailable);
  answer.read.set_last_scanned_row_key("m");
  data_.Add(std::move(answer));
  data_.Add(Rows({"n"}));
  EXPECT_EQ(Read(ReadAll()), "a n OK");
  EXPECT_EQ(data_.calls().back(), "rows { row_ranges { start_key_closed: \"m\\000\" } }");
}

TEST_F(RemoteTablesTest, AsksForNoMoreWhenTheStreamBreaksAtTheEnd) {
  data_.Add(Rows({"a", "b"}, kUnavailable));
  RowRead read;
  read.ranges = {RowRange::Single("a"), RowRange::Single("b")};
  EXPECT_EQ(Read(read), "a b OK");
  EXPECT_EQ(data_.calls().size(), 1);
}

TEST_F(RemoteTablesTest, CountsAttemptsAnewAfterProgress) {
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) data_.Add(Rows({key}, kUnavailable));
  data_.Add(Rows({"g"}));
  EXPECT_EQ(Read(ReadAll()), "a b c d e f g OK");
}

TEST_F(RemoteTablesTest, GivesUpWithoutProgress) {
  for (int i = 0; i < 9; ++i) data_.Add(Rows({}, kUnavailable));
  EXPECT_EQ(Read(ReadAll()), fmt::format("UNAVAILABLE: ReadRows of {}: come back later", kTable));
  EXPECT_EQ(data_.calls().size(), 4);
}

TEST_F(RemoteTablesTest, StopsWhenTheReaderHasEnough) {
  data_.Add(Rows({"a", "b", "c"}));
  EXPECT_EQ(Read(ReadAll(), 2), "a b OK");
}

TEST_F(RemoteTablesTest, StopsAtTheLimitEvenIfTheServerDoesNot) {
  data_.Add(Rows({"a", "b", "c"}));
  RowRead read = ReadAll();
  read.rows_max = 2;
  EXPECT_EQ(Read(read), "a b OK");
}

TEST_F(RemoteTablesTest, ReportsABrokenStream) {
  data_.Add(Rows({"b", "a"}));
  EXPECT_EQ(
      Read(ReadAll()),
      fmt::format("b INTERNAL: ReadRows of {}: broken ReadRows stream: row \"a\" comes after \"b\" in a scan "
                  "that ascends",
                  kTable));
  data_.Add(Rows({"a+"}));
  EXPECT_EQ(
      Read(ReadAll()),
      fmt::format("INTERNAL: ReadRows of {}: broken ReadRows stream: it ends before commit_row, in row \"a\"",
                  kTable));
}

TEST_F(RemoteTablesTest, ReadsNothingWithoutRanges) {
  EXPECT_EQ(Read(RowRead()), "OK");
  EXPECT_TRUE(data_.calls().empty());
}

}  // namespace
}  // namespace sonde
