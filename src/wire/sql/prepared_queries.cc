#include "wire/sql/prepared_queries.h"

#include <fmt/format.h>
#include <google/bigtable/v2/types.pb.h>
#include <google/rpc/error_details.pb.h>
#include <xxhash.h>

#include <utility>
#include <vector>

#include "base/varint.h"
#include "model/names.h"
#include "sql/message/query_values.h"
#include "sql/plan/point_query.h"
#include "wire/call/grpc_status.h"
#include "wire/sql/sql_parameters.h"

namespace sonde {
namespace {

void AppendFacts(const RowKeySchema& schema, std::string* facts) {
  PutVarint(facts, static_cast<uint64_t>(schema.encoding));
  PutBytes(facts, schema.delimiter);
  PutVarint(facts, schema.fields.size());
  for (const RowKeyField& field : schema.fields) {
    PutBytes(facts, field.name);
    PutVarint(facts, static_cast<uint64_t>(field.kind));
    PutVarint(facts, static_cast<uint64_t>(field.number_encoding));
    PutBytes(facts, field.null_escape);
  }
}

// What a query's binding has used of its tables, of its views, of schema bundles and of series.
uint64_t FingerprintOf(const std::vector<TableSchemaRef>& tables, const std::vector<LogicalViewRef>& views,
                       const std::vector<sql::BundleUse>& bundles,
                       const std::vector<sql::FoundSeries>& series) {
  std::string facts;
  for (const TableSchemaRef& table : tables) {
    PutVarint(&facts, table->id);
    PutVarint(&facts, table->families.size());
    for (const FamilySchema& family : table->families) {
      PutBytes(&facts, family.name);
      PutVarint(&facts, family.id);
      PutVarint(&facts, static_cast<uint64_t>(family.aggregate));
      PutBytes(&facts, family.value_type);
    }
    PutVarint(&facts, table->row_key_schema.has_value() ? 1 : 0);
    if (table->row_key_schema.has_value()) AppendFacts(*table->row_key_schema, &facts);
  }
  for (const LogicalViewRef& view : views) {
    PutBytes(&facts, view->name);
    PutBytes(&facts, view->query);
  }
  for (const sql::BundleUse& bundle : bundles) {
    PutBytes(&facts, bundle.name);
    PutBytes(&facts, bundle.etag);
  }
  for (const sql::FoundSeries& one : series) {
    PutBytes(&facts, one.known->schema.name);
    PutVarint(&facts, one.fingerprint);
  }
  return XXH3_64bits(facts.data(), facts.size());
}

absl::Status Expired(std::string_view why) {
  absl::Status status =
      absl::FailedPreconditionError(fmt::format("The prepared query has expired: {}; prepare it again", why));
  google::rpc::PreconditionFailure failure;
  google::rpc::PreconditionFailure::Violation* const violation = failure.add_violations();
  violation->set_type("PREPARED_QUERY_EXPIRED");
  violation->set_description(std::string(why));
  AddDetail(failure, &status);
  return status;
}

PreparedQueryRef MakePrepared(std::string token_bytes, const PreparedQueryToken& token,
                              sql::BoundQuery query) {
  const bool is_point = query.explain == sql::BoundQuery::Explain::kNo && !query.insert.has_value() &&
                        sql::IsPointQuery(*query.plan);
  return std::make_shared<const PreparedQuery>(PreparedQuery{
      std::move(token_bytes), token.instance, token.query, token.issued_micros, std::move(query), is_point});
}

constexpr std::string_view kTablesHaveChanged =
    "a table, view, schema bundle or series that it reads has changed";

}  // namespace

absl::StatusOr<std::unique_ptr<PreparedQueries>> PreparedQueries::Create(Tables* tables,
                                                                         sql::Dialect dialect) {
  absl::StatusOr<std::string> key = tables->catalog().Secret("query-tokens");
  if (!key.ok()) return key.status();
  return std::unique_ptr<PreparedQueries>(new PreparedQueries(tables, dialect, *std::move(key)));
}

absl::StatusOr<sql::BoundQuery> PreparedQueries::Bind(const std::string& instance, const std::string& text,
                                                      const std::vector<sql::QueryParameter>& parameters,
                                                      const Rights& rights) {
  sql::InstanceNames names(&tables_->catalog(), &bundles_, &series_, instance, dialect_, rights.may_read);
  names.AllowInserts(rights.may_write);
  return sql::ParseAndBind(text, names.Options(parameters));
}

absl::StatusOr<PreparedQueryRef> PreparedQueries::Prepare(const std::string& instance,
                                                          const std::string& text,
                                                          const std::vector<sql::QueryParameter>& parameters,
                                                          const Rights& rights) {
  absl::StatusOr<sql::BoundQuery> query = Bind(instance, text, parameters, rights);
  if (!query.ok()) return query.status();
  PreparedQueryToken token{.instance = instance, .query = text};
  for (const sql::QueryParameter& parameter : parameters) {
    google::bigtable::v2::Type type;
    sql::ToProto(parameter.type, &type);
    token.parameters.emplace_back(parameter.name, type.SerializeAsString());
  }
  token.fingerprint = FingerprintOf(query->tables, query->views, query->bundles, query->series);
  token.issued_micros = tables_->clock().NowMicros();
  PreparedQueryRef prepared = MakePrepared(tokens_.Write(token), token, *std::move(query));
  Keep(prepared);
  return prepared;
}

absl::StatusOr<PreparedQueryRef> PreparedQueries::Find(const std::string& instance, const std::string& token,
                                                       bool is_resumed, const Rights& rights) {
  PreparedQueryRef prepared = FindKept(token);
  if (prepared == nullptr) {
    const absl::StatusOr<PreparedQueryToken> read = tokens_.ReadPrepared(token);
    if (!read.ok()) return read.status();
    absl::StatusOr<PreparedQueryRef> bound = BindAgain(token, *read, rights);
    if (!bound.ok()) return bound.status();
    prepared = *std::move(bound);
  }
  for (const std::string& resource : prepared->query.named) {
    if (absl::Status status = rights.may_read(resource); !status.ok()) return status;
  }
  if (const auto& insert = prepared->query.insert; insert.has_value()) {
    if (absl::Status status = sql::CheckMayWrite(insert->series, rights.may_write); !status.ok())
      return status;
  }
  if (!IsCurrent(*prepared)) {
    return Expired(kTablesHaveChanged);
  }
  if (prepared->instance != instance) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'prepared_query' : The query was prepared for instance '{}', not '{}'",
                    prepared->instance, instance));
  }
  const int64_t age_micros = tables_->clock().NowMicros() - prepared->issued_micros;
  if (!is_resumed && age_micros > absl::ToInt64Microseconds(kValidFor)) {
    return Expired("it was prepared more than an hour ago");
  }
  return prepared;
}

