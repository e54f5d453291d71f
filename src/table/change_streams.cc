#include "table/change_streams.h"

#include <fmt/format.h>

#include <algorithm>

#include "changes/change_record.h"
#include "table/collect_garbage.h"
#include "table/row_time.h"

namespace sonde {
namespace {

// What one Read gives, and looks at, before it lets others work.
constexpr size_t kBytesPerRead = 64 * 1024;
constexpr size_t kPiecesPerRead = 4'096;
constexpr size_t kRowsToCollectPerUpkeep = 20'000;
// Trimming leaves a mark in the engine: not for every record that is due.
constexpr int64_t kTrimSlackMicros = int64_t{15} * 60 * 1'000'000;

absl::Status TokenError(std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("Error in field 'continuation_tokens' : {}", what));
}

int64_t OldestMicrosOf(const ChangeStreamSchema& stream, int64_t now_micros) {
  return std::max(stream.start_micros, now_micros - stream.retention_micros);
}

// Bytes before a key, as far as the samples know.
uint64_t OffsetOf(const std::vector<RowKeySample>& samples, const std::string& row_key) {
  for (const RowKeySample& sample : samples) {
    if (sample.row_key.empty() || (!row_key.empty() && sample.row_key >= row_key)) return sample.offset_bytes;
  }
  return 0;
}

// The cursors of the tokens as one.
absl::StatusOr<StreamCursor> CursorOf(const StreamIdentity& stream, const ReadChangesRequest& request) {
  std::vector<const ReadChangesRequest::Token*> tokens;
  for (const ReadChangesRequest::Token& token : request.tokens) tokens.push_back(&token);
  std::sort(tokens.begin(), tokens.end(),
            [](const auto* a, const auto* b) { return a->partition.start < b->partition.start; });
  StreamCursor cursor;
  for (const ReadChangesRequest::Token* token : tokens) {
    absl::StatusOr<StreamCursor> part = DecodeStreamToken(stream, token->token);
    if (!part.ok()) return part.status();
    if (part->partition() != token->partition) return TokenError("a token is not of its partition");
    const bool first = cursor.segments.empty();
    if (!first && (cursor.partition().end.empty() || cursor.partition().end != token->partition.start)) {
      return TokenError("the partitions of the tokens overlap or leave a gap");
    }
    cursor.watermark = first ? part->watermark : std::min(cursor.watermark, part->watermark);
    for (StreamCursor::Segment& segment : part->segments) cursor.segments.push_back(std::move(segment));
  }
  if (cursor.partition() != request.partition) {
    return TokenError("the partitions of the tokens do not cover the request's partition exactly");
  }
  cursor.Coarsen();
  return cursor;
}

}  // namespace

absl::Status CheckHasChangeStream(const TableSchema& schema) {
  if (schema.change_stream.has_value()) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format("Table {} has no change stream enabled", schema.name));
}

std::vector<RowRange> PartitionsOf(const ChangeStreamSchema& stream) {
  std::vector<RowRange> partitions;
  std::string start;
  for (const std::string& point : stream.partition_points) {
    partitions.push_back({start, point});
    start = point;
  }
  partitions.push_back({start, ""});
  return partitions;
}

