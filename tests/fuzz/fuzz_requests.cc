// Any bytes as a request: the checks of `wire` accept or refuse it, and what they accept has the form that
// everything below relies on.
//   byte 0 chooses the kind of request; the rest is its message.
#include <google/bigtable/v2/bigtable.pb.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <tuple>

#include "gc/gc_rule.h"
#include "model/limits.h"
#include "mutation/normalize.h"
#include "target.h"
#include "wire/filter_request.h"
#include "wire/requests.h"
#include "wire/schemas.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
namespace pb = google::bigtable::v2;

constexpr int64_t kNowMicros = 1'700'000'000'000'123;

const TableSchema& Schema() {
  static const TableSchema schema = [] {
    TableSchema made;
    made.name = "projects/p/instances/i/tables/t";
    made.families = {{.name = "a", .id = 1},
                     {.name = "b", .id = 2},
                     {.name = "max", .id = 3, .aggregate = AggregateKind::kMax},
                     {.name = "sum", .id = 4, .aggregate = AggregateKind::kSum}};
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

void CheckDelta(const RowDelta& delta) {
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
      Require(put.timestamp_micros >= 0 && put.timestamp_micros <= kTimestampMicrosMax &&
                  put.timestamp_micros % kMicrosPerMilli == 0 && put.qualifier.size() <= kQualifierBytesMax,
              "a put is within the limits");
    }
  }
}

void CheckMutations(std::string_view row_key,
                    const google::protobuf::RepeatedPtrField<pb::Mutation>& mutations) {
  std::vector<Mutation> parsed;
  if (!ParseMutations(mutations, /*may_be_empty=*/false, &parsed).ok()) return;
  Require(parsed.size() <= static_cast<size_t>(mutations.size()), "no mutation is made up");
  RowDelta delta;
  if (Normalize(Schema(), row_key, parsed, kNowMicros, &delta).ok()) CheckDelta(delta);
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
void Check(const pb::MutateRowRequest& request) { CheckMutations(request.row_key(), request.mutations()); }
void Check(const pb::MutateRowsRequest& request) {
  for (const auto& entry : request.entries()) CheckMutations(entry.row_key(), entry.mutations());
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

template <typename Request>
void CheckBytes(std::string_view bytes) {
  Request request;
  if (request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) Check(request);
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Else a line for each field that is not UTF-8.
  static auto* const unused = google::protobuf::SetLogHandler(nullptr);
  (void)unused;
  using namespace sonde;  // NOLINT: a main of sorts
  InputReader input(data, size);
  constexpr void (*kChecks[])(std::string_view) = {
      CheckBytes<pb::ReadRowsRequest>,          CheckBytes<pb::SampleRowKeysRequest>,
      CheckBytes<pb::MutateRowRequest>,         CheckBytes<pb::MutateRowsRequest>,
      CheckBytes<pb::CheckAndMutateRowRequest>, CheckBytes<pb::ReadModifyWriteRowRequest>,
      CheckBytes<admin::CreateTableRequest>,    CheckBytes<admin::ModifyColumnFamiliesRequest>};
  const auto check = kChecks[input.Byte() % std::size(kChecks)];
  check(input.Rest());
  return 0;
}
