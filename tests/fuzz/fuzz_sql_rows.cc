// What a client of SQL reads from a server: any types are read or refused, and rows that are read are written as rows that are read as
// the same.
//   the length of a ProtoSchema (1 byte) and its bytes; then those of a ProtoRows.
#include <google/bigtable/v2/data.pb.h>
#include <google/protobuf/stubs/logging.h>

#include <string>
#include <string_view>
#include <vector>

#include "rows/batch.h"
#include "sql/message/proto_rows.h"
#include "sql/message/query_values.h"
#include "target.h"

namespace sonde::sql {
namespace {

namespace pb = google::bigtable::v2;

// The types of a schema; nothing: one of them is none.
std::vector<Type> TypesOf(std::string_view bytes) {
  pb::ProtoSchema schema;
  if (!schema.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
  std::vector<Type> types;
  for (const pb::ColumnMetadata& column : schema.columns()) {
    absl::StatusOr<Type> type = FromProto(column.type());
    if (!type.ok()) {
      Require(absl::IsInternal(type.status()), "the code of a refused type");
      return {};
    }
    pb::Type written;
    ToProto(*type, &written);
    const absl::StatusOr<Type> again = FromProto(written);
    Require(again.ok() && *again == *type, "a type that is written is read as the same");
    types.push_back(*std::move(type));
  }
  return types;
}

bool Append(const std::vector<Type>& types, std::string_view bytes, rows::HeldBatch* out) {
  pb::ProtoRows rows;
  if (!rows.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
  const absl::Status status = AppendRows(types, rows, out);
  Require(status.ok() || absl::IsInternal(status), "the code of refused rows");
  return status.ok();
}

std::string Write(const std::vector<Type>& types, const rows::HeldBatch& held) {
  rows::Batch batch;
  held.View(&batch);
  ProtoRowsWriter writer(types);
  for (size_t row = 0; row < batch.rows; ++row) writer.Append(batch, row);
  return writer.Take();
}

void CheckRows(const std::vector<Type>& types, std::string_view bytes) {
  std::vector<ColumnType> columns;
  for (const Type& type : types) columns.push_back(ColumnTypeOf(type));
  rows::HeldBatch first(columns);
  if (!Append(types, bytes, &first)) return;
  const std::string written = Write(types, first);
  rows::HeldBatch second(columns);
  Require(Append(types, written, &second), "rows that are written are read");
  Require(Write(types, second) == written, "as the same");
}

}  // namespace
}  // namespace sonde::sql

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Else a line for each field that is not UTF-8.
  static auto* const unused = google::protobuf::SetLogHandler(nullptr);
  (void)unused;
  sonde::InputReader input(data, size);
  const std::string_view schema = input.Bytes(input.Byte());
  const std::vector<sonde::sql::Type> types = sonde::sql::TypesOf(schema);
  if (!types.empty()) sonde::sql::CheckRows(types, input.Rest());
  return 0;
}
