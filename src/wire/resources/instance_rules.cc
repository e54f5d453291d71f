#include "wire/resources/instance_rules.h"

#include <fmt/format.h>
#include <google/protobuf/util/field_mask_util.h>
#include <re2/re2.h>

#include "base/bytes.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
using google::protobuf::util::FieldMaskUtil;

constexpr size_t kDisplayNameMin = 4;
constexpr size_t kDisplayNameMax = 30;

absl::Status WrongInstance(std::string_view field, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("Error in field '{}' : {}", field, what));
}

size_t CharactersOf(std::string_view utf8) {
  size_t count = 0;
  for (const char byte : utf8) count += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

// Repetitions of classes of Unicode with bounds would make automatons of megabytes: lengths are counted apart.
bool IsLabelPart(std::string_view part, size_t characters_max) {
  static const RE2 kCharacters(R"([\p{Ll}\p{Lo}\p{N}_-]*)");
  return RE2::FullMatch(re2::StringPiece(part.data(), part.size()), kCharacters) &&
         CharactersOf(part) <= characters_max;
}

absl::Status CheckLabels(const admin::Instance& instance) {
  constexpr size_t kLabelCharactersMax = 63;
  static const RE2 kFirst(R"([\p{Ll}\p{Lo}].*)");
  if (static_cast<size_t>(instance.labels_size()) > kInstanceLabelsMax) {
    return WrongInstance("labels",
                         fmt::format("{} provided; limit {}", instance.labels_size(), kInstanceLabelsMax));
  }
  for (const auto& [key, value] : instance.labels()) {
    if (!RE2::FullMatch(key, kFirst) || !IsLabelPart(key, kLabelCharactersMax)) {
      return WrongInstance(
          "labels",
          fmt::format("the key '{}' must match [\\p{{Ll}}\\p{{Lo}}][\\p{{Ll}}\\p{{Lo}}\\p{{N}}_-]{{0,62}}",
                      Printable(key)));
    }
    if (!IsLabelPart(value, kLabelCharactersMax)) {
      return WrongInstance(
          "labels",
          fmt::format("the value '{}' must match [\\p{{Ll}}\\p{{Lo}}\\p{{N}}_-]{{0,63}}", Printable(value)));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDisplayName(std::string_view name) {
  const size_t characters = CharactersOf(name);
  if (characters >= kDisplayNameMin && characters <= kDisplayNameMax) return absl::OkStatus();
  return WrongInstance("display_name", fmt::format("must have {} to {} characters, but is '{}'",
                                                   kDisplayNameMin, kDisplayNameMax, Printable(name)));
}

}  // namespace

absl::Status CheckNewInstanceId(std::string_view id) {
  static const RE2 kId("[a-z][a-z0-9-]{4,31}[a-z0-9]");
  if (RE2::FullMatch(re2::StringPiece(id.data(), id.size()), kId)) return absl::OkStatus();
  return WrongInstance(
      "instance_id",
      fmt::format("must be 6 to 33 characters of [a-z][a-z0-9-]+[a-z0-9], but is '{}'", Printable(id)));
}

absl::Status CompleteInstance(admin::Instance* instance) {
  if (!admin::Instance::Type_IsValid(instance->type())) {
    return WrongInstance("type", fmt::format("{} is none", static_cast<int>(instance->type())));
  }
  if (!admin::Instance::Edition_IsValid(instance->edition())) {
    return WrongInstance("edition", fmt::format("{} is none", static_cast<int>(instance->edition())));
  }
  if (absl::Status status = CheckDisplayName(instance->display_name()); !status.ok()) return status;
  if (absl::Status status = CheckLabels(*instance); !status.ok()) return status;
  if (instance->type() == admin::Instance::TYPE_UNSPECIFIED) instance->set_type(admin::Instance::PRODUCTION);
  if (instance->edition() == admin::Instance::EDITION_UNSPECIFIED)
    instance->set_edition(admin::Instance::ENTERPRISE);
  instance->set_state(admin::Instance::READY);
  instance->clear_tags();
  instance->clear_satisfies_pzs();
  instance->clear_satisfies_pzi();
  return absl::OkStatus();
}

absl::Status UpdateInstanceFields(const admin::Instance& wanted, const google::protobuf::FieldMask& mask,
                                  admin::Instance* instance) {
  if (mask.paths().empty()) return absl::InvalidArgumentError("A non-empty 'update_mask' must be specified");
  for (const std::string& path : mask.paths()) {
    if (path == "display_name" || path == "type" || path == "labels") continue;
    return WrongInstance(
        "update_mask",
        fmt::format("'{}' cannot be updated; display_name, type and labels can", Printable(path)));
  }
  const admin::Instance::Type before = instance->type();
  FieldMaskUtil::MergeOptions options;
  options.set_replace_repeated_fields(true);
  FieldMaskUtil::MergeMessageTo(wanted, mask, options, instance);
  if (instance->type() == admin::Instance::TYPE_UNSPECIFIED) instance->set_type(before);
  if (before == admin::Instance::PRODUCTION && instance->type() == admin::Instance::DEVELOPMENT) {
    return WrongInstance("type", "an instance of type PRODUCTION cannot become DEVELOPMENT");
  }
  return CompleteInstance(instance);
}

admin::Instance ImplicitInstance(std::string_view name) {
  admin::Instance instance;
  instance.set_name(std::string(name));
  instance.set_display_name(std::string(name.substr(name.rfind('/') + 1)));
  instance.set_state(admin::Instance::READY);
  instance.set_type(admin::Instance::PRODUCTION);
  instance.set_edition(admin::Instance::ENTERPRISE);
  return instance;
}

}  // namespace sonde
