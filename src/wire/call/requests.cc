#include "wire/call/requests.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "model/limits.h"
#include "model/names.h"

namespace sonde {
namespace {

namespace pb = google::bigtable::v2;

// google.protobuf.Timestamp ends with the year 9999.
constexpr int64_t kTimestampSecondsMax = 253'402'300'799;

// "Error in field 'Mutation list' : Error in element #3 : ..."
absl::Status MutationError(size_t index, std::string_view what) {
  return absl::InvalidArgumentError(
      fmt::format("Error in field 'Mutation list' : Error in element #{} : {}", index, what));
}

absl::Status CheckQualifier(std::string_view qualifier) {
  if (qualifier.size() <= kQualifierBytesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("Column qualifier has {} bytes; limit {}", qualifier.size(), kQualifierBytesMax));
}

absl::Status CheckTimestamp(int64_t micros) {
  if (micros >= kServerTimestamp) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("Invalid timestamp {}: it must be -1 (the server's time), 0 or greater", micros));
}

absl::Status CheckColumn(std::string_view family, std::string_view qualifier) {
  if (absl::Status status = CheckFamilyName(family); !status.ok()) return status;
  return CheckQualifier(qualifier);
}

class MutationParser {
 public:
  explicit MutationParser(std::vector<Mutation>* out) : out_(*out) {}

  absl::Status Parse(const pb::Mutation& m) {
    if (!pb::Mutation::TimestampOrigin_IsValid(m.timestamp_origin()))
      return UnknownValue("timestamp_origin", m.timestamp_origin());
    switch (m.mutation_case()) {
      case pb::Mutation::kSetCell:
        return Parse(m.set_cell(), m.timestamp_origin() == pb::Mutation::CLIENT_AUTO_GENERATED);
      case pb::Mutation::kAddToCell:
        return Parse(m.add_to_cell(), m.timestamp_origin() == pb::Mutation::CLIENT_AUTO_GENERATED);
      case pb::Mutation::kMergeToCell:
        return Parse(m.merge_to_cell(), m.timestamp_origin() == pb::Mutation::CLIENT_AUTO_GENERATED);
      case pb::Mutation::kDeleteFromColumn:
        return Parse(m.delete_from_column());
      case pb::Mutation::kDeleteFromFamily:
        if (absl::Status status = CheckFamilyName(m.delete_from_family().family_name()); !status.ok())
          return status;
        out_.push_back(DeleteFromFamily{m.delete_from_family().family_name()});
        return absl::OkStatus();
      case pb::Mutation::kDeleteFromRow:
        out_.push_back(DeleteFromRow{});
        return absl::OkStatus();
      case pb::Mutation::MUTATION_NOT_SET:
        break;
    }
    return absl::InvalidArgumentError("No mutation is set");
  }

 private:
  absl::Status Parse(const pb::Mutation::SetCell& m, bool client_generated_timestamp) {
    const SetCell cell{m.family_name(), m.column_qualifier(), m.timestamp_micros(), m.value(),
                       client_generated_timestamp};
    if (absl::Status status = CheckFamilyName(cell.family); !status.ok()) return status;
    if (absl::Status status = CheckCell(cell); !status.ok()) return status;
    out_.push_back(cell);
    return absl::OkStatus();
  }

  // The common part of AddToCell and MergeToCell.
  template <typename Message>
  absl::Status CheckAggregate(const Message& m) {
    if (m.column_qualifier().kind_case() != pb::Value::kRawValue) {
      return absl::InvalidArgumentError("Error in field 'column_qualifier' : must use `raw_value`");
    }
    if (m.timestamp().kind_case() != pb::Value::kRawTimestampMicros) {
      return absl::InvalidArgumentError("Error in field 'timestamp' : must use `raw_timestamp_micros`");
    }
    if (absl::Status status = CheckColumn(m.family_name(), m.column_qualifier().raw_value()); !status.ok())
      return status;
    return CheckTimestamp(m.timestamp().raw_timestamp_micros());
  }

