#include "wire/data/data_service.h"

#include <fmt/format.h>
#include <google/bigtable/v2/bigtable.pb.h>

#include <algorithm>

#include "base/bytes.h"
#include "model/limits.h"
#include "model/names.h"
#include "wire/call/calls.h"
#include "wire/call/data_target.h"
#include "wire/call/requests.h"
#include "wire/call/service_names.h"
#include "wire/data/filter_request.h"
#include "wire/data/read_rows.h"
#include "wire/data/write_calls.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

absl::Status CheckAndMutateRow(Tables* tables, const pb::CheckAndMutateRowRequest& request,
                               pb::CheckAndMutateRowResponse* response) {
  absl::StatusOr<DataTarget> target = FindTarget(tables->catalog(), request);
  if (!target.ok()) return target.status();
  if (absl::Status status = CheckRowKey(request.row_key()); !status.ok()) return status;
  if (request.true_mutations().empty() && request.false_mutations().empty()) {
    return absl::InvalidArgumentError("No mutations provided");
  }
  std::vector<Mutation> if_true, if_false;
  absl::Status status = ParseMutations(request.true_mutations(), /*may_be_empty=*/true, &if_true);
  if (!status.ok()) return status;
  status = ParseMutations(request.false_mutations(), /*may_be_empty=*/true, &if_false);
  if (!status.ok()) return status;
  std::shared_ptr<const CompiledFilter> predicate;
  if (request.has_predicate_filter()) {
    absl::StatusOr<std::shared_ptr<const CompiledFilter>> filter = CompileFilter(request.predicate_filter());
    if (!filter.ok()) return filter.status();
    predicate = *std::move(filter);
  }
  absl::StatusOr<bool> matched = tables->CheckAndMutateRow(
      target->schema, request.row_key(), {std::move(predicate), if_true, if_false}, target->view);
  if (!matched.ok()) return matched.status();
  response->set_predicate_matched(*matched);
  return absl::OkStatus();
}

absl::Status ReadModifyWriteRow(Tables* tables, const pb::ReadModifyWriteRowRequest& request,
                                pb::ReadModifyWriteRowResponse* response) {
  absl::StatusOr<DataTarget> target = FindTarget(tables->catalog(), request);
  if (!target.ok()) return target.status();
  if (absl::Status status = CheckRowKey(request.row_key()); !status.ok()) return status;
  absl::StatusOr<std::vector<ReadModifyWriteRule>> rules = ParseRules(request.rules());
  if (!rules.ok()) return rules.status();
  absl::StatusOr<std::vector<WrittenCell>> written =
      tables->ReadModifyWriteRow(target->schema, request.row_key(), *rules, target->view);
  if (!written.ok()) return written.status();
  pb::Row* row = response->mutable_row();
  row->set_key(request.row_key());
  for (WrittenCell& cell : *written) {
    pb::Family* family = row->families().empty() ? nullptr : row->mutable_families(row->families_size() - 1);
    if (family == nullptr || family->name() != cell.family) {
      family = row->add_families();
      family->set_name(cell.family);
    }
    pb::Column* column = family->add_columns();
    column->set_qualifier(std::move(cell.qualifier));
    pb::Cell* out = column->add_cells();
    out->set_timestamp_micros(cell.timestamp_micros);
    out->set_value(std::move(cell.value));
  }
  return absl::OkStatus();
}

// Samples of a range that ends with a key, [..., n], end with n itself; below, that range is one up to the
// key behind n.
void EndWith(const std::string& end_key, std::vector<RowKeySample>* samples) {
  if (samples->empty() || samples->back().row_key != Successor(end_key)) return;  // a view's rows end before
  samples->back().row_key = end_key;
  if (samples->size() > 1 && (*samples)[samples->size() - 2].row_key == end_key) {
    samples->erase(samples->end() - 2);
  }
}

absl::Status SampleRowKeys(Tables* tables, const pb::SampleRowKeysRequest& request,
                           std::vector<rpc::Message>* messages) {
  absl::StatusOr<DataTarget> target = FindTarget(tables->catalog(), request);
  if (!target.ok()) return target.status();
  RowRange range;
  if (request.has_row_range()) {
    absl::StatusOr<RowRange> parsed = ParseRowRange(request.row_range());
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(
          fmt::format("Error in field 'row_range' : {}", std::string(parsed.status().message())));
    }
    range = *std::move(parsed);
  }
  std::vector<RowRange> ranges = {range};
  if (target->view != nullptr) ranges = ClipRanges(target->view->Rows(), range);
  absl::StatusOr<std::vector<RowKeySample>> samples = tables->SampleRowKeys(*target->schema, ranges);
  if (!samples.ok()) return samples.status();
  if (const std::string& end_key = request.row_range().end_key_closed(); !end_key.empty()) {
    EndWith(end_key, &*samples);
  }
  for (RowKeySample& sample : *samples) {
    pb::SampleRowKeysResponse response;
    response.set_row_key(std::move(sample.row_key));
    response.set_offset_bytes(static_cast<int64_t>(sample.offset_bytes));
    messages->push_back(ToMessage(response));
  }
  return absl::OkStatus();
}

}  // namespace

void AddDataService(Tables* tables, ChangeStreamCalls* change_streams, const CallResources& resources,
                    rpc::Router* router) {
  Service service(kDataService, resources.metrics, router);
  service.Add("ReadRows",
              [tables, resources](rpc::Call* call) { return HandleReadRows(call, tables, resources); });
  service.AddList<pb::SampleRowKeysRequest>(resources.Reads(), [tables](const auto& request, auto* messages) {
    return SampleRowKeys(tables, request, messages);
  });
  service.Add("MutateRows", resources.Writes(), AnswerMutateRows(tables, resources));
  service.Add("MutateRow", resources.Writes(), AnswerMutateRow(tables, resources));
  service.AddUnary<pb::CheckAndMutateRowRequest, pb::CheckAndMutateRowResponse>(
      resources.ReadingWrites(),
      [tables](const auto& in, auto* out) { return CheckAndMutateRow(tables, in, out); });
  service.AddUnary<pb::ReadModifyWriteRowRequest, pb::ReadModifyWriteRowResponse>(
      resources.ReadingWrites(),
      [tables](const auto& in, auto* out) { return ReadModifyWriteRow(tables, in, out); });
  service.AddUnary<pb::PingAndWarmRequest, pb::PingAndWarmResponse>(
      resources.ShortAdministration(), [](const auto& in, auto*) { return CheckInstanceName(in.name()); });
  // No sessions, now and later: official clients then use the calls above.
  service.AddUnary<pb::GetClientConfigurationRequest, pb::ClientConfiguration>(
      resources.ShortAdministration(), [](const auto& in, auto* out) {
        out->mutable_session_configuration()->set_session_load(0);
        out->set_stop_polling(true);
        return CheckInstanceName(in.instance_name());
      });
  service.AddList<pb::GenerateInitialChangeStreamPartitionsRequest>(
      resources.Reads(), [change_streams](const auto& request, auto* messages) {
        return change_streams->GeneratePartitions(request, messages);
      });
  service.Add("ReadChangeStream", [change_streams, profiles = resources.profiles](rpc::Call* call) {
    return change_streams->Handle(call, profiles);
  });
}

}  // namespace sonde
