#include "series/index/index_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/varint.h"
#include "series/index/checked_bytes.h"
#include "series/known/known_series.h"
#include "series/schema/calendar.h"
#include "series/schema/time_format.h"

namespace sonde::series {
namespace {

constexpr std::string_view kTailKind = "n#";
constexpr std::string_view kBlockKind = "b#";
constexpr std::string_view kDayKind = "d#";
constexpr std::string_view kFieldKind = "f#";
// A longer name of a field has its checksum in its place: if two share it, their set is of both.
constexpr size_t kFieldKeyBytesMax = 256;
constexpr size_t kRowsOfRequestMax = 10'000;
constexpr size_t kBytesOfRequest = 16 << 20;  // no further row is added behind these

std::string KeyOf(std::string_view series, std::string_view kind) {
  std::string key;
  AppendEscaped(series, &key);
  key += '#';
  key += kind;
  return key;
}

absl::Status Damaged(std::string_view row_key, std::string_view column) {
  return absl::DataLossError(fmt::format(
      "table '{}', row '{}', column '{}': not what the index writes; `sonde series rebuild` makes it anew",
      kIndexTable, Printable(row_key), Printable(column)));
}

// False: it is no number of at most 16 bits.
bool ReadHex(std::string_view text, uint16_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number, 16);
  return error == std::errc() && end == text.data() + text.size();
}

absl::Status ReadTail(const ReadRow& row, std::string_view rest, IndexDirectory* directory) {
  const size_t hash = std::min(rest.find('#'), rest.size());
  uint16_t first = 0;
  const bool has_first = hash < rest.size() && ReadHex(rest.substr(hash + 1), &first);
  IndexTail tail;
  for (const ReadCell& cell : row.cells) {
    if (cell.qualifier != kListColumn || !tail.texts.empty()) continue;  // the newest counts
    if (!has_first || !DecodeTexts(cell.value, &tail.texts) ||
        first + tail.texts.size() > kBlockEntitiesMax) {
      return Damaged(row.row_key, cell.qualifier);
    }
    tail.block = std::string(rest.substr(0, hash));
    tail.first = first;
  }
  if (!tail.block.empty()) directory->tails.push_back(std::move(tail));
  return absl::OkStatus();
}

absl::Status ReadDirectoryRow(const ReadRow& row, IndexDirectory* directory) {
  constexpr std::string_view kSealed = kSealedColumnPrefix;
  for (const ReadCell& cell : row.cells) {
    if (cell.qualifier == kWholeColumn) directory->is_whole = true;
    if (cell.qualifier == kGivenUpColumn) directory->is_given_up = true;
    if (cell.qualifier == kDeletedColumn) directory->has_deleted = true;
    if (!cell.qualifier.starts_with(kSealed)) continue;
    if (directory->sealed.contains(cell.qualifier.substr(kSealed.size()))) continue;  // the newest counts
    std::string_view in;
    uint64_t count = 0;
    if (!ReadCheckedBytes(cell.value, &in) || !GetVarint(&in, &count) || !in.empty() ||
        count > kBlockEntitiesMax) {
      return Damaged(row.row_key, cell.qualifier);
    }
    directory->sealed[cell.qualifier.substr(kSealed.size())] = count;
  }
  return absl::OkStatus();
}

absl::Status TakeSet(const ReadRow& row, IndexSetRow* set) {
  set->row_key = row.row_key;
  set->block = row.row_key.substr(row.row_key.rfind('#') + 1);
  for (const ReadCell& cell : row.cells) {
    if (!AddPositions(cell.value, &set->positions)) return Damaged(row.row_key, cell.qualifier);
    if (set->columns.empty() || set->columns.back() != cell.qualifier) set->columns.push_back(cell.qualifier);
  }
  return absl::OkStatus();
}

absl::Status Both(const absl::Status& problem, const absl::Status& status) {
  if (!problem.ok()) return problem;
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

}  // namespace

std::string TailKey(std::string_view series, std::string_view block, size_t first) {
  return fmt::format("{}{}#{:04x}", KeyOf(series, kTailKind), block, first);
}

std::string EncodeTexts(const std::vector<std::string>& texts) {
  std::string bytes;
  PutVarint(&bytes, texts.size());
  for (const std::string& text : texts) PutBytes(&bytes, text);
  return CheckedBytes(bytes);
}

bool DecodeTexts(std::string_view bytes, std::vector<std::string>* texts) {
  std::string_view in;
  uint64_t count = 0;
  texts->clear();
  if (!ReadCheckedBytes(bytes, &in) || !GetVarint(&in, &count) || count > kBlockEntitiesMax) return false;
  for (uint64_t i = 0; i < count; ++i) {
    std::string_view text;
    if (!GetBytes(&in, &text) || text.empty()) return false;
    texts->emplace_back(text);
  }
  return in.empty();
}

absl::StatusOr<IndexDirectory> ReadDirectory(std::string_view series, TableAccess* tables,
                                             const std::function<absl::Status()>& interrupted) {
  absl::StatusOr<IndexState> state = ReadIndex(series, {}, tables, interrupted);
  if (!state.ok()) return state.status();
  return std::move(state->directory);
}

absl::StatusOr<IndexState> ReadIndex(std::string_view series, const IndexQuestion& question,
                                     TableAccess* tables, const std::function<absl::Status()>& interrupted) {
  const std::string tails = KeyOf(series, kTailKind);
  const std::string directory_key = DirectoryKey(series);
  const std::string days = KeyOf(series, kDayKind);
  IndexState state;
  RowRead read;
  // A sealer lists a block before it deletes its tails, and this reads the tails first.
  read.ranges = {{tails, Successor(directory_key)}};
  if (question.days) {
    read.ranges.push_back(
        {DaySetKey(series, question.days->first), PrefixEnd(DaySetKey(series, question.days->second))});
  }
  std::vector<std::string> fields;
  for (const std::string& field : question.fields) {
    fields.push_back(FieldSetKey(series, field));
    read.ranges.push_back(RowRange::Prefix(fields.back()));
  }
  state.of_fields.resize(fields.size());
  if (!question.days && fields.empty()) {
    read.family = kIndexFamily;
    read.cells_per_column_max = 1;
  }
  read.interrupted = interrupted;
  absl::Status problem;
  const auto take = [&](const ReadRow& row) -> absl::Status {
    const std::string_view key = row.row_key;
    if (key == directory_key) return ReadDirectoryRow(row, &state.directory);
    if (key.starts_with(tails)) return ReadTail(row, key.substr(tails.size()), &state.directory);
    IndexSetRow set;
    if (absl::Status status = TakeSet(row, &set); !status.ok()) return status;
    if (key.starts_with(days)) state.of_days[set.block].Or(set.positions);
    for (size_t i = 0; i < fields.size(); ++i) {
      if (key.starts_with(fields[i])) state.of_fields[i][set.block].Or(set.positions);
    }
    return absl::OkStatus();
  };
  const absl::Status status = tables->ReadRows(kIndexTable, read, [&](ReadRow&& row) {
    problem = take(row);
    return problem.ok();
  });
  if (absl::Status both = Both(problem, status); !both.ok()) return both;
  return state;
}

absl::StatusOr<std::optional<std::pair<int64_t, int64_t>>> ReadDaysOf(std::string_view series,
                                                                      TableAccess* tables) {
  const std::string days = KeyOf(series, kDayKind);
  const auto read_one = [&](bool is_last) -> absl::StatusOr<std::optional<int64_t>> {
    RowRead read;
    read.ranges = {RowRange::Prefix(days)};
    read.family = kIndexSetsFamily;
    read.cells_per_column_max = 1;
    read.rows_max = 1;
    read.reversed = is_last;
    std::optional<int64_t> micros;
    const absl::Status status = tables->ReadRows(kIndexTable, read, [&](ReadRow&& row) {
      const std::string_view rest = std::string_view(row.row_key).substr(days.size());
      micros = ParseCalendarTime(TimeFormat::kDayCompact, rest.substr(0, rest.find('#')));
      return true;
    });
    if (!status.ok() && !absl::IsNotFound(status)) return status;
    if (!micros) return std::optional<int64_t>();
    return *micros / kMicrosPerDay;
  };
  const absl::StatusOr<std::optional<int64_t>> first = read_one(false);
  if (!first.ok()) return first.status();
  const absl::StatusOr<std::optional<int64_t>> last = read_one(true);
  if (!last.ok()) return last.status();
  if (!first->has_value() || !last->has_value()) return std::nullopt;
  return std::pair(**first, **last);
}

absl::Status NoteDeleted(std::string_view series, int64_t timestamp_micros, TableAccess* tables) {
  RowWrite row;
  row.row_key = DirectoryKey(series);
  row.cells = {{kIndexFamily, kDeletedColumn, timestamp_micros, "1"}};
  const absl::Status status = WriteIndexRows({row}, tables);
  return absl::IsNotFound(status) ? absl::OkStatus() : status;  // there is no index
}

std::string EncodeSealed(size_t count) {
  std::string bytes;
  PutVarint(&bytes, count);
  return CheckedBytes(bytes);
}

std::string BlockKey(std::string_view series, std::string_view block) {
  return KeyOf(series, kBlockKind) + std::string(block);
}

RowWrite BlockRow(std::string_view series, std::string_view name, const EntityBlock& block,
                  int64_t timestamp_micros) {
  RowWrite row;
  row.row_key = BlockKey(series, name);
  const auto set = [&](std::string qualifier, std::string value) {
    // The cell before may be of a later time, if the clock was set back.
    row.delete_columns.emplace_back(kIndexFamily, qualifier);
    row.cells.push_back({kIndexFamily, std::move(qualifier), timestamp_micros, std::move(value)});
  };
  set(kHeaderColumn, block.EncodeHeader());
  for (const std::string& label : block.names()) set(kLabelColumnPrefix + label, block.Find(label)->Encode());
  return row;
}

absl::StatusOr<std::shared_ptr<const EntityBlock>> ReadBlock(std::string_view series, std::string_view block,
                                                             TableAccess* tables) {
  RowRead read;
  read.ranges = {RowRange::Single(BlockKey(series, block))};
  read.family = kIndexFamily;
  read.cells_per_column_max = 1;
  std::string header;
  std::map<std::string, std::string> columns;
  const absl::Status status = tables->ReadRows(kIndexTable, read, [&](ReadRow&& row) {
    for (ReadCell& cell : row.cells) {
      if (cell.qualifier == kHeaderColumn)
        header = std::move(cell.value);
      else if (cell.qualifier.starts_with(kLabelColumnPrefix))
        columns[cell.qualifier.substr(1)] = std::move(cell.value);
    }
    return true;
  });
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  std::shared_ptr<const EntityBlock> result = EntityBlock::Decode(header, columns);
  if (result == nullptr) return Damaged(BlockKey(series, block), kHeaderColumn);
  return result;
}

std::string DaySetKey(std::string_view series, int64_t day) {
  std::string key = KeyOf(series, kDayKind);
  AppendCalendarTime(TimeFormat::kDayCompact, day * kMicrosPerDay, &key);
  return key + '#';
}

std::string FieldSetKey(std::string_view series, std::string_view field) {
  std::string key = KeyOf(series, kFieldKind);
  if (field.size() > kFieldKeyBytesMax) {
    key += fmt::format("%long-{:08x}", Crc32c(field));
  } else {
    AppendEscaped(field, &key);
  }
  return key + '#';
}

std::string SetRowKey(std::string_view set_key, std::string_view block) {
  return std::string(set_key) + std::string(block);
}

absl::Status ReadSetRows(const std::string& first, const std::string& last, TableAccess* tables,
                         const std::function<void(IndexSetRow&& row)>& take) {
  RowRead read;
  read.ranges = {{first, PrefixEnd(last)}};
  read.family = kIndexSetsFamily;
  absl::Status problem;
  const absl::Status status = tables->ReadRows(kIndexTable, read, [&](ReadRow&& row) {
    IndexSetRow set;
    problem = TakeSet(row, &set);
    if (problem.ok()) take(std::move(set));
    return problem.ok();
  });
  return Both(problem, status);
}

absl::Status WriteIndexRows(const std::vector<RowWrite>& rows, TableAccess* tables) {
  size_t end = 0;
  for (size_t begin = 0; begin < rows.size(); begin = end) {
    size_t bytes = 0;
    for (; end < rows.size() && end - begin < kRowsOfRequestMax && bytes < kBytesOfRequest; ++end) {
      for (const CellWrite& cell : rows[end].cells) bytes += cell.value.size();
    }
    const std::vector<RowWrite> piece(rows.begin() + static_cast<ptrdiff_t>(begin),
                                      rows.begin() + static_cast<ptrdiff_t>(end));
    const absl::StatusOr<std::vector<absl::Status>> statuses = tables->MutateRows(kIndexTable, piece);
    if (!statuses.ok()) return statuses.status();
    for (const absl::Status& status : *statuses) {
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace sonde::series
