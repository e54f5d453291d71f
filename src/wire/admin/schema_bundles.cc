#include "wire/admin/schema_bundles.h"

#include <google/protobuf/util/time_util.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/format.h"
#include "model/limits.h"
#include "model/names.h"
#include "sql/descriptor/bundle_compatibility.h"
#include "sql/descriptor/bundle_parser.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
using google::protobuf::util::TimeUtil;

// Clients take messages of 4 MiB, unless they say otherwise.
constexpr size_t kPageBytesMax = 3 << 20;

absl::StatusOr<sql::BundleTypesRef> ParseDescriptors(const std::string& descriptors) {
  if (descriptors.empty()) {
    return absl::InvalidArgumentError("Error in field 'proto_schema.proto_descriptors' : must be set");
  }
  if (descriptors.size() > kSchemaBundleBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'proto_schema.proto_descriptors' : it has {} bytes; limit {}",
                    descriptors.size(), kSchemaBundleBytesMax));
  }
  absl::StatusOr<sql::BundleTypesRef> types = sql::ParseBundle("", descriptors);
  if (types.ok()) return types;
  return absl::InvalidArgumentError(fmt::format("Error in field 'proto_schema.proto_descriptors' : {}",
                                                std::string(types.status().message())));
}

void BundleToProto(const SchemaBundle& bundle, admin::SchemaBundle* out) {
  out->set_name(bundle.name);
  out->set_etag(bundle.etag);
  out->mutable_proto_schema()->set_proto_descriptors(bundle.descriptors);
}

// Metadata of creating and of updating have the same fields.
template <typename Metadata>
Metadata BeginBundle(const Tables& tables, const std::string& name) {
  Metadata metadata;
  metadata.set_name(name);
  *metadata.mutable_start_time() = TimeUtil::MicrosecondsToTimestamp(tables.clock().NowMicros());
  return metadata;
}

template <typename Metadata>
absl::Status FinishBundle(const Tables& tables, Operations* operations, const SchemaBundle& bundle,
                          Metadata metadata, google::longrunning::Operation* response) {
  *metadata.mutable_end_time() = TimeUtil::MicrosecondsToTimestamp(tables.clock().NowMicros());
  admin::SchemaBundle full;
  BundleToProto(bundle, &full);
  return operations->Done(bundle.name, metadata, full, response);
}

absl::Status CheckUpdateMask(const admin::UpdateSchemaBundleRequest& request) {
  for (const std::string& path : request.update_mask().paths()) {
    if (path == "*" || path == "proto_schema" || path == "proto_schema.proto_descriptors" || path == "etag")
      continue;
    return absl::InvalidArgumentError(fmt::format(
        "Error in field 'update_mask' : '{}' cannot be updated; proto_schema can", Printable(path)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CreateSchemaBundle(Tables* tables, Operations* operations,
                                const admin::CreateSchemaBundleRequest& request,
                                google::longrunning::Operation* response) {
  if (absl::Status status = CheckTableName(request.parent()); !status.ok()) return status;
  if (absl::Status status = CheckSchemaBundleId(request.schema_bundle_id()); !status.ok()) return status;
  SchemaBundle bundle{fmt::format("{}/schemaBundles/{}", request.parent(), request.schema_bundle_id()),
                      request.schema_bundle().proto_schema().proto_descriptors()};
  if (absl::Status status = ParseDescriptors(bundle.descriptors).status(); !status.ok()) return status;
  auto metadata = BeginBundle<admin::CreateSchemaBundleMetadata>(*tables, bundle.name);
  absl::StatusOr<SchemaBundleRef> made = tables->catalog().CreateBundle(std::move(bundle));
  if (!made.ok()) return made.status();
  spdlog::info("created schema bundle {}", (*made)->name);
  return FinishBundle(*tables, operations, **made, std::move(metadata), response);
}

absl::Status UpdateSchemaBundle(Tables* tables, Operations* operations,
                                const admin::UpdateSchemaBundleRequest& request,
                                google::longrunning::Operation* response) {
  const admin::SchemaBundle& asked = request.schema_bundle();
  if (absl::Status status = CheckSchemaBundleName(asked.name()); !status.ok()) return status;
  if (absl::Status status = CheckUpdateMask(request); !status.ok()) return status;
  const std::string& descriptors = asked.proto_schema().proto_descriptors();
  const absl::StatusOr<sql::BundleTypesRef> types = ParseDescriptors(descriptors);
  if (!types.ok()) return types.status();
  auto metadata = BeginBundle<admin::UpdateSchemaBundleMetadata>(*tables, asked.name());
  const auto change = [&](SchemaBundle* bundle) -> absl::Status {
    if (!request.ignore_warnings()) {
      const absl::StatusOr<sql::BundleTypesRef> before = sql::ParseBundle("", bundle->descriptors);
      if (!before.ok()) return before.status();
      if (absl::Status status = sql::CheckCompatible(**before, **types); !status.ok()) return status;
    }
    bundle->descriptors = descriptors;
    return absl::OkStatus();
  };
  absl::StatusOr<SchemaBundleRef> made = tables->catalog().UpdateBundle(asked.name(), asked.etag(), change);
  if (!made.ok()) return made.status();
  spdlog::info("updated schema bundle {}", (*made)->name);
  return FinishBundle(*tables, operations, **made, std::move(metadata), response);
}

absl::Status ListSchemaBundles(const Catalog& catalog, const admin::ListSchemaBundlesRequest& request,
                               admin::ListSchemaBundlesResponse* response) {
  if (absl::Status status = CheckTableName(request.parent()); !status.ok()) return status;
  if (absl::Status status = catalog.Find(request.parent()).status(); !status.ok()) return status;
  if (request.page_size() < 0) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'page_size' : must not be negative, but is {}", request.page_size()));
  }
  // A page's token is the last bundle's id before it.
  if (!request.page_token().empty() && !CheckSchemaBundleId(request.page_token()).ok()) {
    return absl::InvalidArgumentError("Error in field 'page_token' : not one that ListSchemaBundles gave");
  }
  const size_t page = request.page_size() == 0 ? kSchemaBundlesPerTableMax : request.page_size();
  size_t bytes = 0;
  for (const SchemaBundleRef& bundle : catalog.ListBundles(request.parent())) {
    if (IdOfSchemaBundle(bundle->name) <= std::string_view(request.page_token())) continue;
    bytes += bundle->descriptors.size();
    const auto given = static_cast<size_t>(response->schema_bundles_size());
    if (given == page || (given > 0 && bytes > kPageBytesMax)) {
      response->set_next_page_token(
          std::string(IdOfSchemaBundle(response->schema_bundles().rbegin()->name())));
      break;
    }
    BundleToProto(*bundle, response->add_schema_bundles());
  }
  return absl::OkStatus();
}

absl::Status GetSchemaBundle(const Catalog& catalog, const admin::GetSchemaBundleRequest& request,
                             admin::SchemaBundle* response) {
  if (absl::Status status = CheckSchemaBundleName(request.name()); !status.ok()) return status;
  absl::StatusOr<SchemaBundleRef> bundle = catalog.FindBundle(request.name());
  if (bundle.ok()) BundleToProto(**bundle, response);
  return bundle.status();
}

absl::Status DeleteSchemaBundle(Catalog* catalog, const admin::DeleteSchemaBundleRequest& request) {
  if (absl::Status status = CheckSchemaBundleName(request.name()); !status.ok()) return status;
  absl::Status status = catalog->DeleteBundle(request.name(), request.etag());
  if (status.ok()) spdlog::info("deleted schema bundle {}", request.name());
  return status;
}

}  // namespace sonde
