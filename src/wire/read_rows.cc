#include "wire/read_rows.h"

#include <fmt/format.h>
#include <google/bigtable/v2/bigtable.pb.h>

#include <atomic>
#include <memory>

#include "base/bytes.h"
#include "model/limits.h"
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
  // Where gRPC would wake another thread for each of the above, a point read would cost half as much again.
  bool InternalInlineable() override { return true; }

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
    while (!writer_.IsFull()) {
      absl::StatusOr<RowReader::Step> step = reader_->Next(rows_max);
      if (!step.ok()) return End(step.status());
      if (*step == RowReader::Step::kEnd) return End(absl::OkStatus());
      if (*step == RowReader::Step::kRow) {
        if (absl::Status status = WriteRow(); !status.ok()) return End(status);
      } else if (inline_only) {
        if (!workers_->Submit([this] { Produce(kRowsPerStep, /*inline_only=*/false); })) End(Overloaded());
        return;
      }
    }
    Send();
  }

  absl::Status WriteRow() {
    const std::vector<FilterCell>& cells = reader_->cells();
    size_t row_bytes = 0;
    for (const FilterCell& cell : cells) row_bytes += cell.cell.qualifier.size() + cell.cell.value.size();
    if (row_bytes > kRowReadBytesMax) {
      return absl::FailedPreconditionError(fmt::format(
          "Error while reading table '{}' : Read returned {}MiB from row '{}' which exceeds the limit of "
          "{}MiB. Make "
          "sure you are setting an appropriate request filter.",
          reader_->table_name(), row_bytes >> 20, Printable(reader_->row_key()), kRowReadBytesMax >> 20));
    }
    writer_.StartRow(reader_->row_key());
    for (size_t i = 0; i < cells.size(); ++i) {
      const CellView& cell = cells[i].cell;
      writer_.WriteCell(reader_->family_name(cells[i]), cell.qualifier, cell.timestamp_micros,
                        reader_->label(cells[i]), cell.value, i + 1 == cells.size());
    }
    return absl::OkStatus();
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
