// A table's record: JSON, so that a person can read it (docs/formats/data-directory.md).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/table_schema.h"

namespace sonde {

struct TableRecord {
  TableSchema schema;
  FamilyId next_family_id = 1;
};

std::string EncodeTableRecord(const TableRecord& record);
// DATA_LOSS: the bytes are no table's record.
absl::StatusOr<TableRecord> DecodeTableRecord(std::string_view bytes);

}  // namespace sonde
