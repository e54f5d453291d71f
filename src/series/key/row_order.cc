#include "series/key/row_order.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace sonde::series {
namespace {

bool HoldsTag(absl::Span<const size_t> tags, size_t tag) {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

bool HoldsAllTags(absl::Span<const size_t> tags, const std::vector<size_t>& some) {
  return std::all_of(some.begin(), some.end(), [&](size_t tag) { return HoldsTag(tags, tag); });
}

RowOrder::Times TimesOf(const KeyCodec& codec, bool without_salt) {
  const SeriesSchema& schema = codec.schema();
  // The piece of time that a salt is made of.
  std::optional<BucketWidth> of_row = schema.bucket;
  if (const KeyPart* const finest = schema.FinestTimePart()) of_row = codec.UnitOf(*finest);
  std::optional<bool> is_reverse;
  std::optional<BucketWidth> known;  // the finest piece of time that the parts so far say
  const auto is_known = [&](const BucketWidth& piece) { return known && piece.IsMultipleOf(*known); };
  for (const KeyPart& part : schema.key) {
    const bool is_time_salt = part.kind == KeyPart::Kind::kSalt && part.salt_tags.empty();
    if (is_time_salt && !without_salt && of_row && !is_known(*of_row)) return RowOrder::Times::kMixed;
    if (!part.IsTime() || is_known(codec.UnitOf(part))) continue;
    if (is_reverse && *is_reverse != part.reverse) return RowOrder::Times::kMixed;
    is_reverse = part.reverse;
    known = codec.UnitOf(part);
  }
  return is_reverse.value_or(false) ? RowOrder::Times::kDescending : RowOrder::Times::kAscending;
}

}  // namespace

RowOrder::RowOrder(const KeyCodec& codec, bool without_salt)
    : schema_(&codec.schema()),
      without_salt_(without_salt),
      times_of_field_(TimesOf(codec, without_salt)),
      has_field_(codec.schema().FindPart(KeyPart::Kind::kField) != nullptr) {
  for (const KeyPart& part : schema_->key) {
    if (part.kind == KeyPart::Kind::kConst || (part.kind == KeyPart::Kind::kSalt && without_salt)) continue;
    if (part.kind != KeyPart::Kind::kTag) break;
    tags_in_front_.push_back(part.tag);
  }
}

bool RowOrder::LieTogether(absl::Span<const size_t> tags) const {
  size_t tags_seen = 0;
  for (const KeyPart& part : schema_->key) {
    if (tags_seen == tags.size()) return true;
    if (part.kind == KeyPart::Kind::kConst) continue;
    if (part.kind == KeyPart::Kind::kSalt) {
      // The salt of rows that agree in its tags is one.
      const bool is_one = without_salt_ || (!part.salt_tags.empty() && HoldsAllTags(tags, part.salt_tags));
      if (!is_one) return false;
      continue;
    }
    if (part.kind != KeyPart::Kind::kTag || !HoldsTag(tags, part.tag)) return false;
    ++tags_seen;
  }
  return tags_seen == tags.size();
}

bool RowOrder::SeriesLieTogether() const {
  std::vector<size_t> all(schema_->tags.size());
  std::iota(all.begin(), all.end(), 0);
  return LieTogether(all);
}

}  // namespace sonde::series
