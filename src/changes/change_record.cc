#include "changes/change_record.h"

#include <algorithm>
#include <set>
#include <type_traits>
#include <variant>

#include "base/varint.h"
#include "model/limits.h"
#include "mutation/normalize.h"

namespace sonde {
namespace {

constexpr uint8_t kFirst = 1;
constexpr uint8_t kLast = 2;
constexpr uint8_t kGarbage = 4;
constexpr uint8_t kFlagsKnown = kFirst | kLast | kGarbage;
constexpr size_t kFlagsAt = 1;

// Kinds of mutations.  Stored in data: never renumber.
enum class Tag : uint8_t {
  kSetCell = 1,
  kAddToCell = 2,
  kMergeToCell = 3,
  kDeleteFromColumn = 4,
  kDeleteFromFamily = 5,
  kFirstChunk = 6,
  kNextChunk = 7,
};

// The input of an AddToCell, by the index of its variant.  Stored in data, too.
constexpr uint8_t kNoInput = 0;
constexpr uint8_t kNumberInput = 1;
constexpr uint8_t kBytesInput = 2;
using Input = decltype(AddToCell::input);
static_assert(std::is_same_v<std::variant_alternative_t<kNumberInput, Input>, int64_t> &&
              std::is_same_v<std::variant_alternative_t<kBytesInput, Input>, std::string_view>);

class Encoder {
 public:
  Encoder(const TableSchema& schema, ChangeKind kind, std::string_view row_key, int64_t now_micros)
      : schema_(schema), now_micros_(now_micros), flags_(kind == ChangeKind::kUser ? 0 : kGarbage) {
    Begin(kFirst);
    PutBytes(&pieces_.back(), row_key);
    start_bytes_ = pieces_.back().size();
  }

  void Take(const Mutation& mutation) {
    std::visit(
        [this](const auto& m) {
          if constexpr (requires { m.family; }) {
            if (is_row_deleted_) changed_families_.insert(m.family);
          }
          Put(m);
        },
        mutation);
  }

  std::vector<std::string> Finish() {
    pieces_.back()[kFlagsAt] = static_cast<char>(pieces_.back()[kFlagsAt] | kLast);
    return std::move(pieces_);
  }

 private:
  void Begin(uint8_t flags) {
    std::string& piece = pieces_.emplace_back();
    piece.push_back(kChangeRecordFormat);
    piece.push_back(static_cast<char>(flags_ | flags));
    start_bytes_ = piece.size();
  }

  std::string* Start(Tag tag) {
    if (pieces_.back().size() >= kChangePieceBytes) Begin(0);
    pieces_.back().push_back(static_cast<char>(tag));
    return &pieces_.back();
  }

  void PutColumn(Tag tag, std::string_view family, std::string_view qualifier) {
    std::string* out = Start(tag);
    PutBytes(out, family);
    PutBytes(out, qualifier);
  }

  int64_t Resolved(int64_t micros) const {
    return TruncateToGranularity(schema_, micros == kServerTimestamp ? now_micros_ : micros);
  }
  void PutTime(int64_t micros) { PutVarint(&pieces_.back(), ZigZag(Resolved(micros))); }

  void Put(const SetCell& m) {
    if (m.value.size() > kChangePieceBytes) return PutChunks(m);
    // A piece of mutations is ended early rather than made twice as long.
    if (pieces_.back().size() > start_bytes_ && pieces_.back().size() + m.value.size() > kChangePieceBytes) {
      Begin(0);
    }
    PutColumn(Tag::kSetCell, m.family, m.qualifier);
    PutTime(m.timestamp_micros);
    PutBytes(&pieces_.back(), m.value);
  }

  void PutChunks(const SetCell& m) {
    for (size_t offset = 0; offset < m.value.size(); offset += kChangePieceBytes) {
      if (pieces_.back().size() > start_bytes_) Begin(0);
      if (offset == 0) {
        PutColumn(Tag::kFirstChunk, m.family, m.qualifier);
        PutTime(m.timestamp_micros);
      } else {
        Start(Tag::kNextChunk);
      }
      std::string* out = &pieces_.back();
      PutVarint(out, m.value.size());
      PutVarint(out, offset);
      PutBytes(out, m.value.substr(offset, kChangePieceBytes));
    }
  }

  void Put(const AddToCell& m) {
    PutColumn(Tag::kAddToCell, m.family, m.qualifier);
    PutTime(m.timestamp_micros);
    std::string* out = &pieces_.back();
    out->push_back(static_cast<char>(m.input.index()));
    if (const auto* number = std::get_if<int64_t>(&m.input)) PutVarint(out, ZigZag(*number));
    if (const auto* bytes = std::get_if<std::string_view>(&m.input)) PutBytes(out, *bytes);
  }

  void Put(const MergeToCell& m) {
    if (!m.state.has_value()) return;  // it changes nothing
    PutColumn(Tag::kMergeToCell, m.family, m.qualifier);
    PutTime(m.timestamp_micros);
    PutBytes(&pieces_.back(), *m.state);
  }

  void Put(const DeleteFromColumn& m) {
    PutColumn(Tag::kDeleteFromColumn, m.family, m.qualifier);
    PutVarint(&pieces_.back(), static_cast<uint64_t>(m.time_range.start_micros));
    PutVarint(&pieces_.back(), static_cast<uint64_t>(m.time_range.end_micros));
  }

  void Put(const DeleteFromFamily& m) { PutBytes(Start(Tag::kDeleteFromFamily), m.family); }

