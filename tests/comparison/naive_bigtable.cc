#include "naive_bigtable.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <vector>

#include "base/bytes.h"
#include "hll/hll_sketch.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
namespace pb = google::bigtable::v2;
using absl::StatusCode;

constexpr size_t kRowKeyBytesMax = 4 * 1024;
constexpr size_t kQualifierBytesMax = 16 * 1024;
constexpr size_t kIdempotencyTokenBytesMin = 8;

bool IsRowKey(const std::string& key) { return !key.empty() && key.size() <= kRowKeyBytesMax; }

bool IsFamilyName(const std::string& name) {
  static const RE2 regex("[-_.a-zA-Z0-9]{1,64}");
  return RE2::FullMatch(name, regex);
}

bool IsNull(const pb::Value& value) { return value.kind_case() == pb::Value::KIND_NOT_SET; }

int64_t Decode(const std::string& state) {
  uint64_t number = 0;
  for (const char byte : state) number = number << 8 | static_cast<unsigned char>(byte);
  return static_cast<int64_t>(number);
}

std::string Encode(int64_t number) {
  std::string state;
  for (int shift = 56; shift >= 0; shift -= 8) {
    state += static_cast<char>(static_cast<uint64_t>(number) >> shift);
  }
  return state;
}

int64_t WrappingSum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// `versions_before`: newer cells of the column.
bool Forgets(const admin::GcRule& rule, int64_t now_micros, int64_t timestamp_micros, int versions_before) {
  const auto forgets = [&](const admin::GcRule& each) {
    return Forgets(each, now_micros, timestamp_micros, versions_before);
  };
  switch (rule.rule_case()) {
    case admin::GcRule::kMaxNumVersions:
      return versions_before >= rule.max_num_versions();
    case admin::GcRule::kMaxAge:
      return now_micros - timestamp_micros >
             rule.max_age().seconds() * 1'000'000 + rule.max_age().nanos() / 1'000;
    case admin::GcRule::kIntersection: {
      const auto& rules = rule.intersection().rules();
      return !rules.empty() && std::all_of(rules.begin(), rules.end(), forgets);
    }
    case admin::GcRule::kUnion:
      return std::any_of(rule.union_().rules().begin(), rule.union_().rules().end(), forgets);
    case admin::GcRule::RULE_NOT_SET:
      return false;
  }
  return false;
}

bool Contains(const pb::RowRange& range, const std::string& key) {
  if (range.has_start_key_closed() && key < range.start_key_closed()) return false;
  if (range.has_start_key_open() && key <= range.start_key_open()) return false;
  // An empty end is infinity.
  if (!range.end_key_closed().empty() && key > range.end_key_closed()) return false;
  if (!range.end_key_open().empty() && key >= range.end_key_open()) return false;
  return true;
}

bool IsRange(const pb::RowRange& range) {
  const std::string& start = range.has_start_key_open() ? range.start_key_open() : range.start_key_closed();
  const std::string& end = range.has_end_key_closed() ? range.end_key_closed() : range.end_key_open();
  // The end of a range may be the key that comes right after the longest one.
  if (start.size() > kRowKeyBytesMax + 1 || end.size() > kRowKeyBytesMax + 1) return false;
  if (end.empty() || start < end) return true;
  return start == end && !range.has_start_key_open() && range.has_end_key_closed();
}

