#include "sql/value/type.h"

#include <algorithm>
#include <string_view>

#include "base/check.h"

namespace sonde::sql {

struct Type::Inside {
  std::vector<Field> fields = {};  // of ARRAY its element, of MAP key and value
  std::string bundle = {};
  std::string name = {};
  std::shared_ptr<const MessageType> message = nullptr;
  std::shared_ptr<const EnumType> enumeration = nullptr;
};

Type Type::Array(Type element) {
  return {TypeKind::kArray, std::make_shared<Inside>(Inside{.fields = {{"", std::move(element)}}})};
}

Type Type::Struct(std::vector<Field> fields) {
  return {TypeKind::kStruct, std::make_shared<Inside>(Inside{.fields = std::move(fields)})};
}

Type Type::Map(Type key, Type value) {
  return {TypeKind::kMap,
          std::make_shared<Inside>(Inside{.fields = {{"", std::move(key)}, {"", std::move(value)}}})};
}

Type Type::Proto(std::string bundle, std::string name, std::shared_ptr<const MessageType> message) {
  return {TypeKind::kProto,
          std::make_shared<Inside>(
              Inside{.bundle = std::move(bundle), .name = std::move(name), .message = std::move(message)})};
}

Type Type::Enum(std::string bundle, std::string name, std::shared_ptr<const EnumType> enumeration) {
  return {TypeKind::kEnum,
          std::make_shared<Inside>(Inside{
              .bundle = std::move(bundle), .name = std::move(name), .enumeration = std::move(enumeration)})};
}

const Type& Type::element() const {
  DCHECK(kind_ == TypeKind::kArray);
  return inside_->fields[0].type;
}

const std::vector<Type::Field>& Type::fields() const {
  DCHECK(kind_ == TypeKind::kStruct);
  return inside_->fields;
}

const Type& Type::key() const {
  DCHECK(kind_ == TypeKind::kMap);
  return inside_->fields[0].type;
}

const Type& Type::value() const {
  DCHECK(kind_ == TypeKind::kMap);
  return inside_->fields[1].type;
}

const std::string& Type::bundle() const {
  DCHECK(kind_ == TypeKind::kProto || kind_ == TypeKind::kEnum);
  return inside_->bundle;
}

const std::string& Type::name() const {
  DCHECK(kind_ == TypeKind::kProto || kind_ == TypeKind::kEnum);
  return inside_->name;
}

const std::shared_ptr<const MessageType>& Type::message() const {
  DCHECK(kind_ == TypeKind::kProto);
  return inside_->message;
}

const std::shared_ptr<const EnumType>& Type::enumeration() const {
  DCHECK(kind_ == TypeKind::kEnum);
  return inside_->enumeration;
}

bool Type::IsComparable() const {
  if (kind_ != TypeKind::kStruct) return IsOrderable();
  return std::all_of(fields().begin(), fields().end(),
                     [](const Field& field) { return field.type.IsComparable(); });
}

bool Type::IsGroupable() const { return IsComparable(); }

bool Type::IsOrderable() const {
  return kind_ != TypeKind::kArray && kind_ != TypeKind::kStruct && kind_ != TypeKind::kMap &&
         kind_ != TypeKind::kProto;
}

namespace {

std::string_view NameOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::kBool:
      return "BOOL";
    case TypeKind::kInt64:
      return "INT64";
    case TypeKind::kFloat32:
      return "FLOAT32";
    case TypeKind::kFloat64:
      return "FLOAT64";
    case TypeKind::kString:
      return "STRING";
    case TypeKind::kBytes:
      return "BYTES";
    case TypeKind::kDate:
      return "DATE";
    case TypeKind::kTimestamp:
      return "TIMESTAMP";
    case TypeKind::kArray:
      return "ARRAY";
    case TypeKind::kStruct:
      return "STRUCT";
    case TypeKind::kMap:
      return "MAP";
    case TypeKind::kProto:
      return "PROTO";
    case TypeKind::kEnum:
      return "ENUM";
  }
  return "";
}

}  // namespace

std::string Type::ToString() const {
  std::string text(NameOf(kind_));
  if (inside_ == nullptr) return text;
  if (kind_ == TypeKind::kProto || kind_ == TypeKind::kEnum) return text + "<" + inside_->name + ">";
  text += '<';
  for (size_t i = 0; i < inside_->fields.size(); ++i) {
    const Field& field = inside_->fields[i];
    if (i > 0) text += ", ";
    if (!field.name.empty()) text += field.name + " ";
    text += field.type.ToString();
  }
  return text + ">";
}

bool Type::operator==(const Type& other) const {
  if (kind_ != other.kind_ || inside_ == other.inside_) return kind_ == other.kind_;
  if (inside_ == nullptr || other.inside_ == nullptr) return false;
  return inside_->fields == other.inside_->fields && inside_->bundle == other.inside_->bundle &&
         inside_->name == other.inside_->name;
}

ColumnType ColumnTypeOf(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kBool:
    case TypeKind::kInt64:
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
    case TypeKind::kEnum:
      return ColumnType::kInt64;
    case TypeKind::kFloat32:
    case TypeKind::kFloat64:
      return ColumnType::kDouble;
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kProto:
      return ColumnType::kBytes;
    case TypeKind::kArray:
    case TypeKind::kStruct:
    case TypeKind::kMap:
      break;
  }
  return ColumnType::kList;
}

}  // namespace sonde::sql
