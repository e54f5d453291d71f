// Any bytes as a request: the checks of `wire` accept or refuse it, and what they accept has the form that
// everything below relies on.
//   byte 0 chooses the kind of request; the rest is its message.
#include <fmt/format.h>
#include <google/bigtable/v2/bigtable.pb.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

#include "absl/strings/escaping.h"
#include "base/admission.h"
#include "changes/change_record.h"
#include "gc/gc_rule.h"
#include "hll/hll_sketch.h"
#include "model/aggregate.h"
#include "model/limits.h"
#include "mutation/normalize.h"
#include "table/change_streams.h"
#include "table/idempotency.h"
#include "target.h"
#include "wire/admin/authorized_views.h"
#include "wire/admin/schemas.h"
#include "wire/admin/update_table.h"
#include "wire/call/requests.h"
#include "wire/data/change_streams.h"
#include "wire/data/filter_request.h"
#include "wire/data/message_test_support.h"
#include "wire/data/mutate_rows_message.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
namespace pb = google::bigtable::v2;

constexpr int64_t kNowMicros = 1'700'000'000'000'123;
constexpr int64_t kRetentionMicros = int64_t{86'400} * 1'000'000;
constexpr StreamIdentity kStream = {.table = 7, .start_micros = kNowMicros};

const TableSchema& Schema() {
  static const TableSchema schema = [] {
    TableSchema made;
    made.name = "projects/p/instances/i/tables/t";
    made.families = {{.name = "a", .id = 1},
                     {.name = "b", .id = 2},
                     {.name = "max", .id = 3, .aggregate = AggregateKind::kMax},
                     {.name = "names", .id = 6, .aggregate = AggregateKind::kHllBytes},
                     {.name = "numbers", .id = 5, .aggregate = AggregateKind::kHllInt64},
                     {.name = "sum", .id = 4, .aggregate = AggregateKind::kSum}};
    made.change_stream = ChangeStreamSchema{.retention_micros = kRetentionMicros, .start_micros = kNowMicros};
    return made;
  }();
  return schema;
}

// The same, of the finer granularity.
const TableSchema& SchemaOfMicros() {
  static const TableSchema schema = [] {
    TableSchema made = Schema();
    made.granularity = TimestampGranularity::kMicros;
    return made;
  }();
  return schema;
}

template <typename Cell>
bool AreAscending(const std::vector<Cell>& cells) {
  return std::adjacent_find(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
           return std::tie(a.qualifier, b.timestamp_micros) >= std::tie(b.qualifier, a.timestamp_micros);
         }) == cells.end();
}

void CheckDelta(const TableSchema& schema, const RowDelta& delta) {
  const int64_t step_micros = schema.granularity == TimestampGranularity::kMillis ? kMicrosPerMilli : 1;
  for (size_t i = 0; i < delta.families.size(); ++i) {
    const FamilyDelta& family = delta.families[i];
    Require(i == 0 || delta.families[i - 1].family < family.family, "families ascend, each once");
    Require(AreAscending(family.puts) && AreAscending(family.adds), "puts and adds ascend, each once");
    Require(family.adds.empty() || family.puts.empty(), "puts or adds");
    for (size_t j = 1; j < family.deletes.size(); ++j) {
      const FamilyDelta::ColumnDelete& a = family.deletes[j - 1];
      const FamilyDelta::ColumnDelete& b = family.deletes[j];
      const bool is_after =
          a.qualifier < b.qualifier || (a.qualifier == b.qualifier && a.time_range.end_micros != 0 &&
                                        a.time_range.end_micros < b.time_range.start_micros);
      Require(is_after, "deletes ascend and do not touch");
    }
    for (const CellView& put : family.puts) {
      Require(put.timestamp_micros >= 0 && put.timestamp_micros % step_micros == 0 &&
                  put.qualifier.size() <= kQualifierBytesMax,
              "a put is within the limits");
    }
    for (const auto& add : family.adds) {
      Require(!IsHll(family.aggregate) || HllSketch::Parse(family.aggregate, add.sketch).ok(),
              "what is added to a sketch is one");
    }
  }
}