  absl::Status Parse(const pb::Mutation::AddToCell& m, bool client_generated_timestamp) {
    if (absl::Status status = CheckAggregate(m); !status.ok()) return status;
    AddToCell add{m.family_name(),
                  m.column_qualifier().raw_value(),
                  m.timestamp().raw_timestamp_micros(),
                  {},
                  client_generated_timestamp};
    switch (m.input().kind_case()) {
      case pb::Value::KIND_NOT_SET:  // adds nothing
        break;
      case pb::Value::kIntValue:
        add.input = m.input().int_value();
        break;
      case pb::Value::kBytesValue:
        add.input = std::string_view(m.input().bytes_value());
        break;
      case pb::Value::kRawValue:
        add.input = std::string_view(m.input().raw_value());
        break;
      case pb::Value::kStringValue:
        add.input = std::string_view(m.input().string_value());
        break;
      default:
        return absl::InvalidArgumentError("Error in field 'input' : must use `int_value`");
    }
    out_.push_back(add);
    return absl::OkStatus();
  }

  absl::Status Parse(const pb::Mutation::MergeToCell& m, bool client_generated_timestamp) {
    if (absl::Status status = CheckAggregate(m); !status.ok()) return status;
    MergeToCell merge{m.family_name(),
                      m.column_qualifier().raw_value(),
                      m.timestamp().raw_timestamp_micros(),
                      {},
                      client_generated_timestamp};
    switch (m.input().kind_case()) {
      case pb::Value::KIND_NOT_SET:  // merges nothing
        break;
      case pb::Value::kBytesValue:
        merge.state = m.input().bytes_value();
        break;
      case pb::Value::kRawValue:
        merge.state = m.input().raw_value();
        break;
      default:
        return absl::InvalidArgumentError("Error in field 'input' : must use `bytes_value`");
    }
    out_.push_back(merge);
    return absl::OkStatus();
  }

  absl::Status Parse(const pb::Mutation::DeleteFromColumn& m) {
    if (absl::Status status = CheckColumn(m.family_name(), m.column_qualifier()); !status.ok()) return status;
    const TimeRange range{m.time_range().start_timestamp_micros(), m.time_range().end_timestamp_micros()};
    if (range.start_micros < 0 || range.end_micros < 0 ||
        (range.end_micros != 0 && range.start_micros >= range.end_micros)) {
      return absl::InvalidArgumentError(
          fmt::format("Error in field 'time_range' : [{}, {}) is empty or negative; "
                      "start_timestamp_micros must be less than end_timestamp_micros",
                      range.start_micros, range.end_micros));
    }
    out_.push_back(DeleteFromColumn{m.family_name(), m.column_qualifier(), range});
    return absl::OkStatus();
  }

  std::vector<Mutation>& out_;
};

}  // namespace

absl::Status UnknownValue(std::string_view field, int value) {
  return absl::InvalidArgumentError(fmt::format("Error in field '{}' : unknown value {}", field, value));
}

absl::Status CheckRowKey(std::string_view row_key) {
  if (row_key.empty()) return absl::InvalidArgumentError("Row keys must be non-empty");
  if (row_key.size() > kRowKeyBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("Row key has {} bytes; limit {}", row_key.size(), kRowKeyBytesMax));
  }
  return absl::OkStatus();
}

absl::Status CheckCell(const SetCell& cell) {
  if (absl::Status status = CheckQualifier(cell.qualifier); !status.ok()) return status;
  if (absl::Status status = CheckTimestamp(cell.timestamp_micros); !status.ok()) return status;
  if (cell.value.size() <= kValueBytesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("Cell value has {} bytes; limit {}", cell.value.size(), kValueBytesMax));
}

absl::StatusOr<RowRange> ParseRowRange(const pb::RowRange& range) {
  RowRange result;
  const bool open_start = range.start_key_case() == pb::RowRange::kStartKeyOpen;
  const std::string& start = open_start ? range.start_key_open() : range.start_key_closed();
  const bool closed_end = range.end_key_case() == pb::RowRange::kEndKeyClosed;
  const std::string& end = closed_end ? range.end_key_closed() : range.end_key_open();
  for (const std::string* key : {&start, &end}) {
    if (key->size() > kRowRangeBoundBytesMax) {
      return absl::InvalidArgumentError(fmt::format("The bound of a range of rows has {} bytes; limit {}",
                                                    key->size(), kRowRangeBoundBytesMax));
    }
  }
  // [K, K] is a row; (K, K), [K, K) and (K, K] are none.
  if (!end.empty() && (start > end || (start == end && (open_start || !closed_end)))) {
    return absl::InvalidArgumentError("start_key must be less than end_key");
  }
  result.start = open_start && !start.empty() ? Successor(start) : start;
  result.end = closed_end && !end.empty() ? Successor(end) : end;
  return result;
}

