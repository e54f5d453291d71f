#include "catalog/record/authorized_views.h"

#include <fmt/format.h>

#include "catalog/record/hex.h"
#include "catalog/record/view_record.h"

namespace sonde {

std::string EtagOf(const AuthorizedView& view) { return EtagOfBytes(EncodeViewRecord(view)); }

absl::Status AuthorizedViews::Load(const std::vector<Record>& records) {
  for (const Record& record : records) {
    absl::StatusOr<AuthorizedView> view = DecodeViewRecord(record.value);
    if (!view.ok()) return view.status();
    Put(std::make_shared<const AuthorizedView>(*std::move(view)));
  }
  return absl::OkStatus();
}

absl::StatusOr<AuthorizedViewRef> AuthorizedViews::Find(std::string_view view_name) const {
  const auto at = views_.find(view_name);
  if (at != views_.end()) return at->second;
  return absl::NotFoundError(fmt::format("Authorized view not found: {}", view_name));
}

std::vector<AuthorizedViewRef> AuthorizedViews::List(std::string_view table_name, std::string_view after_id,
                                                     size_t count_max) const {
  const std::string prefix = fmt::format("{}/authorizedViews/", table_name);
  std::vector<AuthorizedViewRef> result;
  for (auto at = views_.upper_bound(prefix + std::string(after_id));
       at != views_.end() && at->first.starts_with(prefix) && result.size() < count_max; ++at) {
    result.push_back(at->second);
  }
  return result;
}

void AuthorizedViews::Put(AuthorizedViewRef view) {
  std::string name = view->name;
  views_[std::move(name)] = std::move(view);
}

void AuthorizedViews::Erase(std::string_view view_name) {
  const auto at = views_.find(view_name);
  if (at != views_.end()) views_.erase(at);
}

RecordChange AuthorizedViews::RecordOf(const AuthorizedView& view) {
  return {fmt::format("{}{}", kRecordPrefix, view.name), EncodeViewRecord(view)};
}

RecordChange AuthorizedViews::NoRecordOf(std::string_view view_name) {
  return {fmt::format("{}{}", kRecordPrefix, view_name), std::nullopt};
}

}  // namespace sonde
