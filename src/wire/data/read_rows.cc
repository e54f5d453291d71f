#include "wire/data/read_rows.h"

#include <fmt/format.h>
#include <google/bigtable/v2/bigtable.pb.h>
#include <google/rpc/error_details.pb.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/strings/escaping.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/bytes.h"
#include "model/limits.h"
#include "wire/call/calls.h"
#include "wire/call/client_features.h"
#include "wire/call/connection_share.h"
#include "wire/call/data_target.h"
#include "wire/call/ended_call.h"
#include "wire/call/not_built.h"
#include "wire/call/queued_time.h"
#include "wire/call/requests.h"
#include "wire/data/chunk_writer.h"
#include "wire/data/filter_request.h"
#include "wire/data/filter_shape.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

// Stored rows that are looked at in one go where requests come in; a scan that needs more goes on among the
// readers.
constexpr int64_t kRowsInlineMax = 256;
// ... and there, between looks at whether the call still stands.
constexpr int64_t kRowsPerStep = 4096;

// The memory of a read whose client has taken nothing for a while, beside its request and its message.
constexpr int64_t kStalledReadBytes = 8 * 1024;

// The memory of a read while it waits for its client: a message, unless it is long, the engine's place in the
// table, the call (tests/conformance/python/test_stalled_readers.py).
constexpr int64_t kReadBytes = 64 * 1024;

// After a row of so many bytes, what the engine holds for the scan is given back before the row is sent: it
// is as large, and the client may take its time.
constexpr size_t kLongRowBytes = 4 << 20;

// A row that nobody can read whole.  Clients that skip such rows look for the key in the details.
absl::Status RowTooLarge(const RowReader& reader, size_t row_bytes) {
  absl::Status status = absl::FailedPreconditionError(fmt::format(
      "Error while reading table '{}' : Read returned {}MiB from row '{}' which exceeds the limit "
      "of {}MiB. Make sure you are setting an appropriate request filter.",
      reader.table_name(), row_bytes >> 20, Printable(reader.row_key()), kRowReadBytesMax >> 20));
  google::rpc::ErrorInfo info;
  info.set_reason("LargeRowReadError");
  info.set_domain("bigtable.googleapis.com");
  (*info.mutable_metadata())["rowKeyBase64Encoded"] = absl::Base64Escape(reader.row_key());
  AddDetail(info, &status);
  return status;
}

// "127.0.0.1" of "127.0.0.1:40000": a program has another port for each connection.
std::string HostOfPeer(const std::string& peer) { return peer.substr(0, peer.rfind(':')); }

class ReadRowsHandler final : public rpc::Handler, public StalledReads::Read {
 public:
  ReadRowsHandler(rpc::Call* call, Tables* tables, const CallResources& resources)
      : call_(call),
        share_(call),
        kind_(KindOf(resources)),
        tables_(tables),
        readers_(resources.readers),
        stalled_reads_(resources.stalled_reads),
        cost_(resources.read_cost),
        blocks_(resources.reads_block),
        metrics_(resources.metrics),
        large_readers_(resources.large_readers),
        large_room_(resources.large_room) {}

  ~ReadRowsHandler() override {
    if (watched_) stalled_reads_->Remove(this);
    if (large_place_.bytes() == 0) return;
    // To give the place back takes a while.
    const bool is_taken = large_readers_->Submit([place = std::move(large_place_)] {});
    (void)is_taken;  // else it was given back here
  }

  Room OnLength(size_t bytes) override {
    if (absl::Status status = CheckLength(kind_, kMethod, bytes); !status.ok()) FinishWith(status);
    return Room::kTake;
  }
  void OnMessage(rpc::MessageBytes bytes) override {
    static const ProfileFields fields(*pb::ReadRowsRequest::descriptor());
    const absl::StatusOr<Priority> priority = fields.Admit(kind_.profiles, kind_.use, bytes.view());
    if (!priority.ok()) return FinishWith(priority.status());
    priority_ = *priority;
    if (absl::Status status = share_.Take(kind_); !status.ok()) return FinishWith(status);
    absl::StatusOr<Admission::Place> place = Admit(kind_, bytes);
    if (!place.ok()) return FinishWith(place.status());
    place_ = *std::move(place);
    if (GoesAmongReaders()) {
      queued_.Begin();
      auto begin = [this, bytes = std::move(bytes)](const absl::Status& status) mutable {
        queued_.End();
        if (!status.ok()) return FinishWith(status);
        if (absl::Status opened = Open(&bytes); !opened.ok()) return FinishWith(opened);
        Produce(kRowsPerStep, /*inline_only=*/false);
      };
      return readers_->Submit(call_->deadline(), std::move(begin), priority_);
    }
    if (absl::Status status = Open(&bytes); !status.ok()) return FinishWith(status);
    Produce(kRowsInlineMax, /*inline_only=*/true);
  }

