#include "wire/operations/operations.h"

#include <fmt/format.h>
#include <google/bigtable/admin/v2/bigtable_table_admin.pb.h>
#include <gtest/gtest.h>

#include "engine/memory/memory_engine.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
namespace lro = google::longrunning;
using absl::StatusCode;

constexpr char kOperatedTable[] = "projects/p/instances/i/tables/t";

class OperationsTest : public testing::Test {
 protected:
  lro::Operation Update(const std::string& table = kOperatedTable, const std::string& answered = "") {
    admin::UpdateTableMetadata metadata;
    metadata.set_name(table);
    admin::Table response;
    response.set_name(answered.empty() ? table : answered);
    lro::Operation operation;
    EXPECT_EQ(operations_->Done(table, metadata, response, &operation), absl::OkStatus());
    return operation;
  }
  absl::Status Begin(const std::string& table = kOperatedTable) {
    admin::RestoreTableMetadata metadata;
    metadata.set_name(table);
    admin::RestoreTableRequest request;
    request.set_backup("b");
    return operations_->Begin(table, request, metadata, nullptr, &operation_);
  }
  void Reopen() { operations_ = *Operations::Open(engine_.get(), &clock_); }
  absl::StatusOr<std::vector<std::string>> List(lro::ListOperationsRequest request,
                                                std::string* token = nullptr) {
    lro::ListOperationsResponse page;
    if (absl::Status status = operations_->List(request, &page); !status.ok()) return status;
    std::vector<std::string> names;
    for (const lro::Operation& operation : page.operations()) names.push_back(operation.name());
    if (token != nullptr) *token = page.next_page_token();
    return names;
  }
  static lro::ListOperationsRequest ListOf(const std::string& name, const std::string& filter = "") {
    lro::ListOperationsRequest request;
    request.set_name(name);
    request.set_filter(filter);
    return request;
  }
  size_t Records() { return engine_->ReadRecords("operation/", absl::InfiniteFuture())->size(); }

  ManualClock clock_{77};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Operations> operations_ = *Operations::Open(engine_.get(), &clock_);
  lro::Operation operation_;
};

TEST_F(OperationsTest, AreDoneAndFoundAgainAfterARestart) {
  const lro::Operation made = Update();
  EXPECT_EQ(made.name(), "operations/projects/p/instances/i/tables/t/operations/77");
  EXPECT_TRUE(made.done());
  admin::Table response;
  admin::UpdateTableMetadata metadata;
  ASSERT_TRUE(made.response().UnpackTo(&response));
  ASSERT_TRUE(made.metadata().UnpackTo(&metadata));
  EXPECT_EQ(response.name(), kOperatedTable);
  EXPECT_EQ(metadata.name(), kOperatedTable);
  Reopen();
  const absl::StatusOr<lro::Operation> found = operations_->Get(made.name());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->SerializeAsString(), made.SerializeAsString());
  EXPECT_EQ(Update().name(), "operations/projects/p/instances/i/tables/t/operations/78")
      << "no number is given twice, wherever the clock stands";
}

TEST_F(OperationsTest, RunUntilTheyAreFinished) {
  ASSERT_EQ(Begin(), absl::OkStatus());
  EXPECT_FALSE(operation_.done());
  const std::string name = operation_.name();
  admin::RestoreTableMetadata metadata;
  metadata.mutable_progress()->set_progress_percent(40);
  ASSERT_EQ(operations_->Update(name, metadata, /*write=*/true), absl::OkStatus());
  metadata.mutable_progress()->set_progress_percent(50);
  ASSERT_EQ(operations_->Update(name, metadata, /*write=*/false), absl::OkStatus());
  ASSERT_TRUE(operations_->Get(name)->metadata().UnpackTo(&metadata));
  EXPECT_EQ(metadata.progress().progress_percent(), 50);
  Reopen();
  EXPECT_EQ(operations_->Running(), std::vector<std::string>{name});
  ASSERT_TRUE(operations_->Get(name)->metadata().UnpackTo(&metadata));
  EXPECT_EQ(metadata.progress().progress_percent(), 40) << "the last that was written";
  EXPECT_EQ(operations_->FindRecord(name)->kind, "RestoreTable");
  admin::RestoreTableRequest request;
  ASSERT_TRUE(operations_->FindRecord(name)->request.UnpackTo(&request));
  EXPECT_EQ(request.backup(), "b");

  OperationEnd end{.status = absl::CancelledError("It was cancelled")};
  NextOperation& next = end.next.emplace();
  next.name = operations_->NewName(kOperatedTable);
  next.metadata.PackFrom(admin::OptimizeRestoredTableMetadata());
  next.request.PackFrom(request);
  ASSERT_EQ(operations_->Finish(name, end), absl::OkStatus());
  Reopen();
  const absl::StatusOr<lro::Operation> ended = operations_->Get(name);
  ASSERT_TRUE(ended.ok());
  EXPECT_TRUE(ended->done());
  EXPECT_EQ(ended->error().code(), 1);
  EXPECT_EQ(ended->error().message(), "It was cancelled");
  EXPECT_EQ(operations_->Running(), std::vector<std::string>{next.name});
  EXPECT_EQ(operations_->FindRecord(next.name)->kind, "OptimizeRestoredTable");
  EXPECT_EQ(operations_->Finish(name, end).code(), StatusCode::kNotFound) << "it has ended";
}

