#include "random_words.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "base/varint.h"
#include "fmt/format.h"
#include "model/limits.h"

namespace sonde {
namespace {

using std::string_literals::operator""s;

const std::vector<std::string>& RowKeys() {
  static const std::vector<std::string> keys = {"\0"s,
                                                "\0\0"s,
                                                "\0\1"s,
                                                "\0\xff"s,
                                                "\1"s,
                                                "a",
                                                "a\0"s,
                                                "a\0\0"s,
                                                "a\0\1"s,
                                                "a\0\1b"s,
                                                "a\0\xff"s,
                                                "a\1"s,
                                                "a\xff"s,
                                                "a\xff\0"s,
                                                "a\xff\xff"s,
                                                "aa",
                                                "ab",
                                                "b",
                                                "b\0"s,
                                                "host#1#cpu",
                                                "host#1#cpu#2",
                                                "host#10#cpu",
                                                "\xfe"s,
                                                "\xff"s,
                                                "\xff\0"s,
                                                "\xff\xff"s,
                                                "\xff\xff\xff\xff\xff\xff\xff\xff\xff"s,
                                                std::string(kRowKeyBytesMax, 'k'),
                                                std::string(kRowKeyBytesMax - 1, 'k') + '\0',
                                                std::string(kRowKeyBytesMax, '\0'),
                                                std::string(kRowKeyBytesMax, '\xff')};
  return keys;
}

const std::vector<std::string>& Qualifiers() {
  static const std::vector<std::string> qualifiers = {"",
                                                      "\0"s,
                                                      "\0\0"s,
                                                      "\0\1"s,
                                                      "\1"s,
                                                      "a",
                                                      "a\0"s,
                                                      "a\0\1"s,
                                                      "a\xff"s,
                                                      "ab",
                                                      "b",
                                                      "usage_user",
                                                      "usage_system",
                                                      "\xff"s,
                                                      "\xff\xff"s,
                                                      std::string(kQualifierBytesMax, 'q')};
  return qualifiers;
}

const std::vector<int64_t>& Timestamps() {
  static const std::vector<int64_t> timestamps = {0,
                                                  1,
                                                  999,
                                                  1000,
                                                  1001,
                                                  2000,
                                                  1'700'000'000'000'000,
                                                  1'700'000'000'001'000,
                                                  1'700'000'010'000'000,
                                                  1'700'000'020'000'000,
                                                  int64_t{1} << 32,
                                                  int64_t{1} << 62,
                                                  INT64_MAX - 807,
                                                  INT64_MAX - 1,
                                                  INT64_MAX};
  return timestamps;
}

const std::vector<int64_t>& States() {
  static const std::vector<int64_t> states = {0, 1, -1, 2, 1000, -1000, INT64_MAX, INT64_MIN, INT64_MAX - 1};
  return states;
}

}  // namespace

std::string_view RandomWords::RowKey() { return RowKeys()[Uniform(RowKeys().size())]; }

std::string_view RandomWords::Qualifier() {
  // The longest one is last; it makes histories slow when it comes often.
  return Qualifiers()[Uniform(Qualifiers().size() - (OneIn(20) ? 0 : 1))];
}

int64_t RandomWords::TimestampMicros() { return Timestamps()[Uniform(Timestamps().size())]; }

std::string RandomWords::Value() {
  switch (Uniform(8)) {
    case 0:
      return "";
    case 1:
      return std::string(1, static_cast<char>(Uniform(256)));
    case 2:
      return std::to_string(Uniform(100'000));
    case 3:
      return fmt::format("9.{}", Uniform(100));
    case 4: {
      std::string value;
      PutFixed64(&value, Uniform(1000));
      return value;
    }
    case 5:
      return OneIn(20) ? std::string(100 * 1024, static_cast<char>(Uniform(256))) : "007";
    default: {
      std::string value(Uniform(40), '\0');
      for (char& byte : value) byte = static_cast<char>(Uniform(256));
      return value;
    }
  }
}

std::vector<FamilyDelta::ColumnDelete> RandomWords::ColumnDeletes() {
  std::set<std::string_view> qualifiers;
  for (uint64_t count = Uniform(5); count > 0; --count) qualifiers.insert(Qualifier());
  std::vector<FamilyDelta::ColumnDelete> deletes;
  for (const std::string_view qualifier : qualifiers) {
    if (OneIn(3)) {
      deletes.push_back({qualifier, TimeRange()});
      continue;
    }
    std::set<int64_t> ends;
    while (ends.size() < 4) ends.insert(TimestampMicros());
    const std::vector<int64_t> sorted(ends.begin(), ends.end());
    deletes.push_back({qualifier, {sorted[0], sorted[1]}});
    if (OneIn(2)) deletes.push_back({qualifier, {sorted[2], OneIn(2) ? 0 : sorted[3]}});
  }
  return deletes;
}

void RandomWords::PutsAndAdds(std::deque<std::string>* values, FamilyDelta* delta) {
  // The second number is the timestamp, negated: the newest first.
  std::map<std::pair<std::string_view, int64_t>, bool> positions;  // whether it is an add
  for (uint64_t count = Uniform(6); count > 0; --count) {
    const bool is_add = delta->aggregate != AggregateKind::kNone && !OneIn(4);
    positions[{Qualifier(), -TimestampMicros()}] = is_add;
  }
  for (const auto& [position, is_add] : positions) {
    const int64_t state = States()[Uniform(States().size())];
    if (is_add) {
      delta->adds.push_back({position.first, -position.second, state});
      continue;
    }
    std::string& value = values->emplace_back();
    if (delta->aggregate == AggregateKind::kNone) {
      value = Value();
    } else {
      PutFixed64(&value, static_cast<uint64_t>(state));
    }
    delta->puts.push_back({position.first, -position.second, value});
  }
}

FamilyDelta RandomWords::OfFamily(const HistoryFamily& family, std::deque<std::string>* values) {
  FamilyDelta delta{.family = family.id, .aggregate = family.aggregate};
  delta.delete_all = OneIn(12);
  if (OneIn(3)) delta.deletes = ColumnDeletes();
  if (!OneIn(8)) PutsAndAdds(values, &delta);
  return delta;
}

RowDelta RandomWords::Delta(const std::vector<HistoryFamily>& families, std::deque<std::string>* values) {
  RowDelta delta;
  if (OneIn(15)) {  // the whole row
    for (const HistoryFamily& family : families) {
      delta.families.push_back({.family = family.id, .aggregate = family.aggregate, .delete_all = true});
    }
    return delta;
  }
  std::map<FamilyId, HistoryFamily> chosen;
  for (uint64_t count = 1 + Uniform(3); count > 0; --count) {
    const HistoryFamily& family = families[Uniform(families.size())];
    chosen[family.id] = family;
  }
  for (const auto& [id, family] : chosen) delta.families.push_back(OfFamily(family, values));
  return delta;
}

RowRange RandomWords::Range() {
  switch (Uniform(5)) {
    case 0:
      return RowRange::All();
    case 1:
      return RowRange::Single(RowKey());
    case 2:
      return RowRange::Prefix(RowKey());
    default: {
      std::string start(OneIn(4) ? "" : RowKey());
      std::string end = OneIn(4) ? "" : OneIn(4) ? Successor(RowKey()) : std::string(RowKey());
      if (!end.empty() && end < start) std::swap(start, end);
      return {std::move(start), std::move(end)};
    }
  }
}

std::vector<RowRange> RandomWords::Ranges() {
  std::vector<RowRange> ranges;
  for (uint64_t count = OneIn(2) ? 1 : Uniform(6); count > 0; --count) ranges.push_back(Range());
  return NormalizeRanges(std::move(ranges));
}

ReadHints RandomWords::Hints(const std::vector<HistoryFamily>& families) {
  ReadHints hints;
  if (OneIn(4)) {
    hints.families.emplace();
    for (const HistoryFamily& family : families) {
      if (OneIn(2)) hints.families->push_back(family.id);
    }
  }
  if (OneIn(4)) {
    std::set<std::string> ends;
    for (uint64_t count = Uniform(5); count > 0; --count) ends.insert(std::string(Qualifier()));
    const std::vector<std::string> sorted(ends.begin(), ends.end());
    hints.columns.emplace();
    for (size_t i = 0; i < sorted.size(); i += 2) {
      hints.columns->push_back({sorted[i], i + 1 < sorted.size() ? sorted[i + 1] : ""});
    }
  }
  if (OneIn(4)) {
    hints.time_range = {TimestampMicros(), TimestampMicros()};
    if (OneIn(2)) hints.time_range.end_micros = 0;
  }
  if (OneIn(4)) hints.newest_per_column = 1 + Uniform(3);
  if (OneIn(6)) hints.keys_only = true;
  if (OneIn(6)) hints.newest_of_row = true;
  if (OneIn(4)) hints.rows_max = 1 + Uniform(4);
  return hints;
}

}  // namespace sonde
