#include "sql/message/proto_rows.h"

#include <google/bigtable/v2/data.pb.h>

#include <bit>
#include <cstdint>
#include <string_view>

#include "absl/time/civil_time.h"
#include "base/check.h"
#include "model/datum.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

namespace pb = google::bigtable::v2;

constexpr uint32_t kVarintWire = 0;
constexpr uint32_t kFixed64Wire = 1;
constexpr uint32_t kLengthWire = 2;

constexpr char Tag(int field, uint32_t wire) { return static_cast<char>(field << 3 | wire); }

// A tag of one byte, and a length, which memory bounds.
constexpr size_t kHeadBytesMax = 6;
// Of a Value that is no text and no list, with its head: a date has three fields.
constexpr size_t kScalarBytesMax = kHeadBytesMax + 3 * (1 + kVarintBytesMax);

// A time or a date becomes a small message: its fields that are not 0.
struct Fields {
  uint64_t values[3] = {};  // of fields 1, 2, 3

  char* Put(char* at) const {
    for (int i = 2; i >= 0; --i) {
      if (values[i] != 0) at = PutByteAndVarint(Tag(i + 1, kVarintWire), values[i], at);
    }
    return at;
  }
};

Fields FieldsOf(TypeKind kind, int64_t value) {
  if (kind == TypeKind::kDate) {
    const absl::CivilDay day = absl::CivilDay(1970, 1, 1) + value;
    return {{static_cast<uint64_t>(day.year()), static_cast<uint64_t>(day.month()),
             static_cast<uint64_t>(day.day())}};
  }
  constexpr int64_t kMicros = 1'000'000;
  int64_t seconds = value / kMicros;
  int64_t micros = value % kMicros;
  if (micros < 0) {
    micros += kMicros;
    --seconds;
  }
  return {{static_cast<uint64_t>(seconds), static_cast<uint64_t>(micros) * 1'000, 0}};
}

using Form = ProtoRowsWriter::Form;

bool IsText(TypeKind kind) {
  return kind == TypeKind::kString || kind == TypeKind::kBytes || kind == TypeKind::kProto;
}
bool IsList(TypeKind kind) {
  return kind == TypeKind::kArray || kind == TypeKind::kStruct || kind == TypeKind::kMap;
}

Form FormOf(const Type& type) {
  Form form;
  form.kind = type.kind();
  form.bytes_max = IsText(form.kind) || IsList(form.kind) ? 2 * kHeadBytesMax : kScalarBytesMax;
  switch (form.kind) {
    case TypeKind::kArray:
      form.inside.push_back(FormOf(type.element()));
      break;
    case TypeKind::kStruct:
      form.is_flat = true;
      for (const Type::Field& field : type.fields()) {
        const Form& inside = form.inside.emplace_back(FormOf(field.type));
        form.bytes_max += inside.bytes_max;
        form.is_flat &= !IsList(inside.kind);
        if (IsText(inside.kind)) form.texts.push_back(form.inside.size() - 1);
      }
      break;
    case TypeKind::kMap:
      form.inside.push_back(FormOf(type.key()));
      form.inside.push_back(FormOf(type.value()));
      break;
    default:
      break;
  }
  return form;
}

// The form of item `item` of a list.
const Form& InsideOf(const Form& form, size_t item) {
  switch (form.kind) {
    case TypeKind::kArray:
      return form.inside[0];
    case TypeKind::kMap:
      return form.inside[item % 2];
    default:
      return form.inside[item];
  }
}

// How long the field of a Value can be.
size_t BytesAtMost(const Form& form, const Datum& datum) {
  size_t bytes = form.bytes_max;
  if (!datum.is_there) return bytes;
  if (IsText(form.kind)) return bytes + datum.size;
  if (!IsList(form.kind)) return bytes;
  if (form.is_flat) {
    for (const size_t text : form.texts) bytes += datum.items[text].is_there ? datum.items[text].size : 0;
    return bytes;
  }
  // A pair of a map is a list by itself.
  if (form.kind == TypeKind::kMap) bytes += datum.size / 2 * 2 * kHeadBytesMax;
  for (size_t i = 0; i < datum.size; ++i) bytes += BytesAtMost(InsideOf(form, i), datum.items[i]);
  return bytes;
}

// Writes the tag and the length in front of what was written since `end`.
char* PutHead(int field, const char* end, char* at) {
  return PutByteAndVarint(Tag(field, kLengthWire), static_cast<uint64_t>(end - at), at);
}

// A Value that is no list.
inline char* PutPlain(TypeKind kind, const Datum& datum, char* at) {
  const char* const end = at;
  switch (kind) {
    case TypeKind::kBool:
      return PutByteAndVarint(Tag(pb::Value::kBoolValueFieldNumber, kVarintWire), datum.integer != 0 ? 1 : 0,
                              at);
    case TypeKind::kInt64:
    case TypeKind::kEnum:
      return PutByteAndVarint(Tag(pb::Value::kIntValueFieldNumber, kVarintWire),
                              static_cast<uint64_t>(datum.integer), at);
    case TypeKind::kFloat32:
    case TypeKind::kFloat64:
      static_assert(std::endian::native == std::endian::little);
      at = PutBackward({reinterpret_cast<const char*>(&datum.number), sizeof(datum.number)}, at);
      return PutBackward(Tag(pb::Value::kFloatValueFieldNumber, kFixed64Wire), at);
    case TypeKind::kString:
      return PutHead(pb::Value::kStringValueFieldNumber, end, PutBackward(datum.bytes(), at));
    case TypeKind::kBytes:
    case TypeKind::kProto:
      return PutHead(pb::Value::kBytesValueFieldNumber, end, PutBackward(datum.bytes(), at));
    case TypeKind::kDate:
      return PutHead(pb::Value::kDateValueFieldNumber, end, FieldsOf(kind, datum.integer).Put(at));
    case TypeKind::kTimestamp:
      return PutHead(pb::Value::kTimestampValueFieldNumber, end, FieldsOf(kind, datum.integer).Put(at));
    case TypeKind::kArray:
    case TypeKind::kStruct:
    case TypeKind::kMap:
      break;
  }
  return at;
}

char* PutItems(const Form& form, const Datum& datum, char* at);

// A Value, in a field of the message around it.
inline char* PutField(int field, const Form& form, const Datum& datum, char* at) {
  const char* const end = at;
  if (datum.is_there && IsList(form.kind)) {
    at = PutHead(pb::Value::kArrayValueFieldNumber, end, PutItems(form, datum, at));
  } else if (datum.is_there) {
    at = PutPlain(form.kind, datum, at);
  }
  return PutHead(field, end, at);
}

// The values of an ArrayValue.
char* PutItems(const Form& form, const Datum& datum, char* at) {
  constexpr int kValues = pb::ArrayValue::kValuesFieldNumber;
  if (form.kind != TypeKind::kMap) {
    for (size_t i = datum.size; i-- > 0;) at = PutField(kValues, InsideOf(form, i), datum.items[i], at);
    return at;
  }
  for (size_t i = datum.size; i > 0; i -= 2) {
    const char* const end = at;
    at = PutField(kValues, form.inside[1], datum.items[i - 1], at);
    at = PutField(kValues, form.inside[0], datum.items[i - 2], at);
    at = PutHead(pb::Value::kArrayValueFieldNumber, end, at);
    at = PutHead(kValues, end, at);
  }
  return at;
}

}  // namespace

ProtoRowsWriter::ProtoRowsWriter(const std::vector<Type>& types) {
  for (const Type& type : types) forms_.push_back(FormOf(type));
}

void ProtoRowsWriter::Append(const rows::Batch& batch, size_t row) {
  row_.clear();
  size_t bytes_max = 0;
  for (size_t i = 0; i < forms_.size(); ++i) {
    row_.push_back(DatumAt(batch.columns[i], row));
    bytes_max += BytesAtMost(forms_[i], row_.back());
  }
  char* at = room_.Room(bytes_max);
  const char* const end = at;
  for (size_t i = forms_.size(); i-- > 0;) {
    at = PutField(pb::ProtoRows::kValuesFieldNumber, forms_[i], row_[i], at);
  }
  DCHECK(static_cast<size_t>(end - at) <= bytes_max);
  bytes_.append(at, static_cast<size_t>(end - at));
  ++rows_;
}

bool LengthenFirstLength(std::string* rows) {
  constexpr size_t kLengthAt = 1;  // behind a tag of one byte
  constexpr size_t kLengthBytesMax = 5;
  constexpr char kMoreFollows = static_cast<char>(0x80);
  size_t last = kLengthAt;
  while (((*rows)[last] & kMoreFollows) != 0) ++last;
  if (last + 1 - kLengthAt >= kLengthBytesMax) return false;
  (*rows)[last] = static_cast<char>((*rows)[last] | kMoreFollows);
  rows->insert(last + 1, 1, '\0');
  return true;
}

}  // namespace sonde::sql