  void OnWriteDone(bool ok) override {
    untaken_ += SetWaitingSince(absl::InfiniteFuture());
    if (!ok) return FinishWith(absl::CancelledError("The client has gone"));
    if (absl::Status status = ResizePlace(0); !status.ok()) return End(status);
    if (large_wanted_bytes_ > 0) return ProduceInTurn();
    if (large_place_.bytes() > 0 || GoesAmongReaders()) return ProduceAmongReaders();
    Produce(kRowsInlineMax, /*inline_only=*/true);
  }
  bool IsAwaited() const override { return large_place_.bytes() > 0 && large_room_->IsAwaited(); }
  void SuspendIfWaiting(absl::Time since) override {
    const absl::MutexLock lock(&waiting_mutex_);
    if (waiting_since_ >= since) return;
    reader_->Suspend();
    // Until it goes on it has no more than it holds, so that many such do not keep others out.
    const int64_t bytes =
        held_bytes_ - kReadBytes + kStalledReadBytes + row_room_bytes_ + message_room_bytes_;
    if (bytes < place_.bytes()) place_.Resize(bytes).IgnoreError();  // to give back is no error
  }

 private:
  static constexpr std::string_view kMethod = "ReadRows";
  static CallKind KindOf(const CallResources& resources) {
    CallKind kind = resources.Reads();
    kind.held_bytes = kReadBytes;
    return kind;
  }

  // Whether the thread that requests come in on is not to read: it must not wait, nor be busy for long.  Among the readers, others go
  // before a read of a lower priority.
  bool GoesAmongReaders() const { return blocks_ || cost_->IsHigh() || priority_ != Priority::kHigh; }

  absl::Status Open(rpc::MessageBytes* bytes) {
    ParsedRequest<pb::ReadRowsRequest> parsed;
    if (absl::Status status = parsed.Parse(bytes, &place_); !status.ok()) return status;
    held_bytes_ = place_.bytes();
    const pb::ReadRowsRequest& request = parsed.message();
    if (request.rows_limit() < 0) {
      return absl::InvalidArgumentError("Error in field 'rows_limit' : must not be negative");
    }
    if (request.reversed() && !ClientFeatures(*call_).reverse_scans()) {
      return NotBuilt(
          "reversed of ReadRows is for clients that announce that they understand it (bigtable-features)");
    }
    if (!pb::ReadRowsRequest::RequestStatsView_IsValid(request.request_stats_view()))
      return UnknownValue("request_stats_view", request.request_stats_view());
    if (request.request_stats_view() == pb::ReadRowsRequest::REQUEST_STATS_FULL) stats_since_ = absl::Now();
    absl::StatusOr<std::vector<RowRange>> ranges = ParseRowSet(request.rows());
    if (!ranges.ok()) return ranges.status();
    ReadRequest read{
        .ranges = *std::move(ranges),
        .rows_limit = request.rows_limit(),
        .reversed = request.reversed(),
        .in_parts = true,
        .deadline = call_->deadline(),
        .interrupted =
            [this] {
              return call_->IsCancelled() ? absl::CancelledError("The client has gone") : absl::OkStatus();
            },
        .take_large =
            [this](size_t entry_bytes) {
              return TakeLarge(static_cast<int64_t>(writer_.bytes()) +
                               kLargeReadCopies * static_cast<int64_t>(entry_bytes));
            },
        .take_row_room = [this](size_t row_bytes) { return TakeRowRoom(static_cast<int64_t>(row_bytes)); },
        .caller = [this] { return Caller(); }};
    if (request.has_filter()) {
      absl::StatusOr<std::shared_ptr<const CompiledFilter>> filter = CompileFilter(request.filter());
      if (!filter.ok()) return filter.status();
      read.filter = *std::move(filter);
      filter_shape_ = FilterShape(request.filter());
    }
    absl::StatusOr<DataTarget> target = FindTarget(tables_->catalog(), request);
    if (!target.ok()) return target.status();
    read.view = std::move(target->view);
    absl::StatusOr<std::unique_ptr<RowReader>> reader =
        tables_->Read(std::move(target->schema), std::move(read));
    if (!reader.ok()) return reader.status();
    reader_ = *std::move(reader);
    return absl::OkStatus();
  }

