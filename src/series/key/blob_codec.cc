#include "series/key/blob_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/bytes.h"
#include "base/varint.h"

namespace sonde::series {
namespace {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The grammar of JSON, for texts that are finite numbers already.
bool IsJsonNumber(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const size_t digits = std::find_if_not(text.begin(), text.end(), IsDigit) - text.begin();
  if (digits == 0 || (digits > 1 && text[0] == '0')) return false;
  if (digits == text.size() || text[digits] != '.') return true;
  return digits + 1 < text.size() && IsDigit(text[digits + 1]);
}

absl::Status NotUtf8(const Field& field, std::string_view text) {
  return absl::InvalidArgumentError(
      fmt::format("field '{}': value '{}' is not UTF-8, which blobs must be", field.name, Printable(text)));
}

// As JSON writes it, with quotes; nothing for what is not UTF-8.
std::optional<std::string> JsonText(std::string_view text) {
  try {
    return nlohmann::json(std::string(text)).dump();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

absl::Status AppendJson(const Field& field, std::string_view value, std::string* blob) {
  *blob += JsonText(field.qualifier).value_or("\"\"");
  *blob += ':';
  if (field.type == FieldType::kString) {
    const std::optional<std::string> text = JsonText(value);
    if (!text) return NotUtf8(field, value);
    *blob += *text;
  } else if (IsJsonNumber(value)) {
    blob->append(value);
  } else {
    double number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    *blob += fmt::format("{}", number);
  }
  return absl::OkStatus();
}

absl::Status AppendProto(const Field& field, uint64_t field_number, std::string_view value,
                         std::string* blob) {
  const auto put_tag = [&](WireType type) {
    PutVarint(blob, field_number << 3 | static_cast<uint64_t>(type));
  };
  if (field.type == FieldType::kString) {
    if (!JsonText(value)) return NotUtf8(field, value);
    put_tag(WireType::kBytes);
    PutBytes(blob, value);
    return absl::OkStatus();
  }
  if (field.type == FieldType::kInt) {
    int64_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    put_tag(WireType::kVarint);
    PutVarint(blob, static_cast<uint64_t>(number));
    return absl::OkStatus();
  }
  double number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  const auto bits = std::bit_cast<uint64_t>(number);
  put_tag(WireType::kFixed64);
  for (int i = 0; i < 8; ++i) blob->push_back(static_cast<char>(bits >> (8 * i)));
  return absl::OkStatus();
}

// The values of one object; what is inside of inner objects and arrays is passed over.
class JsonReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonReader(const SeriesSchema& schema, std::vector<std::string>* values, std::vector<bool>* has)
      : schema_(schema), values_(values), has_(has) {}

  bool null() override { return true; }
  bool boolean(bool value) override { return Take(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return Take(fmt::format("{}", value)); }
  bool number_unsigned(number_unsigned_t value) override { return Take(fmt::format("{}", value)); }
  bool number_float(number_float_t /*value*/, const string_t& text) override { return Take(text); }
  bool string(string_t& value) override { return Take(value); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(size_t /*size*/) override { return ++depth_ <= kDepthMax; }
  bool key(string_t& name) override {
    if (depth_ != 1) return true;
    is_field_ = false;
    for (size_t i = 0; i < schema_.fields.size(); ++i) {
      if (schema_.fields[i].qualifier != name) continue;
      field_ = i;
      is_field_ = true;
    }
    return true;
  }
  bool end_object() override { return EndInner(); }
  bool start_array(size_t /*size*/) override { return ++depth_ > 1 && depth_ <= kDepthMax; }
  bool end_array() override { return EndInner(); }
  bool parse_error(size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) override {
    return false;
  }

 private:
  static constexpr int kDepthMax = 100;

  bool Take(std::string_view text) {
    if (depth_ == 0) return false;
    if (depth_ > 1 || !is_field_) return true;
    (*values_)[field_].assign(text);
    (*has_)[field_] = true;
    return true;
  }
  bool EndInner() {
    --depth_;
    return true;
  }

  const SeriesSchema& schema_;
  std::vector<std::string>* values_;
  std::vector<bool>* has_;
  size_t field_ = 0;  // index of the key at hand, if it is a field
  bool is_field_ = false;
  int depth_ = 0;
};

bool GetLittleEndian(std::string_view* in, int bytes, uint64_t* value) {
  if (in->size() < static_cast<size_t>(bytes)) return false;
  *value = 0;
  for (int i = 0; i < bytes; ++i)
    *value |= static_cast<uint64_t>(static_cast<unsigned char>((*in)[i])) << (8 * i);
  in->remove_prefix(bytes);
  return true;
}

// One field from the front of the message.
bool GetProtoField(const SeriesSchema& schema, std::string_view* in, std::vector<std::string>* values,
                   std::vector<bool>* has) {
  uint64_t tag = 0;
  uint64_t bits = 0;
  std::string_view bytes;
  if (!GetVarint(in, &tag)) return false;
  const auto type = static_cast<WireType>(tag & 7);
  switch (type) {
    case WireType::kVarint:
      if (!GetVarint(in, &bits)) return false;
      break;
    case WireType::kFixed64:
      if (!GetLittleEndian(in, 8, &bits)) return false;
      break;
    case WireType::kFixed32:
      if (!GetLittleEndian(in, 4, &bits)) return false;
      break;
    case WireType::kBytes:
      if (!GetBytes(in, &bytes)) return false;
      break;
    default:
      return false;
  }
  const uint64_t number = tag >> 3;
  if (number == 0) return false;
  if (number > schema.fields.size()) return true;
  const FieldType field = schema.fields[number - 1].type;
  const WireType wanted = field == FieldType::kString ? WireType::kBytes
                          : field == FieldType::kInt  ? WireType::kVarint
                                                      : WireType::kFixed64;
  if (type != wanted) return false;
  std::string& value = (*values)[number - 1];
  switch (field) {
    case FieldType::kString:
      value.assign(bytes);
      break;
    case FieldType::kInt:
      value = fmt::format("{}", static_cast<int64_t>(bits));
      break;
    case FieldType::kDouble:
      value = fmt::format("{}", std::bit_cast<double>(bits));
      break;
  }
  (*has)[number - 1] = true;
  return true;
}

}  // namespace

absl::Status EncodeBlob(const SeriesSchema& schema, absl::Span<const std::string_view> values,
                        std::string* blob) {
  blob->clear();
  const bool is_json = schema.blob_format == BlobFormat::kJson;
  if (is_json) *blob += '{';
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    if (values[i].data() == nullptr) continue;
    if (is_json && blob->size() > 1) *blob += ',';
    const absl::Status status = is_json ? AppendJson(schema.fields[i], values[i], blob)
                                        : AppendProto(schema.fields[i], i + 1, values[i], blob);
    if (!status.ok()) return status;
  }
  if (is_json) *blob += '}';
  return absl::OkStatus();
}

absl::Status DecodeBlob(const SeriesSchema& schema, std::string_view blob, std::vector<std::string>* values,
                        std::vector<bool>* has) {
  values->resize(schema.fields.size());
  has->assign(schema.fields.size(), false);
  bool is_whole = true;
  if (schema.blob_format == BlobFormat::kJson) {
    JsonReader reader(schema, values, has);
    is_whole = nlohmann::json::sax_parse(blob.begin(), blob.end(), &reader);
  } else {
    for (std::string_view rest = blob; is_whole && !rest.empty();) {
      is_whole = GetProtoField(schema, &rest, values, has);
    }
  }
  if (is_whole) return absl::OkStatus();
  return absl::DataLossError(
      fmt::format("the cell '{}' is no {} of this declaration", Printable(blob),
                  schema.blob_format == BlobFormat::kJson ? "JSON object" : "protocol buffer"));
}

std::string ProtoText(const SeriesSchema& schema) {
  std::string name;
  bool is_start = true;
  for (const char c : schema.name) {
    const bool is_word = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (is_word) name += is_start ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    is_start = !is_word;
  }
  std::string text = fmt::format("syntax = \"proto3\";\nmessage {} {{\n", name);
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    const Field& field = schema.fields[i];
    std::string field_name;
    for (const char c : field.qualifier) {
      field_name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    }
    const std::string_view type = field.type == FieldType::kInt      ? "int64"
                                  : field.type == FieldType::kDouble ? "double"
                                                                     : "string";
    text += fmt::format("  optional {} {} = {};\n", type, field_name, i + 1);
  }
  return text + "}\n";
}

}  // namespace sonde::series
