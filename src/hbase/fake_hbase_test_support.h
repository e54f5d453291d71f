// An HBase in this process: region servers and a master as far as a client sees them, over real sockets, with faults on demand.
//
// It keeps puts and the newest value of each column, tests guards, scans families in parts, and knows which of its servers has which region.
// A marker deletes the column, or the family, whatever its time.  It does not know times, versions, or filters: those are HBase's, and the
// tests with a cluster look at them.
#pragma once

#include <gtest/gtest.h>
#include <hbase/wire/messages.pb.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/random.h"
#include "hbase/call/fake_server_test_support.h"
#include "hbase/wire/cell_block.h"
#include "hbase/wire/names.h"

namespace sonde::hbase {

// One table, "space:table" with the family "d" and whatever families are put, over two servers; the first is the master, too.
class FakeHBase {
 public:
  static constexpr char kTable[] = "space:table";
  static inline const TableName kTableName{"space", "table"};

  // What happens to a call, of 1,000 calls to rows.
  struct Faults {
    int lost_calls = 0;    // the connection closes before anything is done
    int lost_answers = 0;  // it closes after it was done
    int refusals = 0;      // the region is too busy
    int moves = 0;         // before the call, its region moves to the other server
  };

  FakeHBase() {
    for (int i = 0; i < 2; ++i)
      servers_.push_back(std::make_unique<FakeServer>(i, [this](const FakeCall& call) { return Do(call); }));
    regions_[""] = 0;
  }

  std::vector<ServerAddress> roots() const { return {servers_[0]->address()}; }
  const ServerAddress& address(int server) const { return servers_[server]->address(); }
  int connections() const { return servers_[0]->connections() + servers_[1]->connections(); }

  void SetFaults(const Faults& faults) {
    const absl::MutexLock lock(&mutex_);
    faults_ = faults;
  }
  // Looks at each call before anything else; an answer of its own stands for the server's.
  void SetInterceptor(std::function<std::optional<FakeAnswer>(const FakeCall&)> interceptor) {
    const absl::MutexLock lock(&mutex_);
    interceptor_ = std::move(interceptor);
  }
  void Split(const std::string& key, int server) {
    const absl::MutexLock lock(&mutex_);
    regions_[key] = server;
    ++generation_;
  }
  void Move(const std::string& start_key, int server) {
    const absl::MutexLock lock(&mutex_);
    regions_[start_key] = server;
  }
  // The region is nowhere open.
  void Close(const std::string& start_key) { Move(start_key, kNowhere); }
  void Put(const std::string& row, const std::string& qualifier, const std::string& value) {
    const absl::MutexLock lock(&mutex_);
    rows_[row][{"d", qualifier}] = value;
  }
  std::string ValueOf(const std::string& row, const std::string& qualifier) {
    const absl::MutexLock lock(&mutex_);
    const auto found = rows_.find(row);
    if (found == rows_.end()) return "";
    const auto cell = found->second.find({"d", qualifier});
    return cell == found->second.end() ? "" : cell->second;
  }
  void SetCellsOfPart(size_t cells) {
    const absl::MutexLock lock(&mutex_);
    cells_of_part_ = cells;
  }
  int renewals() const { return renewals_; }
  int open_scanners() {
    const absl::MutexLock lock(&mutex_);
    return static_cast<int>(scanners_.size());
  }
  void SetLease(int64_t lease_ms) { lease_ms_ = lease_ms; }
  void SetHeartbeats(bool heartbeats) { heartbeats_ = heartbeats; }

 private:
  static constexpr int kNowhere = -1;
  using Row = std::map<std::pair<std::string, std::string>, std::string>;
  struct OpenScanner {
    std::string region_start;
    std::string row;  // where it goes on: at this row, after `cells` of its cells
    size_t cells = 0;
    bool reverse = false;
    std::string stop;
    std::set<std::string> families = {};  // none: all
    uint64_t sequence = 0;
  };

  static Row WantedOf(const Row& row, const OpenScanner& scanner) {
    if (scanner.families.empty()) return row;
    Row wanted;
    for (const auto& [column, value] : row) {
      if (scanner.families.contains(column.first)) wanted[column] = value;
    }
    return wanted;
  }

