#include "web/dashboards_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "base/bytes.h"
#include "model/names.h"
#include "web/dashboard_store.h"
#include "web/http/query_reader.h"

namespace sonde {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kDashboardNameBytesMax = 64;
constexpr size_t kTitleBytesMax = 200;
constexpr size_t kSeriesNameBytesMax = 1'024;
constexpr int64_t kVersion = 1;  // of documents

absl::Status Wrong(std::string_view where, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("{} {}", where, what));
}

// Letters, digits, - and _; a parameter's name begins with no digit or -.
bool IsName(std::string_view name, bool is_parameter) {
  if (name.empty() || name.size() > kDashboardNameBytesMax) return false;
  if (is_parameter && absl::ascii_isdigit(static_cast<unsigned char>(name.front()))) return false;
  return std::ranges::all_of(name, [is_parameter](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || (c == '-' && !is_parameter);
  });
}

absl::Status CheckName(std::string_view name) {
  if (IsName(name, /*is_parameter=*/false)) return absl::OkStatus();
  return Wrong("The name of a dashboard", fmt::format("has 1 to {} letters, digits, '-' and '_', but is '{}'",
                                                      kDashboardNameBytesMax, Printable(name)));
}

// An object of the document, whose members are read one after the other.  The first thing that is wrong stays.
class Members {
 public:
  // `where`: "panels[2]".  `json` must outlive it.
  Members(std::string where, const Json& json, std::initializer_list<std::string_view> allowed)
      : where_(std::move(where)), json_(json) {
    if (!json.is_object()) {
      Fail(Wrong(where_, "must be an object"));
      return;
    }
    for (const auto& [name, value] : json.items()) {
      if (std::ranges::find(allowed, name) != allowed.end()) continue;
      Fail(Wrong(where_,
                 fmt::format("has a member '{}'; allowed: {}", Printable(name), fmt::join(allowed, ", "))));
    }
  }

  // "": it is missing, which is wrong where `is_needed`.
  std::string Text(std::string_view name, size_t bytes_max, bool is_needed) {
    const std::string member = fmt::format("{}.{}", where_, name);
    const Json* const value = Find(name);
    if (value == nullptr) {
      if (is_needed) Fail(Wrong(member, "is missing"));
      return "";
    }
    if (!value->is_string()) {
      Fail(Wrong(member, "must be a text"));
      return "";
    }
    std::string text = value->get<std::string>();
    if (text.size() > bytes_max) {
      Fail(Wrong(member, fmt::format("has {} bytes; at most {} are allowed", text.size(), bytes_max)));
    }
    if (is_needed && text.empty()) Fail(Wrong(member, "is empty"));
    return text;
  }
  // The elements of a list; none where it is missing.
  std::vector<const Json*> List(std::string_view name, size_t elements_max) {
    const std::string member = fmt::format("{}.{}", where_, name);
    std::vector<const Json*> elements;
    const Json* const value = Find(name);
    if (value == nullptr) return elements;
    if (!value->is_array()) {
      Fail(Wrong(member, "must be a list"));
    } else if (value->size() > elements_max) {
      Fail(
          Wrong(member, fmt::format("has {} elements; at most {} are allowed", value->size(), elements_max)));
    } else {
      for (const Json& element : *value) elements.push_back(&element);
    }
    return elements;
  }
  const Json* Find(std::string_view name) const {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(std::string(name));
    return found == json_.end() ? nullptr : &*found;
  }
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  const absl::Status& status() const { return status_; }

 private:
  const std::string where_;
  const Json& json_;
  absl::Status status_;
};

absl::StatusOr<Json> CheckVariable(size_t index, const Json& json) {
  Members members(fmt::format("variables[{}]", index), json, {"name", "series", "tag"});
  const std::string name = members.Text("name", kDashboardNameBytesMax, true);
  const std::string series = members.Text("series", kSeriesNameBytesMax, true);
  const std::string tag = members.Text("tag", kSeriesNameBytesMax, true);
  if (!members.status().ok()) return members.status();
  if (!IsName(name, /*is_parameter=*/true)) {
    return Wrong(fmt::format("variables[{}].name", index),
                 fmt::format("is the name of a query parameter, of letters, digits and '_', but is '{}'",
                             Printable(name)));
  }
  return Json{{"name", name}, {"series", series}, {"tag", tag}};
}

absl::StatusOr<Json> CheckPanel(size_t index, const Json& json) {
  Members members(fmt::format("panels[{}]", index), json, {"title", "query", "shown"});
  const std::string title = members.Text("title", kTitleBytesMax, false);
  const std::string query = members.Text("query", kDashboardBytesMax, true);
  const std::string shown = members.Text("shown", kTitleBytesMax, false);
  if (!members.status().ok()) return members.status();
  if (!shown.empty() && shown != "chart" && shown != "rows") {
    return Wrong(fmt::format("panels[{}].shown", index),
                 fmt::format("is 'chart' or 'rows', but is '{}'", Printable(shown)));
  }
  return Json{{"title", title}, {"query", query}, {"shown", shown.empty() ? "chart" : shown}};
}

// The document, and the name and the etag that stand with it.
Json Shown(const Dashboard& dashboard) {
  Json json = {{"name", dashboard.name}, {"etag", dashboard.etag}};
  const Json document = Json::parse(dashboard.document, nullptr, /*allow_exceptions=*/false);
  if (document.is_object()) json.update(document);
  return json;
}