// What a mutation says by itself; what the table says of it comes after, for all mutations of a request.
bool IsWellFormed(const pb::Mutation& mutation) {
  const auto is_column = [](const std::string& family, const std::string& qualifier) {
    return IsFamilyName(family) && qualifier.size() <= kQualifierBytesMax;
  };
  const auto is_time = [](int64_t micros) { return micros >= -1; };
  if (!pb::Mutation::TimestampOrigin_IsValid(mutation.timestamp_origin())) return false;
  const auto is_aggregate = [&](const auto& m) {
    return m.column_qualifier().has_raw_value() && m.timestamp().has_raw_timestamp_micros() &&
           is_column(m.family_name(), m.column_qualifier().raw_value()) &&
           is_time(m.timestamp().raw_timestamp_micros());
  };
  switch (mutation.mutation_case()) {
    case pb::Mutation::kSetCell: {
      const pb::Mutation::SetCell& m = mutation.set_cell();
      return is_column(m.family_name(), m.column_qualifier()) && is_time(m.timestamp_micros());
    }
    case pb::Mutation::kAddToCell: {
      const pb::Value& input = mutation.add_to_cell().input();
      return is_aggregate(mutation.add_to_cell()) && (input.has_int_value() || IsNull(input));
    }
    case pb::Mutation::kMergeToCell: {
      const pb::Value& input = mutation.merge_to_cell().input();
      return is_aggregate(mutation.merge_to_cell()) &&
             (input.has_bytes_value() || input.has_raw_value() || IsNull(input));
    }
    case pb::Mutation::kDeleteFromColumn: {
      const pb::Mutation::DeleteFromColumn& m = mutation.delete_from_column();
      const int64_t start = m.time_range().start_timestamp_micros();
      const int64_t end = m.time_range().end_timestamp_micros();
      return is_column(m.family_name(), m.column_qualifier()) && start >= 0 && end >= 0 &&
             (end == 0 || start < end);
    }
    case pb::Mutation::kDeleteFromFamily:
      return IsFamilyName(mutation.delete_from_family().family_name());
    case pb::Mutation::kDeleteFromRow:
      return true;
    case pb::Mutation::MUTATION_NOT_SET:
      break;
  }
  return false;
}

template <typename Mutations>
bool AreWellFormed(const Mutations& mutations) {
  return std::all_of(mutations.begin(), mutations.end(), IsWellFormed);
}

std::string Text(const std::string& row_key, const NaiveRow& row) {
  std::ostringstream text;
  for (const NaiveCell& cell : row) {
    text << Printable(row_key) << ' ' << Printable(cell.family) << ':' << Printable(cell.qualifier) << '@'
         << cell.timestamp_micros << '=' << Printable(cell.value);
    if (!cell.label.empty()) text << " label " << cell.label;
    text << '\n';
  }
  return text.str();
}

}  // namespace

NaiveBigtable::NaiveBigtable(const admin::Table& table, bool is_shared)
    : table_(table), is_shared_(is_shared) {}

Outcome NaiveBigtable::Do(const Request& request, int64_t now_micros) {
  now_micros_ = now_micros;
  return std::visit([this](const auto& message) { return Do(message); }, request);
}

// --- Writes.

int64_t NaiveBigtable::Truncated(int64_t micros) const {
  return table_.granularity() == admin::Table::MICROS ? micros : micros - micros % 1000;
}

int64_t NaiveBigtable::WriteTime(const std::string& row_key,
                                 std::initializer_list<const Mutations*> branches) const {
  constexpr int64_t kClocksDifferMicros = 10'000'000;
  int64_t time = now_micros_;
  const auto row = rows_.find(row_key);
  if (!is_shared_ || row == rows_.end()) return time;
  const auto see = [&](const std::string& family, const std::string& qualifier, int64_t asked) {
    const auto column = row->second.find({family, qualifier});
    if (asked != -1 || column == row->second.end()) return;
    for (const auto& [timestamp_micros, value] : column->second) {
      if (timestamp_micros - now_micros_ <= kClocksDifferMicros) time = std::max(time, timestamp_micros);
    }
  };
  const auto see_aggregate = [&](const auto& m) {
    see(m.family_name(), m.column_qualifier().raw_value(), m.timestamp().raw_timestamp_micros());
  };
  for (const Mutations* const mutations : branches) {
    for (const pb::Mutation& mutation : *mutations) {
      const pb::Mutation::SetCell& set = mutation.set_cell();
      if (mutation.has_set_cell()) see(set.family_name(), set.column_qualifier(), set.timestamp_micros());
      if (mutation.has_add_to_cell()) see_aggregate(mutation.add_to_cell());
      if (mutation.has_merge_to_cell()) see_aggregate(mutation.merge_to_cell());
    }
  }
  return time;
}

StatusCode NaiveBigtable::Resolve(int64_t* timestamp_micros, bool truncate) const {
  if (*timestamp_micros == -1) {
    *timestamp_micros = Truncated(write_micros_);
    return StatusCode::kOk;
  }
  const int64_t truncated = Truncated(*timestamp_micros);
  if (truncated != *timestamp_micros && !truncate) return StatusCode::kInvalidArgument;
  *timestamp_micros = truncated;
  return StatusCode::kOk;
}