absl::StatusOr<std::vector<RowRange>> ParseRowSet(const pb::RowSet& rows) {
  if (rows.row_keys().empty() && rows.row_ranges().empty()) return std::vector<RowRange>{RowRange::All()};
  std::vector<RowRange> ranges;
  ranges.reserve(rows.row_keys_size() + rows.row_ranges_size());
  for (const std::string& key : rows.row_keys()) {
    if (absl::Status status = CheckRowKey(key); !status.ok()) return status;
    ranges.push_back(RowRange::Single(key));
  }
  for (int i = 0; i < rows.row_ranges_size(); ++i) {
    absl::StatusOr<RowRange> range = ParseRowRange(rows.row_ranges(i));
    if (!range.ok()) {
      return absl::InvalidArgumentError(fmt::format("Error in field 'row_ranges' : Error in element #{} : {}",
                                                    i, std::string(range.status().message())));
    }
    ranges.push_back(*std::move(range));
  }
  return NormalizeRanges(std::move(ranges));
}

absl::Status ParseMutations(const google::protobuf::RepeatedPtrField<pb::Mutation>& mutations,
                            bool may_be_empty, std::vector<Mutation>* out) {
  if (mutations.empty() && !may_be_empty) return absl::InvalidArgumentError("No mutations provided");
  if (mutations.size() > kMutationsPerRequestMax) {
    return absl::InvalidArgumentError(
        fmt::format("Too many mutations: {} provided; limit {}", mutations.size(), kMutationsPerRequestMax));
  }
  out->clear();
  out->reserve(mutations.size());
  MutationParser parser(out);
  for (int i = 0; i < mutations.size(); ++i) {
    if (absl::Status status = parser.Parse(mutations[i]); !status.ok()) {
      return MutationError(i, std::string(status.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status ParseIdempotency(const pb::Idempotency& idempotency, std::optional<Idempotency>* out) {
  const size_t bytes = idempotency.token().size();
  if (bytes < kIdempotencyTokenBytesMin || bytes > kIdempotencyTokenBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'idempotency.token' : it has {} bytes; from {} to {} are allowed", bytes,
                    kIdempotencyTokenBytesMin, kIdempotencyTokenBytesMax));
  }
  out->emplace().token = idempotency.token();
  const google::protobuf::Timestamp& start = idempotency.start_time();
  if (start.seconds() == 0 && start.nanos() == 0) return absl::OkStatus();
  if (start.seconds() < 0 || start.seconds() > kTimestampSecondsMax || start.nanos() < 0 ||
      start.nanos() >= 1'000'000'000) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'idempotency.start_time' : {} s and {} ns are no time", start.seconds(),
                    start.nanos()));
  }
  (*out)->start_micros = start.seconds() * 1'000'000 + start.nanos() / 1'000;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ReadModifyWriteRule>> ParseRules(
    const google::protobuf::RepeatedPtrField<pb::ReadModifyWriteRule>& rules) {
  if (rules.empty()) return absl::InvalidArgumentError("No rules provided");
  if (rules.size() > kMutationsPerRequestMax) {
    return absl::InvalidArgumentError(
        fmt::format("Too many rules: {} provided; limit {}", rules.size(), kMutationsPerRequestMax));
  }
  std::vector<ReadModifyWriteRule> result;
  result.reserve(rules.size());
  for (int i = 0; i < rules.size(); ++i) {
    const pb::ReadModifyWriteRule& rule = rules[i];
    absl::Status status = CheckColumn(rule.family_name(), rule.column_qualifier());
    if (status.ok() && rule.rule_case() == pb::ReadModifyWriteRule::RULE_NOT_SET)
      status = absl::InvalidArgumentError("No rule is set");
    if (!status.ok()) {
      return absl::InvalidArgumentError(fmt::format("Error in field 'rules' : Error in element #{} : {}", i,
                                                    std::string(status.message())));
    }
    ReadModifyWriteRule& parsed = result.emplace_back();
    parsed.family = rule.family_name();
    parsed.qualifier = rule.column_qualifier();
    if (rule.rule_case() == pb::ReadModifyWriteRule::kAppendValue) {
      parsed.change = ReadModifyWriteRule::Append{rule.append_value()};
    } else {
      parsed.change = ReadModifyWriteRule::Increment{rule.increment_amount()};
    }
  }
  return result;
}

}  // namespace sonde
