#include "series/known/table_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

#include "series/known/complete_tables.h"
#include "series/known/declaration_store.h"

namespace sonde::series {
namespace {

// Between a look at a rule and what is done by it.
constexpr int64_t kMarginMicros = kRollupSlackMicros / 2;

// The age at which the rule forgets cells, if it does; of several, the least.
std::optional<int64_t> AgeOf(const GcRule& rule) {
  if (const auto* age = std::get_if<GcRule::MaxAge>(&rule.rule)) return age->micros;
  std::optional<int64_t> least;
  const auto add = [&](const std::vector<GcRule>& rules) {
    for (const GcRule& part : rules) {
      const std::optional<int64_t> age = AgeOf(part);
      if (age) least = std::min(*age, least.value_or(*age));
    }
  };
  if (const auto* all = std::get_if<GcRule::Intersection>(&rule.rule)) add(all->rules);
  if (const auto* any = std::get_if<GcRule::Union>(&rule.rule)) add(any->rules);
  return least;
}

// The age at which it forgets points of the table.
std::optional<int64_t> AgeOf(const GcRule& rule, const SeriesSchema& of_table) {
  std::optional<int64_t> age = AgeOf(rule);
  if (age) *age -= of_table.TimestampOrigin();
  return age;
}

std::string NoteName(const std::string& table, const std::string& family) { return table + ":" + family; }

// The time that the note says; nothing if there is no note.
std::optional<int64_t> NotedMicros(const std::map<std::string, std::string>& notes, const std::string& name) {
  const auto note = notes.find(name);
  if (note == notes.end()) return std::nullopt;
  int64_t micros = 0;
  std::from_chars(note->second.data(), note->second.data() + note->second.size(), micros);
  return micros;
}

class Rules {
 public:
  Rules(const SeriesSchema& schema, TableAccess* tables, const Clock& clock)
      : schema_(schema), tables_(tables), clock_(clock) {}

  // `is_own`: with the notes.  NOT_FOUND: there is no such table.
  absl::Status Update(const SeriesSchema& of_table, bool is_own);
  absl::Status Ensure(const SeriesSchema& of_table, bool is_own);
  absl::Status UpdatePeriods(const PeriodTable& period, const std::vector<std::string>& all);

 private:
  absl::Status NoteWhatIsKept(const SeriesSchema& of_table, const FamilyRequest& before,
                              const FamilyRequest& wanted);
  absl::Status ForgetNotes(const std::string& table);
  absl::Status ForgetComplete(const std::string& table);

