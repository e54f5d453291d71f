#include "servers.h"

#include <fmt/format.h>
#include <google/bigtable/v2/feature_flags.pb.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <sstream>
#include <stdexcept>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/time/clock.h"
#include "reference_merger.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
namespace pb = google::bigtable::v2;

constexpr char kInstance[] = "projects/p/instances/i";
constexpr size_t kWorkers = 2;
constexpr absl::Duration kTriesAtMost = absl::Minutes(1);
constexpr absl::Duration kBetweenTries = absl::Milliseconds(100);

absl::Status ToAbsl(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

Outcome Failure(const grpc::Status& status, std::string* error_text) {
  *error_text = status.error_message();
  return {static_cast<absl::StatusCode>(status.error_code()), ""};
}

std::string Text(const std::vector<MergedCell>& cells) {
  std::ostringstream text;
  for (const MergedCell& cell : cells) text << cell << '\n';
  return text.str();
}

// What official clients announce that they understand.
std::string Features() {
  pb::FeatureFlags features;
  features.set_reverse_scans(true);
  features.set_last_scanned_row_responses(true);
  return absl::WebSafeBase64Escape(features.SerializeAsString());
}

const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename Value>
const absl::Status& StatusOf(const absl::StatusOr<Value>& value) {
  return value.status();
}

// Asks until there is an answer: a cluster under load may not say in time what there is, or whether a change is made.
template <typename Ask>
auto AskUntilAnswered(const Ask& ask) {
  const absl::Time deadline = absl::Now() + kTriesAtMost;
  while (true) {
    auto answer = ask();
    const absl::Status status = StatusOf(answer);
    if (absl::Now() >= deadline || (!absl::IsUnavailable(status) && !absl::IsUnknown(status))) return answer;
    absl::SleepFor(kBetweenTries);
  }
}

template <typename Value>
Value OrThrow(absl::StatusOr<Value> value) {
  if (!value.ok()) throw std::runtime_error(value.status().ToString());
  return *std::move(value);
}

}  // namespace

ServerUnderTest::ServerUnderTest(std::string name, std::unique_ptr<Engine> engine,
                                 std::function<void()> compact, const Clock* clock,
                                 absl::Duration seen_within)
    : name_(std::move(name)), engine_(std::move(engine)), compact_(std::move(compact)) {
  catalog_ =
      OrThrow(AskUntilAnswered([&] { return Catalog::Open(engine_.get(), {.seen_within = seen_within}); }));
  tables_ = std::make_unique<Tables>(engine_.get(), catalog_.get(), clock, /*seed=*/1);
  server_ = OrThrow(GrpcServer::Start(
      {.writes_block = engine_->traits().waits_for_network, .worker_threads = kWorkers}, tables_.get()));
  const auto channel =
      grpc::CreateChannel(fmt::format("127.0.0.1:{}", server_->port()), grpc::InsecureChannelCredentials());
  data_ = pb::Bigtable::NewStub(channel);
  admin_ = admin::BigtableTableAdmin::NewStub(channel);
}

ServerUnderTest::~ServerUnderTest() {
  if (is_shared()) (void)AskUntilAnswered([&] { return catalog_->Delete(table_name_); });
}

absl::Status ServerUnderTest::CreateTable(const admin::CreateTableRequest& request,
                                          const std::string& table_id) {
  admin::CreateTableRequest named = request;
  named.set_parent(kInstance);
  named.set_table_id(table_id);
  table_name_ = fmt::format("{}/tables/{}", kInstance, table_id);
  bool may_be_made = false;
  return AskUntilAnswered([&] {
    grpc::ClientContext context;
    admin::Table made;
    const absl::Status status = ToAbsl(admin_->CreateTable(&context, named, &made));
    return std::exchange(may_be_made, true) && absl::IsAlreadyExists(status) ? absl::OkStatus() : status;
  });
}

void ServerUnderTest::Compact() {
  if (compact_) compact_();
}

Outcome ServerUnderTest::Do(const Request& request, std::string* error_text) {
  return std::visit([&](const auto& message) { return Send(message, error_text); }, request);
}

Outcome ServerUnderTest::Send(pb::MutateRowRequest request, std::string* error_text) {
  request.set_table_name(table_name_);
  grpc::ClientContext context;
  pb::MutateRowResponse response;
  const grpc::Status status = data_->MutateRow(&context, request, &response);
  return status.ok() ? Outcome() : Failure(status, error_text);
}