  void ProduceAmongReaders() {
    queued_.Begin();
    auto go_on = [this] {
      queued_.End();
      large_place_.Shrink(0);  // of the message before; this may take a while
      Produce(kRowsPerStep, /*inline_only=*/false);
    };
    const bool is_taken = readers_->Submit(std::move(go_on), priority_);
    if (!is_taken) End(Overloaded());
  }

  // Fills one message and sends it.  The end of this object may come before it returns.
  void Produce(int64_t rows_max, bool inline_only) {
    const StepCost::Timer timer(cost_);
    while (in_row_ || !writer_.IsFull()) {
      absl::StatusOr<RowReader::Step> step = reader_->Next(rows_max);
      if (!step.ok() && large_wanted_bytes_ > 0) return WaitForLarge(/*again=*/false);
      if (!step.ok()) return End(step.status());
      if (*step == RowReader::Step::kEnd) return End(absl::OkStatus());
      if (*step == RowReader::Step::kRow || *step == RowReader::Step::kPart) {
        const bool ends = *step == RowReader::Step::kRow;
        if (absl::Status status = WritePart(ends); !status.ok()) {
          if (large_wanted_bytes_ > 0) return WaitForLarge(/*again=*/true);
          writer_.DropRow();
          return End(status);
        }
        if (!ends && inline_only) return ProduceAmongReaders();
      } else if (inline_only) {
        return ProduceAmongReaders();
      } else if (!in_row_ && !writer_.IsEmpty()) {
        break;  // what has passed does not wait for what may be long in coming
      } else if (!reader_->in_row() && TellsLastScanned()) {
        return SendLastScanned();
      }
    }
    Send();
  }

  // Writes a row, or a part of it; `ends`: there is no more of it.
  absl::Status WritePart(bool ends) {
    const std::vector<FilterCell>& cells = reader_->cells();
    size_t part_bytes = 0;
    for (const FilterCell& cell : cells) part_bytes += cell.cell.qualifier.size() + cell.cell.value.size();
    if (!std::exchange(in_row_, !ends)) {
      writer_.StartRow(reader_->row_key());
      row_bytes_ = 0;
    }
    row_bytes_ += part_bytes;
    if (row_bytes_ > kRowReadBytesMax) {
      writer_.DropRow();  // what is left of it is read to be told how large it is, within reason
      return ends || row_bytes_ > kRowWholeBytesMax ? RowTooLarge(*reader_, row_bytes_) : absl::OkStatus();
    }
    if (absl::Status status = TakeRoom(part_bytes); !status.ok()) return status;
    for (const FilterCell& cell : cells) {
      writer_.WriteCell(reader_->family_name(cell), cell.cell.qualifier, cell.cell.timestamp_micros,
                        reader_->label(cell), cell.cell.value);
    }
    if (!ends) return absl::OkStatus();
    writer_.EndRow();
    if (row_bytes_ >= kLongRowBytes) reader_->Suspend();
    return absl::OkStatus();
  }

  // For a row of which something is large, or that is.  ABORTED: the read has no place for it, or a smaller
  // one, and gives back what it has of the row until its turn comes.  So it holds nothing while it waits, and
  // what others do who are large cannot keep it from coming to its end.
  absl::Status TakeLarge(int64_t bytes) {
    if (large_room_ == nullptr || bytes <= large_place_.bytes()) return absl::OkStatus();
    const std::string row = fmt::format("A row of table '{}'", reader_->table_name());
    if (absl::Status status = large_room_->Check(row, bytes); !status.ok()) return status;
    // The row may turn out larger, and is begun once more then.  A row of many short cells takes several
    // times its bytes while it is read.
    large_wanted_bytes_ = std::min(bytes + static_cast<int64_t>(kRowReadBytesMax), large_room_->bytes_max());
    return absl::AbortedError("The read waits for its turn");
  }

  // `again`: the row that was looked at last is not in the message.
  void WaitForLarge(bool again) {
    if (in_row_ || again) writer_.DropRow();
    in_row_ = false;
    reader_->Restart(again);
    large_place_.Shrink(0);
    ResizePlace(0).IgnoreError();  // to give back is no error
    writer_.IsEmpty() ? ProduceInTurn() : Send();
  }