absl::StatusOr<PreparedQueryRef> PreparedQueries::BindAgain(const std::string& token_bytes,
                                                            const PreparedQueryToken& token,
                                                            const Rights& rights) {
  std::vector<sql::QueryParameter> parameters;
  for (const auto& [name, bytes] : token.parameters) {
    google::bigtable::v2::Type type;
    if (!type.ParseFromString(bytes)) return absl::InternalError("A type of a prepared query cannot be read");
    absl::StatusOr<sql::Type> parsed = ParseParameterType(name, type);
    if (!parsed.ok()) return parsed.status();
    parameters.push_back({name, *std::move(parsed)});
  }
  absl::StatusOr<sql::BoundQuery> query = Bind(token.instance, token.query, parameters, rights);
  // What was bound once and is not now, is not because of its tables.
  if (absl::IsNotFound(query.status()) || absl::IsInvalidArgument(query.status())) {
    return Expired(kTablesHaveChanged);
  }
  if (!query.ok()) return query.status();
  if (FingerprintOf(query->tables, query->views, query->bundles, query->series) != token.fingerprint)
    return Expired(kTablesHaveChanged);
  PreparedQueryRef prepared = MakePrepared(token_bytes, token, *std::move(query));
  Keep(prepared);
  return prepared;
}

bool PreparedQueries::IsCurrent(const PreparedQuery& prepared) {
  std::vector<TableSchemaRef> now;
  bool are_same = true;
  for (const TableSchemaRef& table : prepared.query.tables) {
    // A table that a materialized view owns has the view's name, and stays as it is as long as there is the view.
    if (CheckMaterializedViewName(table->name).ok()) {
      if (tables_->catalog().FindById(table->id) == nullptr) return false;
      now.push_back(table);
      continue;
    }
    absl::StatusOr<TableSchemaRef> found = tables_->catalog().Find(table->name);
    if (!found.ok()) return false;
    are_same = are_same && *found == table;
    now.push_back(*std::move(found));
  }
  for (const LogicalViewRef& view : prepared.query.views) {
    if (CheckMaterializedViewName(view->name).ok()) continue;  // its table says so
    const absl::StatusOr<LogicalViewRef> found = tables_->catalog().FindLogicalView(view->name);
    if (!found.ok() || (*found != view && (*found)->query != view->query)) return false;
  }
  for (const sql::BundleUse& use : prepared.query.bundles) {
    const absl::StatusOr<SchemaBundleRef> found = tables_->catalog().FindBundle(use.name);
    if (!found.ok() || (*found)->etag != use.etag) return false;
  }
  for (const sql::FoundSeries& series : prepared.query.series) {
    if (!series_.IsCurrent(series)) return false;
  }
  return are_same || FingerprintOf(now, {}, {}, {}) == FingerprintOf(prepared.query.tables, {}, {}, {});
}

PreparedQueryRef PreparedQueries::FindKept(const std::string& token) {
  const absl::MutexLock lock(&mutex_);
  const auto found = by_token_.find(token);
  if (found == by_token_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found->second);
  return *found->second;
}

void PreparedQueries::Keep(PreparedQueryRef prepared) {
  const absl::MutexLock lock(&mutex_);
  if (by_token_.contains(prepared->token)) return;
  text_bytes_ += prepared->text.size();
  kept_.push_front(std::move(prepared));
  by_token_[kept_.front()->token] = kept_.begin();
  while (kept_.size() > 1 && (kept_.size() > kQueriesMax || text_bytes_ > kTextBytesMax)) {
    text_bytes_ -= kept_.back()->text.size();
    by_token_.erase(kept_.back()->token);
    kept_.pop_back();
  }
}

}  // namespace sonde
