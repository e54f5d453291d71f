#include "wire/read_rows.h"

#include <google/bigtable/v2/bigtable.pb.h>

#include <atomic>
#include <memory>

#include "model/names.h"
#include "wire/calls.h"
#include "wire/chunk_writer.h"
#include "wire/filter_request.h"
#include "wire/requests.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

// Stored rows that are looked at in one go on gRPC's own threads; a scan that needs more goes on among the
// workers.
constexpr int64_t kRowsInlineMax = 256;
// ... and there, between looks at whether the call still stands.
constexpr int64_t kRowsPerStep = 4096;

class ReadRowsReactor final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  ReadRowsReactor(Tables* tables, WorkerPool* workers) : tables_(tables), workers_(workers) {}

  void Start(const grpc::CallbackServerContext& context, const grpc::ByteBuffer& bytes) {
    if (absl::Status status = Open(context, bytes); !status.ok()) {
      Finish(ToGrpc(status));
      return;
    }
    Produce(kRowsInlineMax, /*inline_only=*/true);
  }

  void OnWriteDone(bool ok) override {
    if (finishing_) return;
    if (!ok) {
      Finish(grpc::Status::CANCELLED);
      return;
    }
    Produce(kRowsInlineMax, /*inline_only=*/true);
  }
  void OnCancel() override { cancelled_ = true; }
  void OnDone() override { delete this; }

 private:
  absl::Status Open(const grpc::CallbackServerContext& context, const grpc::ByteBuffer& bytes) {
    ParsedRequest<pb::ReadRowsRequest> parsed;
    if (absl::Status status = parsed.Parse(bytes); !status.ok()) return status;
    const pb::ReadRowsRequest& request = parsed.message();
    if (!request.authorized_view_name().empty())
      return absl::UnimplementedError("Authorized views are not built yet");
    if (!request.materialized_view_name().empty())
      return absl::UnimplementedError("Materialized views are not built yet");
    if (absl::Status status = CheckTableName(request.table_name()); !status.ok()) return status;
    if (request.rows_limit() < 0) {
      return absl::InvalidArgumentError("Error in field 'rows_limit' : must not be negative");
    }
    if (request.request_stats_view() == pb::ReadRowsRequest::REQUEST_STATS_FULL) {
      return absl::UnimplementedError("Request stats are not built yet");
    }
    absl::StatusOr<std::vector<RowRange>> ranges = ParseRowSet(request.rows());
    if (!ranges.ok()) return ranges.status();
    ReadRequest read{.ranges = *std::move(ranges),
                     .rows_limit = request.rows_limit(),
                     .reversed = request.reversed(),
                     .deadline = DeadlineOf(context),
                     .interrupted = [this] {
                       return cancelled_ ? absl::CancelledError("The client has gone") : absl::OkStatus();
                     }};
    if (request.has_filter()) {
      absl::StatusOr<std::shared_ptr<const CompiledFilter>> filter = CompileFilter(request.filter());
      if (!filter.ok()) return filter.status();
      read.filter = *std::move(filter);
    }
    absl::StatusOr<TableSchemaRef> schema = tables_->catalog().Find(request.table_name());
    if (!schema.ok()) return schema.status();
    absl::StatusOr<std::unique_ptr<RowReader>> reader = tables_->Read(*std::move(schema), std::move(read));
    if (!reader.ok()) return reader.status();
    reader_ = *std::move(reader);
    return absl::OkStatus();
  }

  // Fills one message and sends it.
  void Produce(int64_t rows_max, bool inline_only) {
    while (true) {
      if (!SendsRow()) return Send();
      absl::StatusOr<RowReader::Step> step = reader_->Next(rows_max);
      if (!step.ok()) return End(step.status());
      if (*step == RowReader::Step::kEnd) return End(absl::OkStatus());
      if (*step == RowReader::Step::kRow) {
        writer_.StartRow(reader_->row_key());
        in_row_ = true;
        next_cell_ = 0;
      } else if (inline_only) {
        if (!workers_->Submit([this] { Produce(kRowsPerStep, /*inline_only=*/false); })) End(Overloaded());
        return;
      }
    }
  }

  // Writes what is left of the current row.  False: the message is full.
  bool SendsRow() {
    if (!in_row_) return !writer_.IsFull();
    const std::vector<FilterCell>& cells = reader_->cells();
    for (; next_cell_ < cells.size(); ++next_cell_) {
      const FilterCell& cell = cells[next_cell_];
      if (!writer_.WriteCell(reader_->family_name(cell), cell.cell.qualifier, cell.cell.timestamp_micros,
                             reader_->label(cell), cell.cell.value, next_cell_ + 1 == cells.size())) {
        return false;
      }
    }
    in_row_ = false;
    return !writer_.IsFull();
  }

  void Send() {
    message_ = ToByteBuffer(writer_.Take());
    StartWrite(&message_);
  }

  void End(const absl::Status& status) {
    finishing_ = true;
    if (writer_.IsEmpty() || !status.ok()) {
      Finish(ToGrpc(status));
      return;
    }
    message_ = ToByteBuffer(writer_.Take());
    StartWriteAndFinish(&message_, grpc::WriteOptions(), grpc::Status::OK);
  }

  Tables* const tables_;
  WorkerPool* const workers_;
  std::unique_ptr<RowReader> reader_;
  ChunkWriter writer_;
  bool in_row_ = false;
  size_t next_cell_ = 0;
  grpc::ByteBuffer message_;
  bool finishing_ = false;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* AnswerReadRows(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request, Tables* tables,
                                                           WorkerPool* workers) {
  auto* reactor = new ReadRowsReactor(tables, workers);
  reactor->Start(*context, *request);
  return reactor;
}

}  // namespace sonde