std::vector<std::string> AdaptPartitionPoints(const ChangeStreamOptions& options,
                                              const std::vector<std::string>& split_points,
                                              const std::vector<RowKeySample>& samples,
                                              std::vector<std::string> points) {
  std::vector<uint64_t> offsets = {0};  // where each partition begins, and the end
  for (const std::string& point : points) offsets.push_back(OffsetOf(samples, point));
  offsets.push_back(OffsetOf(samples, ""));
  // Split the first that is too large, near its middle.
  for (size_t i = 0; i <= points.size() && points.size() + 1 < options.partitions_max; ++i) {
    if (offsets[i + 1] <= offsets[i] + 2 * options.partition_bytes_target) continue;
    const RowRange partition{i == 0 ? "" : points[i - 1], i == points.size() ? "" : points[i]};
    const uint64_t middle = offsets[i] + (offsets[i + 1] - offsets[i]) / 2;
    const auto distance = [middle](const RowKeySample& sample) {
      return sample.offset_bytes > middle ? sample.offset_bytes - middle : middle - sample.offset_bytes;
    };
    const RowKeySample* best = nullptr;
    for (const RowKeySample& sample : samples) {
      if (sample.row_key <= partition.start || !partition.Contains(sample.row_key)) continue;
      if (best == nullptr || distance(sample) < distance(*best)) best = &sample;
    }
    if (best == nullptr) continue;
    points.insert(points.begin() + i, best->row_key);
    return points;
  }
  // Merge the first two that are small together.
  for (size_t i = 0; i < points.size(); ++i) {
    if (std::binary_search(split_points.begin(), split_points.end(), points[i])) continue;
    if (offsets[i + 2] - offsets[i] >= options.partition_bytes_target / 2) continue;
    points.erase(points.begin() + i);
    return points;
  }
  return points;
}

ChangeStreamSchema ChangeStreams::ForNewTable(const TableSchema& schema, int64_t retention_micros) const {
  ChangeStreamSchema stream{.retention_micros = retention_micros,
                            .start_micros = tables_->clock().NowMicros()};
  // Every so many of the splits, when there are more than there may be partitions.
  const size_t stride = schema.split_points.size() / options_.partitions_max + 1;
  for (size_t i = stride - 1; i < schema.split_points.size(); i += stride) {
    stream.partition_points.push_back(schema.split_points[i]);
  }
  return stream;
}

absl::StatusOr<ChangeStreamSchema> ChangeStreams::ForTable(const TableSchema& schema,
                                                           int64_t retention_micros) const {
  if (tables_->engine().log() == nullptr)
    return absl::UnimplementedError("Change logs of tables are not built for this kind of store");
  ChangeStreamSchema stream = ForNewTable(schema, retention_micros);
  absl::StatusOr<std::vector<RowKeySample>> samples = tables_->SampleRowKeys(schema, {RowRange::All()});
  if (!samples.ok()) return samples.status();
  for (size_t i = 0; i < options_.partitions_max; ++i) {
    std::vector<std::string> points =
        AdaptPartitionPoints(options_, schema.split_points, *samples, stream.partition_points);
    if (points == stream.partition_points) break;
    stream.partition_points = std::move(points);
  }
  if (!schema.log_uses.empty())
    return stream;  // its readers begin at its start, and others need what is before
  absl::Status status = tables_->engine().log()->Trim(schema.id, stream.start_micros);
  if (!status.ok()) return status;
  return stream;
}

