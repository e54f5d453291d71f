#include "journal/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <variant>

#include "catalog/schema_journal.h"
#include "changes/change_record.h"
#include "journal/journal.h"
#include "mutation/normalize.h"

namespace sonde {
namespace {

absl::Status DamagedChange(TableId table, int64_t position) {
  return absl::DataLossError(
      fmt::format("The journal's change of table {} at {} is damaged", table, position));
}

// The mutations of a change, whose families the table has; values that were cut are joined in `values`.
absl::Status DecodeMutations(const TableSchema& schema, const std::vector<std::string>& pieces,
                             std::deque<std::string>* values, std::string_view* row_key,
                             std::vector<Mutation>* mutations) {
  std::optional<SetCell> cut;  // a value that is being joined
  ChangePiece piece;
  for (const std::string& bytes : pieces) {
    if (absl::Status status = DecodeChangePiece(bytes, &piece); !status.ok()) return status;
    if (piece.first) *row_key = piece.row_key;
    for (const LoggedMutation& logged : piece.mutations) {
      Mutation mutation = logged.mutation;
      if (logged.chunk.has_value()) {
        const auto& part = std::get<SetCell>(mutation);
        if (logged.chunk->offset == 0) {
          cut = part;
          values->emplace_back().reserve(logged.chunk->value_bytes);
        }
        if (!cut.has_value() || values->back().size() != logged.chunk->offset) {
          return absl::DataLossError("chunks of a value do not follow each other");
        }
        values->back().append(part.value);
        if (!logged.chunk->last) continue;
        cut->value = values->back();
        mutation = *std::exchange(cut, std::nullopt);
      }
      const auto has_family = [&](const auto& one) {
        if constexpr (requires { one.family; }) return schema.FindFamily(one.family) != nullptr;
        return true;
      };
      if (std::visit(has_family, mutation)) mutations->push_back(mutation);
    }
  }
  return cut.has_value() ? absl::DataLossError("a value has no end") : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<JournalReplay>> JournalReplay::Open(Engine* engine, JournalPlace place,
                                                                   int64_t to) {
  std::unique_ptr<JournalReplay> replay(new JournalReplay(engine, std::move(place), to));
  if (absl::Status status = replay->OpenCatalog(); !status.ok()) return status;
  return replay;
}

absl::Status JournalReplay::OpenCatalog() {
  absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(engine_);
  if (!catalog.ok()) return catalog.status();
  catalog_ = *std::move(catalog);
  return absl::OkStatus();
}

absl::StatusOr<ReplayReport> JournalReplay::Run(FileSystem* files, FindChain find_chain) {
  int chains_in_vain = 0;
  do {
    const absl::StatusOr<SegmentChain> chain = find_chain(done_);
    if (!chain.ok()) return chain.status();
    if (chain->through < to_ || to_ < place_.through_micros) {
      return absl::OutOfRangeError(
          fmt::format("The journal of backup and segments has the moments {} to {} us, not {}",
                      place_.through_micros, chain->through, to_));
    }
    const int64_t before = done_;
    if (absl::Status status = ApplyChain(files, *chain); !status.ok()) return status;
    chains_in_vain = done_ == before ? chains_in_vain + 1 : 0;
    if (done_ < to_ && chains_in_vain == kChainsMax) {
      return absl::NotFoundError(
          fmt::format("The segment behind {} us is listed and cannot be opened: {} listings were tried",
                      done_, kChainsMax));
    }
  } while (done_ < to_);
  absl::Status status = Flush();
  if (status.ok()) status = Journal::Forget(engine_);
  if (!status.ok()) return status;
  for (const TableSchemaRef& schema : catalog_->ListAll()) {
    if (schema->FindLogUse(kJournalUse) == nullptr) report_.without_journal.push_back(schema->name);
  }
  return report_;
}

absl::Status JournalReplay::ApplyChain(FileSystem* files, const SegmentChain& chain) {
  for (const SegmentFile& segment : chain.segments) {
    if (done_ >= to_) break;
    const absl::StatusOr<std::unique_ptr<SegmentReader>> reader = SegmentReader::Open(files, segment.path);
    if (absl::IsNotFound(reader.status())) break;  // its changes are in another one by now
    if (!reader.ok()) return reader.status();
    if (absl::Status status = ApplySegment(segment, reader->get()); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status JournalReplay::ApplySegment(const SegmentFile& segment, SegmentReader* reader) {
  const absl::Status read = reader->ReadAll(segment.place, [&](const SegmentRecord& record) {
    // What is behind `to` is read all the same: only a whole segment is as it was written.
    if (record.position <= done_ || record.position > to_) return absl::OkStatus();
    absl::Status status = Apply(record);
    if (status.ok()) return status;
    return absl::Status(status.code(), fmt::format("{}: {}", segment.path, std::string(status.message())));
  });
  if (!read.ok()) return read;
  done_ = segment.place.last;
  return CheckNoHalf();
}

absl::Status JournalReplay::Apply(const SegmentRecord& record) {
  switch (record.kind) {
    case SegmentRecord::Kind::kRow:
      return ApplyPiece(record);
    case SegmentRecord::Kind::kSchema:
      return ApplySchema(record);
    case SegmentRecord::Kind::kGap:
      break;
  }
  if (to_ >= record.gap_end) return absl::OkStatus();  // what is missing is of a table that is gone by then
  return absl::OutOfRangeError(
      fmt::format("changes from {} to {} are missing ({}): choose a moment before or behind",
                  MomentText(absl::FromUnixMicros(record.position)),
                  MomentText(absl::FromUnixMicros(record.gap_end - 1)), record.bytes));
}

absl::Status JournalReplay::CheckNoHalf() const {
  return half_.pieces.empty() ? absl::OkStatus() : DamagedChange(half_table_, half_.position);
}

absl::Status JournalReplay::ApplyPiece(const SegmentRecord& record) {
  ChangePieceHead head;
  if (!DecodeChangePieceHead(record.bytes, &head).ok()) return DamagedChange(record.table, record.position);
  if (head.first) {
    if (absl::Status status = CheckNoHalf(); !status.ok()) return status;
    half_table_ = record.table;
    half_.position = record.position;
  }
  if (record.table != half_table_ || record.position != half_.position ||
      record.piece != half_.pieces.size()) {
    return DamagedChange(record.table, record.position);
  }
  half_.pieces.emplace_back(record.bytes);
  if (!head.last) return absl::OkStatus();
  Change change = std::exchange(half_, {});
  const absl::StatusOr<bool> is_in_copy = IsInCopy(record.table, record.position);
  if (!is_in_copy.ok()) return is_in_copy.status();
  if (*is_in_copy) return absl::OkStatus();
  for (const std::string& piece : change.pieces) waiting_bytes_ += piece.size();
  waiting_[record.table].push_back(std::move(change));
  return waiting_bytes_ < kReplayBytesMax ? absl::OkStatus() : Flush();
}

absl::StatusOr<bool> JournalReplay::IsInCopy(TableId table, int64_t position) const {
  if (position > place_.through_micros) return false;
  bool is_there = false;
  const absl::Status status = engine_->log()->Read(table, RowRange::All(), position, 0, position,
                                                   [&](const RowLog::Piece& /*piece*/) {
                                                     is_there = true;
                                                     return false;
                                                   });
  if (absl::IsNotFound(status)) return false;
  if (!status.ok()) return status;
  return is_there;
}

absl::Status JournalReplay::ApplySchema(const SegmentRecord& record) {
  absl::StatusOr<SchemaEvent> event = DecodeSchemaEvent(record.position, record.bytes);
  if (!event.ok()) return event.status();
  if (record.position <= place_.through_micros) {
    const absl::StatusOr<std::vector<Record>> known = engine_->ReadRecords(SchemaEventKey(record.position));
    if (!known.ok()) return known.status();
    if (!known->empty()) return absl::OkStatus();  // the copy has the change
  }
  absl::Status status = Flush();
  if (status.ok()) status = engine_->WriteRecords(event->changes);
  if (!status.ok()) return status;
  ++report_.schema_changes;
  return OpenCatalog();  // it tells the engine
}

TableSchemaRef JournalReplay::FindSchema(TableId table) const {
  if (TableSchemaRef schema = catalog_->FindById(table); schema != nullptr) return schema;
  for (const DeletedTableRef& deleted : catalog_->ListDeleted()) {
    if (deleted->record.schema.id == table)
      return std::make_shared<const TableSchema>(deleted->record.schema);
  }
  return nullptr;
}

absl::Status JournalReplay::Flush() {
  for (const auto& [table, changes] : waiting_) {
    const TableSchemaRef schema = FindSchema(table);
    if (schema == nullptr) continue;  // it was dropped while the change was under way
    if (absl::Status status = Flush(*schema, changes); !status.ok()) return status;
  }
  waiting_.clear();
  waiting_bytes_ = 0;
  return absl::OkStatus();
}

absl::Status JournalReplay::Flush(const TableSchema& schema, const std::vector<Change>& changes) {
  std::deque<std::string> values;
  std::vector<RowChange> rows;
  for (const Change& change : changes) {
    std::vector<Mutation> mutations;
    std::string_view row_key;
    if (absl::Status status = DecodeMutations(schema, change.pieces, &values, &row_key, &mutations);
        !status.ok()) {
      return absl::DataLossError(fmt::format("The journal's change of table {} at {} is damaged: {}",
                                             schema.name, change.position, std::string(status.message())));
    }
    if (mutations.empty()) continue;
    RowChange row{.row_key = row_key};
    const absl::Status status = Normalize(schema, row_key, mutations, change.position, &row.delta);
    if (IsTypeMismatch(status)) continue;  // its family was made anew while it was under way
    if (!status.ok()) {
      return absl::DataLossError(fmt::format("The journal's change of table {} at {} cannot be applied: {}",
                                             schema.name, change.position, std::string(status.message())));
    }
    // A change stream of the table goes on with it.
    if (schema.change_stream.has_value()) row.delta.log = {change.position, change.pieces};
    rows.push_back(std::move(row));
    ++report_.row_changes;
  }
  return rows.empty() ? absl::OkStatus() : engine_->Apply(schema.id, rows);
}

}  // namespace sonde
