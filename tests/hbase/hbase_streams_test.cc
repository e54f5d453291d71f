// Change streams over a store in a cluster: processes that write it are killed with SIGKILL, two servers read it in turns.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/clock.h"
#include "base/random.h"
#include "catalog/catalog.h"
#include "changes/change_record.h"
#include "cluster_under_test.h"
#include "engine/hbase/hbase_engine.h"
#include "table/change_streams.h"
#include "table/mutate_row_test_support.h"

namespace sonde {
namespace {

constexpr char kTable[] = "projects/p/instances/i/tables/t";
constexpr int kRows = 8;
constexpr int kWriters = 3;

// A process that writes, in the environment: "SEED SPACE"; else this is the test.
constexpr char kWriterVariable[] = "SONDE_HBASE_STREAMS_WRITER";

struct Server {
  explicit Server(const std::string& space) {
    const HBaseStoreAddress address =
        *ParseHBaseStore(fmt::format("hbase://{}/{}", std::getenv("SONDE_HBASE_MASTER"), space));
    engine = *HBaseEngine::Open(
        {.address = address, .tls = hbase::TlsOfCluster(), .open_timeout = absl::Minutes(1)});
    catalog = *Catalog::Open(engine.get());
    tables = std::make_unique<Tables>(engine.get(), catalog.get(), &clock, /*seed=*/1);
    streams = std::make_unique<ChangeStreams>(tables.get());
  }

