#include "series/index/write/known_entities.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "series/index/entity_block.h"

namespace sonde::series {
namespace {

size_t BytesOf(const BlockSets& sets) {
  size_t bytes = sets.capacity() * sizeof(PositionSet);
  for (const PositionSet& set : sets) bytes += set.bytes();
  return bytes;
}

absl::StatusOr<bool> HasRows(const std::string& series, TableAccess* tables) {
  RowRead read;
  std::string prefix;
  AppendEscaped(series, &prefix);
  read.ranges = {RowRange::Prefix(prefix + "#")};
  read.rows_max = 1;
  read.cells_per_column_max = 1;
  bool has_rows = false;
  const absl::Status status = tables->ReadRows(kOpenSeriesTable, read, [&](ReadRow&&) {
    has_rows = true;
    return false;
  });
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  return has_rows;
}

// Reads the texts of blocks and tails.
class TextReader {
 public:
  TextReader(const EntityLoad& load, TableAccess* tables, KnownEntities* known)
      : load_(load), tables_(tables), known_(known) {}

  absl::Status Read(const IndexDirectory& directory) {
    if (absl::Status status = ReadSealed(directory); !status.ok()) return status;
    for (const IndexTail& tail : directory.tails) TakeTail(tail);
    if (load_.continues_blocks) OpenLast();
    return absl::OkStatus();
  }
  TailCounts tails() const { return tails_; }

 private:
  struct Block {
    size_t end = 0;
    size_t text_bytes = 0;
    bool has_gap = false;  // a write of it failed: what is behind a gap is never sealed
  };

  size_t NumberOf(const std::string& block) {
    const auto [at, is_new] = number_of_.try_emplace(block, known_->blocks.size());
    if (is_new) {
      known_->blocks.push_back(block);
      blocks_.emplace_back();
    }
    return at->second;
  }

  void Take(size_t number, size_t position, std::string_view text) {
    known_->places.try_emplace(load_.hasher->Of(text), PlaceOf(number, position));
    Block& block = blocks_[number];
    block.end = std::max(block.end, position + 1);
    block.text_bytes += text.size();
  }

  absl::Status ReadSealed(const IndexDirectory& directory) {
    std::string text;
    for (const auto& [name, count] : directory.sealed) {
      const absl::StatusOr<std::shared_ptr<const EntityBlock>> block =
          ReadBlock(known_->series->schema.name, name, tables_);
      if (absl::IsDataLoss(block.status())) continue;  // its entities are registered again
      if (!block.ok()) return block.status();
      const size_t number = NumberOf(name);
      for (size_t position = 0; position < (*block)->end(); ++position) {
        text.clear();
        (*block)->AppendText(position, &text);
        Take(number, position, text);
      }
    }
    return absl::OkStatus();
  }

  void TakeTail(const IndexTail& tail) {
    const size_t number = NumberOf(tail.block);
    blocks_[number].has_gap |= tail.first > blocks_[number].end;
    ++tails_.rows;
    tails_.entities += tail.texts.size();
    for (size_t i = 0; i < tail.texts.size(); ++i) Take(number, tail.first + i, tail.texts[i]);
  }

  // The writer that had it is dead.
  void OpenLast() {
    const auto last = std::max_element(known_->blocks.begin(), known_->blocks.end());
    if (last == known_->blocks.end()) return;
    const auto number = static_cast<size_t>(last - known_->blocks.begin());
    if (blocks_[number].has_gap) return;
    known_->open = number;
    known_->open_end = blocks_[number].end;
    known_->open_text_bytes = blocks_[number].text_bytes;
  }