  void ProduceInTurn() {
    queued_.Begin();
    large_readers_->Submit(call_->deadline(), [this](const absl::Status& turn) {
      queued_.End();
      if (!turn.ok()) return End(turn);
      large_place_.Shrink(0);  // of the message before
      absl::StatusOr<LargeRoom::Place> place = large_room_->Take(
          fmt::format("A row of table '{}'", reader_->table_name()), std::exchange(large_wanted_bytes_, 0),
          {.deadline = call_->deadline(), .gone = [this] { return call_->IsCancelled(); }});
      queued_.End();
      if (!place.ok()) return End(place.status());
      large_place_ = *std::move(place);
      Produce(kRowsPerStep, /*inline_only=*/false);
    });
  }

  bool IsLarge(int64_t bytes) const { return large_room_ != nullptr && bytes >= kLargeBytes; }

  // A row that a filter has to see whole is counted as it is put together: among reads, or in the large place.
  absl::Status TakeRowRoom(int64_t bytes) {
    if (IsLarge(bytes)) {
      // The message takes as much again.
      if (absl::Status status = TakeLarge(static_cast<int64_t>(writer_.bytes()) + 2 * bytes); !status.ok())
        return status;
      bytes = 0;
    }
    if (absl::Status status = place_.Resize(place_.bytes() - row_room_bytes_ + bytes); !status.ok())
      return status;
    row_room_bytes_ = bytes;
    return absl::OkStatus();
  }