Outcome ServerUnderTest::Send(pb::MutateRowsRequest request, std::string* error_text) {
  request.set_table_name(table_name_);
  grpc::ClientContext context;
  const auto stream = data_->MutateRows(&context, request);
  std::map<int64_t, std::string> answers;
  pb::MutateRowsResponse response;
  while (stream->Read(&response)) {
    for (const pb::MutateRowsResponse::Entry& entry : response.entries()) {
      const auto code = static_cast<absl::StatusCode>(entry.status().code());
      if (!answers.emplace(entry.index(), absl::StatusCodeToString(code)).second) {
        answers[entry.index()] += " twice";
      }
    }
  }
  if (const grpc::Status status = stream->Finish(); !status.ok()) return Failure(status, error_text);
  Outcome outcome;
  for (const auto& [index, code] : answers) outcome.answer += fmt::format("{}: {}\n", index, code);
  return outcome;
}

Outcome ServerUnderTest::Send(pb::CheckAndMutateRowRequest request, std::string* error_text) {
  request.set_table_name(table_name_);
  grpc::ClientContext context;
  pb::CheckAndMutateRowResponse response;
  const grpc::Status status = data_->CheckAndMutateRow(&context, request, &response);
  if (!status.ok()) return Failure(status, error_text);
  return {absl::StatusCode::kOk, response.predicate_matched() ? "match\n" : "no match\n"};
}

Outcome ServerUnderTest::Send(pb::ReadModifyWriteRowRequest request, std::string* error_text) {
  request.set_table_name(table_name_);
  grpc::ClientContext context;
  pb::ReadModifyWriteRowResponse response;
  const grpc::Status status = data_->ReadModifyWriteRow(&context, request, &response);
  if (!status.ok()) return Failure(status, error_text);
  std::vector<MergedCell> cells;
  for (const pb::Family& family : response.row().families()) {
    for (const pb::Column& column : family.columns()) {
      for (const pb::Cell& cell : column.cells()) {
        cells.push_back({response.row().key(), family.name(), column.qualifier(), cell.timestamp_micros(),
                         cell.value(), ""});
      }
    }
  }
  return {absl::StatusCode::kOk, Text(cells)};
}

Outcome ServerUnderTest::Send(pb::ReadRowsRequest request, std::string* error_text) {
  request.set_table_name(table_name_);
  grpc::ClientContext context;
  context.AddMetadata("bigtable-features", Features());
  const auto stream = data_->ReadRows(&context, request);
  ReferenceMerger merger(request.reversed());
  bool is_broken = false;
  // How much was seen depends on the engine; that it includes the rows returned does not.
  std::string stats;
  pb::ReadRowsResponse response;
  while (stream->Read(&response)) {
    if (response.has_request_stats()) {
      const auto& counts = response.request_stats().full_read_stats_view().read_iteration_stats();
      stats +=
          fmt::format("{} rows, {} cells\n", counts.rows_returned_count(), counts.cells_returned_count());
      is_broken = is_broken || counts.rows_seen_count() < counts.rows_returned_count();
    }
    for (const auto& chunk : response.chunks()) is_broken = is_broken || !merger.Add(chunk);
  }
  if (const grpc::Status status = stream->Finish(); !status.ok()) return Failure(status, error_text);
  if (is_broken || !merger.End()) return {absl::StatusCode::kOk, "the chunks break the rules\n"};
  return {absl::StatusCode::kOk, Text(merger.cells()) + stats};
}

Outcome ServerUnderTest::Send(admin::DropRowRangeRequest request, std::string* error_text) {
  request.set_name(table_name_);
  grpc::ClientContext context;
  google::protobuf::Empty nothing;
  const grpc::Status status = admin_->DropRowRange(&context, request, &nothing);
  return status.ok() ? Outcome() : Failure(status, error_text);
}

Outcome ServerUnderTest::Send(admin::ModifyColumnFamiliesRequest request, std::string* error_text) {
  request.set_name(table_name_);
  grpc::ClientContext context;
  admin::Table table;
  const grpc::Status status = admin_->ModifyColumnFamilies(&context, request, &table);
  return status.ok() ? Outcome() : Failure(status, error_text);
}

}  // namespace sonde
