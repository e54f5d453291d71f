// Queries, and views as what is read, over the wire.
#include "wire/grpc_server_test_support.h"

namespace sonde {
namespace {

TEST_F(GrpcServerTest, QueriesAreCheckedFieldByField) {
  Start();
  const auto prepare = [&](const pb::PrepareQueryRequest& request) {
    grpc::ClientContext context;
    pb::PrepareQueryResponse response;
    return data_->PrepareQuery(&context, request, &response);
  };
  const auto execute = [&](const pb::ExecuteQueryRequest& request) {
    return List<pb::ExecuteQueryResponse>(&pb::Bigtable::Stub::ExecuteQuery, request);
  };
  pb::PrepareQueryRequest prepared;
  EXPECT_EQ(prepare(prepared).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  prepared.set_instance_name(kInstance);
  ExpectInvalid(prepare(prepared), "Error in field 'query' : It is empty");
  prepared.set_query("SELECT 1");
  (*prepared.mutable_param_types())["p"].mutable_struct_type();
  ExpectInvalid(prepare(prepared),
                "Error in field 'param_types' : Parameter 'p' has a type that parameters cannot have");
  pb::ExecuteQueryRequest query;
  query.set_instance_name(kInstance);
  ExpectInvalid(execute(query), "Exactly one of query and prepared_query must be set");
  query.set_prepared_query("bytes");
  ExpectInvalid(
      execute(query),
      "Error in field 'prepared_query' : The bytes are no prepared query of this server; prepare the query "
      "again");
}

// A query for one row is answered where it came in; one that turns out long begins again elsewhere.
TEST_F(GrpcServerTest, PointQueriesAreAnsweredHoweverLongTheyAre) {
  Start();
  auto write = OfTable<pb::MutateRowRequest>();
  write.set_row_key("row");
  auto* const cell = write.add_mutations()->mutable_set_cell();
  cell->set_family_name("f");
  cell->set_column_qualifier("q");
  cell->set_value(std::string(kMegabyte, 'x'));
  ASSERT_TRUE(Call<pb::MutateRowResponse>(data_.get(), &pb::Bigtable::Stub::MutateRow, write).ok());
  const auto ask = [&](const std::string& sql) {
    pb::PrepareQueryRequest prepare;
    prepare.set_instance_name(kInstance);
    prepare.set_query(sql);
    grpc::ClientContext prepare_context;
    pb::PrepareQueryResponse prepared;
    EXPECT_TRUE(data_->PrepareQuery(&prepare_context, prepare, &prepared).ok());
    pb::ExecuteQueryRequest query;
    query.set_instance_name(kInstance);
    query.set_prepared_query(prepared.prepared_query());
    grpc::ClientContext context;
    auto reader = data_->ExecuteQuery(&context, query);
    pb::ExecuteQueryResponse response;
    std::string batch;
    bool has_token = false;
    while (reader->Read(&response)) {
      batch += response.results().proto_rows_batch().batch_data();
      has_token = !response.results().resume_token().empty();
    }
    const grpc::Status status = reader->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    pb::ProtoRows rows;
    EXPECT_TRUE(rows.ParseFromString(batch));
    EXPECT_EQ(has_token, rows.values_size() > 0);
    std::string text;
    for (const pb::Value& value : rows.values()) text += std::to_string(value.int_value()) + " ";
    return text;
  };
  EXPECT_EQ(ask("SELECT LENGTH(f['none']), 7 FROM t WHERE _key = 'row'"), "0 7 ");
  EXPECT_EQ(ask("SELECT 7 FROM t WHERE _key = 'other'"), "");
  EXPECT_EQ(ask("SELECT LENGTH(f['q']) FROM t WHERE _key = 'row'"), "1000000 ");
  EXPECT_EQ(ask("SELECT ARRAY_LENGTH(ARRAY_FILTER(GENERATE_ARRAY(1, DIV(LENGTH(f['q']), 1000)), e -> "
                "ARRAY_LENGTH(GENERATE_ARRAY(1, e)) > 900)) FROM t WHERE _key = 'row'"),
            "100 ");
}

TEST_F(GrpcServerTest, ViewParametersComeWithTheExecution) {
  Start();
  ASSERT_TRUE(WriteRow("alice", 1, 10).ok());
  ASSERT_TRUE(WriteRow("bob", 1, 10).ok());
  pb::PrepareQueryRequest prepare;
  prepare.set_instance_name(kInstance);
  prepare.set_query(
      "SELECT CAST(_key AS STRING) FROM t WHERE _key = CAST(VIEW_PARAMETERS('user_id') AS BYTES)");
  grpc::ClientContext prepare_context;
  pb::PrepareQueryResponse prepared;
  ASSERT_TRUE(data_->PrepareQuery(&prepare_context, prepare, &prepared).ok());
  std::string token;
  const auto ask = [&](const char* user_id, const std::string& resume_token) {
    pb::ExecuteQueryRequest query;
    query.set_instance_name(kInstance);
    query.set_prepared_query(prepared.prepared_query());
    query.set_resume_token(resume_token);
    if (user_id != nullptr) (*query.mutable_view_parameters())["user_id"].set_string_value(user_id);
    grpc::ClientContext context;
    const auto reader = data_->ExecuteQuery(&context, query);
    pb::ExecuteQueryResponse response;
    std::string batch;
    while (reader->Read(&response)) {
      batch += response.results().proto_rows_batch().batch_data();
      token = response.results().resume_token();
    }
    if (const grpc::Status status = reader->Finish(); !status.ok()) return status.error_message();
    pb::ProtoRows rows;
    EXPECT_TRUE(rows.ParseFromString(batch));
    std::string text;
    for (const pb::Value& value : rows.values()) text += value.string_value() + " ";
    return text;
  };
  EXPECT_EQ(ask(nullptr, ""), "");
  EXPECT_EQ(ask("bob", ""), "bob ");
  EXPECT_EQ(ask("alice", ""), "alice ");
  EXPECT_EQ(ask("alice", token), "");
  EXPECT_EQ(ask("bob", token),
            "Error in field 'resume_token' : The request is not the one whose results the token is of");
}

TEST_F(GrpcServerTest, AMaterializedViewIsReadAsATableOnceItIsComplete) {
  Start();
  const std::string name = "projects/p/instances/i/materializedViews/m";
  TableSchema shown;
  shown.families = {{.name = "default"}};
  const absl::StatusOr<MaterializedViewRef> view = catalog_->CreateMaterializedView(
      {.name = name,
       .query = "any",
       .source = {.table = kTable, .table_id = (*catalog_->Find(kTable))->id},
       .storage = std::make_shared<const TableSchema>(shown),
       .workings = std::make_shared<const TableSchema>(shown)});
  ASSERT_TRUE(view.ok()) << view.status();
  pb::ReadRowsRequest read;
  read.set_materialized_view_name(name);
  pb::SampleRowKeysRequest samples;
  samples.set_materialized_view_name(name);
  const auto expect = [](const grpc::Status& status, grpc::StatusCode code, const std::string& text) {
    EXPECT_EQ(status.error_code(), code);
    EXPECT_EQ(status.error_message(), text);
  };
  const std::string incomplete = "Materialized view " + name + " does not have all rows of its table yet";
  expect(List<pb::ReadRowsResponse>(&pb::Bigtable::Stub::ReadRows, read),
         grpc::StatusCode::FAILED_PRECONDITION, incomplete);
  expect(List<pb::SampleRowKeysResponse>(&pb::Bigtable::Stub::SampleRowKeys, samples),
         grpc::StatusCode::FAILED_PRECONDITION, incomplete);
  const auto complete = [](MaterializedViewRecord* record) {
    record->state = MaterializedViewRecord::State::kReady;
  };
  ASSERT_TRUE(catalog_->UpdateMaterializedView(name, "", complete).ok());
  FamilyDelta cells{.family = (*view)->storage->families[0].id};
  cells.puts = {{"n", 0, "7"}};
  const RowChange row{.row_key = "k", .delta = {.families = {cells}}};
  ASSERT_EQ(engine_->Apply((*view)->storage->id, {&row, 1}), absl::OkStatus());
  grpc::ClientContext context;
  const auto rows = data_->ReadRows(&context, read);
  pb::ReadRowsResponse response;
  ASSERT_TRUE(rows->Read(&response));
  EXPECT_EQ(response.chunks(0).row_key(), "k");
  EXPECT_EQ(response.chunks(0).family_name().value(), "default");
  EXPECT_EQ(response.chunks(0).value(), "7");
  while (rows->Read(&response)) {
  }
  EXPECT_TRUE(rows->Finish().ok());
  EXPECT_TRUE(List<pb::SampleRowKeysResponse>(&pb::Bigtable::Stub::SampleRowKeys, samples).ok());
  read.set_table_name(kTable);
  ExpectInvalid(List<pb::ReadRowsResponse>(&pb::Bigtable::Stub::ReadRows, read),
                "Only one of table_name, authorized_view_name and materialized_view_name may be set");
  read.clear_table_name();
  read.set_materialized_view_name(name + "-not");
  expect(List<pb::ReadRowsResponse>(&pb::Bigtable::Stub::ReadRows, read), grpc::StatusCode::NOT_FOUND,
         "Materialized view not found: " + name + "-not");
}

}  // namespace
}  // namespace sonde