StatusCode NaiveBigtable::Apply(const pb::Mutation::SetCell& set, bool truncate, Row* row) const {
  const auto family = table_.column_families().find(set.family_name());
  if (family == table_.column_families().end()) return StatusCode::kNotFound;
  if (family->second.value_type().has_aggregate_type()) return OtherKind();
  int64_t timestamp_micros = set.timestamp_micros();
  if (const StatusCode code = Resolve(&timestamp_micros, truncate); code != StatusCode::kOk) return code;
  (*row)[{set.family_name(), set.column_qualifier()}][timestamp_micros] = set.value();
  return StatusCode::kOk;
}

template <typename AddOrMerge>
StatusCode NaiveBigtable::Combine(const AddOrMerge& mutation, bool truncate, Row* row) const {
  constexpr bool kIsAdd = std::is_same_v<AddOrMerge, pb::Mutation::AddToCell>;
  const pb::Value& input = mutation.input();
  const auto family = table_.column_families().find(mutation.family_name());
  if (family == table_.column_families().end()) return StatusCode::kNotFound;
  if (!family->second.value_type().has_aggregate_type()) return OtherKind();
  const std::string& state = input.has_raw_value() ? input.raw_value() : input.bytes_value();
  int64_t timestamp_micros = mutation.timestamp().raw_timestamp_micros();
  if (const StatusCode code = Resolve(&timestamp_micros, truncate); code != StatusCode::kOk) return code;
  if (IsNull(input) && !kIsAdd) return StatusCode::kOk;  // merges nothing
  if (family->second.value_type().aggregate_type().has_hllpp_unique_count()) {
    HllSketch sketch(AggregateKind::kHllInt64);
    if (kIsAdd && !IsNull(input)) sketch = HllSketch::Of(input.int_value());
    if (!kIsAdd) {
      const absl::StatusOr<HllSketch> parsed = HllSketch::Parse(AggregateKind::kHllInt64, state);
      if (!parsed.ok()) return StatusCode::kInvalidArgument;
      sketch = *parsed;
    }
    std::string& cell =
        (*row)[{mutation.family_name(), mutation.column_qualifier().raw_value()}][timestamp_micros];
    if (!cell.empty()) sketch.Merge(*HllSketch::Parse(AggregateKind::kHllInt64, cell));
    cell = sketch.Serialize();
    return StatusCode::kOk;
  }
  if (!kIsAdd && state.size() != 8) return StatusCode::kInvalidArgument;
  const int64_t number = kIsAdd ? input.int_value() : Decode(state);
  Cells& cells = (*row)[{mutation.family_name(), mutation.column_qualifier().raw_value()}];
  const auto [cell, is_new] = cells.try_emplace(timestamp_micros, Encode(number));
  if (is_new) return StatusCode::kOk;
  const int64_t old = Decode(cell->second);
  const admin::Type::Aggregate& aggregate = family->second.value_type().aggregate_type();
  cell->second = Encode(aggregate.has_sum()   ? WrappingSum(old, number)
                        : aggregate.has_min() ? std::min(old, number)
                                              : std::max(old, number));
  return StatusCode::kOk;
}

