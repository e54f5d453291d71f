#include "random_requests.h"

#include "base/random.h"
#include "hll/hll_sketch.h"
#include "random_filter.h"

namespace sonde {
namespace {

namespace admin = google::bigtable::admin::v2;
namespace pb = google::bigtable::v2;
using std::string_literals::operator""s;

// In 2096: engines forget tokens by the clock of the machine, which is behind.
constexpr int64_t kStartMicros = 4'000'000'000'000'000;
constexpr int kFilterDepthMax = 5;

class HistoryMaker {
 public:
  explicit HistoryMaker(uint64_t seed) : random_(seed), words_(Words::Make(kStartMicros)) {}

  History Make(int steps_count) {
    History history;
    history.start_micros = kStartMicros + static_cast<int64_t>(random_.Uniform(1'000'000));
    // Compaction may collect what a rule forgets, and a deletion or a looser rule could otherwise bring that
    // back: histories have the one or the other.
    has_rules_ = OneIn(2);
    MakeTable(history.table.mutable_table());
    for (int i = 0; i < steps_count; ++i) {
      Step& step = history.steps.emplace_back();
      step.advance_micros = static_cast<int64_t>(random_.Uniform(OneIn(10) ? 3'000'000 : 5'000));
      step.compact = !has_rules_ && OneIn(40);
      step.request = MakeRequest();
    }
    return history;
  }

 private:
  bool OneIn(uint64_t count) { return sonde::OneIn(count, &random_); }
  template <typename T>
  const T& Any(const std::vector<T>& values) {
    return AnyOf(values, &random_);
  }
  std::string RowKey() {
    return OneIn(100) ? (OneIn(2) ? "" : std::string(4097, 'k')) : Any(words_.row_keys);
  }
  // Often the families that are there from the start.
  std::string Family() { return OneIn(60) ? (OneIn(2) ? "missing" : "bad:name") : Any(words_.families); }

  admin::GcRule GcRule(int depth) {
    admin::GcRule rule;
    const uint64_t kind = random_.Uniform(depth == 0 ? 3 : 5);
    if (kind == 0) rule.set_max_num_versions(static_cast<int32_t>(1 + random_.Uniform(3)));
    if (kind == 1) rule.mutable_max_age()->set_seconds(static_cast<int64_t>(1 + random_.Uniform(5)));
    if (kind == 2)
      rule.mutable_max_age()->set_nanos(static_cast<int32_t>(1'000'000 * (1 + random_.Uniform(900))));
    for (uint64_t count = random_.Uniform(4); kind >= 3 && count > 0; --count) {
      auto* rules =
          kind == 3 ? rule.mutable_intersection()->mutable_rules() : rule.mutable_union_()->mutable_rules();
      *rules->Add() = GcRule(depth - 1);
    }
    if (kind == 3) rule.mutable_intersection();
    if (kind == 4) rule.mutable_union_();
    return rule;
  }

  admin::ColumnFamily ColumnFamily(const std::string& name) {
    admin::ColumnFamily family;
    if (has_rules_ && OneIn(2)) *family.mutable_gc_rule() = GcRule(2);
    admin::Type::Aggregate aggregate;
    if (name == "sum") aggregate.mutable_sum();
    if (name == "min") aggregate.mutable_min();
    if (name == "max") aggregate.mutable_max();
    if (name == "unique") aggregate.mutable_hllpp_unique_count();
    if (aggregate.aggregator_case() == admin::Type::Aggregate::AGGREGATOR_NOT_SET) return family;
    aggregate.mutable_input_type()->mutable_int64_type();
    *family.mutable_value_type()->mutable_aggregate_type() = aggregate;
    return family;
  }

  void MakeTable(admin::Table* table) {
    has_micros_ = OneIn(3);
    if (has_micros_) table->set_granularity(admin::Table::MICROS);
    if (OneIn(15)) return;  // no family
    for (const std::string& name : words_.families) {
      if (name != "z2") (*table->mutable_column_families())[name] = ColumnFamily(name);
    }
  }

  // A multiple of a millisecond, or not; also the greatest that there are.
  int64_t Time() {
    if (OneIn(has_micros_ ? 10 : 60)) return INT64_MAX - Any<int64_t>({0, 1, 807});
    return Any(words_.timestamps_micros) + (OneIn(has_micros_ ? 4 : 40) ? 7 : 0);
  }
  int64_t Timestamp() {
    if (OneIn(5)) return -1;
    return OneIn(200) ? -2 : Time();
  }
  void Origin(pb::Mutation* mutation) {
    if (OneIn(8)) mutation->set_timestamp_origin(pb::Mutation::CLIENT_AUTO_GENERATED);
    if (OneIn(300)) mutation->set_timestamp_origin(static_cast<pb::Mutation::TimestampOrigin>(7));
  }

  // Of few, so that some come again.
  void Idempotency(pb::Idempotency* idempotency) {
    idempotency->set_token(OneIn(20) ? "short" : "token " + std::to_string(10 + random_.Uniform(4)));
  }

  int64_t Number() { return Any<int64_t>({0, 1, -1, 2, 40, -1000, INT64_MAX, INT64_MIN}); }
  std::string State() {
    if (OneIn(6)) return HllSketch::Of(Number()).Serialize();
    return OneIn(30) ? "short"
                     : Any<std::string>({"\0\0\0\0\0\0\0\5"s, "\xff\xff\xff\xff\xff\xff\xff\xfe",
                                         "\x7f\xff\xff\xff\xff\xff\xff\xff", "\x80\0\0\0\0\0\0\0"s});
  }

  template <typename AddOrMerge>
  void Name(AddOrMerge* mutation) {
    mutation->set_family_name(OneIn(30) ? Family() : Any<std::string>({"sum", "min", "max", "unique"}));
    mutation->mutable_column_qualifier()->set_raw_value(Any(words_.qualifiers));
    mutation->mutable_timestamp()->set_raw_timestamp_micros(OneIn(2) ? Any(words_.timestamps_micros)
                                                                     : Timestamp());
  }

  pb::Mutation Mutation() {
    pb::Mutation mutation;
    switch (random_.Uniform(12)) {
      case 0:
      case 1: {
        Name(mutation.mutable_add_to_cell());
        if (!OneIn(20)) mutation.mutable_add_to_cell()->mutable_input()->set_int_value(Number());
        Origin(&mutation);
        break;
      }
      case 2:
        Name(mutation.mutable_merge_to_cell());
        Origin(&mutation);
        if (OneIn(20)) break;
        OneIn(4) ? mutation.mutable_merge_to_cell()->mutable_input()->set_raw_value(State())
                 : mutation.mutable_merge_to_cell()->mutable_input()->set_bytes_value(State());
        break;
      case 3: {
        auto* m = mutation.mutable_delete_from_column();
        m->set_family_name(Family());
        m->set_column_qualifier(Any(words_.qualifiers));
        if (OneIn(2)) break;
        int64_t start = Time();
        int64_t end = Time();
        if (start > end && !OneIn(20)) std::swap(start, end);
        if (start == end && !OneIn(20)) end = start > INT64_MAX - 1000 ? 0 : start + 1000;
        if (!OneIn(4)) m->mutable_time_range()->set_start_timestamp_micros(start);
        if (!OneIn(4)) m->mutable_time_range()->set_end_timestamp_micros(end);
        break;
      }
      case 4:
        if (OneIn(2)) mutation.mutable_delete_from_family()->set_family_name(Family());
        if (mutation.mutation_case() == pb::Mutation::MUTATION_NOT_SET && !OneIn(10))
          mutation.mutable_delete_from_row();
        break;
      default: {
        auto* m = mutation.mutable_set_cell();
        m->set_family_name(OneIn(30) ? Family() : Any<std::string>({"a", "b", "c", "cc"}));
        m->set_column_qualifier(Any(words_.qualifiers));
        m->set_timestamp_micros(Timestamp());
        m->set_value(Any(words_.values));
        Origin(&mutation);
      }
    }
    return mutation;
  }

  void Mutations(google::protobuf::RepeatedPtrField<pb::Mutation>* mutations) {
    for (uint64_t count = OneIn(40) ? 0 : 1 + random_.Uniform(5); count > 0; --count)
      *mutations->Add() = Mutation();
  }

  pb::RowSet RowSet() {
    pb::RowSet rows;
    for (uint64_t count = random_.Uniform(4); count > 0; --count) rows.add_row_keys(RowKey());
    for (uint64_t count = random_.Uniform(3); count > 0; --count) {
      pb::RowRange* range = rows.add_row_ranges();
      std::string start = Any(words_.row_keys);
      std::string end = Any(words_.row_keys);
      if (start > end && !OneIn(30)) std::swap(start, end);
      const uint64_t start_kind = random_.Uniform(3);
      if (start_kind == 1) range->set_start_key_closed(start);
      if (start_kind == 2) range->set_start_key_open(start);
      const uint64_t end_kind = random_.Uniform(3);
      if (end_kind == 1) range->set_end_key_closed(OneIn(20) ? "" : end);
      if (end_kind == 2) range->set_end_key_open(OneIn(20) ? "" : end);
    }
    return rows;
  }

  pb::ReadRowsRequest ReadRows() {
    pb::ReadRowsRequest request;
    if (OneIn(2)) *request.mutable_rows() = RowSet();
    if (!OneIn(10)) *request.mutable_filter() = RandomFilter(words_, kFilterDepthMax, &random_);
    if (OneIn(3)) request.set_rows_limit(OneIn(30) ? -1 : static_cast<int64_t>(1 + random_.Uniform(5)));
    request.set_reversed(OneIn(3));
    if (OneIn(3)) request.set_request_stats_view(pb::ReadRowsRequest::REQUEST_STATS_FULL);
    if (OneIn(200)) request.set_request_stats_view(static_cast<pb::ReadRowsRequest::RequestStatsView>(3));
    return request;
  }

  pb::ReadModifyWriteRowRequest ReadModifyWrite() {
    pb::ReadModifyWriteRowRequest request;
    request.set_row_key(RowKey());
    for (uint64_t count = OneIn(40) ? 0 : 1 + random_.Uniform(3); count > 0; --count) {
      pb::ReadModifyWriteRule* rule = request.add_rules();
      rule->set_family_name(OneIn(30) ? Family() : Any<std::string>({"a", "b", "c", "cc"}));
      rule->set_column_qualifier(Any(words_.qualifiers));
      if (OneIn(50)) continue;
      OneIn(2) ? rule->set_append_value(Any(words_.values)) : rule->set_increment_amount(Number());
    }
    return request;
  }

  admin::ModifyColumnFamiliesRequest ModifyFamilies() {
    admin::ModifyColumnFamiliesRequest request;
    for (uint64_t count = OneIn(20) ? 0 : 1 + random_.Uniform(2); count > 0; --count) {
      auto* modification = request.add_modifications();
      const std::string name = OneIn(2) ? "z2" : Family();
      modification->set_id(name);
      switch (random_.Uniform(3)) {
        case 0:
          *modification->mutable_create() = ColumnFamily(name);
          if (OneIn(20)) modification->mutable_create()->mutable_value_type()->mutable_string_type();
          break;
        case 1:
          *modification->mutable_update() = admin::ColumnFamily();
          if (has_rules_) *modification->mutable_update()->mutable_gc_rule() = GcRule(2);
          break;
        default:
          modification->set_drop(true);
      }
    }
    return request;
  }

  Request MakeRequest() {
    switch (random_.Uniform(40)) {
      case 0: {
        admin::DropRowRangeRequest request;
        if (OneIn(10)) {
          request.set_delete_all_data_from_table(OneIn(2));
        } else if (!OneIn(20)) {
          request.set_row_key_prefix(RowKey());
        }
        return request;
      }
      case 1:
        return ModifyFamilies();
      case 2:
      case 3:
      case 4:
      case 5:
      case 6: {
        pb::MutateRowRequest request;
        request.set_row_key(RowKey());
        Mutations(request.mutable_mutations());
        if (OneIn(3)) Idempotency(request.mutable_idempotency());
        return request;
      }
      case 7:
      case 8:
      case 9:
      case 10: {
        pb::MutateRowsRequest request;
        const bool lacks_mutations = OneIn(60);
        for (uint64_t count = OneIn(30) ? 0 : 1 + random_.Uniform(6); count > 0; --count) {
          pb::MutateRowsRequest::Entry* entry = request.add_entries();
          entry->set_row_key(RowKey());
          if (!lacks_mutations) Mutations(entry->mutable_mutations());
          if (OneIn(3)) Idempotency(entry->mutable_idempotency());
        }
        return request;
      }
      case 11:
      case 12:
      case 13:
        return ReadModifyWrite();
      case 14:
      case 15:
      case 16:
      case 17:
      case 18:
      case 19: {
        pb::CheckAndMutateRowRequest request;
        request.set_row_key(RowKey());
        if (!OneIn(8)) *request.mutable_predicate_filter() = RandomFilter(words_, kFilterDepthMax, &random_);
        if (!OneIn(4)) Mutations(request.mutable_true_mutations());
        if (!OneIn(4)) Mutations(request.mutable_false_mutations());
        return request;
      }
      default:
        return ReadRows();
    }
  }

  SeededRandom random_;
  const Words words_;
  bool has_rules_ = false;
  bool has_micros_ = false;
};

}  // namespace

History MakeHistory(uint64_t seed, int steps_count) { return HistoryMaker(seed).Make(steps_count); }

}  // namespace sonde