// The record of a change holds mutations that do what the change does.
void CheckRecord(const TableSchema& schema, std::string_view row_key,
                 const std::vector<Mutation>& mutations) {
  std::vector<Mutation> logged;
  const std::vector<std::string> pieces =
      EncodeChange(schema, ChangeKind::kUser, row_key, mutations, kNowMicros);
  for (const std::string& bytes : pieces) {
    ChangePiece piece;
    Require(DecodeChangePiece(bytes, &piece).ok(), "a piece is one");
    for (const LoggedMutation& mutation : piece.mutations) {
      if (mutation.chunk.has_value()) return;  // a value in several pieces: not put together here
      logged.push_back(mutation.mutation);
    }
  }
  RowDelta asked, told;
  Require(Normalize(schema, row_key, mutations, kNowMicros, &asked).ok() &&
              Normalize(schema, row_key, logged, kNowMicros, &told).ok(),
          "a record can be applied");
  Require(asked.families.size() == told.families.size(), "a record changes the same families");
  for (size_t i = 0; i < asked.families.size(); ++i) {
    const FamilyDelta& a = asked.families[i];
    const FamilyDelta& b = told.families[i];
    Require(
        a.family == b.family && a.delete_all == b.delete_all && a.deletes == b.deletes && a.puts == b.puts,
        "a record says what was asked");
    Require(a.adds.size() == b.adds.size(), "a record adds what was asked");
  }
}

void CheckMutations(std::string_view row_key,
                    const google::protobuf::RepeatedPtrField<pb::Mutation>& mutations) {
  std::vector<Mutation> parsed;
  if (!ParseMutations(mutations, /*may_be_empty=*/false, &parsed).ok()) return;
  Require(parsed.size() <= static_cast<size_t>(mutations.size()), "no mutation is made up");
  for (const TableSchema* schema : {&Schema(), &SchemaOfMicros()}) {
    RowDelta delta;
    if (!Normalize(*schema, row_key, parsed, kNowMicros, &delta).ok()) continue;
    CheckDelta(*schema, delta);
    CheckRecord(*schema, row_key, parsed);
  }
}

void CheckIdempotency(const pb::Idempotency& idempotency) {
  std::optional<Idempotency> parsed;
  if (!ParseIdempotency(idempotency, &parsed).ok()) return;
  Require(parsed.has_value() && parsed->token.size() >= kIdempotencyTokenBytesMin &&
              parsed->token.size() <= kIdempotencyTokenBytesMax,
          "a token is within the limits");
  Require(!parsed->start_micros.has_value() || *parsed->start_micros >= 0, "a start is a time");
  (void)CheckStartTime(*parsed, kNowMicros);
}

// What a client sends as a token.
void CheckToken(std::string_view token) {
  const absl::StatusOr<StreamCursor> cursor = DecodeStreamToken(kStream, token);
  if (!cursor.ok()) return;
  Require(!cursor->segments.empty() && cursor->segments.size() <= kStreamSegmentsMax, "a token's segments");
  for (size_t i = 0; i < cursor->segments.size(); ++i) {
    Require(!cursor->segments[i].range.IsEmpty(), "a segment has rows");
    Require(i == 0 || cursor->segments[i - 1].range.end == cursor->segments[i].range.start,
            "segments follow each other");
  }
  const absl::StatusOr<StreamCursor> again = DecodeStreamToken(kStream, EncodeStreamToken(kStream, *cursor));
  Require(again.ok() && *again == *cursor, "a token that is given again is the same");
}
// Bytes beneath the base64, of this stream: what mutations would hardly hit.
void CheckTokenBytes(std::string_view bytes) {
  StreamCursor none = {.segments = {{RowRange::All(), 0}}, .watermark = 0};
  std::string token;
  Require(absl::WebSafeBase64Unescape(EncodeStreamToken(kStream, none), &token), "a token is base64");
  constexpr size_t kTailBytes = 4;  // watermark, start, end, position
  token.resize(token.size() - kTailBytes);
  CheckToken(absl::WebSafeBase64Escape(token + std::string(bytes)));
}

