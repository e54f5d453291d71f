#include "engine/rocks/store/shape_dictionary.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/varint.h"

namespace sonde {
namespace {

// The first byte of a record.
constexpr char kRecordFormat = 1;

// Names shorter than this in all are as small in a fragment as a shape's number.
constexpr size_t kNamesBytesMin = 3;

uint64_t HashOf(TableId table, absl::Span<const std::string_view> qualifiers) {
  uint64_t hash = table;
  for (const std::string_view qualifier : qualifiers) hash = HashBytes(qualifier, hash);
  return hash;
}

std::string EncodeRecord(TableId table, const Shape& shape) {
  std::string record(1, kRecordFormat);
  PutVarint(&record, table);
  PutVarint(&record, shape.size());
  for (const std::string& qualifier : shape) PutBytes(&record, qualifier);
  return record;
}

bool IsShape(const Shape& shape, absl::Span<const std::string_view> qualifiers) {
  return std::equal(shape.begin(), shape.end(), qualifiers.begin(), qualifiers.end());
}

}  // namespace

ShapeDictionary::ShapeDictionary(Persist persist) : persist_(std::move(persist)), by_id_(kShapesMax) {}

ShapeDictionary::~ShapeDictionary() {
  for (std::atomic<const Shape*>& shape : by_id_) delete shape.load();
}

absl::Status ShapeDictionary::Load(ShapeId id, std::string_view record) {
  const auto damaged = [id] {
    return absl::DataLossError(fmt::format("The record of row shape {} is damaged", id));
  };
  if (record.empty() || record[0] != kRecordFormat) return damaged();
  record.remove_prefix(1);
  uint64_t table = 0, count = 0;
  if (id >= kShapesMax || !GetVarint(&record, &table) || !GetVarint(&record, &count) ||
      count > kShapeColumnsMax) {
    return damaged();
  }
  auto shape = std::make_unique<Shape>();
  for (uint64_t i = 0; i < count; ++i) {
    std::string_view qualifier;
    if (!GetBytes(&record, &qualifier)) return damaged();
    shape->emplace_back(qualifier);
  }
  if (!record.empty() || Get(id) != nullptr) return damaged();
  const std::vector<std::string_view> views(shape->begin(), shape->end());
  const absl::WriterMutexLock lock(&mutex_);
  Publish(static_cast<TableId>(table), id, HashOf(static_cast<TableId>(table), views), std::move(shape));
  return absl::OkStatus();
}

void ShapeDictionary::Publish(TableId table, ShapeId id, uint64_t hash, std::unique_ptr<const Shape> shape) {
  by_id_[id].store(shape.release(), std::memory_order_release);
  by_hash_[hash].push_back({table, id});
  ++per_table_[table];
  next_id_ = std::max(next_id_, id + 1);
}

bool ShapeDictionary::FindLocked(TableId table, uint64_t hash, absl::Span<const std::string_view> qualifiers,
                                 ShapeId* id) const {
  const auto at = by_hash_.find(hash);
  if (at == by_hash_.end()) return false;
  for (const Entry& entry : at->second) {
    if (entry.table == table && IsShape(*Get(entry.id), qualifiers)) {
      *id = entry.id;
      return true;
    }
  }
  return false;
}

bool ShapeDictionary::Find(TableId table, absl::Span<const std::string_view> qualifiers, ShapeId* id) const {
  if (qualifiers.size() > kShapeColumnsMax) return false;
  const uint64_t hash = HashOf(table, qualifiers);
  const absl::ReaderMutexLock lock(&mutex_);
  return FindLocked(table, hash, qualifiers, id);
}

bool ShapeDictionary::FindOrLearn(TableId table, absl::Span<const std::string_view> qualifiers, ShapeId* id) {
  if (qualifiers.size() > kShapeColumnsMax) return false;
  const uint64_t hash = HashOf(table, qualifiers);
  {
    const absl::ReaderMutexLock lock(&mutex_);
    if (FindLocked(table, hash, qualifiers, id)) return true;
  }
  {
    const absl::MutexLock lock(&sightings_mutex_);
    Sighting& sighting = sightings_[hash % kSightings];
    if (sighting.hash != hash) sighting = {hash, 0};
    if (++sighting.count < kSightingsToLearn) return false;
    sighting.count = 0;
  }
  return Learn(table, hash, qualifiers, id);
}

bool ShapeDictionary::Learn(TableId table, uint64_t hash, absl::Span<const std::string_view> qualifiers,
                            ShapeId* id) {
  size_t bytes = 0;
  for (const std::string_view qualifier : qualifiers) bytes += qualifier.size() + 1;
  if (bytes > kShapeBytesMax || bytes < kNamesBytesMin) return false;

  const absl::MutexLock learning(&learn_mutex_);
  ShapeId new_id = 0;
  {
    const absl::ReaderMutexLock lock(&mutex_);
    if (FindLocked(table, hash, qualifiers, id)) return true;
    const auto known = per_table_.find(table);
    if (next_id_ >= kShapesMax || (known != per_table_.end() && known->second >= kShapesPerTableMax))
      return false;
    new_id = next_id_;
  }
  auto shape = std::make_unique<Shape>(qualifiers.begin(), qualifiers.end());
  if (!persist_(new_id, EncodeRecord(table, *shape))) return false;
  const absl::WriterMutexLock lock(&mutex_);
  Publish(table, new_id, hash, std::move(shape));
  *id = new_id;
  return true;
}

bool LearningTableShapes::Find(absl::Span<const std::string_view> qualifiers, ShapeId* id) const {
  if (last_ == nullptr || !IsShape(*last_, qualifiers)) {
    ShapeId found = 0;
    if (!dictionary_->FindOrLearn(table_, qualifiers, &found)) return false;
    last_ = dictionary_->Get(found);
    last_id_ = found;
  }
  *id = last_id_;
  return true;
}

}  // namespace sonde