StatusCode NaiveBigtable::Apply(const pb::Mutation& mutation, Row* row) const {
  const bool truncate = mutation.timestamp_origin() == pb::Mutation::CLIENT_AUTO_GENERATED;
  switch (mutation.mutation_case()) {
    case pb::Mutation::kSetCell:
      return Apply(mutation.set_cell(), truncate, row);
    case pb::Mutation::kAddToCell:
      return Combine(mutation.add_to_cell(), truncate, row);
    case pb::Mutation::kMergeToCell:
      return Combine(mutation.merge_to_cell(), truncate, row);
    case pb::Mutation::kDeleteFromColumn: {
      const pb::Mutation::DeleteFromColumn& m = mutation.delete_from_column();
      const int64_t start = m.time_range().start_timestamp_micros();
      const int64_t end = m.time_range().end_timestamp_micros();
      if (!table_.column_families().contains(m.family_name())) return StatusCode::kNotFound;
      if (Truncated(start) != start || Truncated(end) != end) return StatusCode::kInvalidArgument;
      std::erase_if((*row)[{m.family_name(), m.column_qualifier()}],
                    [&](const auto& cell) { return cell.first >= start && (end == 0 || cell.first < end); });
      return StatusCode::kOk;
    }
    case pb::Mutation::kDeleteFromFamily: {
      const std::string& family = mutation.delete_from_family().family_name();
      if (!table_.column_families().contains(family)) return StatusCode::kNotFound;
      std::erase_if(*row, [&](const auto& column) { return column.first.family == family; });
      return StatusCode::kOk;
    }
    case pb::Mutation::kDeleteFromRow:
      row->clear();
      return table_.column_families().empty() ? StatusCode::kNotFound : StatusCode::kOk;
    case pb::Mutation::MUTATION_NOT_SET:
      break;
  }
  return StatusCode::kInvalidArgument;
}

StatusCode NaiveBigtable::Apply(const std::string& row_key, const Mutations& mutations, Row* row) const {
  const auto stored = rows_.find(row_key);
  *row = stored == rows_.end() ? Row() : stored->second;
  for (const pb::Mutation& mutation : mutations) {
    if (const StatusCode code = Apply(mutation, row); code != StatusCode::kOk) return code;
  }
  return StatusCode::kOk;
}

StatusCode NaiveBigtable::Mutate(const std::string& row_key, const Mutations& mutations,
                                 const pb::Idempotency* idempotency) {
  constexpr int64_t kTokenMicros = int64_t{15} * 60 * 1'000'000;
  if (!IsRowKey(row_key) || mutations.empty() || !AreWellFormed(mutations))
    return StatusCode::kInvalidArgument;
  if (idempotency != nullptr) {
    if (idempotency->token().size() < kIdempotencyTokenBytesMin) return StatusCode::kInvalidArgument;
    const auto applied = tokens_.find({row_key, idempotency->token()});
    if (applied != tokens_.end() && now_micros_ - applied->second <= kTokenMicros) return StatusCode::kOk;
  }
  Row row;
  write_micros_ = WriteTime(row_key, {&mutations});
  const StatusCode code = Apply(row_key, mutations, &row);
  if (code != StatusCode::kOk) return code;
  rows_[row_key] = row;
  if (idempotency != nullptr) tokens_[{row_key, idempotency->token()}] = now_micros_;
  return code;
}

Outcome NaiveBigtable::Do(const pb::MutateRowRequest& request) {
  return {Mutate(request.row_key(), request.mutations(),
                 request.has_idempotency() ? &request.idempotency() : nullptr),
          ""};
}

Outcome NaiveBigtable::Do(const pb::MutateRowsRequest& request) {
  const bool has_mutations =
      std::any_of(request.entries().begin(), request.entries().end(),
                  [](const pb::MutateRowsRequest::Entry& entry) { return !entry.mutations().empty(); });
  if (!has_mutations) return {StatusCode::kInvalidArgument, ""};
  const auto rows_before = rows_;
  const auto tokens_before = tokens_;
  std::vector<StatusCode> codes;
  met_other_kind_ = false;
  for (const pb::MutateRowsRequest::Entry& entry : request.entries()) {
    codes.push_back(
        Mutate(entry.row_key(), entry.mutations(), entry.has_idempotency() ? &entry.idempotency() : nullptr));
  }
  if (met_other_kind_) {  // then all entries fail
    rows_ = rows_before;
    tokens_ = tokens_before;
    std::fill(codes.begin(), codes.end(), StatusCode::kInvalidArgument);
  }
  std::ostringstream answer;
  for (size_t i = 0; i < codes.size(); ++i) {
    const StatusCode code = codes[i];
    answer << i << ": " << absl::StatusCodeToString(code) << '\n';
  }
  return {StatusCode::kOk, answer.str()};
}

