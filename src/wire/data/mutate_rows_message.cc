#include "wire/data/mutate_rows_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "base/varint.h"
#include "model/limits.h"
#include "model/names.h"
#include "wire/call/requests.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

// A field of a message as it is written: number * 8 + 0 of a varint, + 2 of bytes.  All that are known here
// are below 16, and take a byte.
constexpr char Varint(int number) { return static_cast<char>(number << 3); }
constexpr char Bytes(int number) { return static_cast<char>(number << 3 | 2); }

// Takes the fields of a message from its front.  False, of each: it is not as expected.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  // Calls `take(tag) -> bool`, which takes the field, for each; false ends it.
  template <typename Take>
  bool TakeAll(const Take& take) {
    while (!rest_.empty()) {
      const char tag = rest_.front();
      rest_.remove_prefix(1);
      if (!take(tag)) return false;
    }
    return true;
  }
  // A field that may be there once; protobuf takes the last of several, or merges them.
  bool TakeBytes(std::string_view* bytes) { return bytes->data() == nullptr && TakeEach(bytes); }
  // One of several.
  bool TakeEach(std::string_view* bytes) {
    const size_t before = rest_.size();
    // Protobuf takes no length of more bytes than it needs.
    constexpr size_t kLengthBytesMax = 4;
    return GetBytes(&rest_, bytes) && before - rest_.size() - bytes->size() <= kLengthBytesMax;
  }
  bool TakeVarint(std::optional<uint64_t>* value) {
    uint64_t taken = 0;
    if (value->has_value() || !GetVarint(&rest_, &taken)) return false;
    *value = taken;
    return true;
  }

 private:
  std::string_view rest_;
};

// Bytes of a mutation that sets a cell: tags and lengths of mutation, cell and family, and one character of
// the family.
constexpr size_t kSetCellBytesMin = 7;

