#include "engine/hbase/log/hbase_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "engine/engine_errors.h"
#include "hbase/attempts.h"

namespace sonde {
namespace {

// For a table that is logged before anybody has told for how long: what change streams may want at most, and a day.
constexpr absl::Duration kKeptUnasked = absl::Hours(8 * 24);
constexpr absl::Duration kFamilyWaitMax = absl::Seconds(30);
constexpr absl::Duration kFamilyPause = absl::Milliseconds(100);

const hbase::FamilySchema* FamilyIn(const hbase::TableSchema& schema) {
  const auto at = std::find_if(schema.families.begin(), schema.families.end(),
                               [](const hbase::FamilySchema& family) { return family.name == kLogFamily; });
  return at == schema.families.end() ? nullptr : &*at;
}

// In seconds, as HBase shows it.
std::optional<int64_t> TtlOf(const hbase::FamilySchema& family) {
  const auto at = family.attributes.find("TTL");
  if (at == family.attributes.end()) return std::nullopt;
  int64_t seconds = 0;
  const auto [end, error] =
      std::from_chars(at->second.data(), at->second.data() + at->second.size(), seconds);
  return error == std::errc() && end == at->second.data() + at->second.size() ? std::optional(seconds)
                                                                              : std::nullopt;
}

}  // namespace

HBaseLog::HBaseLog(hbase::Client* client, hbase::TableName catalog, NameOf name_of,
                   LogPositionsOptions options)
    : client_(client),
      name_of_(std::move(name_of)),
      positions_(client, std::move(catalog), options),
      reader_(client) {}

absl::Status HBaseLog::CheckTable(TableId table, absl::Time deadline) {
  if (absl::Status status = CheckDeadline(deadline); !status.ok()) return status;
  return client_->regions()->CheckTable(name_of_(table), deadline);
}

absl::StatusOr<RowLog::End> HBaseLog::FindEnd(TableId table, const RowRange& /*partition*/,
                                              int64_t /*frontier_min*/, absl::Time deadline) {
  const hbase::TableName name = name_of_(table);
  bool is_known = false;
  {
    const absl::MutexLock lock(&mutex_);
    is_known = known_.contains(name);
  }
  if (!is_known) {
    if (absl::Status status = CheckTable(table, deadline); !status.ok()) return status;
    const absl::MutexLock lock(&mutex_);
    known_.insert(name);
  }
  const absl::StatusOr<int64_t> frontier = positions_.Frontier(deadline);
  if (!frontier.ok()) return frontier.status();
  return End{*frontier, *frontier};
}

absl::Status HBaseLog::Read(TableId table, const RowRange& partition, int64_t start, uint32_t start_index,
                            int64_t through, const std::function<bool(const Piece&)>& visit,
                            absl::Time deadline) {
  if (absl::Status status = CheckTable(table, deadline); !status.ok()) return status;
  const absl::StatusOr<int64_t> frontier = positions_.Frontier(deadline);
  if (!frontier.ok()) return frontier.status();
  return reader_.Read(name_of_(table), partition, {start, start_index}, through, *frontier, visit, deadline);
}

absl::Status HBaseLog::Trim(TableId table, int64_t /*position*/, absl::Time deadline) {
  return CheckTable(table, deadline);
}

void HBaseLog::Note(const hbase::TableName& table) {
  const absl::MutexLock lock(&mutex_);
  prepared_.insert(table);
}

void HBaseLog::Forget(const hbase::TableName& table) {
  const absl::MutexLock lock(&mutex_);
  prepared_.erase(table);
  known_.erase(table);
}

absl::StatusOr<bool> HBaseLog::MayHaveRecords(const hbase::TableName& table, absl::Time deadline) {
  const absl::StatusOr<hbase::TableSchema> schema = client_->tables()->Describe(table, deadline);
  if (!schema.ok()) return schema.status();
  return FamilyIn(*schema) != nullptr;
}

absl::Status HBaseLog::Prepare(const hbase::TableName& table, absl::Duration kept, absl::Time deadline) {
  const absl::MutexLock lock(&preparing_);
  return PrepareAlone(table, kept, deadline);
}

absl::Status HBaseLog::PrepareAlone(const hbase::TableName& table, absl::Duration kept, absl::Time deadline) {
  const absl::Time end = std::min(deadline, absl::Now() + kFamilyWaitMax);
  while (true) {
    const absl::Status status = Alter(table, LogFamily(kept), deadline);
    if (status.ok()) Note(table);
    // Another server alters the table at this moment, or the master is being looked for: what is there now tells.
    const bool may_go_on = absl::IsUnavailable(status) || absl::IsUnknown(status);
    if (!may_go_on || absl::Now() >= end) return status;
    absl::SleepFor(kFamilyPause);
  }
}

absl::Status HBaseLog::Alter(const hbase::TableName& table, const hbase::FamilySchema& wanted,
                             absl::Time deadline) {
  const absl::StatusOr<hbase::TableSchema> schema = client_->tables()->Describe(table, deadline);
  if (!schema.ok()) return schema.status();
  const hbase::FamilySchema* const found = FamilyIn(*schema);
  if (found == nullptr) {
    const absl::Status added = client_->tables()->AddFamily(table, wanted, deadline);
    // FAILED_PRECONDITION: another server was first.
    return absl::IsFailedPrecondition(added) ? absl::OkStatus() : added;
  }
  if (TtlOf(*found) == TtlOf(wanted)) return absl::OkStatus();
  const hbase::FamilySchema ttl{kLogFamily, {{"TTL", wanted.attributes.at("TTL")}}};
  return client_->tables()->ModifyFamily(table, ttl, deadline);
}

bool HBaseLog::IsPrepared(const hbase::TableName& table) {
  const absl::MutexLock lock(&mutex_);
  return prepared_.contains(table);
}

absl::Status HBaseLog::PrepareOnce(const hbase::TableName& table, absl::Time deadline) {
  if (IsPrepared(table)) return absl::OkStatus();
  const absl::MutexLock lock(&preparing_);
  if (IsPrepared(table)) return absl::OkStatus();
  const absl::StatusOr<bool> has_family = MayHaveRecords(table, deadline);
  if (!has_family.ok()) return has_family.status();
  if (*has_family) {
    Note(table);
    return absl::OkStatus();
  }
  const absl::Status prepared = PrepareAlone(table, kKeptUnasked, deadline);
  // Whether the table has got its family: the change that waits for it is not made.
  if (absl::IsUnknown(prepared)) return absl::UnavailableError(prepared.message());
  return prepared;
}

absl::Status LoggedCommit::Run(const std::function<absl::Status()>& commit,
                               const std::function<absl::Status()>& tell_again) {
  const absl::Time end = std::min(deadline_, absl::Now() + kFamilyWaitMax);
  absl::Status status;
  bool is_passed = false;
  while (true) {
    status = commit();
    const bool was_logged = position_ != 0;
    is_passed = status.ok() && MayBePassed();
    passed_ = position_;
    End(!absl::IsUnknown(status));
    if (!was_logged || !absl::IsFailedPrecondition(status) || absl::Now() >= end) break;
    log_->Forget(*table_);
    absl::SleepFor(kFamilyPause);
  }
  while (is_passed) {
    ++log_->told_again_;
    status = tell_again();
    is_passed = status.ok() && MayBePassed();
    passed_ = position_;
    End(!absl::IsUnknown(status));
    if (status.ok()) continue;
    return absl::UnknownError(
        fmt::format("The change was made, and whether the change log will tell of it is not known: {}",
                    std::string(status.message())));
  }
  return status;
}

absl::Status LoggedCommit::Add(const LogRecord& record, std::string_view newest, const Edit& edit) {
  End(true);  // of the try before, which was not made
  if (record.pieces.empty()) return absl::OkStatus();
  if (absl::Status status = log_->PrepareOnce(*table_, deadline_); !status.ok()) return status;
  absl::StatusOr<int64_t> newest_position = 0;
  if (!newest.empty()) newest_position = ParseNewestRecord(newest);
  if (!newest_position.ok()) return newest_position.status();
  size_t size = edit.change->Bytes();
  for (const std::string& piece : record.pieces) size += piece.size();
  const absl::StatusOr<int64_t> position =
      log_->positions()->Begin(*newest_position, record.position_min, size, deadline_);
  if (!position.ok()) return position.status();
  position_ = *position;
  record_ = record;
  PutRecord(record, position_, edit.change, edit.bytes);
  *edit.time_to_send = [positions = log_->positions(), given = position_] {
    return positions->TimeToSend(given);
  };
  return absl::OkStatus();
}

absl::Status LoggedCommit::AddAgain(std::string_view newest, const Edit& edit) {
  DeleteRecord(record_, passed_, edit.change, edit.bytes);
  const LogRecord record = record_;
  return Add(record, newest, edit);
}

void LoggedCommit::End(bool is_known) {
  if (position_ == 0) return;
  log_->positions()->End(std::exchange(position_, 0), is_known);
}

}  // namespace sonde