void AnswerJson(const Json& json, HttpResponse* response) {
  response->body = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::Status AnswerList(DashboardStore* store, HttpResponse* response) {
  const absl::StatusOr<std::vector<Dashboard>> all = store->List();
  if (!all.ok()) return all.status();
  Json list = Json::array();
  for (const Dashboard& dashboard : *all) {
    const Json shown = Shown(dashboard);
    list.push_back({{"name", dashboard.name}, {"title", shown.value("title", "")}, {"etag", dashboard.etag}});
  }
  AnswerJson({{"dashboards", std::move(list)}}, response);
  return absl::OkStatus();
}

absl::Status Save(DashboardStore* store, const std::string& name, HttpBody* body, HttpResponse* response) {
  const absl::StatusOr<std::string> text = body->ReadAll();
  if (!text.ok()) return text.status();
  std::string etag;
  absl::StatusOr<std::string> document = CheckDashboard(*text, name, &etag);
  if (!document.ok()) return document.status();
  const absl::StatusOr<Dashboard> saved = store->Put(name, *std::move(document), etag);
  if (!saved.ok()) return saved.status();
  AnswerJson(Shown(*saved), response);
  return absl::OkStatus();
}

// The dashboard that the path names.  INVALID_ARGUMENT: it is no name, or the request has parameters.
absl::StatusOr<std::string> NameOf(const HttpRequest& request) {
  if (absl::Status status = QueryReader(request).Finish(); !status.ok()) return status;
  const std::string& name = request.parts.at("name");
  if (absl::Status status = CheckName(name); !status.ok()) return status;
  return name;
}

}  // namespace

absl::StatusOr<std::string> CheckDashboard(std::string_view text, std::string_view name, std::string* etag) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return Wrong("A dashboard", R"(must be a JSON object, such as {"title": "t", "panels": []})");
  Members members("dashboard", json, {"version", "name", "etag", "title", "instance", "variables", "panels"});
  if (const Json* const version = members.Find("version"); version != nullptr && *version != kVersion) {
    members.Fail(Wrong("dashboard.version", fmt::format("must be {}", kVersion)));
  }
  const std::string own_name = members.Text("name", kDashboardNameBytesMax, false);
  if (!own_name.empty() && own_name != name) {
    members.Fail(
        Wrong("dashboard.name", fmt::format("is '{}', but the path says '{}'", Printable(own_name), name)));
  }
  *etag = members.Text("etag", kTitleBytesMax, false);
  const std::string title = members.Text("title", kTitleBytesMax, true);
  const std::string instance = members.Text("instance", kTitleBytesMax, false);
  if (!instance.empty()) members.Fail(CheckInstanceName(instance));
  Json variables = Json::array();
  std::set<std::string> names;
  for (const Json* const one : members.List("variables", kVariablesMax)) {
    absl::StatusOr<Json> variable = CheckVariable(variables.size(), *one);
    if (!variable.ok()) return variable.status();
    const std::string variable_name = (*variable)["name"];
    if (!names.insert(absl::AsciiStrToLower(variable_name)).second) {
      return Wrong(fmt::format("variables[{}].name", variables.size()),
                   fmt::format("is '{}', as another one is", variable_name));
    }
    variables.push_back(*std::move(variable));
  }
  Json panels = Json::array();
  for (const Json* const one : members.List("panels", kPanelsMax)) {
    absl::StatusOr<Json> panel = CheckPanel(panels.size(), *one);
    if (!panel.ok()) return panel.status();
    panels.push_back(*std::move(panel));
  }
  if (!members.status().ok()) return members.status();
  const Json document = {{"version", kVersion},
                         {"title", title},
                         {"instance", instance},
                         {"variables", std::move(variables)},
                         {"panels", std::move(panels)}};
  return document.dump();
}

void AddDashboardsApi(RecordStore* records, Router* router) {
  const auto store = std::make_shared<DashboardStore>(records);
  constexpr char kOne[] = "/api/v1/dashboards/{name}";
  router->Add({.method = "GET",
               .path = "/api/v1/dashboards",
               .handler = [store](const HttpRequest& request, HttpBody*, HttpResponse* response) {
                 if (absl::Status status = QueryReader(request).Finish(); !status.ok()) return status;
                 return AnswerList(store.get(), response);
               }});
  router->Add(
      {.method = "GET",
       .path = kOne,
       .handler = [store](const HttpRequest& request, HttpBody*, HttpResponse* response) -> absl::Status {
         const absl::StatusOr<std::string> name = NameOf(request);
         if (!name.ok()) return name.status();
         const absl::StatusOr<Dashboard> dashboard = store->Get(*name);
         if (!dashboard.ok()) return dashboard.status();
         AnswerJson(Shown(*dashboard), response);
         return absl::OkStatus();
       }});
  router->Add({.method = "PUT",
               .path = kOne,
               .handler = [store](const HttpRequest& request, HttpBody* body,
                                  HttpResponse* response) -> absl::Status {
                 const absl::StatusOr<std::string> name = NameOf(request);
                 if (!name.ok()) return name.status();
                 return Save(store.get(), *name, body, response);
               },
               .body_bytes_max = kDashboardBytesMax});
  router->Add(
      {.method = "POST",
       .path = std::string(kOne) + "/delete",
       .handler = [store](const HttpRequest& request, HttpBody*, HttpResponse* response) -> absl::Status {
         const absl::StatusOr<std::string> name = NameOf(request);
         if (!name.ok()) return name.status();
         if (absl::Status status = store->Delete(*name); !status.ok()) return status;
         AnswerJson({{"deleted", *name}}, response);
         return absl::OkStatus();
       }});
}

}  // namespace sonde
