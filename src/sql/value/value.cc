#include "sql/value/value.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "base/check.h"
#include "sql/value/value_text.h"

namespace sonde::sql {

Value::Value(Type type, const Datum& datum) : type_(std::move(type)) {
  auto held = std::make_shared<Held>();
  if (datum.is_there && datum.kind == Datum::Kind::kBytes) {
    // Most values are strings, and there may be many: each would take a block of an arena.
    held->text = datum.bytes();
    held->bytes = held->text;
    held->datum = Datum::Bytes(held->bytes);
  } else {
    held->datum = CopyTo(&held->arena, datum);
  }
  datum_ = held->datum;
  held_ = std::move(held);
}

Value Value::Array(Type element, const std::vector<Value>& elements) {
  std::vector<Datum> items;
  for (const Value& value : elements) items.push_back(value.datum());
  return {Type::Array(std::move(element)), Datum::List(items)};
}

Value Value::Struct(Type type, const std::vector<Value>& fields) {
  std::vector<Datum> items;
  for (const Value& value : fields) items.push_back(value.datum());
  return {std::move(type), Datum::List(items)};
}

ColumnView Value::AsColumn(size_t rows) const {
  const ColumnType column = ColumnTypeOf(type_);
  if (!datum_.is_there) return ColumnView::Missing(column, rows);
  switch (column) {
    case ColumnType::kDouble:
      return ColumnView::Constant(ColumnView::OfDoubles({&held_->datum.number, 1}), rows);
    case ColumnType::kBytes:
      return ColumnView::Constant(ColumnView::OfBytes({&held_->bytes, 1}), rows);
    case ColumnType::kList:
      return ColumnView::Constant(ColumnView::OfLists({&held_->datum, 1}), rows);
    default:
      return ColumnView::Constant(ColumnView::OfInts({&held_->datum.integer, 1}), rows);
  }
}

std::string Value::ToSql() const {
  std::string text;
  AppendSql(type_, datum_, &text);
  return text;
}

Datum DatumAt(const ColumnView& column, size_t row) {
  if (!column.IsThere(row)) return Datum::Missing();
  const size_t place = column.PlaceOf(row);
  switch (column.type()) {
    case ColumnType::kInt64:
    case ColumnType::kTime:
      return Datum::Int(column.ints()[place]);
    case ColumnType::kDouble:
      return Datum::Double(column.doubles()[place]);
    case ColumnType::kBytes:
      return Datum::Bytes(column.bytes()[place]);
    case ColumnType::kList: {
      Datum list = column.lists()[place];
      list.kind = Datum::Kind::kList;
      list.is_there = true;
      return list;
    }
    case ColumnType::kInt128:
      break;
  }
  CHECK(false);  // no type of SQL is as wide
}

namespace {

template <typename T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int OrderDoubles(double a, double b) {
  const bool a_is_nan = std::isnan(a);
  const bool b_is_nan = std::isnan(b);
  if (a_is_nan || b_is_nan) return Order(!a_is_nan, !b_is_nan);
  return Order(a, b);
}

}  // namespace

int Compare(const Datum& a, const Datum& b) {
  if (!a.is_there || !b.is_there) return Order(a.is_there, b.is_there);
  switch (a.kind) {
    case Datum::Kind::kInt:
      return Order(a.integer, b.integer);
    case Datum::Kind::kDouble:
      return OrderDoubles(a.number, b.number);
    case Datum::Kind::kBytes:
      return Order(a.bytes().compare(b.bytes()), 0);
    case Datum::Kind::kList:
      break;
  }
  for (size_t i = 0; i < std::min(a.size, b.size); ++i) {
    if (const int order = Compare(a.items[i], b.items[i]); order != 0) return order;
  }
  return Order(a.size, b.size);
}

int Compare(const ColumnView& a, size_t row_a, const ColumnView& b, size_t row_b) {
  return Compare(DatumAt(a, row_a), DatumAt(b, row_b));
}

uint64_t HashOf(const Datum& datum) {
  constexpr uint64_t kOfNull = 0x9e3779b97f4a7c15;
  if (!datum.is_there) return kOfNull;
  switch (datum.kind) {
    case Datum::Kind::kInt:
      return XXH3_64bits(&datum.integer, sizeof(datum.integer));
    case Datum::Kind::kDouble: {
      double number = datum.number == 0 ? 0 : datum.number;
      if (std::isnan(number)) number = std::nan("");
      return XXH3_64bits(&number, sizeof(number));
    }
    case Datum::Kind::kBytes:
      return XXH3_64bits(datum.data, datum.size);
    case Datum::Kind::kList:
      break;
  }
  uint64_t hash = datum.size;
  for (const Datum& item : datum.list()) hash = std::rotl(hash, 21) * kOfNull ^ HashOf(item);
  return hash;
}

uint64_t HashOf(const ColumnView& column, size_t row) { return HashOf(DatumAt(column, row)); }

namespace {

// The parts of a list between brackets; of a map pairs.
void AppendItems(const Type& type, const Datum& datum, std::string* text) {
  const bool is_map = type.Is(TypeKind::kMap);
  *text += type.Is(TypeKind::kStruct) ? '(' : is_map ? '{' : '[';
  for (size_t i = 0; i < datum.size; ++i) {
    if (i > 0) *text += is_map && i % 2 == 1 ? ": " : ", ";
    const Type& inside = type.Is(TypeKind::kStruct) ? type.fields()[i].type
                         : !is_map                  ? type.element()
                         : i % 2 == 0               ? type.key()
                                                    : type.value();
    AppendSql(inside, datum.items[i], text);
  }
  *text += type.Is(TypeKind::kStruct) ? ')' : is_map ? '}' : ']';
}

}  // namespace

void AppendSql(const Type& type, const Datum& datum, std::string* text) {
  if (!datum.is_there) {
    *text += "NULL";
    return;
  }
  switch (type.kind()) {
    case TypeKind::kBool:
      *text += datum.integer != 0 ? "true" : "false";
      return;
    case TypeKind::kInt64:
    case TypeKind::kEnum:
      *text += fmt::format("{}", datum.integer);
      return;
    case TypeKind::kFloat32:
      *text += FloatText(static_cast<float>(datum.number));
      return;
    case TypeKind::kFloat64:
      *text += DoubleText(datum.number);
      return;
    case TypeKind::kString:
      *text += StringLiteral(datum.bytes());
      return;
    case TypeKind::kBytes:
    case TypeKind::kProto:
      *text += BytesLiteral(datum.bytes());
      return;
    case TypeKind::kDate:
      *text += "DATE \"" + DateText(datum.integer) + "\"";
      return;
    case TypeKind::kTimestamp:
      *text += "TIMESTAMP \"" + TimestampText(datum.integer) + "\"";
      return;
    case TypeKind::kArray:
    case TypeKind::kStruct:
    case TypeKind::kMap:
      AppendItems(type, datum, text);
      return;
  }
}

}  // namespace sonde::sql
