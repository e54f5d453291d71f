// A random history of rows and schemas is recorded with copies and segments; the store of random moments is compared with a model.
//
// SONDE_JOURNAL_COMMITS and SONDE_JOURNAL_MOMENTS make it larger (scripts/nightly).
#include "journal/replay.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>
#include <tuple>

#include "base/varint.h"
#include "engine/rocks/rocks_engine.h"
#include "journal/journal.h"
#include "table/tables.h"

namespace sonde {
namespace {

constexpr int64_t kNow = 1'700'000'000'000'000;
constexpr int kIds = 4, kRows = 12;
constexpr std::string_view kFamilies[] = {"f", "g", "sum"};

size_t SizeOf(const char* variable, size_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoul(text);
}

// The naive store: names of tables, families, rows, cells.
using ModelCell = std::tuple<std::string, std::string, int64_t>;  // family, qualifier, time
struct ModelTable {
  std::map<std::string, int32_t> families;  // and the versions that their rules keep
  std::map<std::string, std::map<ModelCell, std::string>> rows;
};
struct Model {
  std::map<std::string, ModelTable> tables;
  std::vector<std::pair<std::string, ModelTable>> deleted;

  std::string Text() const {
    std::string text;
    for (const auto& [name, table] : tables) {
      text += name + "\n";
      for (const auto& [family, versions] : table.families)
        text += "  family " + family + " " + std::to_string(versions) + "\n";
      for (const auto& [row_key, cells] : table.rows) {
        for (const auto& [cell, value] : cells) {
          text += "  " + row_key + " " + std::get<0>(cell) + ":" + std::get<1>(cell) + "@" +
                  std::to_string(std::get<2>(cell)) + "=" + value + "\n";
        }
      }
    }
    return text;
  }
};

std::string NumberText(std::string_view value) {
  uint64_t number = 0;
  return GetFixed64(&value, &number) ? std::to_string(static_cast<int64_t>(number)) : "none";
}

// The store as the model has it.
std::string TextOf(RocksEngine* engine, Catalog* catalog) {
  Model model;
  for (const TableSchemaRef& schema : catalog->ListAll()) {
    ModelTable& table = model.tables[schema->name];
    ReadHints hints;
    hints.families.emplace();
    for (const FamilySchema& family : schema->families) {
      const auto* rule = std::get_if<GcRule::MaxVersions>(&family.gc_rule.rule);
      table.families[family.name] = rule == nullptr ? 0 : rule->count;
      hints.families->push_back(family.id);
    }
    std::sort(hints.families->begin(), hints.families->end());
    const absl::StatusOr<std::unique_ptr<RowStream>> stream =
        engine->Scan(schema->id, {RowRange::All()}, {.hints = hints});
    EXPECT_TRUE(stream.ok()) << stream.status();
    RowPiece piece;
    while (true) {
      const absl::StatusOr<bool> more = (*stream)->Next(&piece);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) break;
      const FamilySchema* const family = schema->FindFamily(piece.family);
      if (family == nullptr) continue;
      for (const CellView& cell : piece.cells) {
        table.rows[piece.row_key][{family->name, std::string(cell.qualifier), cell.timestamp_micros}] =
            family->aggregate == AggregateKind::kSum ? NumberText(cell.value) : std::string(cell.value);
      }
    }
  }
  return model.Text();
}

class ReplayTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    engine_ = *RocksEngine::Open({.data_dir = root_ + "/store", .sync = false});
    catalog_ = *Catalog::Open(engine_.get());
    tables_ = std::make_unique<Tables>(engine_.get(), catalog_.get(), &clock_, 1);
    absl::StatusOr<std::unique_ptr<Journal>> journal =
        Journal::Open(engine_.get(), catalog_.get(), &clock_, &random_,
                      {.tables = "t*", .keep = absl::Hours(24 * 30), .cut_bytes_max = 64 << 10});
    ASSERT_TRUE(journal.ok()) << journal.status();
    journal_ = *std::move(journal);
    cut_through_ = *journal_->Surround([] { return absl::OkStatus(); });
  }
  void TearDown() override {
    journal_.reset();
    tables_.reset();
    catalog_.reset();
    engine_.reset();
    std::filesystem::remove_all(root_);
  }

  uint64_t Random(uint64_t count) { return random_.Next() % count; }
  static std::string NameOf(uint64_t id) { return "projects/p/instances/i/tables/t" + std::to_string(id); }

  // --- The steps of the history; each is one for the model, too.
  void ChangeRow(const std::string& name, ModelTable* model) {
    const std::string row_key = "r" + std::to_string(Random(kRows));
    const std::string qualifier = "q" + std::to_string(Random(3));
    const std::string value = "v" + std::to_string(random_.Next() % 1000) +
                              (Random(40) == 0 ? std::string(80'000, 'x') : std::string());
    const int64_t time = 1'000 * static_cast<int64_t>(Random(5));
    auto family = model->families.begin();
    std::advance(family, Random(model->families.size()));
    auto& cells = model->rows[row_key];
    const ModelCell cell{family->first, qualifier, time};
    const uint64_t choice = Random(10);
    std::vector<Mutation> mutations;
    const auto erase = [&](const auto& goes) {
      std::erase_if(cells, [&](const auto& one) { return goes(one.first); });
    };
    if (choice == 0) {
      mutations = {DeleteFromRow{}};
      cells.clear();
    } else if (choice == 1) {
      mutations = {DeleteFromFamily{family->first}};
      erase([&](const ModelCell& one) { return std::get<0>(one) == family->first; });
    } else if (choice == 2 && family->first != "sum") {
      mutations = {DeleteFromColumn{family->first, qualifier, {0, time + 1'000}}};
      erase([&](const ModelCell& one) {
        return std::get<0>(one) == family->first && std::get<1>(one) == qualifier && std::get<2>(one) <= time;
      });
    } else if (family->first == "sum") {
      mutations = {AddToCell{family->first, qualifier, time, int64_t{3}}};
      cells[cell] = std::to_string((cells.contains(cell) ? std::stoll(cells[cell]) : 0) + 3);
    } else {
      mutations = {SetCell{family->first, qualifier, time, value}};
      cells[cell] = value;
    }
    const RowMutations row{.row_key = row_key, .mutations = mutations};
    ASSERT_EQ(tables_->MutateRows(**catalog_->Find(name), {&row, 1})[0], absl::OkStatus());
    if (cells.empty()) model->rows.erase(row_key);
  }

  void DropRange(const std::string& name, ModelTable* model) {
    const std::string start = "r" + std::to_string(Random(kRows)), end = start + "~";
    ASSERT_EQ(tables_->DropRowRange(**catalog_->Find(name), {start, end}), absl::OkStatus());
    std::erase_if(model->rows, [&](const auto& row) { return row.first >= start && row.first < end; });
  }

  void ChangeFamilies(const std::string& name, ModelTable* model) {
    const std::string family(kFamilies[Random(3)]);
    const int32_t versions = static_cast<int32_t>(100 + Random(5));
    const GcRule rule{GcRule::MaxVersions{versions}};
    FamilyModification change;
    if (!model->families.contains(family)) {
      change = CreateFamily{{.name = family,
                             .gc_rule = rule,
                             .aggregate = family == "sum" ? AggregateKind::kSum : AggregateKind::kNone}};
      model->families[family] = versions;
    } else if (Random(2) == 0 || model->families.size() == 1) {
      change = UpdateFamily{.name = family, .gc_rule = rule};
      model->families[family] = versions;
    } else {
      change = DropFamily{family};
      model->families.erase(family);
      for (auto& [row_key, cells] : model->rows)
        std::erase_if(cells, [&](const auto& one) { return std::get<0>(one.first) == family; });
      std::erase_if(model->rows, [](const auto& row) { return row.second.empty(); });
    }
    const absl::StatusOr<TableSchemaRef> made = catalog_->Modify(name, {change});
    ASSERT_TRUE(made.ok()) << made.status();
  }

  void Create(const std::string& name) {
    TableSchema schema;
    schema.name = name;
    schema.families = {{.name = "f", .gc_rule = {GcRule::MaxVersions{100}}}};
    ASSERT_TRUE(catalog_->Create(schema).ok());
    model_.tables[name].families = {{"f", 100}};
  }

  void Delete(const std::string& name) {
    ASSERT_EQ(catalog_->Delete(name, clock_.NowMicros()), absl::OkStatus());
    model_.deleted.emplace_back(name, std::move(model_.tables[name]));
    model_.tables.erase(name);
  }

  void UndeleteOrCreate(const std::string& name) {
    const auto last = std::find_if(model_.deleted.rbegin(), model_.deleted.rend(),
                                   [&](const auto& one) { return one.first == name; });
    if (last == model_.deleted.rend() || Random(2) == 0) return Create(name);
    ASSERT_TRUE(catalog_->Undelete(name).ok());
    // It comes back protected.
    const auto unprotect = [](TableSchema* schema) {
      schema->deletion_protection = false;
      return absl::OkStatus();
    };
    ASSERT_TRUE(catalog_->Update(name, unprotect).ok());
    model_.tables[name] = std::move(last->second);
    model_.deleted.erase(std::next(last).base());
  }

  // The table that was deleted first; its changes have been cut.
  void Purge() {
    const std::vector<DeletedTableRef> deleted = catalog_->ListDeleted();
    if (deleted.empty()) return;
    clock_.Advance(20'000'000);
    CutAll();
    ASSERT_EQ(catalog_->Purge(deleted[0]->record.schema.id), absl::OkStatus());
    const auto at = std::ranges::find(model_.deleted, deleted[0]->record.schema.name,
                                      [](const auto& one) { return one.first; });
    ASSERT_NE(at, model_.deleted.end());
    model_.deleted.erase(at);
  }

  void RowStep() {
    clock_.Advance(100);
    const std::string name = NameOf(Random(kIds));
    const auto table = model_.tables.find(name);
    if (table == model_.tables.end()) return;
    Random(60) == 0 ? DropRange(name, &table->second) : ChangeRow(name, &table->second);
  }

  void Step() {
    const uint64_t choice = Random(200);
    if (choice > 6) return RowStep();
    clock_.Advance(100);
    const std::string name = NameOf(Random(kIds));
    const auto table = model_.tables.find(name);
    if (table == model_.tables.end()) return UndeleteOrCreate(name);
    if (choice < 4) return ChangeFamilies(name, &table->second);
    if (choice == 4) return Purge();
    Delete(name);
  }

  void CutAll() {
    const absl::StatusOr<CutSegment> cut =
        journal_->Cut(&files_, root_ + "/" + std::to_string(++cuts_) + ".log", journal_->id(),
                      cut_through_.through_micros, false);
    ASSERT_TRUE(cut.ok()) << cut.status();
    if (cut->place.last <= cut_through_.through_micros) return;
    segments_.push_back({.place = cut->place, .path = cut->path});
    cut_through_.through_micros = cut->place.last;
    if (cut->is_cut_short) CutAll();
  }

  // Makes one segment of segments_[first, end), and removes these.
  void Merge(size_t first, size_t end) {
    const std::string path = root_ + "/merged.log";
    SegmentFile merged = segments_[first];
    merged.path = path;
    merged.place.last = segments_[end - 1].place.last;
    absl::StatusOr<std::unique_ptr<OutputFile>> file = files_.CreateNew(path);
    ASSERT_TRUE(file.ok()) << file.status();
    const auto writer =
        SegmentWriter::Begin(file->get(), merged.place.journal, merged.place.first, /*starts=*/false);
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (size_t i = first; i < end; ++i) {
      const auto reader = SegmentReader::Open(&files_, segments_[i].path);
      ASSERT_TRUE(reader.ok()) << reader.status();
      ASSERT_EQ((*reader)->ReadAll(segments_[i].place,
                                   [&](const SegmentRecord& record) { return (*writer)->Add(record); }),
                absl::OkStatus());
    }
    ASSERT_EQ((*writer)->Finish(merged.place.last, /*syncs=*/false), absl::OkStatus());
    for (size_t i = first; i < end; ++i) ASSERT_EQ(files_.Remove(segments_[i].path), absl::OkStatus());
    segments_.erase(segments_.begin() + static_cast<ptrdiff_t>(first),
                    segments_.begin() + static_cast<ptrdiff_t>(end));
    segments_.insert(segments_.begin() + static_cast<ptrdiff_t>(first), merged);
  }

  // A copy during which rows are changed.
  void Copy() {
    const std::string directory = root_ + "/copy" + std::to_string(copies_.size());
    const absl::StatusOr<JournalPlace> place = journal_->Surround([&] {
      RowStep();
      absl::Status status = engine_->Checkpoint(directory);
      RowStep();
      return status;
    });
    ASSERT_TRUE(place.ok()) << place.status();
    copies_.push_back({directory, *place});
    clock_.Advance(100);
  }

  // Brings the newest copy that lies before it to a moment.
  absl::StatusOr<std::string> StoreAt(int64_t to) {
    const auto copy = std::find_if(copies_.rbegin(), copies_.rend(),
                                   [to](const auto& one) { return one.second.through_micros <= to; });
    if (copy == copies_.rend()) return absl::NotFoundError("no copy");
    const std::string directory = root_ + "/restored";
    std::filesystem::remove_all(directory);
    std::filesystem::copy(copy->first, directory, std::filesystem::copy_options::recursive);
    absl::StatusOr<std::unique_ptr<RocksEngine>> engine =
        RocksEngine::Open({.data_dir = directory, .sync = false});
    if (!engine.ok()) return engine.status();
    absl::StatusOr<std::unique_ptr<JournalReplay>> replay =
        JournalReplay::Open(engine->get(), copy->second, to);
    if (!replay.ok()) return replay.status();
    const absl::StatusOr<ReplayReport> report =
        (*replay)->Run(&files_, [&](int64_t after) -> absl::StatusOr<SegmentChain> {
          SegmentChain chain = ChainFrom(segments_, after);
          if (after_chain_) after_chain_();
          return chain;
        });
    if (!report.ok()) return report.status();
    EXPECT_TRUE((*engine)->ReadRecords("journal/", absl::InfiniteFuture())->empty())
        << "a restored store has no journal";
    const std::unique_ptr<Catalog> catalog = *Catalog::Open(engine->get());
    return TextOf(engine->get(), catalog.get());
  }

  const std::string root_ =
      (std::filesystem::path(testing::TempDir()) / ("replay_" + std::to_string(getpid()))).native();
  LocalFileSystem files_;
  ManualClock clock_{kNow};
  SeededRandom random_{SizeOf("SONDE_JOURNAL_SEED", 7)};
  std::unique_ptr<RocksEngine> engine_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<Journal> journal_;
  Model model_;
  std::vector<std::pair<std::string, JournalPlace>> copies_;
  std::vector<SegmentFile> segments_;  // as ListSegments gives them
  std::function<void()> after_chain_;  // when a chain was found
  JournalPlace cut_through_;           // through_micros: what has been cut
  int cuts_ = 0;
};

TEST_F(ReplayTest, EveryMomentOfARandomHistoryComesBack) {
  const size_t commits = SizeOf("SONDE_JOURNAL_COMMITS", 1'500), moments = SizeOf("SONDE_JOURNAL_MOMENTS", 8);
  const size_t commits_a_copy =
      std::min<size_t>(commits / 4, 20'000);  // so that a large history takes minutes
  std::set<size_t> chosen;                    // the steps whose moments are restored
  while (chosen.size() < moments) chosen.insert(commits / 10 + Random(commits - commits / 10));
  std::map<int64_t, std::string> expected;
  Copy();
  for (size_t i = 0; i < commits; ++i) {
    const std::string before = chosen.contains(i) ? model_.Text() : "";
    const int64_t last_before = clock_.NowMicros() + 99;  // each step takes 100
    Step();
    if (HasFatalFailure()) return;
    if (chosen.contains(i)) {
      clock_.Advance(100);  // a range takes a position a row
      expected[last_before] = before;
      expected[clock_.NowMicros()] = model_.Text();
    }
    if (Random(50) == 0) CutAll();
    if (Random(commits_a_copy) == 0) Copy();
  }
  clock_.Advance(1'000);
  CutAll();
  EXPECT_EQ(TextOf(engine_.get(), catalog_.get()), model_.Text()) << "the model is wrong";
  for (const auto& [moment, text] : expected) {
    const absl::StatusOr<std::string> restored = StoreAt(moment);
    ASSERT_TRUE(restored.ok()) << restored.status();
    EXPECT_EQ(*restored, text) << "at " << moment - kNow;
  }
}

TEST_F(ReplayTest, TheMomentOfAChangeIncludesItAndTheOneBeforeDoesNot) {
  Create(NameOf(0));
  Copy();
  clock_.Advance(100);
  const int64_t written = clock_.NowMicros();
  const std::vector<Mutation> mutations = {SetCell{"f", "q", 0, "v"}};
  const RowMutations row{.row_key = "r", .mutations = mutations};
  ASSERT_EQ(tables_->MutateRows(**catalog_->Find(NameOf(0)), {&row, 1})[0], absl::OkStatus());
  clock_.Advance(100);
  CutAll();
  EXPECT_EQ(StoreAt(written - 1)->find("f:q@0=v"), std::string::npos);
  EXPECT_NE(StoreAt(written)->find("f:q@0=v"), std::string::npos);
  EXPECT_EQ(StoreAt(clock_.NowMicros() + 1).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(ReplayTest, ASumCountsEachChangeOnceHoweverTheCopyLies) {
  Create(NameOf(0));
  ASSERT_TRUE(
      catalog_->Modify(NameOf(0), {CreateFamily{{.name = "sum", .aggregate = AggregateKind::kSum}}}).ok());
  const auto add = [&] {
    clock_.Advance(100);
    const std::vector<Mutation> mutations = {AddToCell{"sum", "q", 0, int64_t{1}}};
    const RowMutations row{.row_key = "r", .mutations = mutations};
    ASSERT_EQ(tables_->MutateRows(**catalog_->Find(NameOf(0)), {&row, 1})[0], absl::OkStatus());
  };
  const std::string directory = root_ + "/copy";
  const absl::StatusOr<JournalPlace> place = journal_->Surround([&] {
    for (int i = 0; i < 10; ++i) add();
    absl::Status status = engine_->Checkpoint(directory);
    for (int i = 0; i < 10; ++i) add();
    return status;
  });
  ASSERT_TRUE(place.ok()) << place.status();
  copies_.push_back({directory, *place});
  for (int i = 0; i < 10; ++i) add();
  CutAll();
  EXPECT_NE(StoreAt(place->through_micros)->find("sum:q@0=20\n"), std::string::npos);
  EXPECT_NE(StoreAt(clock_.NowMicros())->find("sum:q@0=30\n"), std::string::npos);
}

TEST_F(ReplayTest, RefusesAMomentWhoseChangesAreMissing) {
  Create(NameOf(0));
  Copy();
  CutAll();
  clock_.Advance(100);
  const int64_t before = clock_.NowMicros();
  ChangeRow(NameOf(0), &model_.tables[NameOf(0)]);
  const TableId id = (*catalog_->Find(NameOf(0)))->id;
  clock_.Advance(100);
  Delete(NameOf(0));
  ASSERT_EQ(catalog_->Purge(id), absl::OkStatus());
  clock_.Advance(100);
  CutAll();
  const absl::Status refused = StoreAt(before + 1).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kOutOfRange) << refused;
  EXPECT_NE(refused.message().find("table 1 was dropped before its last changes were copied"),
            std::string::npos)
      << refused;
  const absl::StatusOr<std::string> after = StoreAt(clock_.NowMicros());
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(*after, "");
}

TEST_F(ReplayTest, NamesADamagedSegment) {
  Create(NameOf(0));
  Copy();
  for (int i = 0; i < 20; ++i) ChangeRow(NameOf(0), &model_.tables[NameOf(0)]);
  clock_.Advance(100);
  CutAll();
  const std::string path = segments_.back().path;
  const std::string whole = *ReadFile(&files_, path, 16 << 20);
  for (int i = 0; i < 10; ++i) {
    std::string flipped = whole;
    const size_t at = Random(whole.size());
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << Random(8)));
    ASSERT_EQ(WriteFile(&files_, path, flipped), absl::OkStatus());
    const absl::Status status = StoreAt(clock_.NowMicros()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_NE(status.message().find(path), std::string::npos) << status;
  }
}

// As a follower does: the new segment is there before the others go.
TEST_F(ReplayTest, GoesOnWithTheMergedSegmentWhenOthersAreGone) {
  Create(NameOf(0));
  Copy();
  for (int segment = 0; segment < 4; ++segment) {
    for (int i = 0; i < 20; ++i) {
      clock_.Advance(100);
      ChangeRow(NameOf(0), &model_.tables[NameOf(0)]);
    }
    clock_.Advance(100);
    CutAll();
  }
  ASSERT_EQ(segments_.size(), 4U);
  int chains = 0;
  after_chain_ = [&] {
    if (++chains > 1) return;
    Merge(1, 4);
  };
  EXPECT_EQ(*StoreAt(clock_.NowMicros()), model_.Text());
  EXPECT_EQ(chains, 2);
}

TEST_F(ReplayTest, ASegmentThatIsListedAndNeverThereIsAnErrorInTheEnd) {
  Create(NameOf(0));
  Copy();
  clock_.Advance(100);
  ChangeRow(NameOf(0), &model_.tables[NameOf(0)]);
  clock_.Advance(100);
  CutAll();
  ASSERT_EQ(files_.Remove(segments_.back().path), absl::OkStatus());
  int chains = 0;
  after_chain_ = [&] { ++chains; };
  EXPECT_EQ(StoreAt(clock_.NowMicros()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(chains, kChainsMax);
}

}  // namespace
}  // namespace sonde