  void Put(const DeleteFromRow&) {
    if (is_row_deleted_) {
      for (const std::string_view family : changed_families_) Put(DeleteFromFamily{family});
    } else {
      for (const FamilySchema& family : schema_.families) Put(DeleteFromFamily{family.name});
    }
    is_row_deleted_ = true;
    changed_families_.clear();
  }

  const TableSchema& schema_;
  const int64_t now_micros_;
  const uint8_t flags_;
  std::vector<std::string> pieces_;
  size_t start_bytes_ = 0;  // of the last piece, before its first mutation
  bool is_row_deleted_ = false;
  std::set<std::string_view> changed_families_;  // since then
};

bool GetSigned(std::string_view* in, int64_t* value) {
  uint64_t bits = 0;
  if (!GetVarint(in, &bits)) return false;
  *value = UnZigZag(bits);
  return true;
}

template <typename CellMutation>
bool GetCell(std::string_view* in, CellMutation* m) {
  return GetBytes(in, &m->family) && GetBytes(in, &m->qualifier) && GetSigned(in, &m->timestamp_micros);
}

bool GetInput(std::string_view* in, AddToCell* m) {
  if (in->empty()) return false;
  const auto kind = static_cast<uint8_t>(in->front());
  in->remove_prefix(1);
  int64_t number = 0;
  std::string_view bytes;
  switch (kind) {
    case kNoInput:
      return true;
    case kNumberInput:
      if (!GetSigned(in, &number)) return false;
      m->input = number;
      return true;
    case kBytesInput:
      if (!GetBytes(in, &bytes)) return false;
      m->input = bytes;
      return true;
    default:
      return false;
  }
}

bool GetChunk(std::string_view* in, SetCell* m, LoggedMutation* out) {
  ValueChunk chunk;
  if (!GetVarint(in, &chunk.value_bytes) || !GetVarint(in, &chunk.offset) || !GetBytes(in, &m->value))
    return false;
  if (chunk.value_bytes > kMessageBytesMax || chunk.offset > chunk.value_bytes ||
      m->value.size() > chunk.value_bytes - chunk.offset) {
    return false;
  }
  chunk.last = chunk.offset + m->value.size() == chunk.value_bytes;
  out->mutation = *m;
  out->chunk = chunk;
  return true;
}

bool GetMutation(std::string_view* in, LoggedMutation* out) {
  const auto tag = static_cast<Tag>(in->front());
  in->remove_prefix(1);
  const auto take = [out](bool complete, const auto& m) {
    if (complete) out->mutation = m;
    return complete;
  };
  switch (tag) {
    case Tag::kSetCell: {
      SetCell m;
      return take(GetCell(in, &m) && GetBytes(in, &m.value), m);
    }
    case Tag::kAddToCell: {
      AddToCell m;
      return take(GetCell(in, &m) && GetInput(in, &m), m);
    }
    case Tag::kMergeToCell: {
      MergeToCell m;
      return take(GetCell(in, &m) && GetBytes(in, &m.state.emplace()), m);
    }
    case Tag::kDeleteFromColumn: {
      DeleteFromColumn m;
      uint64_t start = 0, end = 0;
      const bool complete = GetBytes(in, &m.family) && GetBytes(in, &m.qualifier) && GetVarint(in, &start) &&
                            GetVarint(in, &end);
      m.time_range = {static_cast<int64_t>(start), static_cast<int64_t>(end)};
      return take(complete, m);
    }
    case Tag::kDeleteFromFamily: {
      DeleteFromFamily m;
      return take(GetBytes(in, &m.family), m);
    }
    case Tag::kFirstChunk: {
      SetCell m;
      return GetCell(in, &m) && GetChunk(in, &m, out);
    }
    case Tag::kNextChunk: {
      SetCell m;
      return GetChunk(in, &m, out);
    }
  }
  return false;
}

absl::Status Damaged() { return absl::DataLossError("A record of the change log is damaged"); }

bool GetHead(std::string_view* in, ChangePieceHead* head, ChangeKind* kind) {
  if (in->size() < 2 || in->front() != kChangeRecordFormat) return false;
  const auto flags = static_cast<uint8_t>((*in)[kFlagsAt]);
  if ((flags & ~kFlagsKnown) != 0) return false;
  in->remove_prefix(2);
  head->first = (flags & kFirst) != 0;
  head->last = (flags & kLast) != 0;
  head->row_key = {};
  *kind = (flags & kGarbage) != 0 ? ChangeKind::kGarbageCollection : ChangeKind::kUser;
  return !head->first || GetBytes(in, &head->row_key);
}

}  // namespace

std::vector<std::string> EncodeChange(const TableSchema& schema, ChangeKind kind, std::string_view row_key,
                                      absl::Span<const Mutation> mutations, int64_t now_micros) {
  Encoder encoder(schema, kind, row_key, now_micros);
  for (const Mutation& mutation : mutations) encoder.Take(mutation);
  return encoder.Finish();
}

absl::Status DecodeChangePiece(std::string_view bytes, ChangePiece* piece) {
  ChangePieceHead head;
  if (!GetHead(&bytes, &head, &piece->kind)) return Damaged();
  piece->first = head.first;
  piece->last = head.last;
  piece->row_key = head.row_key;
  piece->mutations.clear();
  while (!bytes.empty()) {
    if (!GetMutation(&bytes, &piece->mutations.emplace_back())) return Damaged();
  }
  return absl::OkStatus();
}

absl::Status DecodeChangePieceHead(std::string_view bytes, ChangePieceHead* head) {
  ChangeKind kind;
  return GetHead(&bytes, head, &kind) ? absl::OkStatus() : Damaged();
}

}  // namespace sonde
