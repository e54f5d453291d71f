#include "codec/texts.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "base/varint.h"

namespace sonde::codec {
namespace {

// 00, 01, ... 99.
constexpr std::array<char, 200> kTwoDigits = [] {
  std::array<char, 200> digits{};
  for (size_t i = 0; i < digits.size(); ++i)
    digits[i] = static_cast<char>('0' + (i % 2 == 0 ? i / 20 : i / 2 % 10));
  return digits;
}();

constexpr uint32_t kFieldDigitsMax = 19;  // what 64 bits hold
constexpr size_t kFieldsMax = 16;
constexpr size_t kTemplatesMax = 1 << 16;
// Fewer texts than this for each template are alike by chance.
constexpr size_t kTextsPerTemplate = 4;
// With fewer, the other forms are tried too.
constexpr size_t kTextsPerTemplateSure = 16;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The runs of digits; false: more than kFieldsMax.
bool FindDigits(std::string_view text, std::vector<TextField>* fields) {
  fields->clear();
  for (uint32_t i = 0; i < text.size(); ++i) {
    if (!IsDigit(text[i])) continue;
    if (!fields->empty() && fields->back().offset + fields->back().width == i &&
        fields->back().width < kFieldDigitsMax) {
      ++fields->back().width;
    } else {
      if (fields->size() == kFieldsMax) return false;
      fields->push_back({i, 1});
    }
  }
  return true;
}

// The number in the last `width` bytes.
bool FindLast(std::string_view text, uint32_t width, std::vector<TextField>* fields) {
  fields->clear();
  if (text.size() < width) return false;
  fields->push_back({static_cast<uint32_t>(text.size()) - width, width});
  return true;
}

// The positions at which the texts, all of one length, differ, in fields of up to 8 bytes.
bool FindDifferences(absl::Span<const std::string_view> texts, std::vector<TextField>* fields) {
  fields->clear();
  const std::string_view first = texts[0];
  std::vector<char> differs(first.size(), 0);
  for (const std::string_view text : texts) {
    if (text.size() != first.size()) return false;
    for (size_t i = 0; i < text.size(); ++i) differs[i] |= static_cast<char>(text[i] ^ first[i]);
  }
  for (uint32_t i = 0; i < differs.size(); ++i) {
    if (differs[i] == 0) continue;
    if (!fields->empty() && fields->back().offset + fields->back().width == i && fields->back().width < 8) {
      ++fields->back().width;
    } else {
      if (fields->size() == kFieldsMax) return false;
      fields->push_back({i, 1});
    }
  }
  return true;
}

// The number in a field; false: not digits.
bool ReadField(const char* from, uint32_t width, bool digits, uint64_t* value) {
  uint64_t result = 0;
  for (uint32_t i = 0; i < width; ++i) {
    if (!digits) {
      result = result << 8 | static_cast<unsigned char>(from[i]);
      continue;
    }
    const unsigned digit = static_cast<unsigned char>(from[i]) - unsigned{'0'};
    if (digit > 9) return false;
    result = result * 10 + digit;
  }
  *value = result;
  return true;
}

}  // namespace

class TextEncoder {
 public:
  using Form = TextColumn::Form;

  explicit TextEncoder(absl::Span<const std::string_view> texts) : texts_(texts) {}

  // How many templates it takes; 0: the form is not for these texts.
  size_t FindTemplates(Form form, size_t templates_max) {
    form_ = form;
    ids_.clear();
    ids_.reserve(texts_.size());
    columns_.clear();
    templates_.clear();
    by_text_.clear();
    if (form == Form::kListed && !FindDifferences(texts_, &listed_)) return 0;
    for (const std::string_view text : texts_) {
      if (!ids_.empty() && Matches(*templates_[ids_.back()], text)) {
        ids_.push_back(ids_.back());
      } else if (!AddOther(text, templates_max)) {
        return 0;
      }
    }
    return templates_.size();
  }

