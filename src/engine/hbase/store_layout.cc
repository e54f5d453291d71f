#include "engine/hbase/store_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "absl/strings/ascii.h"
#include "base/bytes.h"
#include "engine/hbase/log/stored_log.h"
#include "engine/hbase/packed/packed_cells.h"
#include "engine/hbase/stored_cells.h"
#include "hbase/attempts.h"

namespace sonde {
namespace {

constexpr absl::Duration kTryMax = absl::Seconds(5);  // of one call

constexpr char kCatalogName[] = "catalog";
constexpr size_t kNamespaceBytesMax = 100;
constexpr size_t kMastersMax = 16;
// HBase's own TTL, in seconds, of cells that expire after three quarters of an hour at most (model/expiring_family.h): the rest is for
// clocks that differ.
constexpr char kExpiringSeconds[] = "5400";

absl::Status BadAddress(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(
      fmt::format("The store's address '{}' is not hbase://HOST[:PORT]/NAMESPACE: {}", Printable(text), why));
}

// The parts between separators; one more than there are of these.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// The number that is all of the text.
std::optional<uint32_t> NumberOf(std::string_view text, int base) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

bool IsNamespace(std::string_view space) {
  return !space.empty() && space.size() <= kNamespaceBytesMax && space != "default" && space != "hbase" &&
         std::all_of(space.begin(), space.end(),
                     [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

hbase::FamilySchema FamilyOf(std::string name, std::map<std::string, std::string> more) {
  hbase::FamilySchema family{std::move(name), std::move(more)};
  family.attributes["NEW_VERSION_BEHAVIOR"] = "true";
  family.attributes["KEEP_DELETED_CELLS"] = "FALSE";
  family.attributes["BLOOMFILTER"] = "ROW";
  family.attributes["DATA_BLOCK_ENCODING"] = "FAST_DIFF";
  family.attributes["IN_MEMORY_COMPACTION"] = "NONE";
  return family;
}

// What changes the meaning of cells.  Other attributes (compression, say) are the operator's.
constexpr const char* kFixedAttributes[] = {"NEW_VERSION_BEHAVIOR", "KEEP_DELETED_CELLS", "VERSIONS", "TTL",
                                            "MIN_VERSIONS"};

// HBase shows some values in words, and leaves defaults out.
std::string ValueOf(const hbase::FamilySchema& family, const std::string& name) {
  const auto found = family.attributes.find(name);
  const std::string value = found == family.attributes.end() ? "" : absl::AsciiStrToUpper(found->second);
  if (name == "TTL" && (value.empty() || value == "FOREVER" || value == "2147483647")) return "FOREVER";
  if (name == "MIN_VERSIONS" && value.empty()) return "0";
  if (name == "KEEP_DELETED_CELLS" && value.empty()) return "FALSE";
  if (name == "NEW_VERSION_BEHAVIOR" && value.empty()) return "FALSE";
  if (name == "VERSIONS" && value.empty()) return "1";
  return value;
}

bool IsFixed(const hbase::FamilySchema& family, const std::string& attribute) {
  return attribute != "TTL" || family.name != kLogFamily;
}

void AddFaultsOf(const hbase::TableSchema& schema, StoreFacts* facts) {
  const std::string table = schema.table.Text();
  std::vector<hbase::FamilySchema> families = SchemaOf(schema.table, StorageOf(schema)).families;
  const bool is_logged = std::any_of(schema.families.begin(), schema.families.end(),
                                     [](const auto& family) { return family.name == kLogFamily; });
  if (is_logged) families.push_back(LogFamily(absl::ZeroDuration()));
  for (const hbase::FamilySchema& wanted : families) {
    const auto family = std::find_if(schema.families.begin(), schema.families.end(),
                                     [&](const auto& one) { return one.name == wanted.name; });
    if (family == schema.families.end()) {
      facts->faults.push_back(
          fmt::format("HBase's table {} has no family '{}': it is not Sonde's, or somebody altered it", table,
                      wanted.name));
      continue;
    }
    for (const char* name : kFixedAttributes) {
      if (!IsFixed(wanted, name) || ValueOf(*family, name) == ValueOf(wanted, name)) continue;
      facts->faults.push_back(
          fmt::format("Family '{}' of HBase's table {} has {} {} and not {}: it is not Sonde's, or somebody "
                      "altered it",
                      wanted.name, table, name, ValueOf(*family, name), ValueOf(wanted, name)));
    }
  }
  const auto limit = schema.attributes.find(kCellBytesAttribute);
  if (limit != schema.attributes.end() && limit->second == std::to_string(kCellBytesMax)) return;
  facts->notices.push_back(fmt::format(
      "HBase's table {} has {} {} and not {}: larger values are refused", table, kCellBytesAttribute,
      limit == schema.attributes.end() ? "of the cluster" : Printable(limit->second), kCellBytesMax));
}

bool IsVersionKnown(std::string_view version) {
  const std::vector<std::string_view> parts = Split(version, '.');
  return parts.size() >= 2 && parts[0] == "2" && NumberOf(parts[1], 10).value_or(0) >= 6;
}

std::string NameOf(const HBaseStoreAddress& address) {
  std::vector<std::string> names;
  for (const hbase::ServerAddress& master : address.masters) names.push_back(master.Text());
  return fmt::format("{}", fmt::join(names, ","));
}

// A master that has just taken over knows no region server until they tell it that they are there.  No servers: none has by the deadline.
absl::StatusOr<hbase::ClusterState> StateWithServers(hbase::Tables* tables, absl::Time deadline) {
  hbase::Attempts attempts(deadline, kTryMax);
  while (true) {
    absl::StatusOr<hbase::ClusterState> state = tables->State(deadline);
    if (!state.ok() || !state->servers.empty() || !IsVersionKnown(state->version)) return state;
    if (!attempts.WaitAfter({.remedy = hbase::Remedy::kWait})) return state;
  }
}

}  // namespace

absl::StatusOr<HBaseStoreAddress> ParseHBaseStore(std::string_view text) {
  std::string_view rest = text;
  if (!rest.starts_with(kHBaseScheme)) return BadAddress(text, "it does not begin with hbase://");
  rest.remove_prefix(kHBaseScheme.size());
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return BadAddress(text, "it has no namespace");
  HBaseStoreAddress address;
  address.space = std::string(rest.substr(slash + 1));
  if (!IsNamespace(address.space)) {
    return BadAddress(text, fmt::format("a namespace has 1 to {} letters, digits and '_', and is not one of "
                                        "HBase's own",
                                        kNamespaceBytesMax));
  }
  for (const std::string_view one : Split(rest.substr(0, slash), ',')) {
    hbase::ServerAddress master{std::string(one), kHBaseMasterPort};
    const size_t colon = one.rfind(':');
    if (colon != std::string_view::npos) {
      const uint32_t port = NumberOf(one.substr(colon + 1), 10).value_or(0);
      if (port == 0 || port > UINT16_MAX) return BadAddress(text, "a port is a number from 1 to 65535");
      master = {std::string(one.substr(0, colon)), static_cast<uint16_t>(port)};
    }
    if (master.host.empty()) return BadAddress(text, "it names no host");
    address.masters.push_back(std::move(master));
  }
  if (address.masters.size() > kMastersMax)
    return BadAddress(
        text, fmt::format("it names {} masters, at most {} are asked", address.masters.size(), kMastersMax));
  return address;
}

absl::StatusOr<std::optional<hbase::TlsToServers>> StoreTlsOf(std::string_view flag,
                                                              const hbase::TlsToServers& given) {
  const tls::ClientFiles& files = given.files;
  if (files.certificate.empty() != files.key.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{0}-certificate and {0}-key go together: a certificate is shown with its key", flag));
  }
  if (!files.ca.empty()) return given;
  if (files.key.empty() && given.server_name.empty()) return std::nullopt;
  return absl::InvalidArgumentError(
      fmt::format("{0}-{1} needs {0}-ca, the CA of the certificates that HBase's servers show", flag,
                  files.key.empty() ? "server-name" : "certificate"));
}

hbase::TableName CatalogTable(std::string_view space) { return {std::string(space), kCatalogName}; }

hbase::TableName CellsTable(std::string_view space, TableId table) {
  return {std::string(space), fmt::format("t{:08x}", table)};
}

std::optional<TableId> CellsTableId(const hbase::TableName& table) {
  const std::string_view name = table.name;
  if (name.empty()) return std::nullopt;
  const std::optional<uint32_t> id = NumberOf(name.substr(1), 16);
  return id.has_value() && CellsTable(table.space, *id) == table ? id : std::nullopt;
}

hbase::TableSchema SchemaOf(const hbase::TableName& table, CellStorage storage) {
  constexpr char kAll[] = "2147483647";
  hbase::TableSchema schema{table, {}, {{kCellBytesAttribute, std::to_string(kCellBytesMax)}}};
  schema.families.push_back(FamilyOf(kCellsFamily, {{"VERSIONS", kAll}}));
  schema.families.push_back(FamilyOf(kVersionFamily, {{"VERSIONS", "1"}}));
  if (table.name != kCatalogName)
    schema.families.push_back(FamilyOf(kExpiringFamily, {{"VERSIONS", kAll}, {"TTL", kExpiringSeconds}}));
  // Every HBase can compress so.  Values in c do not stay long.
  for (const std::string& family : PackedFamilies(storage))
    schema.families.push_back(
        FamilyOf(family, {{"VERSIONS", "1"}, {"COMPRESSION", family == kSettledFamily ? "GZ" : "NONE"}}));
  return schema;
}

CellStorage StorageOf(const hbase::TableSchema& schema) {
  const auto has = [&](std::string_view name) {
    return std::any_of(schema.families.begin(), schema.families.end(),
                       [&](const hbase::FamilySchema& family) { return family.name == name; });
  };
  return has(kWrittenFamily)   ? CellStorage::kPackedAtOnce
         : has(kSettledFamily) ? CellStorage::kPacked
                               : CellStorage::kPlain;
}

absl::Status MakeTable(hbase::Client* client, const hbase::TableName& table, const TableSpec& spec,
                       absl::Time deadline) {
  hbase::TableSchema schema = SchemaOf(table, spec.storage);
  if (spec.log_kept_micros > 0)
    schema.families.push_back(LogFamily(absl::Microseconds(spec.log_kept_micros)));
  const absl::Status made = client->tables()->Create(schema, spec.split_keys, deadline);
  if (!absl::IsAlreadyExists(made)) return made;
  hbase::Attempts attempts(deadline, kTryMax);
  while (true) {
    const absl::Status there = client->regions()->Find(table, {}, deadline).status();
    if (!absl::IsNotFound(there) || !attempts.WaitAfter({.remedy = hbase::Remedy::kWait})) return there;
  }
}

absl::StatusOr<StoreFacts> LookAtStore(hbase::Client* client, const HBaseStoreAddress& address,
                                       absl::Time deadline) {
  const std::string cluster = NameOf(address);
  hbase::Tables* const tables = client->tables();
  const absl::StatusOr<hbase::ClusterState> state = StateWithServers(tables, deadline);
  if (!state.ok()) {
    return absl::Status(
        absl::IsDeadlineExceeded(state.status()) ? absl::StatusCode::kUnavailable : state.status().code(),
        fmt::format("The HBase cluster at {} does not answer: {}", cluster,
                    std::string(state.status().message())));
  }
  StoreFacts facts{.hbase_version = state->version, .servers_count = state->servers.size()};
  if (!IsVersionKnown(state->version)) {
    facts.faults.push_back(fmt::format(
        "The cluster at {} runs HBase {}; Sonde works with HBase 2.6 and later versions of HBase 2", cluster,
        state->version.empty() ? "of an unknown version" : state->version));
    return facts;
  }
  if (state->servers.empty())
    return absl::UnavailableError(fmt::format("The HBase cluster at {} has no region server", cluster));
  const absl::StatusOr<std::vector<std::string>> spaces = tables->Namespaces(deadline);
  if (!spaces.ok()) return spaces.status();
  facts.has_namespace = std::find(spaces->begin(), spaces->end(), address.space) != spaces->end();
  if (!facts.has_namespace) return facts;
  const absl::StatusOr<std::vector<hbase::TableSchema>> schemas = tables->List(address.space, deadline);
  if (!schemas.ok()) return schemas.status();
  const hbase::TableName catalog = CatalogTable(address.space);
  for (const hbase::TableSchema& schema : *schemas) {
    const std::optional<TableId> id = CellsTableId(schema.table);
    facts.has_catalog |= schema.table == catalog;
    if (id.has_value()) {
      facts.tables.push_back(*id);
      facts.storages[*id] = StorageOf(schema);
    }
    if (schema.table == catalog || id.has_value()) {
      AddFaultsOf(schema, &facts);
    } else {
      facts.faults.push_back(
          fmt::format("Namespace '{}' of the cluster at {} has a table that is not Sonde's: {}",
                      address.space, cluster, schema.table.Text()));
    }
  }
  if (!facts.has_catalog && !schemas->empty()) {
    facts.faults.push_back(fmt::format(
        "Namespace '{}' of the cluster at {} has tables, and no table {}: a part of a store is lost",
        address.space, cluster, catalog.Text()));
  }
  return facts;
}

absl::Status PrepareStore(hbase::Client* client, const HBaseStoreAddress& address, absl::Time deadline) {
  const absl::StatusOr<StoreFacts> facts = LookAtStore(client, address, deadline);
  if (!facts.ok()) return facts.status();
  if (!facts->faults.empty()) return absl::FailedPreconditionError(facts->faults.front());
  if (!facts->has_namespace) {
    const absl::Status made = client->tables()->CreateNamespace(address.space, deadline);
    if (!made.ok() && !absl::IsAlreadyExists(made)) return made;
  }
  if (facts->has_catalog) return absl::OkStatus();
  return MakeTable(client, CatalogTable(address.space), {.storage = CellStorage::kPlain}, deadline);
}

}  // namespace sonde