void CheckRows(const pb::RowSet& rows) {
  const absl::StatusOr<std::vector<RowRange>> ranges = ParseRowSet(rows);
  if (!ranges.ok()) return;
  Require(NormalizeRanges(*ranges) == *ranges, "ranges are in normal form");
  for (const std::string& key : rows.row_keys()) {
    Require(CheckRowKey(key).ok(), "a key is one");
    Require(std::any_of(ranges->begin(), ranges->end(),
                        [&](const RowRange& range) { return range.Contains(key); }),
            "a key is in the ranges");
  }
}

void CheckFamily(const FamilySchema& family) {
  Require(CheckGcRule(family.gc_rule).ok(), "a rule keeps the limits");
  Require(!family.name.empty() && family.name.size() <= kFamilyNameBytesMax, "a family's name");
}

void Check(const pb::ReadRowsRequest& request) {
  CheckRows(request.rows());
  (void)CompileFilter(request.filter());
}
void Check(const pb::SampleRowKeysRequest& request) { (void)ParseRowRange(request.row_range()); }
void Check(const pb::MutateRowRequest& request) {
  CheckMutations(request.row_key(), request.mutations());
  CheckIdempotency(request.idempotency());
}
void Check(const pb::MutateRowsRequest& request) {
  for (const auto& entry : request.entries()) {
    CheckMutations(entry.row_key(), entry.mutations());
    CheckIdempotency(entry.idempotency());
  }
}
void Check(const pb::ReadChangeStreamRequest& request) {
  const absl::StatusOr<ParsedReadChangeStream> parsed = ParseReadChangeStream(request);
  if (!parsed.ok()) return;
  Require(parsed->heartbeat.count() > 0, "a heartbeat comes now and then");
  Require(!parsed->read.partition.IsEmpty(), "a partition has rows");
  Require(parsed->read.tokens.empty() || !parsed->read.start_micros.has_value(), "tokens or a start");
  for (const ReadChangesRequest::Token& token : parsed->read.tokens) CheckToken(token.token);
}
void Check(const pb::CheckAndMutateRowRequest& request) {
  CheckMutations(request.row_key(), request.true_mutations());
  CheckMutations(request.row_key(), request.false_mutations());
  (void)CompileFilter(request.predicate_filter());
}
void Check(const pb::ReadModifyWriteRowRequest& request) {
  const absl::StatusOr<std::vector<ReadModifyWriteRule>> rules = ParseRules(request.rules());
  Require(!rules.ok() || rules->size() == static_cast<size_t>(request.rules_size()), "a rule for each");
}
void Check(const admin::CreateTableRequest& request) {
  const absl::StatusOr<TableSchema> schema = ParseCreateTable(request);
  if (!schema.ok()) return;
  for (const FamilySchema& family : schema->families) CheckFamily(family);
  Require(std::is_sorted(schema->split_points.begin(), schema->split_points.end()), "splits ascend");
  admin::Table shown;
  ToProto(*schema, admin::Table::FULL, admin::Table::FULL, &shown);
  Require(shown.column_families_size() == request.table().column_families_size(), "all families are shown");
}
void Check(const admin::ModifyColumnFamiliesRequest& request) {
  const absl::StatusOr<std::vector<FamilyModification>> modifications = ParseModifications(request);
  if (!modifications.ok()) return;
  for (const FamilyModification& modification : *modifications) {
    if (const auto* create = std::get_if<CreateFamily>(&modification)) CheckFamily(create->family);
    if (const auto* update = std::get_if<UpdateFamily>(&modification)) {
      Require(!update->gc_rule.has_value() || CheckGcRule(*update->gc_rule).ok(), "a rule keeps the limits");
    }
  }
}

void Check(const admin::CreateAuthorizedViewRequest& request) {
  const absl::StatusOr<AuthorizedView> view = ParseCreateAuthorizedView(request);
  if (!view.ok()) return;
  const std::vector<RowRange> rows = view->Rows();
  Require(NormalizeRanges(rows) == rows, "a view's rows are in normal form");
}
void Check(const admin::UpdateAuthorizedViewRequest& request) {
  const absl::StatusOr<Catalog::ViewChange> change = ParseUpdateAuthorizedView(request);
  if (!change.ok()) return;
  AuthorizedView view;
  (void)(*change)(&view);
}
void Check(const admin::UpdateTableRequest& request) {
  static const ChangeStreams streams(nullptr);
  (void)ParseUpdateTable(&streams, /*now_micros=*/0, request);
}