TEST_F(OperationsTest, ExcludeOthersOfTheirResourceWhileTheyRun) {
  ASSERT_EQ(Begin(), absl::OkStatus());
  EXPECT_EQ(Begin(),
            absl::FailedPreconditionError("projects/p/instances/i/tables/t is currently being modified, by "
                                          "operations/projects/p/instances/i/tables/t/operations/77"));
  EXPECT_EQ(operations_->CheckNoneRuns("projects/p/instances/i").code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(operations_->CheckNoneRuns("projects/p/instances/i/tables/t").code(),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(operations_->CheckNoneRuns("projects/p/instances/i/tables/t2"), absl::OkStatus());
  EXPECT_EQ(operations_->CheckNoneRuns("projects/p/instances/i2"), absl::OkStatus());
  const std::string first = operation_.name();
  EXPECT_EQ(Begin("projects/p/instances/i/tables/t2"), absl::OkStatus());
  ASSERT_EQ(operations_->Finish(first, {.status = absl::AbortedError("x")}), absl::OkStatus());
  EXPECT_EQ(Begin(), absl::OkStatus());
}

TEST_F(OperationsTest, WorkOfTheServerItselfExcludesNothing) {
  EXPECT_EQ(operations_->Begin(kOperatedTable, admin::RestoreTableRequest(),
                               admin::OptimizeRestoredTableMetadata(), nullptr, &operation_),
            absl::OkStatus());
  EXPECT_EQ(operations_->CheckNoneRuns(kOperatedTable), absl::OkStatus());
  EXPECT_EQ(Begin(), absl::OkStatus());
}

TEST_F(OperationsTest, BeginTogetherWithWhatBelongsToThem) {
  const auto commit = [&](std::vector<RecordChange> changes) {
    changes.push_back({"other", "1", /*expected_version=*/0});
    return engine_->WriteRecords(changes, absl::InfiniteFuture());
  };
  const auto begin = [&] {
    return operations_->Begin(kOperatedTable, admin::RestoreTableRequest(), admin::RestoreTableMetadata(),
                              commit, &operation_);
  };
  ASSERT_EQ(begin(), absl::OkStatus());
  ASSERT_EQ(operations_->Finish(operation_.name(), {.status = absl::AbortedError("x")}), absl::OkStatus());
  EXPECT_EQ(begin().code(), StatusCode::kAborted) << "the other record is there";
  EXPECT_TRUE(operations_->Running().empty());
  EXPECT_EQ(Records(), 1U);
}

TEST_F(OperationsTest, RefuseNamesThatAreNone) {
  for (const std::string name : {"", "operations/", "operations/projects/", "projects/p"}) {
    EXPECT_EQ(operations_->Get(name).status().code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(operations_->Delete(name).code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(operations_->RequestCancel(name).status().code(), StatusCode::kInvalidArgument) << name;
  }
  const std::string mine = Update().name();
  for (const std::string& name :
       {std::string("operations/projects/p/operations/77"), mine + "7", mine + "x"}) {
    EXPECT_EQ(operations_->Get(name).status(), absl::NotFoundError("Operation not found: " + name));
    EXPECT_EQ(operations_->Delete(name).code(), StatusCode::kNotFound);
    EXPECT_EQ(operations_->RequestCancel(name).status().code(), StatusCode::kNotFound);
  }
}

TEST_F(OperationsTest, AreForgottenWhenTheyHaveEnded) {
  ASSERT_EQ(Begin(), absl::OkStatus());
  const std::string name = operation_.name();
  EXPECT_EQ(operations_->Delete(name),
            absl::FailedPreconditionError("Operation " + name +
                                          " is running: cancel it, or delete it when it has ended"));
  ASSERT_EQ(operations_->Finish(name, {.status = absl::AbortedError("x")}), absl::OkStatus());
  EXPECT_EQ(operations_->Delete(name), absl::OkStatus());
  EXPECT_EQ(operations_->Get(name).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Records(), 0U);
}

TEST_F(OperationsTest, RememberThatTheirEndWasAskedFor) {
  ASSERT_EQ(Begin(), absl::OkStatus());
  EXPECT_TRUE(*operations_->RequestCancel(operation_.name()));
  EXPECT_TRUE(*operations_->RequestCancel(operation_.name())) << "once more, without effect";
  Reopen();
  EXPECT_TRUE(operations_->FindRecord(operation_.name())->is_cancelled);
  ASSERT_EQ(operations_->Finish(operation_.name(), {.status = absl::CancelledError("x")}), absl::OkStatus());
  EXPECT_FALSE(*operations_->RequestCancel(operation_.name()));
}

TEST_F(OperationsTest, AreKeptForAMonth) {
  const std::string old = Update().name();
  ASSERT_EQ(Begin(), absl::OkStatus());
  const std::string running = operation_.name();
  clock_.Advance(absl::ToInt64Microseconds(Operations::kKept));
  const std::string younger = Update("projects/p/instances/i/tables/u").name();
  EXPECT_TRUE(operations_->Get(old).ok());
  clock_.Advance(1);
  Update("projects/p/instances/i/tables/u");
  EXPECT_EQ(operations_->Get(old).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(operations_->Get(younger).ok());
  EXPECT_TRUE(operations_->Get(running).ok()) << "it has not ended";
  EXPECT_EQ(Records(), 3U);
}

TEST_F(OperationsTest, TheFirstToFinishGoFirstPastTheLimits) {
  ASSERT_EQ(Begin("projects/p/instances/i/tables/running"), absl::OkStatus());
  const std::string running = operation_.name();
  ASSERT_EQ(Begin("projects/p/instances/i/tables/late"), absl::OkStatus());
  const std::string late = operation_.name();
  const std::string first = Update().name(), second = Update().name();
  clock_.Advance(1'000'000);
  ASSERT_EQ(operations_->Finish(late, {.status = absl::AbortedError("x")}), absl::OkStatus());
  for (size_t i = 0; i + 3 < Operations::kOperationsMax; ++i) Update();
  EXPECT_EQ(operations_->Get(first).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(operations_->Get(second).ok());
  EXPECT_EQ(Records(), Operations::kOperationsMax);
  Update();
  EXPECT_EQ(operations_->Get(second).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(operations_->Get(late).ok()) << "it began before, and finished after";

  const std::string large = Update(kOperatedTable, std::string(Operations::kBytesMax, 'x')).name();
  EXPECT_TRUE(operations_->Get(large).ok()) << "the newest one is kept, however large";
  EXPECT_TRUE(operations_->Get(running).ok());
  EXPECT_EQ(Records(), 2U);
}

TEST_F(OperationsTest, ListThoseBelowANameInPages) {
  const std::string first = Update().name(), second = Update().name(), third = Update().name();
  const std::string other = Update("projects/p/instances/i2/tables/t").name();
  ASSERT_EQ(Begin(), absl::OkStatus());
  lro::ListOperationsRequest request = ListOf("operations/projects/p/instances/i");
  request.set_page_size(3);
  std::string token;
  EXPECT_EQ(*List(request, &token), (std::vector<std::string>{first, second, third}));
  request.set_page_token(token);
  EXPECT_EQ(*List(request, &token), std::vector<std::string>{operation_.name()});
  EXPECT_EQ(token, "");
  EXPECT_EQ(List(ListOf("operations/projects/p"))->size(), 5U);
  EXPECT_EQ(*List(ListOf("operations/projects/p/instances/i2/tables/t")), std::vector<std::string>{other});

  lro::ListOperationsRequest changed = request;
  changed.set_name("operations/projects/p");
  EXPECT_EQ(
      List(changed).status(),
      absl::InvalidArgumentError("Error in field 'page_token' : not one that ListOperations gave for this "
                                 "name, filter and page size"));
  changed = request;
  changed.set_filter("done=true");
  EXPECT_EQ(List(changed).status().code(), StatusCode::kInvalidArgument);
  changed = request;
  changed.set_page_size(2);
  EXPECT_EQ(List(changed).status().code(), StatusCode::kInvalidArgument);
  changed.set_page_size(-1);
  EXPECT_EQ(List(changed).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(OperationsTest, ListByWhetherTheyHaveEnded) {
  const std::string done = Update().name();
  ASSERT_EQ(Begin(), absl::OkStatus());
  const std::string name = "operations/projects/p";
  EXPECT_EQ(*List(ListOf(name, "done=true")), std::vector<std::string>{done});
  EXPECT_EQ(*List(ListOf(name, "done=false")), std::vector<std::string>{operation_.name()});
  EXPECT_EQ(List(ListOf(name, "done")).status(),
            absl::InvalidArgumentError(
                "Error in field 'filter' : must be empty, done=true or done=false, but is 'done'"));
}

TEST_F(OperationsTest, APageHasABoundOfBytes) {
  const std::string large(Operations::kPageBytesMax / 2, 'x');
  const std::string first = Update(kOperatedTable, large).name(),
                    second = Update(kOperatedTable, large).name();
  lro::ListOperationsRequest request = ListOf("operations/projects/p");
  std::string token;
  EXPECT_EQ(*List(request, &token), std::vector<std::string>{first});
  request.set_page_token(token);
  EXPECT_EQ(*List(request, &token), std::vector<std::string>{second});
  EXPECT_EQ(token, "");
}

TEST_F(OperationsTest, ADamagedRecordIsTold) {
  ASSERT_EQ(engine_->WriteRecords({{"operation/x", "{}"}}, absl::InfiniteFuture()), absl::OkStatus());
  EXPECT_EQ(Operations::Open(engine_.get(), &clock_).status().code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace sonde
