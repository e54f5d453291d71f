#include "catalog/record/schema_bundles.h"

#include <fmt/format.h>

#include <utility>

#include "catalog/record/hex.h"

namespace sonde {
namespace {

constexpr char kBundleRecordVersion = 1;

}  // namespace

SchemaBundleRef MakeSchemaBundle(std::string name, std::string descriptors) {
  std::string etag = EtagOfBytes(descriptors);
  return std::make_shared<const SchemaBundle>(
      SchemaBundle{std::move(name), std::move(descriptors), std::move(etag)});
}

absl::Status SchemaBundles::Load(const std::vector<Record>& records) {
  for (const Record& record : records) {
    if (record.value.empty() || record.value[0] != kBundleRecordVersion) {
      return absl::DataLossError(fmt::format("The record of a schema bundle is damaged: {}", record.key));
    }
    Put(MakeSchemaBundle(record.key.substr(kRecordPrefix.size()), record.value.substr(1)));
  }
  return absl::OkStatus();
}

absl::StatusOr<SchemaBundleRef> SchemaBundles::Find(std::string_view bundle_name) const {
  const auto at = bundles_.find(bundle_name);
  if (at != bundles_.end()) return at->second;
  return absl::NotFoundError(fmt::format("Schema bundle not found: {}", bundle_name));
}

std::vector<SchemaBundleRef> SchemaBundles::List(std::string_view table_name) const {
  const std::string prefix = fmt::format("{}/schemaBundles/", table_name);
  std::vector<SchemaBundleRef> result;
  for (auto at = bundles_.lower_bound(prefix); at != bundles_.end() && at->first.starts_with(prefix); ++at) {
    result.push_back(at->second);
  }
  return result;
}

void SchemaBundles::Put(SchemaBundleRef bundle) {
  std::string name = bundle->name;
  bundles_[std::move(name)] = std::move(bundle);
}

void SchemaBundles::Erase(std::string_view bundle_name) {
  const auto at = bundles_.find(bundle_name);
  if (at != bundles_.end()) bundles_.erase(at);
}

RecordChange SchemaBundles::RecordOf(const SchemaBundle& bundle) {
  return {fmt::format("{}{}", kRecordPrefix, bundle.name), kBundleRecordVersion + bundle.descriptors};
}

RecordChange SchemaBundles::NoRecordOf(std::string_view bundle_name) {
  return {fmt::format("{}{}", kRecordPrefix, bundle_name), std::nullopt};
}

}  // namespace sonde
