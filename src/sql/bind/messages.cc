// Messages and enums of schema bundles: their names, and fields of messages.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "sql/bind/query_binder.h"
#include "sql/plan/try.h"
#include "sql/proto/message_reader.h"

namespace sonde::sql {
namespace {

std::optional<Type> TypeNamed(const std::shared_ptr<const BundleTypes>& types, std::string_view name) {
  if (const auto found = types->messages.find(name); found != types->messages.end()) {
    return Type::Proto(types->id, found->first,
                       std::shared_ptr<const MessageType>(types, found->second.get()));
  }
  if (const auto found = types->enums.find(name); found != types->enums.end()) {
    return Type::Enum(types->id, found->first, std::shared_ptr<const EnumType>(types, found->second.get()));
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::optional<Type>> QueryBinder::FindBundleType(std::string_view path) {
  if (options_.find_bundle == nullptr) return std::nullopt;
  // A bundle's id may have dots, too.
  for (size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.', dot + 1)) {
    for (const TableSchemaRef& table : tables_) {
      const absl::StatusOr<FoundBundle> bundle = options_.find_bundle(*table, path.substr(0, dot));
      if (absl::IsNotFound(bundle.status())) continue;
      if (!bundle.ok()) return bundle.status();
      std::optional<Type> type = TypeNamed(bundle->types, path.substr(dot + 1));
      if (!type.has_value()) continue;
      const bool is_known = std::any_of(bundles_.begin(), bundles_.end(),
                                        [&](const BundleUse& use) { return use.name == bundle->use.name; });
      if (!is_known) bundles_.push_back(bundle->use);
      return type;
    }
  }
  return std::nullopt;
}

absl::StatusOr<ExpressionPtr> QueryBinder::AccessMessageField(ExpressionPtr value, std::string_view name,
                                                              Position position) {
  constexpr std::string_view kHas = "has_";
  const MessageType& message = *value->type.message();
  std::optional<size_t> field = message.FindField(name);
  bool is_presence = false;
  if (absl::StartsWithIgnoreCase(absl::string_view(name.data(), name.size()), "has_")) {
    if (message.is_map_entry) {
      return Error(position,
                   fmt::format("{} is a synthetic map entry proto. {} is not allowed for map entries "
                               "because all map entry fields are considered to be present by definition",
                               message.name, name));
    }
    const std::string_view plain = name.substr(kHas.size());
    const std::optional<size_t> of_plain = message.FindField(plain);
    if (of_plain.has_value() && field.has_value()) {
      return Error(position,
                   fmt::format("Protocol buffer {} has fields called both {} and {}, so {} is ambiguous",
                               message.name, name, plain, name));
    }
    is_presence = of_plain.has_value();
    if (is_presence) field = of_plain;
  }
  if (!field.has_value()) {
    return Error(position,
                 fmt::format("Protocol buffer {} does not have a field called {}", message.name, name));
  }
  const MessageField& found = message.fields[*field];
  if (is_presence && found.is_repeated) {
    return Error(position, fmt::format("Protocol buffer {} field {} is repeated, so {} is not allowed",
                                       message.name, found.name, name));
  }
  auto access = std::make_unique<Expression>();
  access->kind = Expression::Kind::kProtoField;
  access->type = is_presence ? Type(TypeKind::kBool) : TypeOfField(value->type, found);
  access->index = *field;
  access->count = is_presence ? 1 : 0;
  access->arguments.push_back(std::move(value));
  return access;
}

}  // namespace sonde::sql
