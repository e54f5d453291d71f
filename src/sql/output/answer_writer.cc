#include "sql/output/answer_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/text_table.h"
#include "sql/value/value.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

std::string Quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool IsUtf8(std::string_view text) {
  try {
    nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

// Bytes as text: as they are if they are one.
std::string BytesText(std::string_view bytes) {
  return IsUtf8(bytes) ? std::string(bytes) : Printable(bytes, bytes.size());
}

// 2020-01-31T12:00:00.5Z
std::string Rfc3339(int64_t micros) {
  std::string text = TimestampText(micros);  // 2020-01-31 12:00:00.5+00
  text[text.find(' ')] = 'T';
  return text.replace(text.rfind("+00"), 3, "Z");
}

std::string NumberText(const Type& type, double number) {
  return type.Is(TypeKind::kFloat32) ? FloatText(static_cast<float>(number)) : DoubleText(number);
}

// The names of JSON's members: each once.
std::vector<std::string> DistinctNames(std::vector<std::string> names) {
  std::set<std::string> taken;
  for (std::string& member : names) {
    const std::string name = member;
    for (int i = 1; !taken.insert(member).second; ++i) member = fmt::format("{}_{}", name, i);
  }
  return names;
}

std::vector<std::string> FieldNames(const Type& type) {
  std::vector<std::string> names;
  for (size_t i = 0; i < type.fields().size(); ++i) {
    const std::string& name = type.fields()[i].name;
    names.push_back(name.empty() ? fmt::format("_{}", i + 1) : name);
  }
  return DistinctNames(std::move(names));
}

std::string JsonOfList(const Type& type, const Datum& datum) {
  std::string text;
  if (type.Is(TypeKind::kArray)) {
    for (const Datum& element : datum.list()) {
      text += (text.empty() ? "[" : ",") + JsonText(type.element(), element);
    }
    return text.empty() ? "[]" : text + "]";
  }
  const bool is_map = type.Is(TypeKind::kMap);
  const std::vector<std::string> names = is_map ? std::vector<std::string>() : FieldNames(type);
  for (size_t i = 0; i < datum.size; ++i) {
    std::string name;
    if (is_map) {
      const Datum& key = datum.items[i];
      name = key.kind == Datum::Kind::kBytes ? BytesText(key.bytes()) : ShownText(type.key(), key);
      ++i;
    } else {
      name = names[i];
    }
    const Type& inside = is_map ? type.value() : type.fields()[i].type;
    text += fmt::format("{}{}:{}", text.empty() ? "{" : ",", Quoted(name), JsonText(inside, datum.items[i]));
  }
  return text.empty() ? "{}" : text + "}";
}

std::string ShownList(const Type& type, const Datum& datum) {
  const bool is_map = type.Is(TypeKind::kMap);
  const bool is_struct = type.Is(TypeKind::kStruct);
  std::string text(1, is_map ? '{' : is_struct ? '(' : '[');
  for (size_t i = 0; i < datum.size; ++i) {
    if (i > 0) text += is_map && i % 2 == 1 ? ": " : ", ";
    const Type& inside = is_struct    ? type.fields()[i].type
                         : !is_map    ? type.element()
                         : i % 2 == 0 ? type.key()
                                      : type.value();
    text += ShownText(inside, datum.items[i]);
  }
  return text + (is_map ? '}' : is_struct ? ')' : ']');
}

class TableWriter final : public AnswerWriter {
 public:
  explicit TableWriter(std::ostream* out) : out_(out) {}

  absl::Status TakeColumns(const std::vector<AnswerColumn>& columns) override {
    std::vector<TextTable::Column> shown;
    for (const AnswerColumn& column : columns) {
      shown.push_back({DisplayText(column.name), column.type.IsNumeric()});
      types_.push_back(column.type);
    }
    table_.emplace(shown, out_);
    return absl::OkStatus();
  }
  absl::Status TakeRows(const rows::Batch& batch) override {
    for (size_t row = 0; row < batch.rows; ++row) {
      std::vector<std::string> line;
      for (size_t i = 0; i < types_.size(); ++i) {
        line.push_back(DisplayText(ShownText(types_[i], DatumAt(batch.columns[i], row)), kListBytesShown));
      }
      table_->Row(std::move(line));
    }
    return absl::OkStatus();
  }
  void End() override {
    if (table_.has_value()) table_->End();
  }

 private:
  static constexpr size_t kListBytesShown = 200;

  std::ostream* out_;
  std::vector<Type> types_;
  std::optional<TextTable> table_;
};

class CsvWriter final : public AnswerWriter {
 public:
  explicit CsvWriter(std::ostream* out) : out_(out) {}

  absl::Status TakeColumns(const std::vector<AnswerColumn>& columns) override {
    std::string line;
    for (const AnswerColumn& column : columns) {
      if (!types_.empty()) line += ',';
      line += CsvText(column.name);
      types_.push_back(column.type);
    }
    *out_ << line << "\r\n";
    return absl::OkStatus();
  }
  absl::Status TakeRows(const rows::Batch& batch) override {
    for (size_t row = 0; row < batch.rows; ++row) {
      std::string line;
      for (size_t i = 0; i < types_.size(); ++i) {
        if (i > 0) line += ',';
        line += FieldText(types_[i], DatumAt(batch.columns[i], row));
      }
      *out_ << line << "\r\n";
    }
    return absl::OkStatus();
  }

 private:
  static std::string FieldText(const Type& type, const Datum& datum) {
    if (!datum.is_there) return "";
    if (type.Is(TypeKind::kTimestamp)) return Rfc3339(datum.integer);
    if (datum.kind == Datum::Kind::kList) return CsvText(JsonOfList(type, datum));
    if (datum.kind != Datum::Kind::kBytes) return ShownText(type, datum);
    return datum.size == 0 ? "\"\"" : CsvText(BytesText(datum.bytes()));
  }

  std::ostream* out_;
  std::vector<Type> types_;
};

class JsonWriter final : public AnswerWriter {
 public:
  explicit JsonWriter(std::ostream* out) : out_(out) {}

  absl::Status TakeColumns(const std::vector<AnswerColumn>& columns) override {
    std::vector<std::string> names;
    for (const AnswerColumn& column : columns) {
      names.push_back(column.name);
      types_.push_back(column.type);
    }
    for (const std::string& name : DistinctNames(std::move(names))) members_.push_back(Quoted(name));
    return absl::OkStatus();
  }
  absl::Status TakeRows(const rows::Batch& batch) override {
    for (size_t row = 0; row < batch.rows; ++row) {
      for (size_t i = 0; i < types_.size(); ++i) {
        *out_ << (i == 0 ? '{' : ',') << members_[i] << ':'
              << JsonText(types_[i], DatumAt(batch.columns[i], row));
      }
      *out_ << "}\n";
    }
    return absl::OkStatus();
  }

 private:
  std::ostream* out_;
  std::vector<Type> types_;
  std::vector<std::string> members_;  // in quotes
};

class JsonArraysWriter final : public AnswerWriter {
 public:
  explicit JsonArraysWriter(std::ostream* out) : out_(out) {}

  absl::Status TakeColumns(const std::vector<AnswerColumn>& columns) override {
    *out_ << "{\"columns\":[";
    for (const AnswerColumn& column : columns) {
      *out_ << (types_.empty() ? "" : ",") << "{\"name\":" << Quoted(column.name)
            << ",\"type\":" << Quoted(column.type.ToString());
      if (!column.unit.empty()) *out_ << ",\"unit\":" << Quoted(column.unit);
      *out_ << '}';
      types_.push_back(column.type);
    }
    *out_ << "]}\n";
    return absl::OkStatus();
  }
  absl::Status TakeRows(const rows::Batch& batch) override {
    for (size_t row = 0; row < batch.rows; ++row) {
      for (size_t i = 0; i < types_.size(); ++i) {
        *out_ << (i == 0 ? '[' : ',') << JsonText(types_[i], DatumAt(batch.columns[i], row));
      }
      *out_ << "]\n";
    }
    return absl::OkStatus();
  }

 private:
  std::ostream* out_;
  std::vector<Type> types_;
};

}  // namespace

std::optional<AnswerFormat> AnswerFormatOfName(std::string_view name) {
  if (name == "table") return AnswerFormat::kTable;
  if (name == "csv") return AnswerFormat::kCsv;
  if (name == "json") return AnswerFormat::kJson;
  return std::nullopt;
}

std::unique_ptr<AnswerWriter> MakeAnswerWriter(AnswerFormat format, std::ostream* out) {
  switch (format) {
    case AnswerFormat::kCsv:
      return std::make_unique<CsvWriter>(out);
    case AnswerFormat::kJson:
      return std::make_unique<JsonWriter>(out);
    case AnswerFormat::kJsonArrays:
      return std::make_unique<JsonArraysWriter>(out);
    case AnswerFormat::kTable:
      break;
  }
  return std::make_unique<TableWriter>(out);
}

std::string JsonText(const Type& type, const Datum& datum) {
  if (!datum.is_there) return "null";
  switch (type.kind()) {
    case TypeKind::kBool:
      return datum.integer != 0 ? "true" : "false";
    case TypeKind::kInt64:
    case TypeKind::kEnum:
      return fmt::format("{}", datum.integer);
    case TypeKind::kFloat32:
    case TypeKind::kFloat64:
      if (std::isnan(datum.number)) return "\"NaN\"";
      if (std::isinf(datum.number)) return datum.number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
      return NumberText(type, datum.number);
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kProto:
      return Quoted(BytesText(datum.bytes()));
    case TypeKind::kDate:
      return Quoted(DateText(datum.integer));
    case TypeKind::kTimestamp:
      return Quoted(Rfc3339(datum.integer));
    case TypeKind::kArray:
    case TypeKind::kStruct:
    case TypeKind::kMap:
      break;
  }
  return JsonOfList(type, datum);
}

std::string ShownText(const Type& type, const Datum& datum) {
  if (!datum.is_there) return "NULL";
  switch (type.kind()) {
    case TypeKind::kBool:
      return datum.integer != 0 ? "true" : "false";
    case TypeKind::kInt64:
    case TypeKind::kEnum:
      return fmt::format("{}", datum.integer);
    case TypeKind::kFloat32:
    case TypeKind::kFloat64:
      return NumberText(type, datum.number);
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kProto:
      return DisplayText(datum.bytes());
    case TypeKind::kDate:
      return DateText(datum.integer);
    case TypeKind::kTimestamp: {
      const std::string text = TimestampText(datum.integer);
      return text.substr(0, text.rfind("+00"));
    }
    case TypeKind::kArray:
    case TypeKind::kStruct:
    case TypeKind::kMap:
      break;
  }
  return ShownList(type, datum);
}

}  // namespace sonde::sql
