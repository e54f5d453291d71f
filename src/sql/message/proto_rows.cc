#include "sql/message/proto_rows.h"

#include <google/bigtable/v2/data.pb.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "absl/time/civil_time.h"
#include "base/varint.h"
#include "model/datum.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

namespace pb = google::bigtable::v2;

constexpr uint32_t kVarintWire = 0;
constexpr uint32_t kFixed64Wire = 1;
constexpr uint32_t kLengthWire = 2;

constexpr char Tag(int field, uint32_t wire) { return static_cast<char>(field << 3 | wire); }

size_t VarintBytes(uint64_t value) { return (std::bit_width(value | 1) + 6) / 7; }

// A time or a date becomes a small message: its fields that are not 0.
struct Fields {
  uint64_t values[3] = {};  // of fields 1, 2, 3

  size_t Bytes() const {
    size_t bytes = 0;
    for (const uint64_t value : values) bytes += value == 0 ? 0 : 1 + VarintBytes(value);
    return bytes;
  }
  void Append(std::string* out) const {
    for (int i = 0; i < 3; ++i) {
      if (values[i] == 0) continue;
      out->push_back(Tag(i + 1, kVarintWire));
      PutVarint(out, values[i]);
    }
  }
};

Fields FieldsOf(const Type& type, int64_t value) {
  if (type.Is(TypeKind::kDate)) {
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

const Type& InsideOf(const Type& type, size_t item) {
  if (type.Is(TypeKind::kArray)) return type.element();
  return type.fields()[item].type;
}

size_t ValueBytes(const Type& type, const Datum& datum);

size_t LengthDelimited(size_t bytes) { return 1 + VarintBytes(bytes) + bytes; }

size_t PairBytes(const Type& type, const Datum* pair) {
  return LengthDelimited(ValueBytes(type.key(), pair[0])) +
         LengthDelimited(ValueBytes(type.value(), pair[1]));
}

// The bytes of an ArrayValue.
size_t ArrayBytes(const Type& type, const Datum& datum) {
  size_t bytes = 0;
  if (type.Is(TypeKind::kMap)) {
    for (size_t i = 0; i < datum.size; i += 2) {
      bytes += LengthDelimited(LengthDelimited(PairBytes(type, datum.items + i)));
    }
    return bytes;
  }
  for (size_t i = 0; i < datum.size; ++i) {
    bytes += LengthDelimited(ValueBytes(InsideOf(type, i), datum.items[i]));
  }
  return bytes;
}

// The bytes of a Value.
size_t ValueBytes(const Type& type, const Datum& datum) {
  if (!datum.is_there) return 0;
  switch (type.kind()) {
    case TypeKind::kBool:
      return 2;
    case TypeKind::kInt64:
    case TypeKind::kEnum:
      return 1 + VarintBytes(static_cast<uint64_t>(datum.integer));
    case TypeKind::kFloat32:
    case TypeKind::kFloat64:
      return 1 + sizeof(double);
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kProto:
      return LengthDelimited(datum.size);
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
      return LengthDelimited(FieldsOf(type, datum.integer).Bytes());
    case TypeKind::kArray:
    case TypeKind::kStruct:
    case TypeKind::kMap:
      break;
  }
  return LengthDelimited(ArrayBytes(type, datum));
}

void PutLength(int field, size_t bytes, std::string* out) {
  out->push_back(Tag(field, kLengthWire));
  PutVarint(out, bytes);
}

void AppendValue(const Type& type, const Datum& datum, std::string* out);

void AppendArray(const Type& type, const Datum& datum, std::string* out) {
  constexpr int kValues = pb::ArrayValue::kValuesFieldNumber;
  if (!type.Is(TypeKind::kMap)) {
    for (size_t i = 0; i < datum.size; ++i) {
      const Type& inside = InsideOf(type, i);
      PutLength(kValues, ValueBytes(inside, datum.items[i]), out);
      AppendValue(inside, datum.items[i], out);
    }
    return;
  }
  for (size_t i = 0; i < datum.size; i += 2) {
    const Datum* const pair = datum.items + i;
    const size_t bytes = PairBytes(type, pair);
    PutLength(kValues, LengthDelimited(bytes), out);
    PutLength(pb::Value::kArrayValueFieldNumber, bytes, out);
    PutLength(kValues, ValueBytes(type.key(), pair[0]), out);
    AppendValue(type.key(), pair[0], out);
    PutLength(kValues, ValueBytes(type.value(), pair[1]), out);
    AppendValue(type.value(), pair[1], out);
  }
}

void AppendValue(const Type& type, const Datum& datum, std::string* out) {
  if (!datum.is_there) return;
  switch (type.kind()) {
    case TypeKind::kBool:
      out->push_back(Tag(pb::Value::kBoolValueFieldNumber, kVarintWire));
      out->push_back(static_cast<char>(datum.integer));
      return;
    case TypeKind::kInt64:
    case TypeKind::kEnum:
      out->push_back(Tag(pb::Value::kIntValueFieldNumber, kVarintWire));
      PutVarint(out, static_cast<uint64_t>(datum.integer));
      return;
    case TypeKind::kFloat32:
    case TypeKind::kFloat64: {
      static_assert(std::endian::native == std::endian::little);
      out->push_back(Tag(pb::Value::kFloatValueFieldNumber, kFixed64Wire));
      out->append(reinterpret_cast<const char*>(&datum.number), sizeof(datum.number));
      return;
    }
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kProto:
      PutLength(
          type.Is(TypeKind::kString) ? pb::Value::kStringValueFieldNumber : pb::Value::kBytesValueFieldNumber,
          datum.size, out);
      out->append(datum.bytes());
      return;
    case TypeKind::kDate:
    case TypeKind::kTimestamp: {
      const Fields fields = FieldsOf(type, datum.integer);
      PutLength(
          type.Is(TypeKind::kDate) ? pb::Value::kDateValueFieldNumber : pb::Value::kTimestampValueFieldNumber,
          fields.Bytes(), out);
      fields.Append(out);
      return;
    }
    case TypeKind::kArray:
    case TypeKind::kStruct:
    case TypeKind::kMap:
      PutLength(pb::Value::kArrayValueFieldNumber, ArrayBytes(type, datum), out);
      AppendArray(type, datum, out);
      return;
  }
}

}  // namespace

void ProtoRowsWriter::Append(const rows::Batch& batch, size_t row) {
  last_row_at_ = bytes_.size();
  for (size_t i = 0; i < types_.size(); ++i) {
    const Datum datum = DatumAt(batch.columns[i], row);
    PutLength(pb::ProtoRows::kValuesFieldNumber, ValueBytes(types_[i], datum), &bytes_);
    AppendValue(types_[i], datum, &bytes_);
  }
  ++rows_;
}

}  // namespace sonde::sql
