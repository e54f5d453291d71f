#include "series/query/series_prefix.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sonde::series {

absl::StatusOr<std::string> SeriesPrefix(const KeyCodec& codec, const std::vector<std::string>& tags,
                                         std::optional<size_t> last_tag) {
  const SeriesSchema& schema = codec.schema();
  std::string prefix;
  for (size_t i = 0; i < schema.key.size(); ++i) {
    const KeyPart& part = schema.key[i];
    if (part.IsTime()) return last_tag ? std::string() : prefix;
    absl::Status status;
    if (part.kind == KeyPart::Kind::kConst) {
      prefix += part.text;
    } else if (part.kind == KeyPart::Kind::kSalt) {
      if (last_tag && part.salt_tags.empty()) return std::string();
      const std::vector<std::string_view> views(tags.begin(), tags.end());
      const absl::StatusOr<int> salt = codec.SaltOf(part, views, 0);
      status = salt.status();
      if (salt.ok()) codec.AppendSalt(part, *salt, &prefix);
    } else if (part.kind == KeyPart::Kind::kTag) {
      status = codec.AppendTag(part.tag, tags[part.tag], &prefix);
    } else {
      return last_tag ? std::string() : prefix;
    }
    if (!status.ok()) return status;
    if (i + 1 < schema.key.size()) prefix += schema.delimiter;
    // The last part of a key has nothing behind it: other values may begin with it.
    if (last_tag && i + 1 == schema.key.size()) return std::string();
    if (last_tag && part.kind == KeyPart::Kind::kTag && part.tag == *last_tag) return prefix;
  }
  return prefix;
}

absl::StatusOr<std::string> OpenSeriesPrefix(const KeyCodec& codec, const KnownSeries& series,
                                             const std::vector<std::string>& labels, size_t last_label) {
  // The labels of the key are those that have a value, in their order, with commas between them.
  std::vector<std::pair<std::string_view, std::string_view>> up_to;
  bool is_last = true;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].empty()) continue;
    if (i <= last_label) up_to.emplace_back(series.labels[i], labels[i]);
    is_last = is_last && i <= last_label;
  }
  std::string text;
  AppendLabelsText(series, up_to, &text);
  absl::StatusOr<std::string> whole = SeriesPrefix(codec, {text});
  if (!whole.ok() || is_last) return whole;
  whole->resize(whole->size() - codec.schema().delimiter.size());
  return *whole + ",";
}

}  // namespace sonde::series