  const SeriesSchema& schema_;
  TableAccess* const tables_;
  const Clock& clock_;
};

absl::Status Rules::NoteWhatIsKept(const SeriesSchema& of_table, const FamilyRequest& before,
                                   const FamilyRequest& wanted) {
  const std::optional<int64_t> age_before = AgeOf(before.gc_rule, of_table);
  const std::optional<int64_t> age = AgeOf(wanted.gc_rule, of_table);
  if (!age_before || (age && *age <= *age_before)) return absl::OkStatus();
  const absl::StatusOr<std::map<std::string, std::string>> notes =
      ListNotes(schema_.name, kKeptFromNote, tables_);
  if (!notes.ok()) return notes.status();
  const std::string name = NoteName(of_table.table, wanted.name);
  const int64_t kept_from_micros = clock_.NowMicros() - *age_before + kMarginMicros;
  if (NotedMicros(*notes, name) >= kept_from_micros) return absl::OkStatus();
  if (absl::Status status = EnsureDeclarationsTable(tables_); !status.ok()) return status;
  return StoreNote(schema_.name, kKeptFromNote, name, fmt::format("{}", kept_from_micros), tables_, clock_);
}

absl::Status Rules::ForgetNotes(const std::string& table) {
  const absl::StatusOr<std::map<std::string, std::string>> notes =
      ListNotes(schema_.name, kKeptFromNote, tables_);
  if (!notes.ok()) return notes.status();
  for (const auto& [name, text] : *notes) {
    if (!name.starts_with(NoteName(table, ""))) continue;
    if (absl::Status status = DeleteNote(schema_.name, kKeptFromNote, name, tables_); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

// A table that somebody has dropped has nothing any more.
absl::Status Rules::ForgetComplete(const std::string& table) {
  const absl::StatusOr<std::string> note = FindNote(schema_.name, kCompleteNote, table, tables_);
  if (!note.ok()) return note.status();
  return note->empty() ? absl::OkStatus() : DeleteNote(schema_.name, kCompleteNote, table, tables_);
}

absl::Status Rules::Update(const SeriesSchema& of_table, bool is_own) {
  const absl::StatusOr<std::vector<FamilyRequest>> found = tables_->ListFamilies(of_table.table);
  if (!found.ok()) return found.status();
  std::vector<FamilyRequest> changed;
  bool lacks_any = false;
  for (FamilyRequest& wanted : FamiliesOf(of_table)) {
    const auto before = std::find_if(found->begin(), found->end(),
                                     [&](const FamilyRequest& family) { return family.name == wanted.name; });
    if (before == found->end()) {
      lacks_any = true;
    } else if (before->gc_rule != wanted.gc_rule) {
      if (is_own) {
        if (absl::Status status = NoteWhatIsKept(of_table, *before, wanted); !status.ok()) return status;
      }
      changed.push_back(std::move(wanted));
    }
  }
  if (!changed.empty()) {
    if (absl::Status status = tables_->UpdateFamilies(of_table.table, changed); !status.ok()) return status;
  }
  return lacks_any ? tables_->EnsureTable(of_table.table, FamiliesOf(of_table)) : absl::OkStatus();
}

absl::Status Rules::Ensure(const SeriesSchema& of_table, bool is_own) {
  const absl::Status status = Update(of_table, is_own);
  if (!absl::IsNotFound(status)) return status;
  const absl::Status forgotten = is_own ? ForgetNotes(of_table.table) : ForgetComplete(of_table.table);
  if (!forgotten.ok()) return forgotten;
  return tables_->EnsureTable(of_table.table, FamiliesOf(of_table));
}

// The newest gets its rules last, so that where it has them, those before it have them too.
absl::Status Rules::UpdatePeriods(const PeriodTable& period, const std::vector<std::string>& all) {
  std::map<int64_t, SeriesSchema> of_tables;
  for (const std::string& table : all) {
    if (const std::optional<int64_t> start = period.PeriodOf(table))
      of_tables.emplace(*start, MakePeriodSchema(schema_, period, *start));
  }
  auto first = of_tables.end();
  while (first != of_tables.begin()) {
    const SeriesSchema& of_table = std::prev(first)->second;
    const absl::StatusOr<std::vector<FamilyRequest>> found = tables_->ListFamilies(of_table.table);
    if (!found.ok() && !absl::IsNotFound(found.status())) return found.status();
    const std::vector<FamilyRequest> wanted = FamiliesOf(of_table);
    const auto is_right = [&](const FamilyRequest& family) {
      return std::all_of(wanted.begin(), wanted.end(), [&](const FamilyRequest& other) {
        return other.name != family.name || other.gc_rule == family.gc_rule;
      });
    };
    if (found.ok() && std::all_of(found->begin(), found->end(), is_right)) break;
    --first;
  }
  for (; first != of_tables.end(); ++first) {
    const absl::Status status = Update(first->second, false);
    if (!status.ok() && !absl::IsNotFound(status)) return status;  // another writer may have dropped it
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<FamilyRequest> FamiliesOf(const SeriesSchema& schema) {
  std::vector<FamilyRequest> families;
  for (const std::string& family : schema.Families()) families.push_back({family, schema.MakeGcRule(family)});
  return families;
}

absl::Status EnsureTablesAndRules(const SeriesSchema& schema, TableAccess* tables, const Clock& clock) {
  Rules rules(schema, tables, clock);
  for (const VersionSpan& span : schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros)) {
    if (absl::Status status = rules.Ensure(*span.schema, true); !status.ok()) return status;
  }
  for (const SeriesSchema& one : MakeDerivedSchemas(schema)) {
    if (absl::Status status = rules.Ensure(one, false); !status.ok()) return status;
  }
  if (schema.periods.empty()) return absl::OkStatus();
  const absl::StatusOr<std::vector<std::string>> all = tables->ListTables();
  if (!all.ok()) return all.status();
  for (const PeriodTable& period : schema.periods) {
    if (absl::Status status = rules.UpdatePeriods(period, *all); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status UpdateOwnRules(const SeriesSchema& schema, TableAccess* tables, const Clock& clock) {
  Rules rules(schema, tables, clock);
  for (const VersionSpan& span : schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros)) {
    const absl::Status status = rules.Update(*span.schema, true);
    if (!status.ok() && !absl::IsNotFound(status)) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<KeptPoints> KeptPoints::Read(const SeriesSchema& schema, TableAccess* tables,
                                            int64_t now_micros) {
  KeptPoints kept(schema);
  std::map<std::string, GcRule> rules;  // by the names of their notes
  for (const VersionSpan& span : schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros)) {
    const absl::StatusOr<std::vector<FamilyRequest>> families = tables->ListFamilies(span.schema->table);
    if (absl::IsNotFound(families.status())) continue;
    if (!families.ok()) return families.status();
    for (const FamilyRequest& family : *families)
      rules[NoteName(span.schema->table, family.name)] = family.gc_rule;
  }
  // After the rules: the note of a rule is older than it.
  const absl::StatusOr<std::map<std::string, std::string>> notes =
      ListNotes(schema.name, kKeptFromNote, tables);
  if (!notes.ok()) return notes.status();
  for (const VersionSpan& span : schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros)) {
    std::vector<int64_t>& of_fields = kept.kept_from_micros_[span.schema->table];
    for (size_t i = 0; i < span.schema->fields.size(); ++i) {
      const std::string name = NoteName(span.schema->table, span.schema->FamilyOf(i));
      const std::optional<int64_t> age = AgeOf(rules[name], *span.schema);
      of_fields.push_back(std::max(NotedMicros(*notes, name).value_or(kTimeBeginMicros),
                                   age ? now_micros - *age + kMarginMicros : kTimeBeginMicros));
    }
  }
  return kept;
}

bool KeptPoints::HasAll(size_t field, int64_t from_micros, int64_t to_micros) const {
  const std::vector<VersionSpan> spans = schema_->VersionsIn(from_micros, to_micros);
  return std::all_of(spans.begin(), spans.end(), [&](const VersionSpan& span) {
    return from_micros >= kept_from_micros_.at(span.schema->table)[field];
  });
}

}  // namespace sonde::series
