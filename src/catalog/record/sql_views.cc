#include "catalog/record/sql_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/bytes.h"
#include "catalog/record/hex.h"
#include "catalog/record/table_record.h"
#include "model/limits.h"

namespace sonde {
namespace {

using nlohmann::json;

constexpr int kSqlViewRecordVersion = 1;

json SourceToJson(const ViewSource& source) {
  return {{"table", source.table}, {"table_id", source.table_id}, {"families", source.families}};
}

ViewSource SourceFromJson(const json& j) {
  return {.table = j.at("table").get<std::string>(),
          .table_id = j.at("table_id").get<TableId>(),
          .families = j.at("families").get<std::vector<FamilyId>>()};
}

json OwnTableToJson(const TableSchema& schema) {
  FamilyId next_family_id = 1;
  for (const FamilySchema& family : schema.families) next_family_id = std::max(next_family_id, family.id + 1);
  return json::parse(EncodeTableRecord({schema, next_family_id}));
}

TableSchemaRef OwnTableFromJson(const json& j) {
  absl::StatusOr<TableRecord> record = DecodeTableRecord(j.dump());
  if (!record.ok()) throw std::invalid_argument(std::string(record.status().message()));
  return std::make_shared<const TableSchema>(std::move(record->schema));
}

void Decode(const json& j, LogicalViewRecord* view) {
  for (const json& table : j.at("tables")) view->tables.push_back(SourceFromJson(table));
  view->views = j.at("views").get<std::vector<std::string>>();
}

void Decode(const json& j, MaterializedViewRecord* view) {
  view->source = SourceFromJson(j.at("source"));
  view->shown_columns = j.at("shown_columns").get<std::string>();
  view->unpacked_columns = j.value("unpacked_columns", std::string());  // older records have none
  const int state = j.at("state").get<int>();
  if (state < 0 || state > static_cast<int>(MaterializedViewRecord::State::kReady)) {
    throw std::invalid_argument("unknown state");
  }
  view->state = static_cast<MaterializedViewRecord::State>(state);
  view->storage = OwnTableFromJson(j.at("storage"));
  view->workings = OwnTableFromJson(j.at("workings"));
}

template <typename View>
absl::StatusOr<View> DecodeSqlView(std::string_view bytes) {
  try {
    const json j = json::parse(bytes);
    if (j.at("version").get<int>() != kSqlViewRecordVersion) throw std::invalid_argument("unknown version");
    View view;
    view.name = j.at("name").get<std::string>();
    view.query = j.at("query").get<std::string>();
    view.deletion_protection = j.at("deletion_protection").get<bool>();
    Decode(j, &view);
    return view;
  } catch (const std::exception& e) {
    return absl::DataLossError(
        fmt::format("The record of a view is damaged ({}): {}", e.what(), Printable(bytes)));
  }
}

template <typename View>
json CommonToJson(const View& view) {
  return {{"version", kSqlViewRecordVersion},
          {"name", view.name},
          {"query", view.query},
          {"deletion_protection", view.deletion_protection}};
}

bool Needs(const ViewSource& source, TableId table, std::optional<FamilyId> family) {
  return source.table_id == table &&
         (!family.has_value() || std::ranges::find(source.families, *family) != source.families.end());
}

std::string FindReader(const SqlViews& views, TableId table, std::optional<FamilyId> family) {
  const auto needs = [&](const ViewSource& source) { return Needs(source, table, family); };
  const LogicalViewRef logical = views.logical.FindIf(
      [&](const LogicalViewRecord& view) { return std::ranges::any_of(view.tables, needs); });
  if (logical != nullptr) return logical->name;
  const MaterializedViewRef materialized =
      views.materialized.FindIf([&](const MaterializedViewRecord& view) { return needs(view.source); });
  return materialized == nullptr ? std::string() : materialized->name;
}

}  // namespace

std::string EtagOf(const LogicalViewRecord& view) { return EtagOfBytes(CommonToJson(view).dump()); }

std::string EtagOf(const MaterializedViewRecord& view) { return EtagOfBytes(CommonToJson(view).dump()); }

RecordChange RecordOf(const LogicalViewRecord& view) {
  json record = CommonToJson(view);
  json tables = json::array();
  for (const ViewSource& table : view.tables) tables.push_back(SourceToJson(table));
  record["tables"] = std::move(tables);
  record["views"] = view.views;
  return {fmt::format("{}{}", LogicalViewRecord::kRecordPrefix, view.name), record.dump()};
}

RecordChange RecordOf(const MaterializedViewRecord& view) {
  json record = CommonToJson(view);
  record["source"] = SourceToJson(view.source);
  record["shown_columns"] = view.shown_columns;
  if (!view.unpacked_columns.empty()) record["unpacked_columns"] = view.unpacked_columns;
  record["state"] = static_cast<int>(view.state);
  record["storage"] = OwnTableToJson(*view.storage);
  record["workings"] = OwnTableToJson(*view.workings);
  return {fmt::format("{}{}", MaterializedViewRecord::kRecordPrefix, view.name), record.dump()};
}

template <typename View>
absl::Status ViewsByName<View>::Load(const std::vector<Record>& records) {
  for (const Record& record : records) {
    absl::StatusOr<View> view = DecodeSqlView<View>(record.value);
    if (!view.ok()) return view.status();
    Put(std::make_shared<const View>(*std::move(view)));
  }
  return absl::OkStatus();
}

template <typename View>
std::shared_ptr<const View> ViewsByName<View>::Find(std::string_view name) const {
  const auto at = views_.find(name);
  return at == views_.end() ? nullptr : at->second;
}

template <typename View>
std::vector<std::shared_ptr<const View>> ViewsByName<View>::List(std::string_view prefix,
                                                                 std::string_view after_id,
                                                                 size_t count_max) const {
  std::vector<Ref> result;
  for (auto at = views_.upper_bound(fmt::format("{}{}", prefix, after_id));
       at != views_.end() && at->first.starts_with(prefix) && result.size() < count_max; ++at) {
    result.push_back(at->second);
  }
  return result;
}

template <typename View>
std::shared_ptr<const View> ViewsByName<View>::FindIf(absl::FunctionRef<bool(const View& view)> is_so) const {
  const auto at = std::ranges::find_if(views_, [&](const auto& entry) { return is_so(*entry.second); });
  return at == views_.end() ? nullptr : at->second;
}

template <typename View>
size_t ViewsByName<View>::CountIf(absl::FunctionRef<bool(const View& view)> is_so) const {
  return std::ranges::count_if(views_, [&](const auto& entry) { return is_so(*entry.second); });
}

template <typename View>
void ViewsByName<View>::Put(Ref view) {
  std::string name = view->name;
  views_[std::move(name)] = std::move(view);
}

template <typename View>
void ViewsByName<View>::Erase(std::string_view name) {
  const auto at = views_.find(name);
  if (at != views_.end()) views_.erase(at);
}

template class ViewsByName<LogicalViewRecord>;
template class ViewsByName<MaterializedViewRecord>;

std::string SqlViews::ReaderOf(TableId table) const { return FindReader(*this, table, std::nullopt); }

std::string SqlViews::ReaderOf(TableId table, FamilyId family) const {
  return FindReader(*this, table, family);
}

absl::Status SqlViews::CheckRoomFor(std::string_view view_name, std::string_view query) const {
  const auto bytes_of = [](std::string_view name, std::string_view text) {
    return kSqlViewBytes + name.size() + text.size();
  };
  size_t bytes = bytes_of(view_name, query);
  const auto add = [&](const auto& view) {
    if (view.name != view_name) bytes += bytes_of(view.name, view.query);
    return false;
  };
  logical.FindIf(add);
  materialized.FindIf(add);
  if (bytes <= kSqlViewsBytesMax) return absl::OkStatus();
  return absl::ResourceExhaustedError(fmt::format(
      "The names and queries of all views would take {} bytes: the limit is {}", bytes, kSqlViewsBytesMax));
}

std::string SqlViews::ReaderOf(std::string_view view_name) const {
  const LogicalViewRef reader = logical.FindIf([&](const LogicalViewRecord& view) {
    return std::ranges::find(view.views, view_name) != view.views.end();
  });
  return reader == nullptr ? std::string() : reader->name;
}

}  // namespace sonde
