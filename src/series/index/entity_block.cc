#include "series/index/entity_block.h"

#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "base/varint.h"
#include "series/index/checked_bytes.h"
#include "series/known/known_series.h"

namespace sonde::series {
namespace {

constexpr size_t kNarrowCodesMax = 0xFF;
// Open series have up to kOpenLabelsMax, 200.
constexpr size_t kBlockLabelsMax = 10'000;
// Of all values of a column, decoded: shared beginnings make few bytes many.
constexpr size_t kColumnTextBytesMax = 16 << 20;

size_t SharedBytes(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace

void LabelColumn::Append(std::string_view value) {
  text_ += value;
  ends_.push_back(static_cast<uint32_t>(text_.size()));
}

LabelColumn LabelColumn::Make(const std::vector<std::pair<uint32_t, std::string>>& values, size_t count) {
  LabelColumn column;
  column.codes_.resize(count);
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return values[a].second < values[b].second; });
  for (const uint32_t at : order) {
    const std::string& value = values[at].second;
    if (column.ends_.empty() || column.value(column.ends_.size() - 1) != value) column.Append(value);
    column.codes_[values[at].first] = static_cast<uint16_t>(column.ends_.size());
  }
  column.text_.shrink_to_fit();
  column.ends_.shrink_to_fit();
  return column;
}

size_t LabelColumn::LowerBound(std::string_view value) const {
  size_t low = 0;
  size_t high = ends_.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (this->value(middle) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::optional<size_t> LabelColumn::Find(std::string_view value) const {
  const size_t place = LowerBound(value);
  if (place == ends_.size() || this->value(place) != value) return std::nullopt;
  return place;
}

size_t LabelColumn::bytes() const {
  return sizeof(LabelColumn) + text_.capacity() + ends_.capacity() * sizeof(uint32_t) +
         codes_.capacity() * sizeof(uint16_t);
}

std::string LabelColumn::Encode() const {
  std::string bytes;
  PutVarint(&bytes, codes_.size());
  PutVarint(&bytes, ends_.size());
  std::string_view before;
  for (size_t place = 0; place < ends_.size(); ++place) {
    const std::string_view now = value(place);
    const size_t shared = SharedBytes(before, now);
    PutVarint(&bytes, shared);
    PutBytes(&bytes, now.substr(shared));
    before = now;
  }
  const bool is_narrow = ends_.size() <= kNarrowCodesMax;
  bytes += static_cast<char>(is_narrow ? 1 : 2);
  for (const uint16_t code : codes_) {
    bytes += static_cast<char>(code);
    if (!is_narrow) bytes += static_cast<char>(code >> 8);
  }
  return CheckedBytes(bytes);
}

bool LabelColumn::Decode(std::string_view bytes, LabelColumn* column) {
  std::string_view in;
  uint64_t entities = 0;
  uint64_t values = 0;
  if (!ReadCheckedBytes(bytes, &in) || !GetVarint(&in, &entities) || !GetVarint(&in, &values)) return false;
  if (entities > kBlockEntitiesMax || values > entities) return false;
  LabelColumn read;
  std::string now;
  for (uint64_t i = 0; i < values; ++i) {
    uint64_t shared = 0;
    std::string_view rest;
    if (!GetVarint(&in, &shared) || shared > now.size() || !GetBytes(&in, &rest)) return false;
    const bool rises = shared < now.size() ? !rest.empty() && static_cast<unsigned char>(rest[0]) >
                                                                  static_cast<unsigned char>(now[shared])
                                           : !rest.empty();
    if (!rises || read.text_.size() + shared + rest.size() > kColumnTextBytesMax) return false;
    now.resize(shared);
    now += rest;
    read.Append(now);
  }
  if (in.empty()) return false;
  const auto code_bytes = static_cast<size_t>(in.front());
  in.remove_prefix(1);
  if (code_bytes != (values <= kNarrowCodesMax ? 1U : 2U) || in.size() != code_bytes * entities) return false;
  read.codes_.resize(entities);
  for (size_t i = 0; i < entities; ++i) {
    const uint64_t code = ReadFixed(in.substr(i * code_bytes), static_cast<int>(8 * code_bytes));
    if (code > values) return false;
    read.codes_[i] = static_cast<uint16_t>(code);
  }
  *column = std::move(read);
  return true;
}

std::shared_ptr<const EntityBlock> EntityBlock::Make(const std::vector<std::string>& names,
                                                     const std::vector<std::string>& texts, size_t base) {
  if (base + texts.size() > kBlockEntitiesMax) return nullptr;
  absl::flat_hash_map<std::string, size_t> place_of_name;
  std::vector<std::string> order = names;
  for (size_t i = 0; i < order.size(); ++i) place_of_name.emplace(order[i], i);
  std::vector<std::vector<std::pair<uint32_t, std::string>>> values(order.size());
  std::vector<std::pair<std::string, std::string>> labels;
  for (size_t entity = 0; entity < texts.size(); ++entity) {
    if (!ParseLabelPairs(texts[entity], &labels).ok()) return nullptr;
    size_t next = 0;  // the first place that may come
    for (auto& [name, value] : labels) {
      const auto [at, is_new] = place_of_name.try_emplace(name, order.size());
      if (is_new) {
        order.push_back(name);
        values.emplace_back();
      }
      if (at->second < next || value.empty()) return nullptr;
      next = at->second + 1;
      values[at->second].emplace_back(static_cast<uint32_t>(entity), std::move(value));
    }
  }
  std::shared_ptr<EntityBlock> block(new EntityBlock());
  block->base_ = base;
  block->count_ = texts.size();
  for (size_t i = 0; i < order.size(); ++i) {
    if (values[i].empty()) continue;
    block->names_.push_back(std::move(order[i]));
    block->columns_.push_back(LabelColumn::Make(values[i], texts.size()));
  }
  // A text that is written in another way, though it says the same, is another row.
  std::string text;
  for (size_t entity = 0; entity < texts.size(); ++entity) {
    text.clear();
    block->AppendText(base + entity, &text);
    if (text != texts[entity]) return nullptr;
  }
  return block;
}

std::string EntityBlock::EncodeHeader() const {
  std::string bytes;
  PutVarint(&bytes, count_);
  PutVarint(&bytes, names_.size());
  for (const std::string& name : names_) PutBytes(&bytes, name);
  return CheckedBytes(bytes);
}

std::shared_ptr<const EntityBlock> EntityBlock::Decode(std::string_view header,
                                                       const std::map<std::string, std::string>& columns) {
  std::string_view in;
  uint64_t count = 0;
  uint64_t labels = 0;
  if (!ReadCheckedBytes(header, &in) || !GetVarint(&in, &count) || !GetVarint(&in, &labels)) return nullptr;
  if (count > kBlockEntitiesMax || labels > kBlockLabelsMax || labels != columns.size()) return nullptr;
  std::shared_ptr<EntityBlock> block(new EntityBlock());
  block->count_ = count;
  for (uint64_t i = 0; i < labels; ++i) {
    std::string_view name;
    if (!GetBytes(&in, &name)) return nullptr;
    const auto cell = columns.find(std::string(name));
    LabelColumn column;
    if (cell == columns.end() || !LabelColumn::Decode(cell->second, &column)) return nullptr;
    if (column.entities_count() != count || block->Find(name) != nullptr) return nullptr;
    block->names_.emplace_back(name);
    block->columns_.push_back(std::move(column));
  }
  return in.empty() ? block : nullptr;
}

const LabelColumn* EntityBlock::Find(std::string_view label) const {
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == label) return &columns_[i];
  }
  return nullptr;
}

void EntityBlock::AppendText(size_t position, std::string* out) const {
  bool is_first = true;
  ForEachLabel(position, [&](const std::string& name, std::string_view value) {
    if (!is_first) *out += ',';
    is_first = false;
    AppendEscaped(name, out);
    *out += '=';
    AppendEscaped(value, out);
  });
  if (is_first) *out += kNoLabelsText;
}

size_t EntityBlock::bytes() const {
  size_t bytes = sizeof(EntityBlock);
  for (const std::string& name : names_) bytes += sizeof(std::string) + name.capacity();
  for (const LabelColumn& column : columns_) bytes += column.bytes();
  return bytes;
}

}  // namespace sonde::series
