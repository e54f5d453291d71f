#include "journal/journal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "backup/journal/segment.h"
#include "engine/memory/memory_engine.h"
#include "table/tables.h"

namespace sonde {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kNow = 1'700'000'000 * kSecond;

class JournalTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_); }
  void TearDown() override {
    journal_.reset();
    std::filesystem::remove_all(root_);
  }

  void Open(const std::string& patterns, uint64_t cut_bytes_max = kCutBytesMax) {
    journal_.reset();
    catalog_ = *Catalog::Open(engine_.get());
    tables_ = std::make_unique<Tables>(engine_.get(), catalog_.get(), &clock_, 1);
    absl::StatusOr<std::unique_ptr<Journal>> journal =
        Journal::Open(engine_.get(), catalog_.get(), &clock_, &random_,
                      {.tables = patterns, .keep = absl::Hours(1), .cut_bytes_max = cut_bytes_max});
    ASSERT_TRUE(journal.ok()) << journal.status();
    journal_ = *std::move(journal);
  }
  static std::string NameOf(const std::string& id) { return "projects/p/instances/i/tables/" + id; }
  void Make(const std::string& id) {
    clock_.Advance(kSecond);
    TableSchema schema;
    schema.name = NameOf(id);
    schema.families = {{.name = "f"}};
    ASSERT_TRUE(catalog_->Create(schema).ok());
  }
  int64_t Set(const std::string& id, std::string_view row_key, std::string_view value) {
    clock_.Advance(kSecond);
    const std::vector<Mutation> mutations = {SetCell{"f", "q", 0, value}};
    const RowMutations row{.row_key = row_key, .mutations = mutations};
    EXPECT_EQ(tables_->MutateRows(**catalog_->Find(NameOf(id)), {&row, 1})[0], absl::OkStatus());
    return clock_.NowMicros();
  }
  absl::StatusOr<CutSegment> Cut(int64_t after) {
    return journal_->Cut(&files_, root_ + "/cut" + std::to_string(++cuts_), journal_->id(), after, false);
  }
  // "kind@seconds since kNow" of each record.
  std::string Text(const CutSegment& cut) {
    std::string text;
    const absl::StatusOr<std::unique_ptr<SegmentReader>> reader = SegmentReader::Open(&files_, cut.path);
    SegmentRecord record;
    while (true) {
      const absl::StatusOr<bool> more = (*reader)->Next(&record);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok() || !*more) break;
      const char* const kind = record.kind == SegmentRecord::Kind::kRow      ? "row"
                               : record.kind == SegmentRecord::Kind::kSchema ? "schema"
                                                                             : "gap";
      text += (text.empty() ? "" : " ") + std::string(kind) + "@" +
              std::to_string((record.position - kNow) / kSecond);
    }
    EXPECT_EQ((*reader)->last(), cut.place.last);
    return text;
  }
  std::string FigureText(const std::string& name) {
    for (const Figure& figure : journal_->Figures()) {
      if (figure.name == name) return std::to_string(static_cast<int64_t>(figure.samples.front().value));
    }
    return "none";
  }

  const std::string root_ =
      (std::filesystem::path(testing::TempDir()) / ("store_journal_" + std::to_string(getpid()))).native();
  LocalFileSystem files_;
  ManualClock clock_{kNow};
  SeededRandom random_{7};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<Journal> journal_;
  int cuts_ = 0;
};

TEST(FitsPatterns, ComparesIdsOrWholeNames) {
  const std::string name = "projects/p/instances/i/tables/weather";
  for (const char* fits :
       {"*", "weather", "we*", "*her", "w*a*r", "x, weather", "projects/p/*", "weather*", "**"})
    EXPECT_TRUE(FitsPatterns(fits, name)) << fits;
  for (const char* not_fits : {"", ",", "weathe", "eather", "w*x", "projects/q/*", "tables/weather"})
    EXPECT_FALSE(FitsPatterns(not_fits, name)) << not_fits;
}

TEST_F(JournalTest, RowsAndSchemasComeInTheirOrder) {
  Open("a*");
  const int64_t begin = clock_.NowMicros();
  Make("a1");
  Make("a2");
  Make("b");
  Set("a2", "r", "1");
  Set("a1", "r", "2");
  Set("b", "r", "nobody journals it");
  Set("a2", "r", "3");
  absl::StatusOr<CutSegment> cut = Cut(begin);
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_EQ(Text(*cut), "schema@1 schema@2 schema@3 row@4 row@5 row@7");
  EXPECT_EQ(cut->place, (SegmentPlace{journal_->id(), begin + 1, clock_.NowMicros()}));
  cut = Cut(cut->place.last);
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_EQ(cut->records, 0U) << "all is in the first one";
}