  // A message that becomes long is counted before it is written, as it may have to wait for its client.
  absl::Status TakeRoom(size_t part_bytes) {
    const std::vector<FilterCell>& cells = reader_->cells();
    size_t bytes = writer_.bytes() + part_bytes + cells.size() * ChunkWriter::kChunkBytesMax;
    if (bytes <= ChunkWriter::kMessageBytes) return absl::OkStatus();
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i == 0 || cells[i].family != cells[i - 1].family) bytes += reader_->family_name(cells[i]).size();
      bytes += reader_->label(cells[i]).size() +
               cells[i].cell.value.size() / ChunkWriter::kPieceBytesMax * ChunkWriter::kChunkBytesMax;
    }
    bytes += reader_->row_key().size();
    const auto message_bytes = static_cast<int64_t>(bytes);
    if (!IsLarge(message_bytes)) return ResizePlace(message_bytes);
    if (absl::Status status = TakeLarge(message_bytes); !status.ok()) return status;
    return ResizePlace(0);
  }

  // Sets the place of the current message among reads.  A message in the large place takes nothing there.
  absl::Status ResizePlace(int64_t message_bytes) {
    absl::Status status = place_.Resize(held_bytes_ + row_room_bytes_ + message_bytes);
    if (status.ok()) message_room_bytes_ = message_bytes;
    return status;
  }

  // A large message keeps its place until the client has taken the message.
  void Send() {
    const bool is_in_large_place = message_room_bytes_ == 0 && writer_.bytes() > ChunkWriter::kMessageBytes;
    large_place_.Shrink(is_in_large_place ? static_cast<int64_t>(writer_.bytes()) : 0);
    Write(rpc::Message(writer_.Take()));
  }

  void Write(rpc::Message message) {
    answered_bytes_ += message.bytes();
    AddMetadata(absl::OkStatus());
    SetWaitingSince(absl::Now());
    if (!std::exchange(watched_, true)) stalled_reads_->Add(this);
    call_->Write(std::move(message));
  }

  // Returns how long it has waited until now.
  absl::Duration SetWaitingSince(absl::Time time) {
    const absl::MutexLock lock(&waiting_mutex_);
    const absl::Time before = std::exchange(waiting_since_, time);
    return before == absl::InfiniteFuture() ? absl::ZeroDuration() : absl::Now() - before;
  }

  void AddMetadata(const absl::Status& status) {
    if (!std::exchange(metadata_added_, true)) AddServerMetadata(call_, came_, status);
  }

  // A client that reads on after an error need not read again what was filtered out before.
  bool TellsLastScanned() {
    if (!tells_last_scanned_.has_value()) {
      tells_last_scanned_ = ClientFeatures(*call_).last_scanned_row_responses();
    }
    return *tells_last_scanned_;
  }

  void SendLastScanned() {
    pb::ReadRowsResponse response;
    response.set_last_scanned_row_key(reader_->row_key());
    Write(ToMessage(response));
  }

  std::string StatsMessage() const {
    const ReadStats& stats = reader_->stats();
    pb::ReadRowsResponse response;
    pb::FullReadStatsView* view = response.mutable_request_stats()->mutable_full_read_stats_view();
    pb::ReadIterationStats* counts = view->mutable_read_iteration_stats();
    counts->set_rows_seen_count(stats.rows_seen);
    counts->set_rows_returned_count(stats.rows_returned);
    counts->set_cells_seen_count(stats.cells_seen);
    counts->set_cells_returned_count(stats.cells_returned);
    const timespec latency = absl::ToTimespec(absl::Now() - *stats_since_);
    google::protobuf::Duration* duration =
        view->mutable_request_latency_stats()->mutable_frontend_server_latency();
    duration->set_seconds(latency.tv_sec);
    duration->set_nanos(static_cast<int32_t>(latency.tv_nsec));
    return response.SerializeAsString();
  }

  void Count(const absl::Status& status) {
    CallCost cost{
        .queued = queued_.all(), .untaken = untaken_, .bytes = static_cast<int64_t>(answered_bytes_)};
    if (reader_ != nullptr) {
      const ReadStats& stats = reader_->stats();
      cost.bytes_seen = stats.bytes_seen;
      cost.pages = reader_->scan_cost().pages;
      cost.block_reads = reader_->scan_cost().block_reads;
      cost.rows_seen = stats.rows_seen;
      cost.rows = stats.rows_returned;
      cost.cells_seen = stats.cells_seen;
      cost.cells = stats.cells_returned;
    }
    EndCall(*call_,
            {.method = kMethod, .status = status, .came = came_, .filter = filter_shape_, .cost = cost},
            metrics_);
  }

  void FinishWith(const absl::Status& status) {
    Count(status);
    AddMetadata(status);
    call_->Finish(ToCallStatus(status));
  }

  // The caller, for the list of readers of whole tables.
  std::string Caller() const {
    std::string program = call_->FindMetadata("user-agent").value_or("");
    // gRPC adds this behind the program's own name.
    program = program.substr(0, program.find(" grpc-"));
    return fmt::format("{} from {}", Printable(program.empty() ? "A client" : program),
                       HostOfPeer(call_->peer()));
  }

  // Whatever the end is like, the rows before it are sent.
  void End(const absl::Status& status) {
    if (in_row_) writer_.DropRow();
    answered_bytes_ += writer_.bytes();
    Count(status);
    AddMetadata(status);
    std::vector<std::string> last = writer_.Take();
    // Two messages in a row are the message with the fields of both.
    if (status.ok() && stats_since_.has_value()) last.push_back(StatsMessage());
    // Here, and not when the client has it all.
    reader_.reset();
    large_place_.Shrink(0);
    if (last.empty()) return call_->Finish(ToCallStatus(status));
    call_->WriteAndFinish(rpc::Message(std::move(last)), ToCallStatus(status));
  }

  rpc::Call* const call_;
  ConnectionShare share_;
  const CallKind kind_;
  Priority priority_ = Priority::kHigh;  // known when the request is there
  Tables* const tables_;
  WorkerPool* const readers_;
  StalledReads* const stalled_reads_;
  StepCost* const cost_;
  const bool blocks_;  // the store is behind a network
  RequestMetrics* const metrics_;
  WorkerPool* const large_readers_;
  LargeRoom* const large_room_;  // may be null
  Admission::Place place_;
  LargeRoom::Place large_place_;    // of a row that is large, or whose message is on its way
  int64_t large_wanted_bytes_ = 0;  // that the read waits for
  int64_t held_bytes_ = 0;          // of place_: the read itself
  int64_t row_room_bytes_ = 0;      // of place_: a row that is put together
  int64_t message_room_bytes_ = 0;  // of place_: a message that is long
  const absl::Time came_ = absl::Now();
  QueuedTime queued_;
  absl::Duration untaken_;  // as CallCost
  size_t answered_bytes_ = 0;
  std::string filter_shape_;
  bool metadata_added_ = false;
  std::unique_ptr<RowReader> reader_;
  ChunkWriter writer_;
  bool in_row_ = false;                    // what writer_ has of the last row is not all of it
  size_t row_bytes_ = 0;                   // of that row, so far
  std::optional<absl::Time> stats_since_;  // when stats were asked for
  std::optional<bool> tells_last_scanned_;
  bool watched_ = false;  // by stalled_reads_
  absl::Mutex waiting_mutex_;
  // When a message was written that the client has not taken yet; the reader is not in use meanwhile.
  absl::Time waiting_since_ ABSL_GUARDED_BY(waiting_mutex_) = absl::InfiniteFuture();
};

}  // namespace

std::unique_ptr<rpc::Handler> HandleReadRows(rpc::Call* call, Tables* tables,
                                             const CallResources& resources) {
  return std::make_unique<ReadRowsHandler>(call, tables, resources);
}

}  // namespace sonde
