#include "series/key/key_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include "base/bytes.h"
#include "model/limits.h"
#include "series/schema/time_range.h"

namespace sonde::series {
namespace {

constexpr uint64_t kReverseFrom = std::numeric_limits<int64_t>::max();
constexpr size_t kDigitsMax = 20;

// The largest number of `width` digits.
int64_t NumberMax(int width) {
  int64_t max = 1;
  for (int i = 0; i < width && i < 18; ++i) max *= 10;
  return width > 18 ? std::numeric_limits<int64_t>::max() : max - 1;
}

template <typename Number>
void AppendNumber(Number number, int width, std::string* out) {
  char digits[kDigitsMax];
  const auto [end, error] = std::to_chars(digits, digits + kDigitsMax, number);
  const int count = static_cast<int>(end - digits);
  if (count < width) out->append(width - count, '0');
  out->append(digits, count);
}

template <typename Number = int64_t>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

absl::Status Foreign(std::string_view what, std::string_view text) {
  return absl::DataLossError(
      fmt::format("'{}' is not {}: this row was not written by this declaration", Printable(text), what));
}

}  // namespace

KeyCodec::KeyCodec(SeriesSchema schema) : schema_(std::move(schema)) {
  if (const KeyPart* finest = schema_.FinestTimePart()) finest_time_ = finest - schema_.key.data();
  int time_parts = 0;
  for (const KeyPart& part : schema_.key) {
    time_parts += part.IsTime();
    if (part.kind == KeyPart::Kind::kSalt) is_checked_whole_ = true;
  }
  if (time_parts > 1) is_checked_whole_ = true;
}

uint32_t SaltHash(std::string_view bytes) {
  uint64_t hash = 14'695'981'039'346'656'037U;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
  return static_cast<uint32_t>(hash ^ (hash >> 32));
}

BucketWidth KeyCodec::UnitOf(const KeyPart& part) const {
  return part.kind == KeyPart::Kind::kBucket ? *schema_.bucket : TimeFormatUnit(part.format);
}

absl::Status KeyCodec::CheckText(const Tag& tag, std::string_view value) const {
  const auto refuse = [&](std::string_view why) {
    return absl::InvalidArgumentError(
        fmt::format("tag '{}': value '{}' {}", tag.name, Printable(value), why));
  };
  if (value.empty()) return refuse("is empty");
  if (!schema_.delimiter.empty() && value.find(schema_.delimiter[0]) != std::string_view::npos) {
    return refuse(fmt::format("holds the delimiter '{}'", schema_.delimiter));
  }
  if (!tag.width_bytes) return absl::OkStatus();
  if (value.size() > static_cast<size_t>(*tag.width_bytes)) {
    return refuse(fmt::format("has {} bytes; its width is {}", value.size(), *tag.width_bytes));
  }
  if (value.back() == tag.pad) return refuse(fmt::format("ends with its pad '{}'", tag.pad));
  const auto sorts_below = [&](char c) {
    return static_cast<unsigned char>(c) < static_cast<unsigned char>(tag.pad);
  };
  if (std::any_of(value.begin(), value.end(), sorts_below)) {
    return refuse(fmt::format("holds a byte below its pad '{}', which would sort wrongly", tag.pad));
  }
  return absl::OkStatus();
}

absl::Status KeyCodec::AppendInt(const Tag& tag, std::string_view value, std::string* key) const {
  const auto refuse = [&](std::string_view why) {
    return absl::InvalidArgumentError(
        fmt::format("tag '{}': value '{}' {}", tag.name, Printable(value), why));
  };
  if (value.empty()) return refuse("is empty");
  const std::optional<int64_t> number = ParseNumber(value);
  if (!number) return refuse("is not an int of 64 bits");
  if (!tag.width_bytes) {
    if (*number < 0 && schema_.delimiter == "-") return refuse("holds the delimiter '-'");
    AppendNumber(*number, 0, key);
    return absl::OkStatus();
  }
  if (*number < 0) return refuse("is negative, which does not sort in a padded key");
  if (*number > NumberMax(*tag.width_bytes)) {
    return refuse(fmt::format("has more than {} digits, its width", *tag.width_bytes));
  }
  AppendNumber(*number, *tag.width_bytes, key);
  return absl::OkStatus();
}

absl::Status KeyCodec::AppendTag(size_t index, std::string_view value, std::string* key) const {
  const Tag& tag = schema_.tags[index];
  if (tag.type == TagType::kInt) return AppendInt(tag, value, key);
  if (absl::Status status = CheckText(tag, value); !status.ok()) return status;
  key->append(value);
  if (tag.width_bytes) key->append(*tag.width_bytes - value.size(), tag.pad);
  return absl::OkStatus();
}

absl::Status KeyCodec::AppendTime(const KeyPart& part, int64_t time_micros, std::string* key) const {
  const TimeRange range = TimesOfPart(schema_, part);
  if (!range.Holds(time_micros)) return RefuseTime(schema_, time_micros, &part);
  if (part.kind == KeyPart::Kind::kBucket) {
    time_micros = std::max(schema_.bucket->Start(time_micros), range.from_micros);
  }
  if (!IsEpochFormat(part.format)) {
    AppendCalendarTime(part.format, time_micros, key);
    return absl::OkStatus();
  }
  const int64_t unit_micros = TimeFormatUnit(part.format).micros;
  const int64_t from_origin_micros = time_micros - schema_.Origin();
  const int64_t number = FloorMicros(from_origin_micros, unit_micros) / unit_micros;
  if (part.reverse) {
    // Before the origin it is more than 2^63 - 1, in as many digits.
    AppendNumber(kReverseFrom - static_cast<uint64_t>(number), part.width_bytes, key);
  } else {
    AppendNumber(number, part.width_bytes, key);
  }
  return absl::OkStatus();
}

absl::StatusOr<int> KeyCodec::SaltOf(const KeyPart& part, absl::Span<const std::string_view> tags,
                                     int64_t time_micros) const {
  std::string salted;
  for (const size_t tag : part.salt_tags) {
    if (absl::Status status = AppendTag(tag, tags[tag], &salted); !status.ok()) return status;
    salted.push_back('\0');
  }
  if (part.salt_tags.empty()) {
    const int64_t start_micros =
        finest_time_ ? UnitOf(schema_.key[*finest_time_]).Start(time_micros) : schema_.RowStart(time_micros);
    AppendNumber(start_micros, 0, &salted);
  }
  return static_cast<int>(SaltHash(salted) % static_cast<uint32_t>(part.salts));
}

void KeyCodec::AppendSalt(const KeyPart& part, int salt, std::string* key) const {
  AppendNumber(salt, part.width_bytes, key);
}

absl::Status KeyCodec::Encode(absl::Span<const std::string_view> tags, int64_t time_micros, size_t field,
                              std::string* key) const {
  key->clear();
  for (size_t i = 0; i < schema_.key.size(); ++i) {
    const KeyPart& part = schema_.key[i];
    if (i != 0) key->append(schema_.delimiter);
    absl::Status status;
    switch (part.kind) {
      case KeyPart::Kind::kTag:
        status = AppendTag(part.tag, tags[part.tag], key);
        break;
      case KeyPart::Kind::kConst:
        key->append(part.text);
        break;
      case KeyPart::Kind::kField:
        key->append(schema_.fields[field].qualifier);
        break;
      case KeyPart::Kind::kSalt: {
        const absl::StatusOr<int> salt =
            SaltOf(part, tags, std::clamp(time_micros, kTimeBeginMicros, kTimeEndMicros - 1));
        status = salt.status();
        if (salt.ok()) AppendSalt(part, *salt, key);
        break;
      }
      case KeyPart::Kind::kTime:
      case KeyPart::Kind::kBucket:
        status = AppendTime(part, time_micros, key);
        break;
    }
    if (!status.ok()) return status;
  }
  if (key->size() <= kRowKeyBytesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("row key '{}' has {} bytes; allowed: up to {}",
                                                Printable(*key, 60), key->size(), kRowKeyBytesMax));
}

std::optional<size_t> KeyCodec::WidthOf(const KeyPart& part) const {
  if (part.kind == KeyPart::Kind::kConst) return part.text.size();
  if (part.IsTime() || part.kind == KeyPart::Kind::kSalt) return part.width_bytes;
  if (part.kind == KeyPart::Kind::kField) return std::nullopt;
  const std::optional<int> width = schema_.tags[part.tag].width_bytes;
  if (!width) return std::nullopt;
  return *width;
}

absl::Status KeyCodec::DecodeTag(const Tag& tag, std::string_view text, std::string* value) const {
  if (tag.type == TagType::kInt) {
    const std::optional<int64_t> number = ParseNumber(text);
    std::string again;
    if (number) AppendNumber(*number, tag.width_bytes.value_or(0), &again);
    if (!number || again != text || (tag.width_bytes && *number < 0)) {
      return Foreign(fmt::format("a value of tag '{}'", tag.name), text);
    }
    *value = fmt::format("{}", *number);
    return absl::OkStatus();
  }
  std::string_view trimmed = text;
  if (tag.width_bytes) {
    while (!trimmed.empty() && trimmed.back() == tag.pad) trimmed.remove_suffix(1);
  }
  if (!CheckText(tag, trimmed).ok()) return Foreign(fmt::format("a value of tag '{}'", tag.name), text);
  value->assign(trimmed);
  return absl::OkStatus();
}

absl::Status KeyCodec::DecodeTime(const KeyPart& part, std::string_view text, int64_t* time_micros) const {
  const std::string_view format = TimeFormatName(part.format);
  if (!IsEpochFormat(part.format)) {
    const std::optional<int64_t> time = ParseCalendarTime(part.format, text);
    if (!time) return Foreign(fmt::format("a time as {}", format), text);
    *time_micros = *time;
  } else {
    const std::optional<uint64_t> number = ParseNumber<uint64_t>(text);
    if (!number) return Foreign(fmt::format("a time as {}", format), text);
    const int64_t unit_micros = TimeFormatUnit(part.format).micros;
    const auto units = static_cast<int64_t>(part.reverse ? kReverseFrom - *number : *number);
    if (units < (kTimeBeginMicros - schema_.Origin()) / unit_micros ||
        units > (kTimeEndMicros - schema_.Origin()) / unit_micros ||
        !TimesOfPart(schema_, part).Holds(schema_.Origin() + units * unit_micros)) {
      return Foreign(fmt::format("a time as {}", format), text);
    }
    *time_micros = schema_.Origin() + units * unit_micros;
  }
  if (part.kind != KeyPart::Kind::kBucket) return absl::OkStatus();
  const int64_t start_micros = schema_.bucket->Start(*time_micros);
  if (start_micros != *time_micros) {
    // The bucket that holds the origin; and the week of 1970-01-01, which once began on that day.
    const bool is_cut = *time_micros == TimesOfPart(schema_, part).from_micros ||
                        (*time_micros == 0 && !schema_.origin_micros);
    if (!is_cut) {
      return Foreign(fmt::format("the start of a bucket of one {}", schema_.bucket->Name()), text);
    }
    *time_micros = start_micros;
  }
  return absl::OkStatus();
}

absl::Status KeyCodec::DecodeField(std::string_view text, size_t* field) const {
  for (size_t i = 0; i < schema_.fields.size(); ++i) {
    if (schema_.fields[i].qualifier != text) continue;
    *field = i;
    return absl::OkStatus();
  }
  return Foreign("a field", text);
}

absl::Status KeyCodec::DecodePart(const KeyPart& part, std::string_view text, DecodedKey* decoded) const {
  switch (part.kind) {
    case KeyPart::Kind::kTag:
      return DecodeTag(schema_.tags[part.tag], text, &decoded->tags[part.tag]);
    case KeyPart::Kind::kConst:
      return text == part.text ? absl::OkStatus()
                               : Foreign(fmt::format("the constant '{}'", part.text), text);
    case KeyPart::Kind::kField:
      return DecodeField(text, &decoded->field.emplace());
    case KeyPart::Kind::kSalt:
      return absl::OkStatus();  // Decode compares it
    case KeyPart::Kind::kTime:
    case KeyPart::Kind::kBucket:
      break;
  }
  int64_t time_micros = 0;
  if (absl::Status status = DecodeTime(part, text, &time_micros); !status.ok()) return status;
  if (part.kind == KeyPart::Kind::kBucket) decoded->bucket_start_micros = time_micros;
  if (finest_time_ && &part == &schema_.key[*finest_time_]) decoded->time_micros = time_micros;
  return absl::OkStatus();
}

std::optional<std::string_view> KeyCodec::TextOfPart(std::string_view key, size_t index, size_t at) const {
  size_t bytes = 0;
  if (const std::optional<size_t> width = WidthOf(schema_.key[index])) {
    bytes = *width;
  } else {
    const size_t end = index + 1 == schema_.key.size() ? key.size() : key.find(schema_.delimiter, at);
    if (end == std::string_view::npos) return std::nullopt;
    bytes = end - at;
  }
  if (key.size() - at < bytes) return std::nullopt;
  return key.substr(at, bytes);
}

absl::Status KeyCodec::Decode(std::string_view key, DecodedKey* decoded) const {
  decoded->tags.resize(schema_.tags.size());
  decoded->time_micros.reset();
  decoded->bucket_start_micros.reset();
  decoded->field.reset();
  size_t at = 0;
  for (size_t i = 0; i < schema_.key.size(); ++i) {
    if (i != 0) {
      if (key.substr(at, schema_.delimiter.size()) != schema_.delimiter)
        return Foreign("a key with all its parts", key);
      at += schema_.delimiter.size();
    }
    const std::optional<std::string_view> text = TextOfPart(key, i, at);
    if (!text) return Foreign("a key with all its parts", key);
    if (absl::Status status = DecodePart(schema_.key[i], *text, decoded); !status.ok()) return status;
    at += text->size();
  }
  if (at != key.size()) return Foreign("a key with all its parts", key);
  // A salt, and several parts that say the time, must be those of the others.
  if (is_checked_whole_) {
    const std::vector<std::string_view> tags(decoded->tags.begin(), decoded->tags.end());
    int64_t time_micros = decoded->time_micros.value_or(decoded->bucket_start_micros.value_or(0));
    if (const KeyPart* bucket = schema_.FindPart(KeyPart::Kind::kBucket)) {
      time_micros = std::max(time_micros, TimesOfPart(schema_, *bucket).from_micros);
    }
    std::string again;
    if (!Encode(tags, time_micros, decoded->field.value_or(0), &again).ok() || again != key) {
      return Foreign("a key whose parts agree", key);
    }
  }
  return absl::OkStatus();
}

std::string KeyCodec::MergeKey(std::string_view key) const {
  std::string merged;
  size_t at = 0;
  for (size_t i = 0; i < schema_.key.size(); ++i) {
    if (i != 0) at += schema_.delimiter.size();
    const std::optional<std::string_view> text = at <= key.size() ? TextOfPart(key, i, at) : std::nullopt;
    if (!text) break;
    at += text->size();
    if (schema_.key[i].kind == KeyPart::Kind::kSalt) continue;
    if (!merged.empty()) merged += schema_.delimiter;
    merged += *text;
  }
  return merged;
}

}  // namespace sonde::series