TEST_F(JournalTest, ACutThatIsFullGoesOnInTheNext) {
  Open("*", /*cut_bytes_max=*/1);
  const int64_t begin = clock_.NowMicros();
  Make("a");
  const std::string value(300 << 10, 'x');  // the writer puts out so much at once
  Set("a", "r", value);
  Set("a", "s", value);
  const absl::StatusOr<CutSegment> first = Cut(begin);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(first->is_cut_short);
  EXPECT_LT(first->place.last, clock_.NowMicros());
  int64_t after = first->place.last;
  std::string text = Text(*first);
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<CutSegment> next = Cut(after);
    ASSERT_TRUE(next.ok()) << next.status();
    EXPECT_EQ(next->place.first, after + 1);
    after = next->place.last;
    if (next->records > 0) text += " " + Text(*next);
    if (!next->is_cut_short) break;
  }
  EXPECT_EQ(after, clock_.NowMicros());
  EXPECT_EQ(text.substr(0, 8), "schema@1");
  EXPECT_EQ(std::count(text.begin(), text.end(), '2'), std::count(text.begin(), text.end(), '3'));
}

TEST_F(JournalTest, GoesOnAfterARestartUnlessItsTablesChange) {
  Open("a*");
  const std::string id = journal_->id();
  const int64_t begin = clock_.NowMicros();
  Make("a");
  Make("b");
  Set("a", "r", "1");
  Open("a*");
  EXPECT_EQ(journal_->id(), id);
  EXPECT_EQ(Text(*Cut(begin)), "schema@1 schema@2 row@3");
  Open("*");
  EXPECT_NE(journal_->id(), id) << "rows of b from before are in no segment";
  EXPECT_EQ(Cut(begin).status().code(), absl::StatusCode::kOutOfRange);
  const absl::Status other = journal_->Cut(&files_, root_ + "/x", id, begin, false).status();
  EXPECT_EQ(other, absl::FailedPreconditionError("The store's journal is " + journal_->id() + " now, not " +
                                                 id + ": a new backup is needed"));
  const std::string second = journal_->id();
  Open("b");
  EXPECT_NE(journal_->id(), second);
  EXPECT_EQ((*catalog_->Find(NameOf("a")))->FindLogUse(kJournalUse), nullptr);
  journal_.reset();
  ASSERT_EQ(Journal::TurnOff(engine_.get(), catalog_.get()), absl::OkStatus());
  EXPECT_FALSE((*catalog_->Find(NameOf("b")))->IsLogged());
  EXPECT_TRUE(engine_->ReadRecords("journal/", absl::InfiniteFuture())->empty());
}

TEST_F(JournalTest, ACopyLiesBetweenItsPlaces) {
  Open("*");
  Make("a");
  const int64_t before = Set("a", "r", "1");
  const absl::StatusOr<JournalPlace> place = journal_->Surround([&] {
    Set("a", "r", "2");
    return absl::OkStatus();
  });
  ASSERT_TRUE(place.ok()) << place.status();
  EXPECT_EQ(*place, (JournalPlace{journal_->id(), before, clock_.NowMicros()}));
  EXPECT_EQ(journal_->Surround([] { return absl::UnavailableError("full"); }).status(),
            absl::UnavailableError("full"));
}

TEST_F(JournalTest, RefusesWhatIsForgotten) {
  Open("*");
  Make("a");
  const int64_t after = clock_.NowMicros();
  clock_.Advance(absl::ToInt64Microseconds(absl::Minutes(58)));
  EXPECT_TRUE(Cut(after).ok());
  clock_.Advance(absl::ToInt64Microseconds(absl::Minutes(2)));
  EXPECT_EQ(Cut(after).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(JournalTest, ATableThatIsDroppedBeforeItsChangesAreCopiedLeavesAGap) {
  Open("*");
  Make("a");
  const int64_t after = clock_.NowMicros();
  Set("a", "r", "1");
  const TableId id = (*catalog_->Find(NameOf("a")))->id;
  clock_.Advance(kSecond);
  ASSERT_EQ(catalog_->Delete(NameOf("a")), absl::OkStatus());
  EXPECT_EQ(Text(*Cut(after)), "row@2 schema@3") << "its log is kept for a while";
  ASSERT_EQ(catalog_->Purge(id), absl::OkStatus());
  EXPECT_EQ(Text(*Cut(after)), "gap@1 schema@3 schema@3");
}

TEST_F(JournalTest, TellsHowLongChangesHaveNotBeenFetched) {
  Open("*");
  Make("a");
  EXPECT_EQ(FigureText("sonde_journal_lag_seconds"), "0");
  Set("a", "r", "1");
  clock_.Advance(70 * kSecond);
  EXPECT_EQ(FigureText("sonde_journal_lag_seconds"), "72");
  EXPECT_EQ(FigureText("sonde_journal_tables"), "1");
  const absl::StatusOr<CutSegment> cut = Cut(clock_.NowMicros() - 72 * kSecond);
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_EQ(FigureText("sonde_journal_lag_seconds"), "72") << "it was cut, but perhaps not stored";
  ASSERT_TRUE(Cut(cut->place.last).ok());
  EXPECT_EQ(FigureText("sonde_journal_lag_seconds"), "0");
}

}  // namespace
}  // namespace sonde