Outcome NaiveBigtable::Do(const pb::CheckAndMutateRowRequest& request) {
  const bool has_mutations = !request.true_mutations().empty() || !request.false_mutations().empty();
  if (!IsRowKey(request.row_key()) || !has_mutations || !AreWellFormed(request.true_mutations()) ||
      !AreWellFormed(request.false_mutations())) {
    return {StatusCode::kInvalidArgument, ""};
  }
  if (const StatusCode code = CheckNaively(request.predicate_filter(), FamilyNames());
      code != StatusCode::kOk) {
    return {code, ""};
  }
  // "Depending on whether or not any results are yielded"; without a predicate, whether the row has any cell.
  const bool matches =
      !FilterNaively(request.predicate_filter(), request.row_key(), Visible(request.row_key())).empty();
  Row row;
  write_micros_ = WriteTime(request.row_key(), {&request.true_mutations(), &request.false_mutations()});
  const StatusCode code =
      Apply(request.row_key(), matches ? request.true_mutations() : request.false_mutations(), &row);
  if (code != StatusCode::kOk) return {code, ""};
  rows_[request.row_key()] = row;
  return {StatusCode::kOk, matches ? "match\n" : "no match\n"};
}

Outcome NaiveBigtable::Do(const pb::ReadModifyWriteRowRequest& request) {
  if (!IsRowKey(request.row_key()) || request.rules().empty()) return {StatusCode::kInvalidArgument, ""};
  for (const pb::ReadModifyWriteRule& rule : request.rules()) {
    if (!IsFamilyName(rule.family_name()) || rule.column_qualifier().size() > kQualifierBytesMax ||
        rule.rule_case() == pb::ReadModifyWriteRule::RULE_NOT_SET) {
      return {StatusCode::kInvalidArgument, ""};
    }
  }
  std::map<Column, std::pair<int64_t, std::string>> written;
  for (const pb::ReadModifyWriteRule& rule : request.rules()) {
    const auto family = table_.column_families().find(rule.family_name());
    if (family == table_.column_families().end()) return {StatusCode::kNotFound, ""};
    if (family->second.value_type().has_aggregate_type()) return {StatusCode::kInvalidArgument, ""};
    const Column column{rule.family_name(), rule.column_qualifier()};
    bool is_set = written.contains(column);
    auto& [timestamp_micros, value] = written[column];
    if (!is_set) {
      timestamp_micros = Truncated(now_micros_);
      for (const NaiveCell& cell : Visible(request.row_key())) {
        if (cell.family != column.family || cell.qualifier != column.qualifier) continue;
        timestamp_micros = std::max(timestamp_micros, cell.timestamp_micros);
        value = cell.value;
        is_set = true;
        break;
      }
    }
    if (rule.has_append_value()) {
      value += rule.append_value();
      continue;
    }
    // "If the targeted cell is unset, it will be treated as containing a zero.  Otherwise, the targeted cell
    // must contain an 8-byte value (...), or the entire request will fail."
    if (is_set && value.size() != 8) return {StatusCode::kFailedPrecondition, ""};
    value = Encode(WrappingSum(is_set ? Decode(value) : 0, rule.increment_amount()));
  }
  NaiveRow answer;
  for (const auto& [column, cell] : written) {
    rows_[request.row_key()][column][cell.first] = cell.second;
    answer.push_back({column.family, column.qualifier, cell.first, cell.second, ""});
  }
  return {StatusCode::kOk, Text(request.row_key(), answer)};
}

// --- Reads.

std::set<std::string> NaiveBigtable::FamilyNames() const {
  std::set<std::string> names;
  for (const auto& [name, family] : table_.column_families()) names.insert(name);
  return names;
}

NaiveRow NaiveBigtable::Visible(const std::string& row_key) const {
  NaiveRow visible;
  const auto row = rows_.find(row_key);
  if (row == rows_.end()) return visible;
  for (const auto& [column, cells] : row->second) {
    const admin::GcRule& rule = table_.column_families().at(column.family).gc_rule();
    int versions_before = 0;
    for (const auto& [timestamp_micros, value] : cells) {
      if (Forgets(rule, now_micros_, timestamp_micros, versions_before++)) continue;
      visible.push_back({column.family, column.qualifier, timestamp_micros, value, ""});
    }
  }
  return visible;
}