template <typename Request>
void CheckBytes(std::string_view bytes) {
  Request request;
  if (request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) Check(request);
}

// What a message of MutateRows says: a line an entry, with lengths in front of what may be any bytes.
std::string Describe(const MutateRowsMessage& message, const MutateRowsEntries& entries) {
  std::string text = message.table_name() + "|" + message.authorized_view_name() + "\n";
  const auto add = [&](std::string_view part) { text += fmt::format("{}:{} ", part.size(), part); };
  for (size_t i = 0; i < entries.rows.size(); ++i) {
    text += fmt::format("{} ", entries.entry_of_row[i]);
    add(entries.rows[i].row_key);
    for (const Mutation& mutation : entries.rows[i].mutations) {
      text += fmt::format("{} ", mutation.index());
      const auto* cell = std::get_if<SetCell>(&mutation);
      if (cell == nullptr) continue;
      add(cell->family);
      add(cell->qualifier);
      add(cell->value);
      text += fmt::format("{}{} ", cell->timestamp_micros, cell->client_generated_timestamp ? "*" : "");
    }
    text += "\n";
  }
  for (const absl::Status& status : entries.statuses) text += status.ToString() + "\n";
  return text;
}

std::string Entries(std::string_view bytes) {
  static Admission admission("writes", {.requests = 10, .bytes = int64_t{1} << 40});
  auto place = admission.Admit(static_cast<int64_t>(bytes.size()));
  rpc::MessageBytes buffer = MessageOf(bytes);
  MutateRowsMessage message;
  if (absl::Status status = message.Parse(&buffer, &*place); !status.ok()) return status.ToString();
  const absl::StatusOr<MutateRowsEntries> entries = message.TakeEntries();
  return entries.ok() ? Describe(message, *entries) : entries.status().ToString();
}

// Read as it lies there, if it is plain, and by protobuf, for which an unknown field in front is enough; and
// among others, in the memory that the one before was read into.
void CheckMutateRows(std::string_view bytes) {
  CheckBytes<pb::MutateRowsRequest>(bytes);
  constexpr std::string_view kUnknownField("\x78\x01", 2);
  const std::string wanted = Entries(std::string(kUnknownField).append(bytes));
  Require(Entries(bytes) == wanted, "both read the same");
  static MutateRowsEntries entries;
  MutateRowsMessage message;
  if (!message.OpenPlain(bytes) || !message.ReadPlainEntries(&entries)) return;
  Require(Describe(message, entries) == wanted, "so it is among others");
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Else a line for each field that is not UTF-8.
  static auto* const unused = google::protobuf::SetLogHandler(nullptr);
  (void)unused;
  using namespace sonde;  // NOLINT: a main of sorts
  InputReader input(data, size);
  constexpr void (*kChecks[])(std::string_view) = {CheckBytes<pb::ReadRowsRequest>,
                                                   CheckBytes<pb::SampleRowKeysRequest>,
                                                   CheckBytes<pb::MutateRowRequest>,
                                                   CheckMutateRows,
                                                   CheckBytes<pb::CheckAndMutateRowRequest>,
                                                   CheckBytes<pb::ReadModifyWriteRowRequest>,
                                                   CheckBytes<admin::CreateTableRequest>,
                                                   CheckBytes<admin::ModifyColumnFamiliesRequest>,
                                                   CheckBytes<pb::ReadChangeStreamRequest>,
                                                   CheckBytes<admin::CreateAuthorizedViewRequest>,
                                                   CheckBytes<admin::UpdateTableRequest>,
                                                   CheckBytes<admin::UpdateAuthorizedViewRequest>,
                                                   CheckToken,
                                                   CheckTokenBytes};
  const auto check = kChecks[input.Byte() % std::size(kChecks)];
  check(input.Rest());
  return 0;
}
