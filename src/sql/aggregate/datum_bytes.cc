#include "sql/aggregate/datum_bytes.h"

#include <cstdint>

#include "absl/types/span.h"
#include "base/varint.h"
#include "sql/aggregate/aggregator_states.h"

namespace sonde::sql {
namespace {

// The type of an item of a list.
const Type& ItemType(const Type& type, size_t index) {
  if (type.Is(TypeKind::kArray)) return type.element();
  if (type.Is(TypeKind::kStruct)) return type.fields()[index].type;
  return index % 2 == 0 ? type.key() : type.value();
}

// Whether a list of the type may have so many items.
bool IsCountOf(const Type& type, uint64_t count) {
  if (type.Is(TypeKind::kArray)) return true;
  return type.Is(TypeKind::kStruct) ? count == type.fields().size() : count % 2 == 0;
}

bool TakeListBytes(const Type& type, std::string_view* bytes, Arena* arena, Datum* datum) {
  uint64_t count = 0;
  // Each item has a byte at least.
  if (!GetVarint(bytes, &count) || count > bytes->size() || !IsCountOf(type, count)) return false;
  auto* const items = arena->New<Datum>(count);
  for (size_t i = 0; i < count; ++i) {
    if (!TakeDatumBytes(ItemType(type, i), bytes, arena, &items[i])) return false;
  }
  *datum = Datum::List({items, static_cast<size_t>(count)});
  return true;
}

}  // namespace

void AppendDatumBytes(const Type& type, const Datum& datum, std::string* bytes) {
  bytes->push_back(datum.is_there ? 1 : 0);
  if (!datum.is_there) return;
  switch (ColumnTypeOf(type)) {
    case ColumnType::kDouble:
      return SaveNumber(datum.number, bytes);
    case ColumnType::kBytes:
      return PutBytes(bytes, datum.bytes());
    case ColumnType::kList:
      PutVarint(bytes, datum.size);
      for (size_t i = 0; i < datum.size; ++i) AppendDatumBytes(ItemType(type, i), datum.items[i], bytes);
      return;
    default:
      return SaveNumber(datum.integer, bytes);
  }
}

bool TakeDatumBytes(const Type& type, std::string_view* bytes, Arena* arena, Datum* datum) {
  if (bytes->empty() || static_cast<unsigned char>(bytes->front()) > 1) return false;
  const bool is_there = bytes->front() == 1;
  bytes->remove_prefix(1);
  *datum = Datum::Missing();
  if (!is_there) return true;
  switch (ColumnTypeOf(type)) {
    case ColumnType::kDouble: {
      double number = 0;
      if (!LoadNumber(bytes, &number)) return false;
      *datum = Datum::Double(number);
      return true;
    }
    case ColumnType::kBytes: {
      std::string_view text;
      if (!GetBytes(bytes, &text) || text.size() > UINT32_MAX) return false;
      *datum = Datum::Bytes(text);
      return true;
    }
    case ColumnType::kList:
      return TakeListBytes(type, bytes, arena, datum);
    default: {
      int64_t integer = 0;
      if (!LoadNumber(bytes, &integer)) return false;
      *datum = Datum::Int(integer);
      return true;
    }
  }
}

}  // namespace sonde::sql