Outcome NaiveBigtable::Do(const pb::ReadRowsRequest& request) {
  const pb::RowSet& wanted = request.rows();
  const bool are_keys = std::all_of(wanted.row_keys().begin(), wanted.row_keys().end(), IsRowKey);
  const bool are_ranges = std::all_of(wanted.row_ranges().begin(), wanted.row_ranges().end(), IsRange);
  if (!are_keys || !are_ranges || request.rows_limit() < 0 ||
      !pb::ReadRowsRequest::RequestStatsView_IsValid(request.request_stats_view())) {
    return {StatusCode::kInvalidArgument, ""};
  }
  const StatusCode code = CheckNaively(request.filter(), FamilyNames());
  if (code != StatusCode::kOk) return {code, ""};

  std::vector<std::string> keys;
  for (const auto& [key, row] : rows_) {
    const bool is_all = wanted.row_keys().empty() && wanted.row_ranges().empty();
    const bool is_named =
        std::find(wanted.row_keys().begin(), wanted.row_keys().end(), key) != wanted.row_keys().end();
    const bool is_inside = std::any_of(wanted.row_ranges().begin(), wanted.row_ranges().end(),
                                       [&](const pb::RowRange& range) { return Contains(range, key); });
    if (is_all || is_named || is_inside) keys.push_back(key);
  }
  if (request.reversed()) std::reverse(keys.begin(), keys.end());
  std::string answer;
  int64_t rows_returned = 0;
  size_t cells_returned = 0;
  for (const std::string& key : keys) {
    if (request.rows_limit() > 0 && rows_returned == request.rows_limit()) break;
    const NaiveRow output = FilterNaively(request.filter(), key, Visible(key));
    if (output.empty()) continue;
    answer += Text(key, output);
    ++rows_returned;
    cells_returned += output.size();
  }
  if (request.request_stats_view() == pb::ReadRowsRequest::REQUEST_STATS_FULL) {
    answer += fmt::format("{} rows, {} cells\n", rows_returned, cells_returned);
  }
  return {StatusCode::kOk, answer};
}

// --- Administration.

Outcome NaiveBigtable::Do(const admin::DropRowRangeRequest& request) {
  if (request.has_delete_all_data_from_table()) {
    if (!request.delete_all_data_from_table()) return {};
    rows_.clear();
    tokens_.clear();
    return {};
  }
  if (!request.has_row_key_prefix() || !IsRowKey(request.row_key_prefix())) {
    return {StatusCode::kInvalidArgument, ""};
  }
  const std::string& prefix = request.row_key_prefix();
  std::erase_if(rows_, [&](const auto& row) { return row.first.starts_with(prefix); });
  std::erase_if(tokens_, [&](const auto& token) { return token.first.first.starts_with(prefix); });
  return {};
}

Outcome NaiveBigtable::Do(const admin::ModifyColumnFamiliesRequest& request) {
  if (request.modifications().empty()) return {StatusCode::kInvalidArgument, ""};
  for (const auto& modification : request.modifications()) {
    const bool says_something = modification.has_create() || modification.has_update() || modification.drop();
    const admin::ColumnFamily& created = modification.create();
    if (!IsFamilyName(modification.id()) || !says_something ||
        (created.has_value_type() && !created.value_type().has_aggregate_type())) {
      return {StatusCode::kInvalidArgument, ""};
    }
  }
  admin::Table changed = table_;
  std::set<std::string> dropped;
  for (const auto& modification : request.modifications()) {
    auto& families = *changed.mutable_column_families();
    const bool is_there = families.contains(modification.id());
    if (modification.has_create()) {
      if (is_there) return {StatusCode::kAlreadyExists, ""};
      families[modification.id()] = modification.create();
    } else if (!is_there) {
      return {StatusCode::kNotFound, ""};
    } else if (modification.has_update()) {
      *families[modification.id()].mutable_gc_rule() = modification.update().gc_rule();
    } else {
      families.erase(modification.id());
      dropped.insert(modification.id());
    }
  }
  table_ = changed;
  for (auto& [key, row] : rows_) {
    std::erase_if(row, [&](const auto& column) { return dropped.contains(column.first.family); });
  }
  return {};
}

}  // namespace sonde