  void AppendTemplates(std::string* out) const {
    out->push_back(static_cast<char>(form_));
    PutVarint(out, templates_.size());
    std::vector<std::string_view> texts;
    for (const auto& shape : templates_) texts.push_back(shape->text);
    EncodeStrings(texts, out);
    if (form_ == Form::kListed) {
      PutVarint(out, listed_.size());
      for (const TextField& field : listed_) {
        PutVarint(out, field.offset);
        PutVarint(out, field.width);
      }
    }
    PutVarint(out, columns_.size());
    if (templates_.size() > 1) EncodeIntegers(ids_, out);
    for (const std::vector<int64_t>& column : columns_) EncodeIntegers(column, out);
  }

  void AppendFrontCoded(std::string* out) const {
    out->push_back(static_cast<char>(Form::kFrontCoded));
    std::vector<int64_t> shared;
    std::vector<std::string_view> rests;
    std::string_view before;
    for (const std::string_view text : texts_) {
      const auto same =
          std::mismatch(before.begin(), before.end(), text.begin(), text.end()).first - before.begin();
      shared.push_back(same);
      rests.push_back(text.substr(same));
      before = text;
    }
    EncodeIntegers(shared, out);
    EncodeStrings(rests, out);
  }

 private:
  struct Template {
    std::string text;
    std::vector<TextField> fields;
  };

  // Whether the text is of this template; if so, adds its fields.
  bool Matches(const Template& shape, std::string_view text) {
    if (text.size() != shape.text.size()) return false;
    uint32_t literal = 0;
    uint64_t values[kFieldsMax];
    for (size_t i = 0; i < shape.fields.size(); ++i) {
      const TextField field = shape.fields[i];
      if (std::memcmp(text.data() + literal, shape.text.data() + literal, field.offset - literal) != 0)
        return false;
      if (!ReadField(text.data() + field.offset, field.width, form_ == Form::kDigits, &values[i]))
        return false;
      literal = field.offset + field.width;
    }
    if (text.substr(literal) != std::string_view(shape.text).substr(literal)) return false;
    AddFields(shape, values);
    return true;
  }

  void AddFields(const Template& shape, const uint64_t* values) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      std::vector<int64_t>& column = columns_[i];
      // Where there is none, the number before it costs the least.
      column.push_back(i < shape.fields.size() ? static_cast<int64_t>(values[i])
                                               : (column.empty() ? 0 : column.back()));
    }
  }

  bool AddOther(std::string_view text, size_t templates_max) {
    auto shape = std::make_unique<Template>();
    switch (form_) {
      case Form::kDigits:
        if (!FindDigits(text, &shape->fields)) return false;
        break;
      case Form::kLast8:
        if (!FindLast(text, 8, &shape->fields)) return false;
        break;
      case Form::kLast4:
        if (!FindLast(text, 4, &shape->fields)) return false;
        break;
      default:
        shape->fields = listed_;
    }
    shape->text = text;
    uint64_t values[kFieldsMax];
    for (size_t i = 0; i < shape->fields.size(); ++i) {
      const TextField field = shape->fields[i];
      if (!ReadField(text.data() + field.offset, field.width, form_ == Form::kDigits, &values[i]))
        return false;
      std::memset(shape->text.data() + field.offset, form_ == Form::kDigits ? '0' : 0, field.width);
    }
    const auto found = by_text_.find(shape->text);
    if (found != by_text_.end()) {
      ids_.push_back(found->second);
      AddFields(*templates_[found->second], values);
      return true;
    }
    if (templates_.size() >= templates_max) return false;
    while (columns_.size() < shape->fields.size()) {
      columns_.emplace_back().reserve(texts_.size());
      columns_.back().assign(ids_.size(), 0);
    }
    ids_.push_back(static_cast<int64_t>(templates_.size()));
    AddFields(*shape, values);
    templates_.push_back(std::move(shape));
    by_text_[templates_.back()->text] = ids_.back();
    return true;
  }

  const absl::Span<const std::string_view> texts_;
  Form form_ = Form::kDigits;
  std::vector<TextField> listed_;
  std::vector<std::unique_ptr<Template>> templates_;
  absl::flat_hash_map<std::string_view, int64_t> by_text_;
  std::vector<int64_t> ids_;
  std::vector<std::vector<int64_t>> columns_;
};

