#include "series/key/scan_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "base/bytes.h"
#include "series/schema/time_range.h"

namespace sonde::series {
namespace {

// More combinations of given values than this are not worth computing the salts of.
constexpr size_t kSaltedCombinationsMax = 1'000;

bool IsAskedFor(const Selection& selection, size_t field) {
  return selection.fields.empty() ||
         std::find(selection.fields.begin(), selection.fields.end(), field) != selection.fields.end();
}

class Planner {
 public:
  // A time part is written out as up to `buckets_max` buckets.
  Planner(const KeyCodec& codec, const Selection& selection, size_t buckets_max)
      : codec_(codec), selection_(selection), buckets_max_(buckets_max) {}

  absl::StatusOr<ScanPlan> Plan();
  bool has_too_many_ranges() const { return range_count_ > selection_.ranges_max; }

 private:
  // Appends the ranges of all keys that start with `prefix`, which holds the parts before `index`.
  // `is_narrowed`: the selection has narrowed the prefix.
  absl::Status Walk(size_t index, std::string prefix, bool is_narrowed);
  absl::Status WalkTag(size_t index, const std::string& prefix, bool is_narrowed);
  absl::Status WalkTime(size_t index, const std::string& prefix, bool is_narrowed);
  absl::Status WalkField(size_t index, const std::string& prefix, bool is_narrowed);
  absl::Status CheckFilters() const;
  // One walk for each salt that may have rows.
  absl::Status PlanSalts(const KeyPart& part);
  absl::Status PlanEntities();
  // The combinations of values of a salt's tags, each one text per tag of the schema; none when they are
  // open.
  std::vector<std::vector<std::string>> CombinationsOf(const KeyPart& part) const;
  bool IsBounded() const {
    return selection_.from_micros > kTimeBeginMicros || selection_.to_micros < kTimeEndMicros;
  }
  absl::Status AddRange(RowRange range, bool is_narrowed);
  // The range is of all that the parts from `index` on may say.
  absl::Status EndWalk(size_t index, RowRange range, bool is_narrowed);
  // With the delimiter behind it, where another part follows.
  std::string EndPart(size_t index, std::string prefix) const;
  bool IsFixed(size_t index) const;
  bool HasTagBehind(size_t index) const;
  const TagFilter* FilterOf(size_t tag) const {
    return tag < selection_.tags.size() ? &selection_.tags[tag] : nullptr;
  }

