#include "sql/message/proto_rows.h"

#include <google/bigtable/v2/data.pb.h>

#include <bit>
#include <cstdint>
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

// A time or a date becomes a small message: its fields that are not 0.
struct Fields {
  uint64_t values[3] = {};  // of fields 1, 2, 3

  void Write(BackwardBytes* out) const {
    for (int i = 2; i >= 0; --i) {
      if (values[i] == 0) continue;
      out->WriteByteAndVarint(Tag(i + 1, kVarintWire), values[i]);
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

// Writes the tag and the length in front of what was written since `end` bytes were there.
void WriteHead(int field, size_t end, BackwardBytes* out) {
  out->WriteByteAndVarint(Tag(field, kLengthWire), out->size() - end);
}

void WriteValue(const Type& type, const Datum& datum, BackwardBytes* out);

// A Value, in a field of the message around it.
void WriteField(int field, const Type& type, const Datum& datum, BackwardBytes* out) {
  const size_t end = out->size();
  WriteValue(type, datum, out);
  WriteHead(field, end, out);
}

// The values of an ArrayValue.
void WriteArray(const Type& type, const Datum& datum, BackwardBytes* out) {
  constexpr int kValues = pb::ArrayValue::kValuesFieldNumber;
  if (!type.Is(TypeKind::kMap)) {
    for (size_t i = datum.size; i-- > 0;) WriteField(kValues, InsideOf(type, i), datum.items[i], out);
    return;
  }
  for (size_t i = datum.size; i > 0; i -= 2) {
    const size_t end = out->size();
    WriteField(kValues, type.value(), datum.items[i - 1], out);
    WriteField(kValues, type.key(), datum.items[i - 2], out);
    WriteHead(pb::Value::kArrayValueFieldNumber, end, out);
    WriteHead(kValues, end, out);
  }
}

void WriteValue(const Type& type, const Datum& datum, BackwardBytes* out) {
  if (!datum.is_there) return;
  const size_t end = out->size();
  switch (type.kind()) {
    case TypeKind::kBool:
      out->WriteByte(static_cast<char>(datum.integer));
      out->WriteByte(Tag(pb::Value::kBoolValueFieldNumber, kVarintWire));
      return;
    case TypeKind::kInt64:
    case TypeKind::kEnum:
      out->WriteByteAndVarint(Tag(pb::Value::kIntValueFieldNumber, kVarintWire),
                              static_cast<uint64_t>(datum.integer));
      return;
    case TypeKind::kFloat32:
    case TypeKind::kFloat64: {
      static_assert(std::endian::native == std::endian::little);
      out->Write({reinterpret_cast<const char*>(&datum.number), sizeof(datum.number)});
      out->WriteByte(Tag(pb::Value::kFloatValueFieldNumber, kFixed64Wire));
      return;
    }
    case TypeKind::kString:
      out->Write(datum.bytes());
      return WriteHead(pb::Value::kStringValueFieldNumber, end, out);
    case TypeKind::kBytes:
    case TypeKind::kProto:
      out->Write(datum.bytes());
      return WriteHead(pb::Value::kBytesValueFieldNumber, end, out);
    case TypeKind::kDate:
      FieldsOf(type, datum.integer).Write(out);
      return WriteHead(pb::Value::kDateValueFieldNumber, end, out);
    case TypeKind::kTimestamp:
      FieldsOf(type, datum.integer).Write(out);
      return WriteHead(pb::Value::kTimestampValueFieldNumber, end, out);
    case TypeKind::kArray:
    case TypeKind::kStruct:
    case TypeKind::kMap:
      WriteArray(type, datum, out);
      return WriteHead(pb::Value::kArrayValueFieldNumber, end, out);
  }
}

}  // namespace

void ProtoRowsWriter::Append(const rows::Batch& batch, size_t row) {
  last_row_at_ = bytes_.size();
  row_.Clear();
  for (size_t i = types_.size(); i-- > 0;) {
    WriteField(pb::ProtoRows::kValuesFieldNumber, types_[i], DatumAt(batch.columns[i], row), &row_);
  }
  bytes_.append(row_.view());
  ++rows_;
}

}  // namespace sonde::sql
