#include "sql/descriptor/bundle_parser.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/descriptor_database.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/bytes.h"

namespace sonde::sql {
namespace {

namespace pb = google::protobuf;

constexpr size_t kShownErrorBytesMax = 1'000;

absl::Status BadBundle(std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("The FileDescriptorSet of the schema bundle {}", what));
}

// Keeps the first error.
class FirstError final : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element, const pb::Message* /*descriptor*/,
                ErrorLocation /*location*/, const std::string& message) override {
    if (!text_.empty()) return;
    text_ = Printable(fmt::format("{}: {}: {}", file, element, message), kShownErrorBytesMax);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

MessageField::Kind KindOf(pb::FieldDescriptor::Type type) {
  using From = pb::FieldDescriptor;
  using Kind = MessageField::Kind;
  static const std::map<From::Type, Kind> kKinds = {
      {From::TYPE_BOOL, Kind::kBool},         {From::TYPE_INT32, Kind::kInt32},
      {From::TYPE_INT64, Kind::kInt64},       {From::TYPE_UINT32, Kind::kUint32},
      {From::TYPE_UINT64, Kind::kUint64},     {From::TYPE_SINT32, Kind::kSint32},
      {From::TYPE_SINT64, Kind::kSint64},     {From::TYPE_FIXED32, Kind::kFixed32},
      {From::TYPE_FIXED64, Kind::kFixed64},   {From::TYPE_SFIXED32, Kind::kSfixed32},
      {From::TYPE_SFIXED64, Kind::kSfixed64}, {From::TYPE_FLOAT, Kind::kFloat},
      {From::TYPE_DOUBLE, Kind::kDouble},     {From::TYPE_STRING, Kind::kString},
      {From::TYPE_BYTES, Kind::kBytes},       {From::TYPE_ENUM, Kind::kEnum},
      {From::TYPE_MESSAGE, Kind::kMessage},   {From::TYPE_GROUP, Kind::kGroup},
  };
  return kKinds.at(type);
}

void SetDefault(const pb::FieldDescriptor& from, MessageField* to) {
  switch (from.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32:
      to->default_integer = from.default_value_int32();
      break;
    case pb::FieldDescriptor::CPPTYPE_INT64:
      to->default_integer = from.default_value_int64();
      break;
    case pb::FieldDescriptor::CPPTYPE_UINT32:
      to->default_integer = from.default_value_uint32();
      break;
    case pb::FieldDescriptor::CPPTYPE_UINT64:
      to->default_integer = static_cast<int64_t>(from.default_value_uint64());
      break;
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      to->default_number = from.default_value_double();
      break;
    case pb::FieldDescriptor::CPPTYPE_FLOAT:
      to->default_number = from.default_value_float();
      break;
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      to->default_integer = from.default_value_bool() ? 1 : 0;
      break;
    case pb::FieldDescriptor::CPPTYPE_ENUM:
      to->default_integer = from.default_value_enum()->number();
      break;
    case pb::FieldDescriptor::CPPTYPE_STRING:
      to->default_bytes = from.default_value_string();
      break;
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
}

// Makes the description of a bundle.  A message may name one that comes later, so each is there before its fields are.
class Describer {
 public:
  explicit Describer(BundleTypes* bundle) : bundle_(bundle) {}

  void AddNames(const pb::FileDescriptor& file) {
    for (int i = 0; i < file.message_type_count(); ++i) AddMessage(*file.message_type(i));
    for (int i = 0; i < file.enum_type_count(); ++i) AddEnum(*file.enum_type(i));
  }
  void AddFields() {
    for (const pb::Descriptor* message : messages_) AddFields(*message);
  }

 private:
  void AddMessage(const pb::Descriptor& from) {
    messages_.push_back(&from);
    auto made = std::make_unique<MessageType>();
    made->name = from.full_name();
    made->is_map_entry = from.options().map_entry();
    bundle_->messages[from.full_name()] = std::move(made);
    for (int i = 0; i < from.nested_type_count(); ++i) AddMessage(*from.nested_type(i));
    for (int i = 0; i < from.enum_type_count(); ++i) AddEnum(*from.enum_type(i));
  }

  void AddEnum(const pb::EnumDescriptor& from) {
    auto made = std::make_unique<EnumType>();
    made->name = from.full_name();
    for (int i = 0; i < from.value_count(); ++i) {
      made->members.push_back({from.value(i)->name(), from.value(i)->number()});
    }
    bundle_->enums[from.full_name()] = std::move(made);
  }

  void AddFields(const pb::Descriptor& from) {
    MessageType& message = *bundle_->messages.at(from.full_name());
    for (int i = 0; i < from.field_count(); ++i) {
      const pb::FieldDescriptor& field = *from.field(i);
      MessageField& made = message.fields.emplace_back();
      made.name = field.name();
      made.number = static_cast<uint32_t>(field.number());
      made.kind = KindOf(field.type());
      made.is_repeated = field.is_repeated();
      if (!field.is_repeated()) SetDefault(field, &made);
      if (field.message_type() != nullptr) {
        made.message = bundle_->messages.at(field.message_type()->full_name()).get();
      }
      if (field.enum_type() != nullptr) {
        made.enumeration = bundle_->enums.at(field.enum_type()->full_name()).get();
      }
    }
    std::ranges::sort(message.fields, {}, &MessageField::number);
  }

  BundleTypes* const bundle_;
  std::vector<const pb::Descriptor*> messages_;
};

}  // namespace

absl::StatusOr<BundleTypesRef> ParseBundle(std::string id, std::string_view descriptors) {
  pb::FileDescriptorSet set;
  if (!set.ParseFromArray(descriptors.data(), static_cast<int>(descriptors.size())))
    return BadBundle("cannot be read");
  if (set.file().empty()) return BadBundle("has no file");
  std::set<std::string> names;
  for (const pb::FileDescriptorProto& file : set.file()) {
    if (names.insert(file.name()).second) continue;
    return BadBundle(fmt::format("has the file {} twice", Printable(file.name())));
  }
  pb::SimpleDescriptorDatabase database;
  for (const pb::FileDescriptorProto& file : set.file()) {
    if (!database.AddAndOwn(new pb::FileDescriptorProto(file))) {
      return BadBundle(fmt::format("declares in {} what another file declares", Printable(file.name())));
    }
  }
  FirstError error;
  pb::DescriptorPool pool(&database, &error);
  std::vector<const pb::FileDescriptor*> files;
  for (const std::string& name : names) {
    const pb::FileDescriptor* const file = pool.FindFileByName(name);
    if (file == nullptr) return BadBundle(fmt::format("does not link: {}", error.text()));
    files.push_back(file);
  }
  auto bundle = std::make_shared<BundleTypes>();
  bundle->id = std::move(id);
  Describer describer(bundle.get());
  for (const pb::FileDescriptor* file : files) describer.AddNames(*file);
  describer.AddFields();
  return bundle;
}

}  // namespace sonde::sql