  const KeyCodec& codec_;
  const Selection& selection_;
  const size_t buckets_max_;
  ScanPlan plan_;
  std::vector<RowRange> stream_;  // of the walk at hand
  size_t range_count_ = 0;
  // The salt of the walk at hand, if the key has one.
  std::optional<int> salt_;
  const std::vector<std::string>* combination_ = nullptr;  // the values of the salt's tags, or of an entity's
  const KeyPart* salt_part_ = nullptr;
  bool is_salt_passed_over_ = false;  // the walk ended in front of it
};

absl::Status Planner::CheckFilters() const {
  const SeriesSchema& schema = codec_.schema();
  for (size_t tag = 0; tag < schema.tags.size() && tag < selection_.tags.size(); ++tag) {
    const TagFilter& filter = selection_.tags[tag];
    if (filter.prefix && schema.tags[tag].type == TagType::kInt) {
      return absl::InvalidArgumentError(
          fmt::format("tag '{}' is an int: '{}*' asks for a prefix; allowed: whole values",
                      schema.tags[tag].name, Printable(*filter.prefix)));
    }
    // Also of tags that the walk does not reach.
    std::string ignored;
    for (const std::string& value : filter.values) {
      if (absl::Status status = codec_.AppendTag(tag, value, &ignored); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ScanPlan> Planner::Plan() {
  if (absl::Status status = CheckFilters(); !status.ok()) return status;
  if (selection_.from_micros >= selection_.to_micros) return plan_;
  salt_part_ = codec_.schema().FindPart(KeyPart::Kind::kSalt);
  absl::Status status = selection_.entities     ? PlanEntities()
                        : salt_part_ == nullptr ? Walk(0, "", false)
                                                : PlanSalts(*salt_part_);
  if (!status.ok()) return status;
  if (!stream_.empty()) plan_.streams.push_back(NormalizeRanges(std::move(stream_)));
  for (const std::vector<RowRange>& stream : plan_.streams) {
    plan_.ranges.insert(plan_.ranges.end(), stream.begin(), stream.end());
  }
  plan_.ranges = NormalizeRanges(std::move(plan_.ranges));
  if (is_salt_passed_over_ && !plan_.ranges.empty()) {
    plan_.streams = {plan_.ranges};
    plan_.has_salts_in_turns = true;
  }
  return std::move(plan_);
}

std::vector<std::vector<std::string>> Planner::CombinationsOf(const KeyPart& part) const {
  std::vector<std::vector<std::string>> combinations = {
      std::vector<std::string>(codec_.schema().tags.size())};
  if (part.salt_tags.empty()) return {};
  for (const size_t tag : part.salt_tags) {
    const TagFilter* filter = FilterOf(tag);
    if (filter == nullptr || filter->values.empty() || filter->prefix ||
        combinations.size() * filter->values.size() > kSaltedCombinationsMax) {
      return {};
    }
    std::vector<std::vector<std::string>> longer;
    for (const std::vector<std::string>& combination : combinations) {
      for (const std::string& value : filter->values) {
        longer.push_back(combination);
        longer.back()[tag] = value;
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

absl::Status Planner::PlanSalts(const KeyPart& part) {
  const std::vector<std::vector<std::string>> combinations = CombinationsOf(part);
  std::map<int, std::vector<const std::vector<std::string>*>> of_salt;
  for (const std::vector<std::string>& combination : combinations) {
    const std::vector<std::string_view> tags(combination.begin(), combination.end());
    const absl::StatusOr<int> salt = codec_.SaltOf(part, tags, 0);
    if (!salt.ok()) return salt.status();
    of_salt[*salt].push_back(&combination);
  }
  if (combinations.empty()) {
    for (int salt = 0; salt < part.salts; ++salt) of_salt[salt].push_back(nullptr);
  }
  for (const auto& [salt, chosen] : of_salt) {
    salt_ = salt;
    for (const std::vector<std::string>* combination : chosen) {
      combination_ = combination;
      if (absl::Status status = Walk(0, "", false); !status.ok()) return status;
    }
    if (!stream_.empty()) plan_.streams.push_back(NormalizeRanges(std::move(stream_)));
    stream_.clear();
  }
  return absl::OkStatus();
}

absl::Status Planner::PlanEntities() {
  std::map<int, std::vector<const std::vector<std::string>*>> of_salt;
  const bool has_open_salt = salt_part_ != nullptr && salt_part_->salt_tags.empty();
  for (const std::vector<std::string>& entity : *selection_.entities) {
    int salt = 0;
    if (salt_part_ != nullptr && !has_open_salt) {
      const std::vector<std::string_view> tags(entity.begin(), entity.end());
      const absl::StatusOr<int> of_tags = codec_.SaltOf(*salt_part_, tags, 0);
      if (!of_tags.ok()) return of_tags.status();
      salt = *of_tags;
    }
    of_salt[salt].push_back(&entity);
  }
  if (has_open_salt && !of_salt.empty()) {
    for (int salt = 1; salt < salt_part_->salts; ++salt) of_salt[salt] = of_salt[0];
  }
  for (const auto& [salt, entities] : of_salt) {
    if (salt_part_ != nullptr) salt_ = salt;
    for (const std::vector<std::string>* entity : entities) {
      combination_ = entity;
      if (absl::Status status = Walk(0, "", false); !status.ok()) return status;
    }
    // Without salts, there is one stream.
    if (!stream_.empty()) plan_.streams.push_back(NormalizeRanges(std::move(stream_)));
    stream_.clear();
  }
  return absl::OkStatus();
}

std::string Planner::EndPart(size_t index, std::string prefix) const {
  if (index + 1 < codec_.schema().key.size()) prefix += codec_.schema().delimiter;
  return prefix;
}

bool Planner::IsFixed(size_t index) const {
  const std::vector<KeyPart>& key = codec_.schema().key;
  if (index >= key.size()) return false;
  const KeyPart::Kind kind = key[index].kind;
  if (kind == KeyPart::Kind::kConst || kind == KeyPart::Kind::kSalt) return IsFixed(index + 1);
  if (kind == KeyPart::Kind::kField) return !selection_.fields.empty();
  if (key[index].kind != KeyPart::Kind::kTag) return false;
  if (selection_.entities) return true;
  const TagFilter* filter = FilterOf(key[index].tag);
  return filter != nullptr && !filter->IsAny();
}

bool Planner::HasTagBehind(size_t index) const {
  const std::vector<KeyPart>& key = codec_.schema().key;
  return std::any_of(key.begin() + static_cast<ptrdiff_t>(index) + 1, key.end(),
                     [](const KeyPart& part) { return part.kind == KeyPart::Kind::kTag; });
}

absl::Status Planner::AddRange(RowRange range, bool is_narrowed) {
  if (++range_count_ > selection_.ranges_max) {
    return absl::InvalidArgumentError(fmt::format(
        "more than {} ranges of row keys; ask for fewer values or a shorter time", selection_.ranges_max));
  }
  plan_.is_full_scan |= !is_narrowed;
  stream_.push_back(std::move(range));
  return absl::OkStatus();
}

absl::Status Planner::EndWalk(size_t index, RowRange range, bool is_narrowed) {
  is_salt_passed_over_ |= salt_part_ != nullptr && salt_part_ >= &codec_.schema().key[index];
  return AddRange(std::move(range), is_narrowed);
}

absl::Status Planner::Walk(size_t index, std::string prefix, bool is_narrowed) {
  const std::vector<KeyPart>& key = codec_.schema().key;
  if (index == key.size()) return AddRange(RowRange::Single(prefix), is_narrowed);
  switch (key[index].kind) {
    case KeyPart::Kind::kConst:
      return Walk(index + 1, EndPart(index, prefix + key[index].text), is_narrowed);
    case KeyPart::Kind::kTag:
      return WalkTag(index, prefix, is_narrowed);
    case KeyPart::Kind::kField:
      return WalkField(index, prefix, is_narrowed);
    case KeyPart::Kind::kSalt:
      codec_.AppendSalt(key[index], *salt_, &prefix);
      return Walk(index + 1, EndPart(index, std::move(prefix)), is_narrowed);
    case KeyPart::Kind::kTime:
    case KeyPart::Kind::kBucket:
      break;
  }
  return WalkTime(index, prefix, is_narrowed);
}

absl::Status Planner::WalkTag(size_t index, const std::string& prefix, bool is_narrowed) {
  const size_t tag = codec_.schema().key[index].tag;
  const TagFilter* filter = FilterOf(tag);
  const bool is_any = filter == nullptr || filter->IsAny();
  if (is_any && !selection_.entities) return EndWalk(index, RowRange::Prefix(prefix), is_narrowed);
  if (combination_ != nullptr && !(*combination_)[tag].empty()) {
    std::string longer = prefix;
    if (absl::Status status = codec_.AppendTag(tag, (*combination_)[tag], &longer); !status.ok())
      return status;
    return Walk(index + 1, EndPart(index, std::move(longer)), true);
  }
  for (const std::string& value : filter->values) {
    std::string longer = prefix;
    if (absl::Status status = codec_.AppendTag(tag, value, &longer); !status.ok()) return status;
    if (absl::Status status = Walk(index + 1, EndPart(index, std::move(longer)), true); !status.ok())
      return status;
  }
  if (!filter->prefix) return absl::OkStatus();
  return EndWalk(index, RowRange::Prefix(prefix + *filter->prefix), is_narrowed || !filter->prefix->empty());
}

absl::Status Planner::WalkField(size_t index, const std::string& prefix, bool is_narrowed) {
  const std::vector<Field>& fields = codec_.schema().fields;
  if (selection_.fields.empty() && !IsBounded() && !selection_.entities)
    return EndWalk(index, RowRange::Prefix(prefix), is_narrowed);
  for (size_t field = 0; field < fields.size(); ++field) {
    if (!IsAskedFor(selection_, field)) continue;
    if (absl::Status status = Walk(index + 1, EndPart(index, prefix + fields[field].qualifier), is_narrowed);
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status Planner::WalkTime(size_t index, const std::string& prefix, bool is_narrowed) {
  const KeyPart& part = codec_.schema().key[index];
  const bool is_bounded = IsBounded();
  if (!is_bounded && !IsFixed(index + 1)) return EndWalk(index, RowRange::Prefix(prefix), is_narrowed);
  const TimeRange range = TimesOfPart(codec_.schema(), part);
  const int64_t first = std::max(selection_.from_micros, range.from_micros);
  const int64_t last = std::min(selection_.to_micros, range.to_micros) - 1;
  if (first > last) return absl::OkStatus();

  const BucketWidth unit = codec_.UnitOf(part);
  const int64_t pieces_about = (last - first) / unit.MicrosMax() + 1;
  if (IsFixed(index + 1) && pieces_about <= static_cast<int64_t>(buckets_max_)) {
    for (int64_t time = std::max(unit.Start(first), range.from_micros); time <= last; time = unit.End(time)) {
      std::string longer = prefix;
      if (absl::Status status = codec_.AppendTime(part, time, &longer); !status.ok()) return status;
      if (absl::Status status = Walk(index + 1, EndPart(index, std::move(longer)), true); !status.ok())
        return status;
    }
    return absl::OkStatus();
  }
  if (selection_.entities && IsFixed(index + 1) && HasTagBehind(index)) {
    return absl::InvalidArgumentError(
        fmt::format("more than {} pieces of time in front of tags; ask for a shorter time", buckets_max_));
  }
  std::string low = prefix;
  std::string high = prefix;
  absl::Status status = codec_.AppendTime(part, part.reverse ? last : first, &low);
  if (status.ok()) status = codec_.AppendTime(part, part.reverse ? first : last, &high);
  if (!status.ok()) return status;
  return EndWalk(index, {std::move(low), PrefixEnd(high)}, is_narrowed || is_bounded);
}

bool MatchesTag(const Tag& tag, const TagFilter& filter, std::string_view value) {
  if (filter.IsAny()) return true;
  if (filter.prefix && value.substr(0, filter.prefix->size()) == *filter.prefix) return true;
  return std::any_of(filter.values.begin(), filter.values.end(), [&](const std::string& wanted) {
    if (tag.type == TagType::kString) return wanted == value;
    int64_t a = 0;
    int64_t b = 0;
    std::from_chars(wanted.data(), wanted.data() + wanted.size(), a);
    std::from_chars(value.data(), value.data() + value.size(), b);
    return a == b;
  });
}

}  // namespace

absl::StatusOr<ScanPlan> PlanScan(const KeyCodec& codec, const Selection& selection) {
  Planner written_out(codec, selection, kBucketsWrittenOutMax);
  absl::StatusOr<ScanPlan> plan = written_out.Plan();
  if (!written_out.has_too_many_ranges()) return plan;
  return Planner(codec, selection, 0).Plan();
}

bool Matches(const KeyCodec& codec, const Selection& selection, const DecodedKey& key) {
  const SeriesSchema& schema = codec.schema();
  for (size_t tag = 0; tag < schema.tags.size() && tag < selection.tags.size(); ++tag) {
    if (!MatchesTag(schema.tags[tag], selection.tags[tag], key.tags[tag])) return false;
  }
  if (key.field && !IsAskedFor(selection, *key.field)) return false;
  if (key.time_micros) {
    const int64_t end = codec.UnitOf(*schema.FinestTimePart()).End(*key.time_micros);
    return *key.time_micros < selection.to_micros && end > selection.from_micros;
  }
  if (key.bucket_start_micros) {
    return *key.bucket_start_micros < selection.to_micros &&
           schema.bucket->End(*key.bucket_start_micros) > selection.from_micros;
  }
  return true;
}

}  // namespace sonde::series
