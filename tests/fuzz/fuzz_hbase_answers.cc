// What comes from HBase's servers.  First byte: what the rest is taken for.  Nothing may be read beyond it, and damage is DATA_LOSS.
#include <algorithm>
#include <string>
#include <vector>

#include "hbase/wire/cell_block.h"
#include "hbase/wire/change_messages.h"
#include "hbase/wire/frames.h"
#include "hbase/wire/read_messages.h"
#include "hbase/wire/table_messages.h"
#include "target.h"

namespace sonde::hbase {
namespace {

template <typename Result>
void RequireOkOrDataLoss(const Result& result) {
  Require(result.ok() || absl::IsDataLoss(result.status()), "damage is DATA_LOSS");
}

bool IsWithin(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

// Cells up to the first that is none; what was read is written as it was.
std::vector<Cell> ReadCells(std::string_view block) {
  std::vector<Cell> cells;
  std::string again;
  CellReader reader(block);
  while (!reader.is_at_end()) {
    const absl::StatusOr<Cell> cell = reader.Next();
    RequireOkOrDataLoss(cell);
    if (!cell.ok()) break;
    for (const std::string_view part : {cell->row, cell->family, cell->qualifier, cell->value}) {
      Require(IsWithin(part, block), "a cell lies within its block");
    }
    cells.push_back(*cell);
    if (cell->family.size() <= kFamilyBytesMax) AppendCell(&again, *cell);
  }
  Require(again.size() <= block.size(), "cells have one form");
  return cells;
}

void ReadStream(InputReader* input) {
  FrameCutter cutter;
  while (!input->IsEmpty()) {
    cutter.Add(input->Bytes(1 + input->Byte()));
    while (true) {
      absl::StatusOr<std::optional<std::string>> frame = cutter.Next();
      RequireOkOrDataLoss(frame);
      if (!frame.ok()) return;
      if (!frame->has_value()) break;
      const absl::StatusOr<Answer> answer = ParseAnswer(**std::move(frame));
      RequireOkOrDataLoss(answer);
      if (answer.ok()) ReadCells(answer->cells());
    }
  }
}

void Fuzz(InputReader input) {
  const int kind = input.Byte() % 8;
  if (kind == 0) return ReadStream(&input);
  const std::string rest(input.Rest());
  if (kind == 1) {
    RequireOkOrDataLoss(ParseMetaRow(ReadCells(rest)));
  } else if (kind == 2) {
    RequireOkOrDataLoss(ParseScan(rest));
    RequireOkOrDataLoss(ParseGet(rest));
  } else if (kind == 3) {
    const RowChange put{"a", {}, {{"a", "d", "q", 1, CellType::kPut, "v"}}};
    RowChange whole{"b", {{"b", "d", "q", 1, CellType::kDeleteCell}}, {}};
    whole.guard = Guard{"v", "n", "x"};
    ChangesMessage asked(false);
    asked.Add("region", {{&put, &whole}});
    const absl::StatusOr<std::vector<ChangeOutcome>> outcomes = asked.ParseOutcomes(rest);
    RequireOkOrDataLoss(outcomes);
    if (outcomes.ok()) Require(outcomes->size() == 2, "each change has an outcome");
  } else if (kind == 4) {
    RequireOkOrDataLoss(ParseActiveMaster(rest));
    RequireOkOrDataLoss(ParseMetaServer(rest));
  } else if (kind == 5) {
    RequireOkOrDataLoss(ParseProcedure(rest));
    RequireOkOrDataLoss(ParseProcedureState(rest));
    RequireOkOrDataLoss(ParseSnapshotProcedure(rest));
    RequireOkOrDataLoss(ParseSnapshots(rest));
    RequireOkOrDataLoss(ParseRegionState(rest));
  } else if (kind == 6) {
    RequireOkOrDataLoss(ParseTableSchemas(rest));
    RequireOkOrDataLoss(ParseClusterState(rest));
    RequireOkOrDataLoss(ParseNamespaces(rest));
  } else {
    const size_t name_bytes = rest.empty() ? 0 : static_cast<unsigned char>(rest[0]);
    const Failure failure =
        FailureOfException(rest.substr(0, name_bytes), rest.substr(std::min(name_bytes, rest.size())));
    Require(!StatusOf(failure, true).ok() && failure.wait_min >= absl::ZeroDuration(),
            "an exception is a failure");
  }
}

}  // namespace
}  // namespace sonde::hbase

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sonde::hbase::Fuzz(sonde::InputReader(data, size));
  return 0;
}
