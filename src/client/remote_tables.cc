#include "client/remote_tables.h"

#include <fmt/format.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "client/features.h"
#include "client/grpc_status.h"
#include "client/read_request.h"
#include "client/table_messages.h"
#include "model/names.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
namespace data = google::bigtable::v2;

// Rounds of EnsureTable while others create and drop the table at the same time.
constexpr int kEnsureRoundsMax = 5;
// Pages of ListTables, in case a server's pages never end.
constexpr int kListPagesMax = 100'000;

admin::ColumnFamily ToProto(const FamilyRequest& family) {
  admin::ColumnFamily proto;
  if (!family.gc_rule.KeepsEverything()) *proto.mutable_gc_rule() = GcRuleMessage(family.gc_rule);
  return proto;
}

// The order that ReadRow promises; servers are free to order families as they like.
void SortFamilies(ReadRow* row) {
  const auto by_family = [](const ReadCell& a, const ReadCell& b) { return a.family < b.family; };
  if (!std::is_sorted(row->cells.begin(), row->cells.end(), by_family)) {
    std::stable_sort(row->cells.begin(), row->cells.end(), by_family);
  }
}

uint64_t RandomSeed() {
  SystemRandom random;
  return random.Next();
}

}  // namespace

absl::StatusOr<Channels> RemoteTables::Open(const RemoteOptions& options) {
  const std::string instance = fmt::format("projects/{}/instances/{}", options.project, options.instance);
  if (absl::Status status = CheckInstanceName(instance); !status.ok()) return status;
  return OpenChannels({.endpoint = options.endpoint,
                       .ca_file = options.ca_file,
                       .key_file = options.key_file,
                       .program = options.program,
                       .connect_timeout = options.connect_timeout});
}

absl::StatusOr<std::unique_ptr<RemoteTables>> RemoteTables::Connect(RemoteOptions options) {
  const absl::StatusOr<Channels> channels = Open(options);
  if (!channels.ok()) return channels.status();
  return std::unique_ptr<RemoteTables>(new RemoteTables(std::move(options), *channels));
}

RemoteTables::RemoteTables(RemoteOptions options, const Channels& channels)
    : options_(std::move(options)),
      jitter_seed_(options_.jitter_seed.has_value() ? *options_.jitter_seed : RandomSeed()),
      data_(data::Bigtable::NewStub(channels.data)),
      admin_(admin::BigtableTableAdmin::NewStub(channels.admin)) {}

std::string RemoteTables::InstanceName() const {
  return fmt::format("projects/{}/instances/{}", options_.project, options_.instance);
}

std::string RemoteTables::TableName(const std::string& table) const {
  return fmt::format("{}/tables/{}", InstanceName(), table);
}

Backoff RemoteTables::MakeBackoff() {
  return Backoff(options_.retry, jitter_seed_ + call_count_.fetch_add(1));
}

absl::Status RemoteTables::Call(const std::string& what,
                                const std::function<grpc::Status(grpc::ClientContext*)>& call) {
  Backoff backoff = MakeBackoff();
  while (true) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + options_.call_timeout);
    const grpc::Status grpc_status = call(&context);
    absl::Status status = FromGrpcStatus(grpc_status, what);
    if (!IsTransient(status) || !backoff.WaitForNext(RetryDelay(grpc_status))) return status;
  }
}

absl::Status RemoteTables::EnsureTable(const std::string& table, const std::vector<FamilyRequest>& families) {
  absl::Status status;
  for (int round = 0; round < kEnsureRoundsMax; ++round) {
    admin::Table found;
    status = GetTable(table, &found);
    if (absl::IsNotFound(status)) {
      status = CreateTable(table, families);
    } else if (status.ok()) {
      std::vector<FamilyRequest> missing;
      std::copy_if(
          families.begin(), families.end(), std::back_inserter(missing),
          [&](const FamilyRequest& family) { return !found.column_families().contains(family.name); });
      status = missing.empty() ? absl::OkStatus() : ModifyFamilies(table, missing, true);
    }
    // Somebody else made (dropped) it since GetTable: look again.
    if (!absl::IsAlreadyExists(status) && !absl::IsNotFound(status)) return status;
  }
  return status;
}