absl::StatusOr<std::unique_ptr<ChangeStreamReader>> ChangeStreams::Open(
    TableSchemaRef schema, const ReadChangesRequest& request) const {
  if (absl::Status status = CheckHasChangeStream(*schema); !status.ok()) return status;
  const int64_t now_micros = tables_->clock().NowMicros();
  const int64_t oldest_micros = OldestMicrosOf(*schema->change_stream, now_micros);
  absl::StatusOr<RowLog::End> end = tables_->engine().log()->FindEnd(schema->id, RowRange::All(), now_micros);
  if (!end.ok()) return end.status();
  std::unique_ptr<ChangeStreamReader> reader(new ChangeStreamReader(tables_, std::move(schema)));
  reader->partition_ = request.partition;
  reader->end_micros_ = request.end_micros;
  int64_t start_micros = end->frontier;
  if (!request.tokens.empty()) {
    absl::StatusOr<StreamCursor> cursor = CursorOf(reader->identity(), request);
    if (!cursor.ok()) return cursor.status();
    int64_t newest = std::max(end->frontier, end->last_record);
    // Another server may know of more already.
    if (tables_->engine().traits().is_shared) newest = std::max(newest, now_micros + kClocksDifferMicros);
    for (const StreamCursor::Segment& segment : cursor->segments) {
      if (segment.position > newest) {
        return TokenError("a token is of a time that has not come");
      }
    }
    reader->cursor_ = *std::move(cursor);
    if (reader->cursor_.watermark < oldest_micros - 1) {
      return absl::OutOfRangeError(
          fmt::format("A continuation token is of {} us, but changes before {} us are not retained any more",
                      reader->cursor_.watermark, oldest_micros));
    }
    start_micros = reader->cursor_.position() + 1;
  } else {
    int64_t position = std::min(end->frontier, end->last_record);
    if (request.start_micros.has_value()) {
      start_micros = *request.start_micros;
      if (start_micros > now_micros || start_micros < oldest_micros) {
        return absl::InvalidArgumentError(
            fmt::format("Error in field 'start_time' : must be from {} us (the retention period, and the "
                        "stream's creation) "
                        "to now, {} us, but is {} us",
                        oldest_micros, now_micros, start_micros));
      }
      position = start_micros - 1;
    } else {
      // After the frontier, which may be from before the stream began.
      start_micros = std::max(start_micros + 1, oldest_micros);
    }
    reader->cursor_ = {.segments = {{request.partition, position}}, .watermark = start_micros - 1};
  }
  if (request.end_micros.has_value() && *request.end_micros < start_micros && request.tokens.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'end_time' : must not be before the start, {} us, but is {} us",
                    start_micros, *request.end_micros));
  }
  reader->next_position_ = start_micros;
  reader->progress_ = AddReader(reader->schema_->id, reader->cursor_.watermark);
  return reader;
}

std::shared_ptr<ChangeReaderProgress> ChangeStreams::AddReader(TableId table,
                                                               int64_t watermark_micros) const {
  auto progress = std::make_shared<ChangeReaderProgress>();
  progress->table = table;
  progress->watermark_micros = watermark_micros;
  const absl::MutexLock lock(&readers_mutex_);
  if (readers_.size() >= forget_ended_at_) {
    std::erase_if(readers_, [](const auto& reader) { return reader.expired(); });
    forget_ended_at_ = std::max<size_t>(16, 2 * readers_.size());
  }
  readers_.push_back(progress);
  return progress;
}

std::vector<ChangeStreams::Progress> ChangeStreams::ListProgress() const {
  std::vector<Progress> all;
  std::vector<std::shared_ptr<const ChangeReaderProgress>> readers;
  {
    const absl::MutexLock lock(&readers_mutex_);
    for (const auto& reader : readers_) {
      if (auto open = reader.lock(); open != nullptr) readers.push_back(std::move(open));
    }
  }
  for (const TableSchemaRef& schema : tables_->catalog().ListAll()) {
    if (!schema->change_stream.has_value()) continue;
    Progress progress{.table_name = schema->name, .now_micros = tables_->clock().NowMicros()};
    const absl::StatusOr<RowLog::End> end =
        tables_->engine().log()->FindEnd(schema->id, RowRange::All(), progress.now_micros);
    if (!end.ok()) continue;  // it is being dropped
    progress.frontier_micros = end->frontier;
    progress.last_record_micros = end->last_record;
    for (const auto& reader : readers) {
      if (reader->table != schema->id) continue;
      ++progress.readers;
      const int64_t watermark = reader->watermark_micros.load(std::memory_order_relaxed);
      progress.oldest_watermark_micros =
          std::min(watermark, progress.oldest_watermark_micros.value_or(watermark));
    }
    all.push_back(std::move(progress));
  }
  return all;
}