  static FakeAnswer Exception(const std::string& name) {
    return {.exception = "org.apache.hadoop.hbase." + name};
  }
  std::string NameOf(const std::string& start_key) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return std::string(kTable) + "," + start_key + "," + std::to_string(generation_) + ".0123456789abcdef.";
  }
  std::string EndOf(const std::string& start_key) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto next = regions_.upper_bound(start_key);
    return next == regions_.end() ? "" : next->first;
  }
  // The region of this name on this server.
  std::optional<std::string> Start(const std::string& name, int server) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const auto& [start, at] : regions_) {
      if (NameOf(start) == name && at == server) return start;
    }
    return std::nullopt;
  }

  FakeAnswer Do(const FakeCall& call) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::function<std::optional<FakeAnswer>(const FakeCall&)> interceptor;
    {
      const absl::MutexLock lock(&mutex_);
      interceptor = interceptor_;
    }
    if (interceptor != nullptr) {
      if (std::optional<FakeAnswer> answer = interceptor(call)) return *answer;
    }
    const absl::MutexLock lock(&mutex_);
    if (call.method == "GetActiveMaster") return ActiveMaster();
    if (call.method == "GetMetaRegionLocations") return MetaPlace();
    if (call.method == "Scan") {
      pb::ScanRequest request;
      request.ParseFromString(call.parameter);
      if (request.region().value() == "hbase:meta,,1") return ScanMeta(request);
      return WithFaults(call, [&] {
        mutex_.AssertHeld();
        return Scan(call, request);
      });
    }
    if (call.method == "Get")
      return WithFaults(call, [&] {
        mutex_.AssertHeld();
        return Get(call);
      });
    if (call.method == "Multi")
      return WithFaults(call, [&] {
        mutex_.AssertHeld();
        return Multi(call);
      });
    return Exception("DoNotRetryIOException");
  }

  FakeAnswer WithFaults(const FakeCall& /*call*/, const std::function<FakeAnswer()>& act)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto draws = [&](int of_thousand) {
      mutex_.AssertHeld();
      return random_.Uniform(1'000) < static_cast<uint64_t>(of_thousand);
    };
    if (draws(faults_.moves)) {
      for (auto& [start, server] : regions_) server = server == kNowhere ? server : 1 - server;
    }
    if (draws(faults_.lost_calls)) return {.deed = FakeAnswer::Deed::kCloseConnection};
    if (draws(faults_.refusals)) return Exception("RegionTooBusyException");
    FakeAnswer answer = act();
    if (draws(faults_.lost_answers)) answer.deed = FakeAnswer::Deed::kCloseConnection;
    return answer;
  }

  static void SetServer(pb::ServerName* out, const ServerAddress& address) {
    out->set_host_name(address.host);
    out->set_port(address.port);
  }
  FakeAnswer ActiveMaster() const {
    pb::GetActiveMasterResponse response;
    SetServer(response.mutable_server_name(), servers_[0]->address());
    return {.parameter = response.SerializeAsString()};
  }
  FakeAnswer MetaPlace() const {
    pb::GetMetaRegionLocationsResponse response;
    SetServer(response.add_meta_locations()->mutable_server_name(), servers_[0]->address());
    return {.parameter = response.SerializeAsString()};
  }

  // Rows of hbase:meta are sorted by table, start key, id, which the client writes between the first and the last comma.
  FakeAnswer ScanMeta(const pb::ScanRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto key_of = [](const std::string& row) {
      const size_t first = row.find(',');
      const size_t last = row.rfind(',');
      return std::make_tuple(row.substr(0, first), row.substr(first + 1, last > first ? last - first - 1 : 0),
                             row.substr(last + 1));
    };
    const auto start = key_of(request.scan().start_row());
    const auto stop = key_of(request.scan().stop_row());
    std::vector<std::string> starts;
    for (const auto& [region_start, server] : regions_) {
      const auto key = key_of(NameOf(region_start));
      const bool is_in = request.scan().reversed() ? key <= start && key > stop : key >= start && key < stop;
      if (is_in) starts.push_back(region_start);
    }
    if (request.scan().reversed()) std::reverse(starts.begin(), starts.end());
    if (starts.size() > request.number_of_rows()) starts.resize(request.number_of_rows());
    FakeAnswer answer;
    pb::ScanResponse response;
    for (const std::string& region_start : starts) {
      pb::RegionInfo info;
      info.set_region_id(generation_);
      info.mutable_table_name()->set_namespace_("space");
      info.mutable_table_name()->set_qualifier("table");
      info.set_start_key(region_start);
      info.set_end_key(EndOf(region_start));
      AppendCell(&answer.cells, {NameOf(region_start), "info", "regioninfo", 1, CellType::kPut,
                                 "PBUF" + info.SerializeAsString()});
      const int server = regions_.at(region_start);
      if (server != kNowhere) {
        AppendCell(&answer.cells, {NameOf(region_start), "info", "server", 1, CellType::kPut,
                                   servers_[server]->address().Text()});
      }
      // Where it was before: hbase:meta keeps versions.
      const bool with_older = request.scan().max_versions() > 1;
      if (with_older)
        AppendCell(&answer.cells, {NameOf(region_start), "info", "server", 0, CellType::kPut, "127.0.0.1:1"});
      response.add_cells_per_result(1 + (server != kNowhere ? 1 : 0) + (with_older ? 1 : 0));
    }
    response.set_more_results_in_region(false);
    answer.parameter = response.SerializeAsString();
    return answer;
  }

  static void AppendRow(std::string* block, const std::string& row, const Row& columns, size_t from,
                        size_t count) {
    auto at = columns.begin();
    std::advance(at, from);
    for (; count > 0; --count, ++at)
      AppendCell(block, {row, at->first.first, at->first.second, 1, CellType::kPut, at->second});
  }

  FakeAnswer Get(const FakeCall& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    pb::GetRequest request;
    request.ParseFromString(call.parameter);
    if (!Start(request.region().value(), call.server).has_value())
      return Exception("NotServingRegionException");
    FakeAnswer answer;
    Row wanted;
    const auto row = rows_.find(request.get().row());
    if (row != rows_.end()) {
      for (const auto& [column, value] : row->second) {
        for (const pb::Column& family : request.get().column()) {
          if (family.family() == column.first) wanted[column] = value;
        }
        if (request.get().column_size() == 0) wanted[column] = value;
      }
    }
    AppendRow(&answer.cells, request.get().row(), wanted, 0, wanted.size());
    pb::GetResponse response;
    response.mutable_result()->set_associated_cell_count(static_cast<int32_t>(wanted.size()));
    answer.parameter = response.SerializeAsString();
    return answer;
  }

  void Take(const Cell& cell) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Row& row = rows_[std::string(cell.row)];
    const std::pair column{std::string(cell.family), std::string(cell.qualifier)};
    if (cell.type == CellType::kPut) {
      row[column] = std::string(cell.value);
    } else if (cell.type == CellType::kDeleteFamily) {
      std::erase_if(row, [&](const auto& entry) { return entry.first.first == cell.family; });
    } else {
      row.erase(column);
    }
  }

  FakeAnswer Multi(const FakeCall& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    pb::MultiRequest request;
    request.ParseFromString(call.parameter);
    pb::MultiResponse response;
    CellReader reader(call.cells);
    for (const pb::RegionAction& region_action : request.region_action()) {
      pb::RegionActionResult* const result = response.add_region_action_result();
      const std::optional<std::string> start = Start(region_action.region().value(), call.server);
      bool holds = true;
      if (!start.has_value()) {
        result->mutable_exception()->set_name("org.apache.hadoop.hbase.NotServingRegionException");
        holds = false;
      } else if (region_action.has_condition()) {
        pb::BinaryComparator comparator;
        comparator.ParseFromString(region_action.condition().comparator().serialized_comparator());
        const Row& row = rows_[region_action.condition().row()];
        const auto found =
            row.find({region_action.condition().family(), region_action.condition().qualifier()});
        holds = (found == row.end() ? "" : found->second) == comparator.comparable().value();
      }
      result->set_processed(holds);
      for (const pb::Action& action : region_action.action()) {
        for (int i = 0; i < action.mutation().associated_cell_count(); ++i) {
          const Cell cell = *reader.Next();
          if (holds) Take(cell);
        }
      }
    }
    return {.parameter = response.SerializeAsString()};
  }

  FakeAnswer Scan(const FakeCall& call, const pb::ScanRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    uint64_t id = request.scanner_id();
    if (request.has_region()) {
      const std::optional<std::string> start = Start(request.region().value(), call.server);
      if (!start.has_value()) return Exception("NotServingRegionException");
      OpenScanner scanner{.region_start = *start,
                          .row = request.scan().start_row(),
                          .reverse = request.scan().reversed(),
                          .stop = request.scan().stop_row()};
      for (const pb::Column& family : request.scan().column()) scanner.families.insert(family.family());
      if (scanner.reverse && !request.scan().include_start_row())
        scanner.cells = SIZE_MAX;  // behind this row
      if (scanner.reverse && scanner.row.empty()) scanner.row = "\xff\xff\xff\xff";
      id = ++next_scanner_;
      scanners_[id] = scanner;
    }
    const auto found = scanners_.find(id);
    if (found == scanners_.end()) return Exception("UnknownScannerException");
    OpenScanner& scanner = found->second;
    if (regions_.at(scanner.region_start) != call.server) {
      scanners_.erase(found);
      return Exception("NotServingRegionException");
    }
    // As HBase: the lease is away while a call has it.
    const bool is_taken = call.came_early && last_scanner_ == id;
    last_scanner_ = id;
    if (is_taken) return Exception("regionserver.LeaseException");
    if (request.close_scanner()) {
      scanners_.erase(found);
      return {};
    }
    if (request.renew()) {
      ++renewals_;
      return {};
    }
    if (!request.has_region() && request.next_call_seq() != scanner.sequence++)
      return Exception("OutOfOrderScannerNextException");
    return NextPart(id, &scanner);
  }

  FakeAnswer NextPart(uint64_t id, OpenScanner* scanner) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    FakeAnswer answer;
    pb::ScanResponse response;
    response.set_scanner_id(id);
    response.set_ttl(static_cast<uint32_t>(lease_ms_));
    response.set_more_results(true);
    response.set_more_results_in_region(true);
    if (heartbeats_ && random_.Uniform(2) == 0) {
      response.set_heartbeat_message(true);
      answer.parameter = response.SerializeAsString();
      return answer;
    }
    const std::string end = EndOf(scanner->region_start);
    const auto is_in = [&](const std::string& row) {
      mutex_.AssertHeld();
      if (row < scanner->region_start || (!end.empty() && row >= end)) return false;
      return scanner->stop.empty() || (scanner->reverse ? row > scanner->stop : row < scanner->stop);
    };
    // The row where it goes on.
    auto row = scanner->reverse ? rows_.upper_bound(scanner->row) : rows_.lower_bound(scanner->row);
    const auto step = [&]() -> bool {
      mutex_.AssertHeld();
      if (!scanner->reverse) return ++row != rows_.end();
      if (row == rows_.begin()) return false;
      --row;
      return true;
    };
    bool has_row = scanner->reverse ? step() : row != rows_.end();
    if (has_row && row->first == scanner->row && scanner->cells >= WantedOf(row->second, *scanner).size())
      has_row = step(), scanner->cells = 0;
    if (has_row && row->first != scanner->row) scanner->cells = 0;
    while (has_row && (WantedOf(row->second, *scanner).empty() ||
                       (scanner->reverse && !end.empty() && row->first >= end)))
      has_row = step();
    if (!has_row || !is_in(row->first)) {
      response.set_more_results_in_region(false);
      scanners_.erase(id);
    } else {
      const Row wanted = WantedOf(row->second, *scanner);
      const size_t count = std::min(cells_of_part_, wanted.size() - scanner->cells);
      AppendRow(&answer.cells, row->first, wanted, scanner->cells, count);
      scanner->row = row->first;
      scanner->cells += count;
      const bool is_whole = scanner->cells == wanted.size();
      response.add_cells_per_result(static_cast<uint32_t>(count));
      response.add_partial_flag_per_result(!is_whole);
      // What the row gets from now on is not of this scan.
      if (is_whole) scanner->cells = SIZE_MAX;
    }
    answer.parameter = response.SerializeAsString();
    return answer;
  }

  absl::Mutex mutex_;
  std::map<std::string, int> regions_ ABSL_GUARDED_BY(mutex_);  // by start key: the server
  int generation_ ABSL_GUARDED_BY(mutex_) = 1;
  std::map<std::string, Row> rows_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, OpenScanner> scanners_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_scanner_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t last_scanner_ ABSL_GUARDED_BY(mutex_) = 0;  // of the call before
  size_t cells_of_part_ ABSL_GUARDED_BY(mutex_) = 1'000;
  Faults faults_ ABSL_GUARDED_BY(mutex_);
  SeededRandom random_ ABSL_GUARDED_BY(mutex_){11};
  std::function<std::optional<FakeAnswer>(const FakeCall&)> interceptor_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int> renewals_ = 0;
  std::atomic<int64_t> lease_ms_ = 60'000;
  std::atomic<bool> heartbeats_ = false;
  std::vector<std::unique_ptr<FakeServer>> servers_;  // ends first: its threads use what is above
};

}  // namespace sonde::hbase