absl::Status RemoteTables::GetTable(const std::string& table, admin::Table* found) {
  admin::GetTableRequest request;
  request.set_name(TableName(table));
  request.set_view(admin::Table::SCHEMA_VIEW);
  return Call(fmt::format("GetTable of {}", request.name()),
              [&](grpc::ClientContext* context) { return admin_->GetTable(context, request, found); });
}

absl::StatusOr<std::vector<FamilyRequest>> RemoteTables::ListFamilies(const std::string& table) {
  admin::Table found;
  if (absl::Status status = GetTable(table, &found); !status.ok()) return status;
  std::vector<FamilyRequest> families;
  for (const auto& [name, family] : found.column_families()) {
    families.push_back({name, GcRuleOf(family.gc_rule())});
  }
  return families;
}

absl::Status RemoteTables::UpdateFamilies(const std::string& table,
                                          const std::vector<FamilyRequest>& families) {
  return ModifyFamilies(table, families, false);
}

absl::Status RemoteTables::CreateTable(const std::string& table, const std::vector<FamilyRequest>& families) {
  admin::CreateTableRequest request;
  request.set_parent(InstanceName());
  request.set_table_id(table);
  for (const FamilyRequest& family : families) {
    (*request.mutable_table()->mutable_column_families())[family.name] = ToProto(family);
  }
  admin::Table made;
  return Call(fmt::format("CreateTable of {}", TableName(table)),
              [&](grpc::ClientContext* context) { return admin_->CreateTable(context, request, &made); });
}

absl::Status RemoteTables::DropTable(const std::string& table) {
  admin::DeleteTableRequest request;
  request.set_name(TableName(table));
  google::protobuf::Empty done;
  return Call(fmt::format("DeleteTable of {}", TableName(table)),
              [&](grpc::ClientContext* context) { return admin_->DeleteTable(context, request, &done); });
}

absl::Status RemoteTables::ModifyFamilies(const std::string& table,
                                          const std::vector<FamilyRequest>& families, bool creates) {
  admin::ModifyColumnFamiliesRequest request;
  request.set_name(TableName(table));
  for (const FamilyRequest& family : families) {
    auto* modification = request.add_modifications();
    modification->set_id(family.name);
    // An update without a mask is one of the rule.
    *(creates ? modification->mutable_create() : modification->mutable_update()) = ToProto(family);
  }
  admin::Table made;
  return Call(fmt::format("ModifyColumnFamilies of {}", request.name()), [&](grpc::ClientContext* context) {
    return admin_->ModifyColumnFamilies(context, request, &made);
  });
}

absl::StatusOr<std::vector<std::string>> RemoteTables::ListTables() {
  admin::ListTablesRequest request;
  request.set_parent(InstanceName());
  request.set_view(admin::Table::NAME_ONLY);
  std::vector<std::string> tables;
  for (int page = 0; page < kListPagesMax; ++page) {
    admin::ListTablesResponse response;
    absl::Status status =
        Call(fmt::format("ListTables of {}", request.parent()), [&](grpc::ClientContext* context) {
          response.Clear();
          return admin_->ListTables(context, request, &response);
        });
    if (!status.ok()) return status;
    for (const admin::Table& table : response.tables()) {
      const std::string_view name = table.name();
      tables.emplace_back(name.substr(name.rfind('/') + 1));
    }
    if (response.next_page_token().empty()) {
      std::sort(tables.begin(), tables.end());
      return tables;
    }
    request.set_page_token(response.next_page_token());
  }
  return absl::InternalError(
      fmt::format("ListTables of {}: no end after {} pages", request.parent(), kListPagesMax));
}

absl::StatusOr<std::vector<absl::Status>> RemoteTables::MutateRows(const std::string& table,
                                                                   const std::vector<RowWrite>& rows) {
  return MergeRows(table, rows, {});
}

absl::StatusOr<std::vector<absl::Status>> RemoteTables::MergeRows(const std::string& table,
                                                                  const std::vector<RowWrite>& rows,
                                                                  const std::set<std::string>& merged) {
  MutateRowsCall call(*data_, options_.retry, options_.mutate_limits, options_.call_timeout,
                      jitter_seed_ + call_count_.fetch_add(1));
  return call.Run(TableName(table), rows, merged);
}

absl::StatusOr<CopyAccess::Described> RemoteTables::Describe(const std::string& table) {
  admin::Table found;
  if (absl::Status status = GetTable(table, &found); !status.ok()) return status;
  return DescribedOf(table, found);
}