absl::Status ChangeStreamReader::CheckTable() {
  absl::StatusOr<TableSchemaRef> found = tables_->catalog().Find(schema_->name);
  if (!found.ok()) return found.status();
  if (*found == schema_) return absl::OkStatus();
  if ((*found)->id != schema_->id) {
    return absl::NotFoundError(fmt::format("Table {} was deleted and made again", schema_->name));
  }
  if (absl::Status status = CheckHasChangeStream(**found); !status.ok()) return status;
  if ((*found)->change_stream->start_micros != schema_->change_stream->start_micros) {
    return absl::FailedPreconditionError(
        fmt::format("The change stream of table {} was disabled and enabled again", schema_->name));
  }
  schema_ = *std::move(found);
  return absl::OkStatus();
}

int64_t ChangeStreamReader::OldestMicros() const {
  return OldestMicrosOf(*schema_->change_stream, tables_->clock().NowMicros());
}

bool ChangeStreamReader::Take(const RowLog::Piece& piece, std::vector<Piece>* pieces, absl::Status* status) {
  ChangePieceHead head;
  if (*status = DecodeChangePieceHead(piece.bytes, &head); !status->ok()) return false;
  const bool follows =
      InRecord() ? piece.position == next_position_ && piece.index == next_index_ : head.first;
  if (!follows) {
    *status = absl::OutOfRangeError("The reader fell behind the retention period in the middle of a change");
    return false;
  }
  if (head.first) wanted_ = !cursor_.HasRead(head.row_key, piece.position);
  if (wanted_) {
    pieces->push_back({.commit_micros = piece.position, .bytes = std::string(piece.bytes)});
    taken_bytes_ += piece.bytes.size();
  }
  if (head.last) {
    cursor_.Advance(piece.position);
    if (wanted_) {
      pieces->back().token = Token();
      taken_bytes_ += pieces->back().token.size();
      pieces->back().watermark_micros = cursor_.watermark;
    }
    next_position_ = piece.position + 1;
    next_index_ = 0;
  } else {
    next_position_ = piece.position;
    next_index_ = piece.index + 1;
  }
  return taken_bytes_ < kBytesPerRead && ++taken_count_ < kPiecesPerRead;
}

absl::StatusOr<ChangeStreamReader::State> ChangeStreamReader::Read(std::vector<Piece>* pieces) {
  pieces->clear();
  if (absl::Status status = CheckTable(); !status.ok()) return status;
  if (!InRecord()) {
    const std::vector<RowRange> partitions = PartitionsOf(*schema_->change_stream);
    if (!partitioning_.empty() && partitions != partitioning_ &&
        std::find(partitions.begin(), partitions.end(), partition_) == partitions.end()) {
      return State::kRepartitioned;
    }
    partitioning_ = partitions;
    const int64_t oldest_micros = OldestMicros();
    if (started_ && cursor_.watermark < oldest_micros - 1) {
      return absl::OutOfRangeError(
          fmt::format("The reader has come to {} us, but changes before {} us are not retained any more",
                      cursor_.watermark, oldest_micros));
    }
    next_position_ = std::max(next_position_, oldest_micros);
    started_ = true;
  }
  absl::StatusOr<RowLog::End> end =
      tables_->engine().log()->FindEnd(schema_->id, partition_, tables_->clock().NowMicros());
  if (!end.ok()) return end.status();
  const int64_t through = std::min(end->frontier, end_micros_.value_or(end->frontier));
  if (InRecord() || (end->last_record >= next_position_ && next_position_ <= through)) {
    taken_bytes_ = taken_count_ = 0;
    bool stopped = false;
    absl::Status taken;
    absl::Status status = tables_->engine().log()->Read(schema_->id, partition_, next_position_, next_index_,
                                                        through, [&](const RowLog::Piece& piece) {
                                                          stopped = !Take(piece, pieces, &taken);
                                                          return !stopped;
                                                        });
    if (!status.ok()) return status;
    if (!taken.ok()) return taken;
    progress_->watermark_micros.store(cursor_.watermark, std::memory_order_relaxed);
    if (stopped) return State::kMore;
    if (InRecord()) return absl::OutOfRangeError("The reader fell behind the retention period");
  }
  next_position_ = std::max(next_position_, through + 1);
  cursor_.watermark = std::max(cursor_.watermark, through);
  progress_->watermark_micros.store(cursor_.watermark, std::memory_order_relaxed);
  return end_micros_.has_value() && through >= *end_micros_ ? State::kEndReached : State::kCaughtUp;
}