void EncodeTexts(absl::Span<const std::string_view> texts, std::string* out) {
  using Form = TextEncoder::Form;
  TextEncoder encoder(texts);
  const size_t templates_max = std::min(texts.size() / kTextsPerTemplate + 1, kTemplatesMax);
  std::string best;
  for (const Form form : {Form::kDigits, Form::kListed, Form::kLast8, Form::kLast4}) {
    const size_t templates = encoder.FindTemplates(form, form == Form::kListed ? 1 : templates_max);
    if (templates == 0) continue;
    std::string bytes;
    encoder.AppendTemplates(&bytes);
    if (best.empty() || bytes.size() < best.size()) best = std::move(bytes);
    if (form == Form::kDigits && templates * kTextsPerTemplateSure <= texts.size()) {
      *out += best;
      return;
    }
  }
  std::string front_coded;
  encoder.AppendFrontCoded(&front_coded);
  *out += best.empty() || front_coded.size() < best.size() ? front_coded : best;
}

bool EncodeAlikeTexts(absl::Span<const std::string_view> texts, std::string* out) {
  TextEncoder encoder(texts);
  const size_t templates_max = std::min(texts.size() / kTextsPerTemplateSure, kTemplatesMax);
  if (encoder.FindTemplates(TextEncoder::Form::kDigits, templates_max) == 0) return false;
  encoder.AppendTemplates(out);
  return true;
}

bool TextColumn::Parse(std::string_view* in, size_t count) {
  *this = TextColumn();
  count_ = count;
  if (in->empty() || static_cast<unsigned char>((*in)[0]) > static_cast<unsigned char>(Form::kFrontCoded))
    return false;
  form_ = static_cast<Form>((*in)[0]);
  in->remove_prefix(1);
  return form_ == Form::kFrontCoded ? ParseFrontCoded(in) : ParseTemplates(in);
}

bool TextColumn::ParseTemplates(std::string_view* in) {
  uint64_t templates = 0;
  if (!GetVarint(in, &templates) || templates == 0 || templates > std::min(count_, kTemplatesMax) ||
      !DecodeStrings(in, templates, &bytes_, &texts_)) {
    return false;
  }
  std::vector<TextField> listed;
  if (form_ == Form::kListed) {
    uint64_t fields = 0, end = 0;
    if (templates != 1 || !GetVarint(in, &fields) || fields > kFieldsMax) return false;
    for (uint64_t i = 0; i < fields; ++i) {
      uint64_t offset = 0, width = 0;
      if (!GetVarint(in, &offset) || !GetVarint(in, &width) || offset < end || offset > texts_[0].size() ||
          width == 0 || width > 8 || width > texts_[0].size() - offset) {
        return false;
      }
      end = offset + width;
      listed.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(width)});
    }
  }
  size_t fields_max = 0;
  templates_.resize(templates);
  for (size_t i = 0; i < templates; ++i) {
    templates_[i].text = texts_[i];
    std::vector<TextField>& fields = templates_[i].fields;
    const bool found = form_ == Form::kDigits   ? FindDigits(texts_[i], &fields)
                       : form_ == Form::kListed ? (fields = listed, true)
                                                : FindLast(texts_[i], form_ == Form::kLast8 ? 8 : 4, &fields);
    if (!found) return false;
    fields_max = std::max(fields_max, fields.size());
  }
  uint64_t columns = 0;
  if (!GetVarint(in, &columns) || columns != fields_max) return false;
  if (templates > 1 && !ids_.Parse(in, count_)) return false;
  columns_.resize(columns);
  return std::all_of(columns_.begin(), columns_.end(),
                     [&](IntegerColumn& column) { return column.Parse(in, count_); });
}

bool TextColumn::ParseFrontCoded(std::string_view* in) {
  IntegerColumn column;
  std::vector<int64_t> shared;
  std::vector<std::string_view> rests;
  if (!column.Parse(in, count_) || !column.DecodeAll(0, kColumnBytesMax, &shared) ||
      !DecodeStrings(in, count_, &bytes_, &rests)) {
    return false;
  }
  uint64_t total = 0;
  std::string_view before;
  texts_.reserve(count_);
  for (size_t i = 0; i < count_; ++i) {
    const auto same = static_cast<size_t>(shared[i]);
    const size_t size = same + rests[i].size();
    total += size;
    if (same > before.size() || total > kColumnBytesMax) return false;
    char* const text = arena_.Reserve(size);
    std::copy_n(before.data(), same, text);
    std::copy_n(rests[i].data(), rests[i].size(), text + same);
    arena_.Commit(size);
    before = {text, size};
    texts_.push_back(before);
  }
  return true;
}