  const EntityLoad& load_;
  TableAccess* const tables_;
  KnownEntities* const known_;
  absl::flat_hash_map<std::string, size_t> number_of_;
  std::vector<Block> blocks_;
  TailCounts tails_;
};

}  // namespace

bool Contains(const BlockSets& sets, uint32_t place) {
  const size_t block = BlockOf(place);
  return block < sets.size() && sets[block].Contains(PositionOf(place));
}

void AddTo(size_t block, const PositionSet& positions, BlockSets* sets) {
  if (sets->size() <= block) sets->resize(block + 1);
  (*sets)[block].Or(positions);
}

bool KnownEntities::Has(const EntityUse& use) const {
  if (is_given_up) return true;
  const auto found = places.find(use.hash);
  if (found == places.end()) return false;
  const uint32_t place = found->second;
  for (const int32_t day : use.days) {
    const auto sets = days.find(day);
    if (sets == days.end() || !Contains(sets->second, place)) return false;
  }
  const bool is_same = series == *use.series;  // so are the names of its fields
  for (size_t word = 0; word < use.fields.size(); ++word) {
    for (uint64_t bits = use.fields[word]; bits != 0; bits &= bits - 1) {
      const size_t at = word * 64 + static_cast<size_t>(std::countr_zero(bits));
      if (at >= fields.size() || !fields[at]) return false;
      if (!is_same && fields[at]->name != (*use.series)->schema.fields[at].name) return false;
      if (!Contains(fields[at]->sets, place)) return false;
    }
  }
  return true;
}

const KnownEntities::FieldSets* KnownEntities::FindField(size_t place, const std::string& name) const {
  if (place >= fields.size() || !fields[place] || fields[place]->name != name) return nullptr;
  return &*fields[place];
}

void KnownEntities::SetSeries(const KnownSeriesRef& newer) {
  series = newer;
  const std::vector<Field>& names = newer->schema.fields;
  for (size_t at = 0; at < fields.size(); ++at) {
    if (fields[at] && (at >= names.size() || names[at].name != fields[at]->name)) fields[at].reset();
  }
}

size_t KnownEntities::bytes() const {
  size_t bytes = sizeof(KnownEntities) + places.size() * kKnownEntityBytes;
  for (const auto& [day, sets] : days) bytes += BytesOf(sets);
  for (const std::optional<FieldSets>& field : fields) {
    if (field) bytes += sizeof(FieldSets) + BytesOf(field->sets);
  }
  return bytes;
}

absl::StatusOr<TailCounts> LoadEntities(const EntityLoad& load, TableAccess* tables, KnownEntities* known) {
  const std::string& name = known->series->schema.name;
  const absl::StatusOr<IndexDirectory> directory = ReadDirectory(name, tables);
  if (absl::IsDataLoss(directory.status())) return TailCounts();
  if (!directory.ok()) return directory.status();
  size_t entities = 0;
  for (const auto& [block, count] : directory->sealed) entities += count;
  for (const IndexTail& tail : directory->tails) entities += tail.texts.size();
  if (directory->is_given_up) {
    // Only much more room than it needs is a reason to begin again; a declared series has other writers, who would go on passing it over.
    known->is_given_up = entities > load.entities_max / 2 || !known->series->is_open();
    if (known->is_given_up) return TailCounts();
    RowWrite row;
    row.row_key = DirectoryKey(name);
    // A rebuild may have noted that it is whole just when it was given up.
    row.delete_columns = {{kIndexFamily, kGivenUpColumn}, {kIndexFamily, kWholeColumn}};
    if (absl::Status status = WriteIndexRows({row}, tables); !status.ok()) return status;
  }
  if (entities > load.entities_max) {
    // There was more room when it was written.
    known->is_given_up = true;
    RowWrite row;
    row.row_key = DirectoryKey(name);
    row.cells = {{kIndexFamily, kGivenUpColumn, load.now_micros, "1"}};
    row.delete_columns = {{kIndexFamily, kWholeColumn}};
    if (absl::Status status = WriteIndexRows({row}, tables); !status.ok()) return status;
    return TailCounts();
  }
  if (directory->IsEmpty() && !directory->is_whole && known->series->is_open()) {
    // The index has all of a series that has nothing yet.
    const absl::StatusOr<bool> has_rows = HasRows(name, tables);
    if (!has_rows.ok()) return has_rows.status();
    known->marks_whole = !*has_rows;
  }
  known->has_no_sets = directory->IsEmpty();
  TextReader reader(load, tables, known);
  const absl::Status status = reader.Read(*directory);
  if (!status.ok() && !absl::IsDataLoss(status)) return status;
  return reader.tails();
}

absl::StatusOr<BlockSets> LoadSets(
    const KnownEntities& known, const std::string& set_key, TableAccess* tables,
    const std::function<void(const std::string& row_key, size_t cells)>& take_row) {
  BlockSets sets;
  if (known.has_no_sets) return sets;
  const absl::Status status = ReadSetRows(set_key, set_key, tables, [&](IndexSetRow&& row) {
    take_row(row.row_key, row.columns.size());
    const auto block = std::find(known.blocks.begin(), known.blocks.end(), row.block);
    if (block != known.blocks.end())
      AddTo(static_cast<size_t>(block - known.blocks.begin()), row.positions, &sets);
  });
  if (!status.ok() && !absl::IsDataLoss(status)) return status;
  return sets;
}

}  // namespace sonde::series