bool ChangeStreamReader::HasNews() const {
  const absl::StatusOr<RowLog::End> end =
      tables_->engine().log()->FindEnd(schema_->id, partition_, tables_->clock().NowMicros());
  return !end.ok() || end->last_record >= next_position_ ||
         (end_micros_.has_value() && end->frontier >= *end_micros_);
}

std::string ChangeStreamReader::Token() const { return EncodeStreamToken(identity(), cursor_); }

std::vector<ChangeStreamReader::Continuation> ChangeStreamReader::Continuations() const {
  std::vector<Continuation> result;
  for (RowRange& partition : PartitionsOf(*schema_->change_stream)) {
    const StreamCursor shared = cursor_.Clip(partition);
    if (shared.segments.empty()) continue;
    result.push_back({std::move(partition), shared.partition(), EncodeStreamToken(identity(), shared)});
  }
  return result;
}

absl::Status ChangeStreams::Trim(const TableSchema& schema) {
  const int64_t oldest_micros = schema.LogNeededFromMicros(tables_->clock().NowMicros());
  bool due = false;
  absl::Status status = tables_->engine().log()->Read(
      schema.id, RowRange::All(), 0, 0, oldest_micros - kTrimSlackMicros, [&due](const RowLog::Piece&) {
        due = true;
        return false;
      });
  if (!status.ok() || !due) return status;
  return tables_->engine().log()->Trim(schema.id, oldest_micros);
}

absl::Status ChangeStreams::Adapt(const TableSchema& schema) {
  absl::StatusOr<std::vector<RowKeySample>> samples = tables_->SampleRowKeys(schema, {RowRange::All()});
  if (!samples.ok()) return samples.status();
  const std::vector<std::string>& points = schema.change_stream->partition_points;
  std::vector<std::string> adapted = AdaptPartitionPoints(options_, schema.split_points, *samples, points);
  if (adapted == points) return absl::OkStatus();
  return tables_->catalog()
      .Update(schema.name,
              [&](TableSchema* table) {
                if (table->change_stream != schema.change_stream) {
                  return absl::AbortedError("The change stream was altered meanwhile");
                }
                table->change_stream->partition_points = std::move(adapted);
                return absl::OkStatus();
              })
      .status();
}

absl::Status ChangeStreams::Collect(const TableSchemaRef& schema) {
  const auto place = next_rows_to_collect_.extract(schema->id);
  absl::StatusOr<std::optional<std::string>> next =
      CollectGarbage(tables_, schema, place ? place.mapped() : "", kRowsToCollectPerUpkeep);
  if (!next.ok()) return next.status();
  if (next->has_value()) next_rows_to_collect_[schema->id] = **std::move(next);
  return absl::OkStatus();
}

absl::Status ChangeStreams::Upkeep() {
  const absl::MutexLock lock(&upkeep_mutex_);
  absl::Status result;
  for (const TableSchemaRef& schema : tables_->catalog().ListAll()) {
    if (schema->IsLogged()) result.Update(Trim(*schema));
    if (schema->change_stream.has_value()) result.Update(Adapt(*schema));
    const bool is_shared = tables_->engine().traits().is_shared;
    if (!schema->LogsGarbage() && !is_shared) continue;
    const absl::Status collected = Collect(schema);
    // Of servers that share a store, the one that keeps the table's views collects.
    const bool is_anothers =
        is_shared && absl::IsUnavailable(collected) && schema->FindLogUse(kExpiredKeeperUse) != nullptr;
    if (!is_anothers) result.Update(collected);
  }
  return result;
}

}  // namespace sonde