absl::StatusOr<std::vector<std::string>> RemoteTables::Create(const TableSchema& schema) {
  admin::CreateTableRequest request;
  request.set_parent(InstanceName());
  request.set_table_id(schema.name);
  std::vector<std::string> not_taken;
  if (absl::Status status = FillTable(schema, &request, &not_taken); !status.ok()) return status;
  admin::Table made;
  const absl::Status status =
      Call(fmt::format("CreateTable of {}", TableName(schema.name)),
           [&](grpc::ClientContext* context) { return admin_->CreateTable(context, request, &made); });
  if (!status.ok()) return status;
  return not_taken;
}

struct RemoteTables::ReadProgress {
  explicit ReadProgress(bool reversed) : merger(reversed) {}
  RowMerger merger;
  int64_t rows_done = 0;
  int64_t rows_max = 0;  // 0: no limit
  bool stopped = false;  // the reader has enough
  std::optional<std::chrono::milliseconds> server_delay;

  // Gives every row that the response completes to `row`.
  absl::Status Take(data::ReadRowsResponse* response, const std::function<bool(ReadRow&&)>& row);
};

absl::Status RemoteTables::ReadProgress::Take(data::ReadRowsResponse* response,
                                              const std::function<bool(ReadRow&&)>& row) {
  ReadRow complete;
  for (auto& chunk : *response->mutable_chunks()) {
    const absl::StatusOr<bool> ended = merger.Add(std::move(chunk), &complete);
    if (!ended.ok()) return ended.status();
    if (!*ended) continue;
    SortFamilies(&complete);
    ++rows_done;
    stopped = !row(std::move(complete)) || rows_done == rows_max;
    if (stopped) return absl::OkStatus();
  }
  if (response->last_scanned_row_key().empty()) return absl::OkStatus();
  return merger.SetLastScanned(response->last_scanned_row_key());
}

absl::Status RemoteTables::ReadRows(const std::string& table, const RowRead& read,
                                    const std::function<bool(ReadRow&&)>& row) {
  ReadProgress progress(read.reversed);
  progress.rows_max = read.rows_max;
  for (const RowRead& part : PartsOf(read)) {
    if (absl::Status status = ReadPart(table, part, row, &progress); !status.ok() || progress.stopped)
      return status;
  }
  return absl::OkStatus();
}

absl::Status RemoteTables::ReadPart(const std::string& table, const RowRead& read,
                                    const std::function<bool(ReadRow&&)>& row, ReadProgress* progress) {
  const std::string what = fmt::format("ReadRows of {}", TableName(table));
  Backoff backoff = MakeBackoff();
  while (true) {
    const std::optional<std::string> last_row_key = progress->merger.last_row_key();
    const auto request = MakeReadRowsRequest(TableName(table), read, last_row_key, progress->rows_done);
    if (!request.ok()) return request.status();
    if (!request->has_value()) return absl::OkStatus();
    const absl::Status status = ReadOnce(**request, what, row, progress);
    if (!IsTransient(status)) return status;
    if (progress->merger.last_row_key() != last_row_key) backoff.Progress();
    if (!backoff.WaitForNext(progress->server_delay)) return status;
    progress->merger.DropUnfinishedRow();
  }
}

absl::Status RemoteTables::ReadOnce(const data::ReadRowsRequest& request, const std::string& what,
                                    const std::function<bool(ReadRow&&)>& row, ReadProgress* progress) {
  grpc::ClientContext context;
  context.AddMetadata(kFeaturesKey, kFeatures);
  const auto reader = data_->ReadRows(&context, request);
  data::ReadRowsResponse response;
  absl::Status broken;
  while (broken.ok() && !progress->stopped && reader->Read(&response)) {
    broken = progress->Take(&response, row);
  }
  if (!broken.ok() || progress->stopped) context.TryCancel();
  const grpc::Status grpc_status = reader->Finish();
  if (!broken.ok())
    return absl::Status(broken.code(), fmt::format("{}: {}", what, std::string(broken.message())));
  if (progress->stopped) return absl::OkStatus();
  progress->server_delay = RetryDelay(grpc_status);
  if (!grpc_status.ok()) return FromGrpcStatus(grpc_status, what);
  absl::Status finished = progress->merger.Finish();
  if (finished.ok()) return finished;
  return absl::Status(finished.code(), fmt::format("{}: {}", what, std::string(finished.message())));
}

}  // namespace sonde