  SystemClock clock;
  std::unique_ptr<HBaseEngine> engine;
  std::unique_ptr<Catalog> catalog;
  std::unique_ptr<Tables> tables;
  std::unique_ptr<ChangeStreams> streams;
};

// Writes rows until it is killed; says on its standard output what was acknowledged: "ROW VALUE".
int Write(const std::string& argument) {
  const size_t blank = argument.find(' ');
  SeededRandom random(std::stoull(argument.substr(0, blank)));
  Server server(argument.substr(blank + 1));
  const TableSchemaRef schema = *server.catalog->Find(kTable);
  for (int number = 0;; ++number) {
    std::vector<std::string> rows, values;
    std::vector<std::vector<Mutation>> mutations;
    for (uint64_t n = 1 + random.Uniform(3); n > 0; --n) {
      rows.push_back(fmt::format("row{}", random.Uniform(kRows)));
      values.push_back(fmt::format("{}.{}.{}", argument.substr(0, blank), number, n));
    }
    const bool asks_for_time = random.Uniform(2) == 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      // A column for each value: nothing is overwritten.
      mutations.push_back({SetCell{"f", values[i], asks_for_time ? kServerTimestamp : 1'000, values[i]}});
    }
    std::vector<RowMutations> requests;
    for (size_t i = 0; i < rows.size(); ++i) requests.push_back({rows[i], mutations[i]});
    const std::vector<absl::Status> statuses = server.tables->MutateRows(*schema, requests);
    std::string text;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (statuses[i].ok()) text += fmt::format("{} {}\n", rows[i], values[i]);
    }
    if (write(STDOUT_FILENO, text.data(), text.size()) < 0) return 1;
  }
}

class Writer {
 public:
  Writer(uint64_t seed, const std::string& space) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    process_ = fork();
    if (process_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      const std::string argument = fmt::format("{} {}", seed, space);
      setenv(kWriterVariable, argument.c_str(), 1);
      execl("/proc/self/exe", "writer", nullptr);
      _exit(127);
    }
    close(ends[1]);
    output_ = ends[0];
  }
  // Kills it, and returns what it has said, in whole lines.
  std::string Kill() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    std::string text;
    char buffer[65'536];
    while (true) {
      const ssize_t count = read(output_, buffer, sizeof(buffer));
      if (count <= 0) break;
      text.append(buffer, static_cast<size_t>(count));
    }
    close(output_);
    return text.substr(0, text.rfind('\n') + 1);
  }

 private:
  pid_t process_ = 0;
  int output_ = 0;
};

// One cell: "ROW VALUE".
void TakeLines(const std::string& text, std::set<std::string>* cells) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    cells->insert(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

class Follower {
 public:
  Follower(std::vector<Server*> servers, int64_t start_micros)
      : servers_(std::move(servers)), start_micros_(start_micros) {
    Open();
  }

  // Reads what there is; now and then another server goes on from the token.
  void Step() {
    std::vector<ChangeStreamReader::Piece> pieces;
    const auto state = reader_->Read(&pieces);
    ASSERT_TRUE(state.ok()) << state.status();
    for (const ChangeStreamReader::Piece& piece : pieces) Take(piece);
    if (!reader_->InRecord() && ++steps_ % 20 == 0) {
      token_ = reader_->Token();
      Open();
    }
    if (*state != ChangeStreamReader::State::kMore) absl::SleepFor(absl::Milliseconds(50));
  }
  int64_t watermark_micros() const { return reader_->watermark_micros(); }
  const std::map<std::string, int>& told() const { return told_; }
  int opened() const { return opened_; }

 private:
  void Open() {
    Server* const server = servers_[static_cast<size_t>(opened_++) % servers_.size()];
    ReadChangesRequest request{.partition = RowRange::All()};
    if (token_.empty()) {
      request.start_micros = start_micros_;
    } else {
      request.tokens = {{RowRange::All(), token_}};
    }
    auto reader = server->streams->Open(*server->catalog->Find(kTable), request);
    ASSERT_TRUE(reader.ok()) << reader.status();
    reader_ = *std::move(reader);
  }
  void Take(const ChangeStreamReader::Piece& piece) {
    ChangePiece change;
    ASSERT_TRUE(DecodeChangePiece(piece.bytes, &change).ok());
    ASSERT_TRUE(change.first && change.last);
    int64_t& last = last_of_row_[std::string(change.row_key)];
    EXPECT_GT(piece.commit_micros, last);
    last = piece.commit_micros;
    for (const LoggedMutation& logged : change.mutations) {
      const auto& set = std::get<SetCell>(logged.mutation);
      ++told_[fmt::format("{} {}", change.row_key, set.value)];
    }
  }

  const std::vector<Server*> servers_;
  const int64_t start_micros_;
  std::unique_ptr<ChangeStreamReader> reader_;
  std::string token_;
  int steps_ = 0;
  int opened_ = 0;
  std::map<std::string, int64_t> last_of_row_;
  std::map<std::string, int> told_;
};

// Each cell that is in the table in the end was told, once, in the order of its row, and no other one.
TEST(HBaseStreamsTest, KilledWritersLoseNothingAndTellNothingTwice) {
  ASSERT_NE(std::getenv("SONDE_HBASE_MASTER"), nullptr)
      << "SONDE_HBASE_MASTER is not set: run this by tests/hbase/run";
  const char* const seconds = std::getenv("SONDE_HBASE_LOG_SECONDS");
  const absl::Duration time = absl::Seconds(seconds == nullptr ? 20 : std::atoi(seconds));
  SystemRandom random;
  const std::string space = fmt::format("sonde_streams_{:08x}", random.Next() & 0xffffffff);
  Server first(space), second(space);
  TableSchema wanted{.name = kTable, .families = {{.name = "f"}}};
  wanted.change_stream = first.streams->ForNewTable(wanted, int64_t{24} * 3'600 * 1'000'000);
  const absl::StatusOr<TableSchemaRef> schema = first.catalog->Create(wanted);
  ASSERT_TRUE(schema.ok()) << schema.status();

  Follower follower({&first, &second}, (*schema)->change_stream->start_micros);
  std::set<std::string> acknowledged;
  std::vector<std::unique_ptr<Writer>> writers;
  uint64_t seed = 0;
  for (int i = 0; i < kWriters; ++i) writers.push_back(std::make_unique<Writer>(++seed, space));
  int kills = 0;
  absl::Time next_kill = absl::Now() + absl::Seconds(4);
  for (const absl::Time end = absl::Now() + time; absl::Now() < end && !testing::Test::HasFailure();) {
    follower.Step();
    if (absl::Now() < next_kill) continue;
    std::unique_ptr<Writer>& writer = writers[random.Uniform(kWriters)];
    TakeLines(writer->Kill(), &acknowledged);
    writer = std::make_unique<Writer>(++seed, space);
    ++kills;
    next_kill = absl::Now() + absl::Milliseconds(1'000 + random.Uniform(4'000));
  }
  for (const std::unique_ptr<Writer>& writer : writers) TakeLines(writer->Kill(), &acknowledged);
  // What they had under way is over, or never comes.
  absl::SleepFor(absl::Seconds(1));
  const int64_t over_micros = SystemClock().NowMicros();
  const absl::Time began = absl::Now();
  while (follower.watermark_micros() < over_micros && absl::Now() < began + absl::Minutes(1) &&
         !testing::Test::HasFailure())
    follower.Step();
  const absl::Duration lag = absl::Now() - began;

  std::set<std::string> in_table;
  const auto stream = first.engine->Scan((*schema)->id, {RowRange::All()}, {});
  ASSERT_TRUE(stream.ok()) << stream.status();
  RowPiece piece;
  while (true) {
    const absl::StatusOr<bool> more = (*stream)->Next(&piece);
    ASSERT_TRUE(more.ok()) << more.status();
    if (!*more) break;
    for (const CellView& cell : piece.cells) in_table.insert(fmt::format("{} {}", piece.row_key, cell.value));
  }
  EXPECT_GT(acknowledged.size(), 10u);
  for (const std::string& cell : acknowledged)
    EXPECT_TRUE(in_table.contains(cell)) << cell << " was acknowledged, and is lost";
  for (const std::string& cell : in_table) {
    const auto told = follower.told().find(cell);
    EXPECT_EQ(told == follower.told().end() ? 0 : told->second, 1) << cell;
  }
  for (const auto& [cell, times] : follower.told()) EXPECT_TRUE(in_table.contains(cell)) << cell;
  fmt::print(
      "{} cells, {} acknowledged, {} processes killed, {} streams opened, complete {:.1f} s after the end\n",
      in_table.size(), acknowledged.size(), kills + kWriters, follower.opened(), absl::ToDoubleSeconds(lag));
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  if (const char* const argument = std::getenv(sonde::kWriterVariable)) return sonde::Write(argument);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
