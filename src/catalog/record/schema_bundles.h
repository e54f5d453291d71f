// The schema bundles of all tables, kept as the engine's records and served from memory.  They belong to the catalog,
// which alone knows which tables exist.
//
// Threads: it has no lock of its own; the catalog locks.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/record_store.h"
#include "model/schema_bundle.h"

namespace sonde {

// A bundle is shared and never changed; an altered bundle is a new SchemaBundle.
using SchemaBundleRef = std::shared_ptr<const SchemaBundle>;

// Makes a bundle, with its etag.
SchemaBundleRef MakeSchemaBundle(std::string name, std::string descriptors);

class SchemaBundles {
 public:
  static constexpr std::string_view kRecordPrefix =
      "bundle/";  // + name; the value is a version byte, then the descriptors

  // Loads the bundles from all of their records.  DATA_LOSS: a record is damaged.
  absl::Status Load(const std::vector<Record>& records);

  // NOT_FOUND: there is no such bundle.
  absl::StatusOr<SchemaBundleRef> Find(std::string_view bundle_name) const;
  // Returns the bundles of a table, by id.
  std::vector<SchemaBundleRef> List(std::string_view table_name) const;

  void Put(SchemaBundleRef bundle);
  void Erase(std::string_view bundle_name);

  static RecordChange RecordOf(const SchemaBundle& bundle);
  static RecordChange NoRecordOf(std::string_view bundle_name);

 private:
  std::map<std::string, SchemaBundleRef, std::less<>> bundles_;
};

}  // namespace sonde
