#include "sql/key/field_ranges.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "sql/key/key_field.h"
#include "sql/key/row_key_codec.h"

namespace sonde::sql {
namespace {

using Ranges = std::vector<RowRange>;

bool IsEverything(const Ranges& ranges) {
  return ranges.size() == 1 && ranges[0].start.empty() && ranges[0].end.empty();
}

// The first fields of keys, whose values are known.
struct KeyStart {
  std::string bytes;  // with what is between fields behind each of them
  size_t first_bytes =
      0;  // of an ordered code: `bytes` up to here is the first key that starts so: all other fields are empty
};

// Keys of fields in one encoding of the struct.
class FieldComposer {
 public:
  explicit FieldComposer(const RowKeySchema& schema) : schema_(schema) {}

  // Whether a key can have these bytes in this field: a text of a delimited key has no delimiter in it.
  bool CanBe(size_t index, const std::string& field) const;
  KeyStart Behind(const KeyStart& start, std::string_view field) const;
  // The key whose fields are all known, of the start that has all but the last of them.
  std::string Whole(const KeyStart& start, std::string_view last) const;
  // All keys with this start.
  RowRange All(const KeyStart& start) const;
  // The keys with this start whose field `index` comes next, and lies in `range`.
  Ranges Within(const KeyStart& start, size_t index, const RowRange& range) const;

 private:
  // Returns, for a delimited key, the keys with this start whose next field is less than `bound`.
  Ranges Below(const KeyStart& start, const RowKeyField& field, std::string_view bound) const;

  const RowKeySchema& schema_;
};

bool FieldComposer::CanBe(size_t index, const std::string& field) const {
  if (schema_.encoding != RowKeySchema::Encoding::kDelimited || schema_.fields[index].IsNumber()) return true;
  const bool is_last = index + 1 == schema_.fields.size();
  const size_t found = (is_last ? field : field + schema_.delimiter).find(schema_.delimiter);
  return found == (is_last ? std::string::npos : field.size());
}

KeyStart FieldComposer::Behind(const KeyStart& start, std::string_view field) const {
  KeyStart behind = start;
  if (schema_.encoding == RowKeySchema::Encoding::kDelimited) {
    behind.bytes += field;
    behind.bytes += schema_.delimiter;
    return behind;
  }
  const bool is_first = start.bytes.empty();
  AppendOrderedCode(field, &behind.bytes);
  // Empty fields are left out, but where all are empty.
  if (!field.empty() || is_first) behind.first_bytes = behind.bytes.size();
  behind.bytes += kOrderedCodeSeparator;
  return behind;
}

std::string FieldComposer::Whole(const KeyStart& start, std::string_view last) const {
  if (schema_.encoding != RowKeySchema::Encoding::kOrderedCode) return start.bytes + std::string(last);
  const KeyStart behind = Behind(start, last);
  return behind.bytes.substr(0, behind.first_bytes);
}

RowRange FieldComposer::All(const KeyStart& start) const {
  if (schema_.encoding != RowKeySchema::Encoding::kOrderedCode) return RowRange::Prefix(start.bytes);
  if (start.bytes.empty()) return RowRange::All();
  // Behind a field there is nothing or 00 01.
  const std::string fields = start.bytes.substr(0, start.bytes.size() - kOrderedCodeSeparator.size());
  return {start.bytes.substr(0, start.first_bytes), fields + std::string("\0\2", 2)};
}

// A field f is less than the bound where the key is: then start f ... is less than start bound.  And where f is a part of the
// bound that is cut off: then the key may come behind start bound, if the delimiter does.
Ranges FieldComposer::Below(const KeyStart& start, const RowKeyField& field, std::string_view bound) const {
  Ranges below;
  if (!bound.empty()) below.push_back({start.bytes, start.bytes + std::string(bound)});
  for (size_t size = 0; size < bound.size(); ++size) {
    const std::string_view part = bound.substr(0, size);
    if (field.IsNumber() && NumberFieldBytes(field, part) != size) continue;
    const std::string_view rest = bound.substr(size);
    if (schema_.delimiter < rest && !rest.starts_with(schema_.delimiter)) continue;
    below.push_back(RowRange::Prefix(start.bytes + std::string(part) + schema_.delimiter));
  }
  return NormalizeRanges(std::move(below));
}

Ranges FieldComposer::Within(const KeyStart& start, size_t index, const RowRange& range) const {
  const RowRange all = All(start);
  const bool is_last = index + 1 == schema_.fields.size();
  if (schema_.encoding == RowKeySchema::Encoding::kDelimited && !is_last) {
    const RowKeyField& field = schema_.fields[index];
    Ranges keys = range.end.empty() ? Ranges{all} : Below(start, field, range.end);
    return range.start.empty() ? keys
                               : IntersectRanges(keys, ComplementRanges(Below(start, field, range.start)));
  }
  const auto bound = [&](const std::string& bytes, const std::string& open) {
    if (bytes.empty()) return open;
    std::string key = start.bytes;
    if (schema_.encoding == RowKeySchema::Encoding::kOrderedCode) {
      AppendOrderedCode(bytes, &key);
    } else {
      key += bytes;
    }
    return key;
  };
  return {{bound(range.start, all.start), bound(range.end, all.end)}};
}

bool AreSingle(const Ranges& ranges) {
  return std::ranges::all_of(ranges, [](const RowRange& range) { return range.IsSingleRow(); });
}

}  // namespace

Ranges KeysWithFields(const RowKeySchema& schema, absl::Span<const Ranges> fields, size_t ranges_max) {
  DCHECK(fields.size() == schema.fields.size());
  for (const Ranges& field : fields) {
    if (field.empty()) return {};
  }
  const FieldComposer composer(schema);
  std::vector<KeyStart> starts(1);
  Ranges keys;
  for (size_t i = 0; i < fields.size(); ++i) {
    const Ranges& field = fields[i];
    const bool are_too_many = field.size() > ranges_max / starts.size();
    if (!AreSingle(field) || are_too_many) {
      const Ranges hull = {{field.front().start, field.back().end}};
      for (const KeyStart& start : starts) {
        for (const RowRange& range : are_too_many ? hull : field) {
          Ranges within =
              IsEverything({range}) ? Ranges{composer.All(start)} : composer.Within(start, i, range);
          std::ranges::move(within, std::back_inserter(keys));
        }
      }
      return NormalizeRanges(std::move(keys));
    }
    std::vector<KeyStart> longer;
    for (const KeyStart& start : starts) {
      for (const RowRange& value : field) {
        if (!composer.CanBe(i, value.start)) continue;
        if (i + 1 == fields.size()) {
          keys.push_back(RowRange::Single(composer.Whole(start, value.start)));
        } else {
          longer.push_back(composer.Behind(start, value.start));
        }
      }
    }
    starts = std::move(longer);
    if (starts.empty()) break;
  }
  return fields.empty() ? Ranges{RowRange::All()} : NormalizeRanges(std::move(keys));
}

}  // namespace sonde::sql
