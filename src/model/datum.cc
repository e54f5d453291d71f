#include "model/datum.h"

namespace sonde {

Datum CopyTo(Arena* arena, const Datum& datum) {
  if (!datum.is_there) return datum;
  if (datum.kind == Datum::Kind::kBytes) return Datum::Bytes(arena->Copy(datum.bytes()));
  if (datum.kind != Datum::Kind::kList) return datum;
  auto* const items = arena->New<Datum>(datum.size);
  for (size_t i = 0; i < datum.size; ++i) items[i] = CopyTo(arena, datum.items[i]);
  return Datum::List({items, datum.size});
}

}  // namespace sonde