// Names are of ASCII, or else they are wrong, as text or as a name.
bool IsAscii(std::string_view text) {
  for (const char c : text) {
    if (!absl::ascii_isascii(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

struct PlainMessage {
  std::string_view table_name, authorized_view_name, app_profile_id;
  std::vector<std::string_view> entries;
};

bool ReadMessage(std::string_view bytes, PlainMessage* message) {
  using Message = pb::MutateRowsRequest;
  Fields fields(bytes);
  const bool plain = fields.TakeAll([&](char tag) {
    switch (tag) {
      case Bytes(Message::kTableNameFieldNumber):
        return fields.TakeBytes(&message->table_name);
      case Bytes(Message::kAuthorizedViewNameFieldNumber):
        return fields.TakeBytes(&message->authorized_view_name);
      case Bytes(Message::kAppProfileIdFieldNumber):
        return fields.TakeBytes(&message->app_profile_id);
      case Bytes(Message::kEntriesFieldNumber):
        return message->entries.size() < kMutationsPerRequestMax &&
               fields.TakeEach(&message->entries.emplace_back());
      default:
        return false;
    }
  });
  return plain && !message->entries.empty() && IsAscii(message->table_name) &&
         IsAscii(message->authorized_view_name) && IsAscii(message->app_profile_id);
}

bool ReadSetCell(std::string_view bytes, SetCell* cell) {
  using Message = pb::Mutation::SetCell;
  std::optional<uint64_t> timestamp_micros;
  Fields fields(bytes);
  const bool plain = fields.TakeAll([&](char tag) {
    switch (tag) {
      case Bytes(Message::kFamilyNameFieldNumber):
        return fields.TakeBytes(&cell->family);
      case Bytes(Message::kColumnQualifierFieldNumber):
        return fields.TakeBytes(&cell->qualifier);
      case Varint(Message::kTimestampMicrosFieldNumber):
        return fields.TakeVarint(&timestamp_micros);
      case Bytes(Message::kValueFieldNumber):
        return fields.TakeBytes(&cell->value);
      default:
        return false;
    }
  });
  cell->timestamp_micros = static_cast<int64_t>(timestamp_micros.value_or(0));
  return plain;
}

bool ReadMutation(std::string_view bytes, SetCell* cell) {
  using Message = pb::Mutation;
  std::string_view set_cell;
  std::optional<uint64_t> origin;
  Fields fields(bytes);
  const bool plain = fields.TakeAll([&](char tag) {
    switch (tag) {
      case Bytes(Message::kSetCellFieldNumber):
        return fields.TakeBytes(&set_cell);
      case Varint(Message::kTimestampOriginFieldNumber):
        return fields.TakeVarint(&origin);
      default:
        return false;
    }
  });
  cell->client_generated_timestamp = origin == uint64_t{Message::CLIENT_AUTO_GENERATED};
  return plain && origin.value_or(0) <= uint64_t{Message::TimestampOrigin_MAX} &&
         set_cell.data() != nullptr && ReadSetCell(set_cell, cell);
}

// An entry whose mutations are still to be read.
struct PlainEntry {
  std::string_view row_key;
  std::vector<std::string_view> mutations;
};

bool ReadEntry(std::string_view bytes, PlainEntry* entry) {
  using Message = pb::MutateRowsRequest::Entry;
  entry->row_key = {};
  entry->mutations.clear();
  Fields fields(bytes);
  const bool plain = fields.TakeAll([&](char tag) {
    switch (tag) {
      case Bytes(Message::kRowKeyFieldNumber):
        return fields.TakeBytes(&entry->row_key);
      case Bytes(Message::kMutationsFieldNumber):
        return entry->mutations.size() < kMutationsPerRequestMax &&
               fields.TakeEach(&entry->mutations.emplace_back());
      default:
        return false;
    }
  });
  return plain && !entry->mutations.empty() && CheckRowKey(entry->row_key).ok();
}

absl::Status CheckSize(const pb::MutateRowsRequest& request) {
  if (request.entries_size() > static_cast<int>(kMutationsPerRequestMax)) {
    return absl::InvalidArgumentError(fmt::format("Too many entries: {} provided; limit {}",
                                                  request.entries_size(), kMutationsPerRequestMax));
  }
  size_t count = 0;
  for (const pb::MutateRowsRequest::Entry& entry : request.entries()) count += entry.mutations_size();
  if (count == 0) return absl::InvalidArgumentError("No mutations provided");
  if (count <= kMutationsPerRequestMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("Too many mutations: {} provided; limit {}", count, kMutationsPerRequestMax));
}

// Where the mutations of each row begin, and how many there are, as long as more are added.
using Places = std::vector<std::pair<size_t, size_t>>;

void SetSpans(const Places& places, MutateRowsEntries* entries) {
  for (size_t i = 0; i < places.size(); ++i) {
    entries->rows[i].mutations =
        absl::MakeSpan(entries->mutations).subspan(places[i].first, places[i].second);
  }
}

}  // namespace

absl::Status MutateRowsMessage::Parse(rpc::MessageBytes* bytes, Admission::Place* place) {
  const absl::StatusOr<bool> plain = ReadPlain(bytes->view(), place);
  if (!plain.ok()) return plain.status();
  plain_ = *plain;
  if (!plain_) return parsed_.emplace().Parse(bytes, place);
  bytes_ = std::move(*bytes);  // which stay where they are
  return absl::OkStatus();
}

absl::StatusOr<bool> MutateRowsMessage::ReadPlain(std::string_view bytes, Admission::Place* place) {
  if (!ReadNames(bytes)) return false;
  const int64_t place_bytes = place->bytes();
  absl::StatusOr<bool> plain = ReadEntries(bytes.size() > kUncountedBytesMax ? place : nullptr, &entries_);
  if (plain.ok() && *plain) return true;
  entries_ = {};
  place->Resize(place_bytes).IgnoreError();  // to give back is no error
  return plain;
}

bool MutateRowsMessage::OpenPlain(std::string_view bytes) {
  plain_ = bytes.size() <= kUncountedBytesMax && ReadNames(bytes);
  return plain_;
}

bool MutateRowsMessage::ReadPlainEntries(MutateRowsEntries* entries) const {
  entries->Clear();
  const absl::StatusOr<bool> plain = ReadEntries(nullptr, entries);
  return plain.ok() && *plain;
}

bool MutateRowsMessage::ReadNames(std::string_view bytes) {
  PlainMessage message;
  if (!ReadMessage(bytes, &message)) return false;
  table_name_ = message.table_name;
  authorized_view_name_ = message.authorized_view_name;
  packed_entries_ = std::move(message.entries);
  return true;
}

absl::StatusOr<bool> MutateRowsMessage::ReadEntries(Admission::Place* place, MutateRowsEntries* out) const {
  PlainEntry entry;
  if (place != nullptr) {
    size_t mutations = 0;
    for (const std::string_view packed : packed_entries_) {
      if (!ReadEntry(packed, &entry)) return false;
      mutations += entry.mutations.size();
      if (mutations > kMutationsPerRequestMax) return false;
    }
    const size_t taken = mutations * (sizeof(Mutation) + sizeof(RowMutations));
    const absl::Status room = place->Resize(place->bytes() + static_cast<int64_t>(taken));
    if (!room.ok()) return room;
    out->mutations.reserve(mutations);
  }
  Places places;
  places.reserve(packed_entries_.size());
  out->rows.reserve(packed_entries_.size());
  out->entry_of_row.reserve(packed_entries_.size());
  std::string_view family;  // the last one that was checked: most are the same
  for (const std::string_view packed : packed_entries_) {
    if (!ReadEntry(packed, &entry)) return false;
    if (out->mutations.size() + entry.mutations.size() > kMutationsPerRequestMax) return false;
    if (places.empty() && place == nullptr) {
      out->mutations.reserve(
          std::min(packed_entries_.size() * entry.mutations.size(), kUncountedBytesMax / kSetCellBytesMin));
    }
    places.emplace_back(out->mutations.size(), entry.mutations.size());
    for (const std::string_view mutation : entry.mutations) {
      auto& cell = std::get<SetCell>(out->mutations.emplace_back(SetCell()));
      if (!ReadMutation(mutation, &cell)) return false;
      if (family.empty() || cell.family != family) {
        if (!CheckFamilyName(cell.family).ok()) return false;
        family = cell.family;
      }
      if (!CheckCell(cell).ok()) return false;
    }
    out->entry_of_row.push_back(out->rows.size());
    out->rows.push_back({entry.row_key, {}, std::nullopt});
  }
  SetSpans(places, out);
  out->statuses.resize(packed_entries_.size());
  return true;
}

absl::StatusOr<MutateRowsEntries> MutateRowsMessage::TakeEntries() {
  if (plain_) return std::move(entries_);
  const pb::MutateRowsRequest& request = parsed_->message();
  if (absl::Status status = CheckSize(request); !status.ok()) return status;
  MutateRowsEntries entries;
  entries.statuses.resize(request.entries_size());
  Places places;
  std::vector<Mutation> one;
  for (int i = 0; i < request.entries_size(); ++i) {
    const pb::MutateRowsRequest::Entry& entry = request.entries(i);
    absl::Status& status = entries.statuses[i];
    RowMutations row{entry.row_key(), {}, std::nullopt};
    status = CheckRowKey(entry.row_key());
    if (status.ok() && entry.has_idempotency())
      status = ParseIdempotency(entry.idempotency(), &row.idempotency);
    if (status.ok()) status = ParseMutations(entry.mutations(), /*may_be_empty=*/false, &one);
    if (!status.ok()) continue;
    places.emplace_back(entries.mutations.size(), one.size());
    entries.mutations.insert(entries.mutations.end(), one.begin(), one.end());
    entries.rows.push_back(row);
    entries.entry_of_row.push_back(i);
  }
  SetSpans(places, &entries);
  return entries;
}

}  // namespace sonde
