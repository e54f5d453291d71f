// The labels of up to kBlockEntitiesMax entities of an open series, by column, so that a condition is asked of a label's
// distinct values and not of each entity.
//
// An entity is one set of labels.  It stands for its position, and its text is the one that stands in its row keys
// (AppendLabelsText).  A block may lack the entities before its base, when it is the part of a block that was not sealed yet.
//
// The cells of a block, each in the frame of checked_bytes.h; numbers are varints, texts a length and bytes:
//   header   COUNT of entities; COUNT of labels; their names, in the order of keys
//   a label  COUNT of entities; COUNT of distinct values; the values, which rise, each as the bytes that it shares with
//            the one before, and the rest; bytes of a code, 1 or 2; the codes, little-endian: 0, or 1 + the place of a value
// Threads: nothing changes after a block was made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "series/index/position_set.h"

namespace sonde::series {

// The values of one label of the entities of a block.
class LabelColumn {
 public:
  // Distinct values, which rise; none is empty.
  size_t values_count() const { return ends_.size(); }
  std::string_view value(size_t place) const {
    const size_t begin = place == 0 ? 0 : ends_[place - 1];
    return std::string_view(text_).substr(begin, ends_[place] - begin);
  }
  size_t entities_count() const { return codes_.size(); }
  // The value of an entity; empty: it lacks the label.
  std::string_view ValueOf(size_t entity) const {
    return codes_[entity] == 0 ? std::string_view() : value(codes_[entity] - 1U);
  }
  const std::vector<uint16_t>& codes() const { return codes_; }
  // The place of a value.
  std::optional<size_t> Find(std::string_view value) const;
  // The first place whose value is not below `value`.
  size_t LowerBound(std::string_view value) const;
  size_t bytes() const;

  std::string Encode() const;
  // False: these are not bytes of Encode.
  [[nodiscard]] static bool Decode(std::string_view bytes, LabelColumn* column);

  // The values of `count` entities, by place; none of them empty.
  static LabelColumn Make(const std::vector<std::pair<uint32_t, std::string>>& values, size_t count);

 private:
  void Append(std::string_view value);

  std::string text_;
  std::vector<uint32_t> ends_;
  std::vector<uint16_t> codes_;  // one an entity
};

class EntityBlock {
 public:
  // Of the texts of entities, whose labels stand in the order of `names`; others may follow these.  Null: a text is none of
  // labels in this order, or there are too many.
  static std::shared_ptr<const EntityBlock> Make(const std::vector<std::string>& names,
                                                 const std::vector<std::string>& texts, size_t base = 0);

  // The cells of columns by label, and of the header.
  std::string EncodeHeader() const;
  const std::vector<std::string>& names() const { return names_; }  // in the order of keys
  // Null: the cells are not those of a block.  `columns`: by label.
  static std::shared_ptr<const EntityBlock> Decode(std::string_view header,
                                                   const std::map<std::string, std::string>& columns);

  // Positions are [base, end).
  size_t base() const { return base_; }
  size_t end() const { return base_ + count_; }
  size_t count() const { return count_; }
  // Null: no entity has the label.
  const LabelColumn* Find(std::string_view label) const;
  // As keys have it.
  void AppendText(size_t position, std::string* out) const;
  // Calls `take` with name and value of each label, in the order of keys.
  template <typename Take>
  void ForEachLabel(size_t position, Take take) const {
    for (size_t i = 0; i < names_.size(); ++i) {
      const std::string_view value = columns_[i].ValueOf(position - base_);
      if (!value.empty()) take(names_[i], value);
    }
  }
  size_t bytes() const;

 private:
  EntityBlock() = default;

  size_t base_ = 0;
  size_t count_ = 0;
  std::vector<std::string> names_;
  std::vector<LabelColumn> columns_;  // of names_
};

}  // namespace sonde::series