void TextColumn::Compose(const Template& shape, const int64_t* fields, size_t stride, char* to) const {
  std::copy_n(shape.text.data(), shape.text.size(), to);
  for (size_t i = 0; i < shape.fields.size(); ++i) {
    auto value = static_cast<uint64_t>(fields[i * stride]);
    char* const start = to + shape.fields[i].offset;
    char* at = start + shape.fields[i].width;
    if (form_ != Form::kDigits) {
      for (; at > start; value >>= 8) *--at = static_cast<char>(value);
      continue;
    }
    for (; at - start >= 2; value /= 100) std::copy_n(&kTwoDigits[2 * (value % 100)], 2, at -= 2);
    if (at > start) *--at = static_cast<char>('0' + value % 10);
  }
}

bool TextColumn::Decode(size_t begin, size_t end, ByteArena* arena, std::string_view* out) {
  if (form_ == Form::kFrontCoded) {
    std::copy(texts_.begin() + static_cast<std::ptrdiff_t>(begin),
              texts_.begin() + static_cast<std::ptrdiff_t>(end), out);
    return true;
  }
  const size_t count = end - begin;
  // The columns, then the ids.
  scratch_.resize(count * (columns_.size() + 1));
  int64_t* to = scratch_.data();
  for (IntegerColumn& column : columns_) {
    if (!column.Decode(begin, end, to)) return false;
    to += count;
  }
  const int64_t* const ids = to;
  if (templates_.size() == 1) {
    std::fill_n(to, count, 0);
  } else if (!ids_.Decode(begin, end, to)) {
    return false;
  }
  uint64_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    if (static_cast<uint64_t>(ids[i]) >= templates_.size()) return false;
    total += templates_[ids[i]].text.size();
  }
  if (total > kColumnBytesMax) return false;
  char* text = arena->Reserve(total);
  for (size_t i = 0; i < count; ++i) {
    const Template& shape = templates_[ids[i]];
    Compose(shape, scratch_.data() + i, count, text);
    out[i] = {text, shape.text.size()};
    text += shape.text.size();
  }
  arena->Commit(total);
  return true;
}

bool TextColumn::At(size_t index, std::string* text) {
  if (form_ == Form::kFrontCoded) {
    *text = texts_[index];
    return true;
  }
  int64_t id = 0;
  int64_t fields[kFieldsMax];
  if (templates_.size() > 1 && !ids_.At(index, &id)) return false;
  if (static_cast<uint64_t>(id) >= templates_.size()) return false;
  const Template& shape = templates_[id];
  for (size_t i = 0; i < shape.fields.size(); ++i) {
    if (!columns_[i].At(index, &fields[i])) return false;
  }
  text->resize(shape.text.size());
  Compose(shape, fields, 1, text->data());
  return true;
}

size_t TextColumn::KeptBytes() const {
  size_t bytes = bytes_.capacity() + texts_.capacity() * sizeof(std::string_view) + ids_.KeptBytes();
  for (const IntegerColumn& column : columns_) bytes += column.KeptBytes();
  return bytes;
}

bool TextColumn::LowerBound(std::string_view text, size_t* index) {
  return LowerBoundIn(0, count_, text, index);
}

bool TextColumn::LowerBoundNear(size_t from, std::string_view text, size_t* index) {
  std::string at;
  size_t low = from, high = count_;
  for (size_t step = 1; step <= count_ - from; step *= 2) {  // ever longer steps, until one goes too far
    const size_t next = from + step - 1;
    if (!At(next, &at)) return false;
    if (at >= text) {
      high = next;
      break;
    }
    low = next + 1;
  }
  return LowerBoundIn(low, high, text, index);
}

bool TextColumn::LowerBoundIn(size_t low, size_t high, std::string_view text, size_t* index) {
  std::string at;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (!At(middle, &at)) return false;
    if (at < text) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *index = low;
  return true;
}

}  // namespace sonde::codec
