#include "sql/operator/divided_stream.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "sql/spill/row_buffer.h"

namespace sonde::sql {
namespace {

// A part that gives more is read again by the thread that takes the rows.
constexpr size_t kPartRowsBytesMax = size_t{8} << 20;

class PartRows final : public PartFold {
 public:
  // Rows that are given together.
  struct Piece {
    size_t rows_end = 0;  // of all rows
    std::string place;    // behind its last row, of the operators that read it
  };

  PartRows(const QueryScope* scope, const Plan& plan, bool keeps_places)
      : rows_(plan.types), keeps_places_(keeps_places), memory_(*scope->state, "Divided") {}

  absl::Status Add(const Operator& from, const rows::Batch& batch) override {
    const size_t begin = pieces_.size() < 2 ? 0 : pieces_[pieces_.size() - 2].rows_end;
    if (pieces_.empty() || rows_.rows() - begin + batch.rows > rows::kBatchRowsMax) pieces_.emplace_back();
    rows_.Append(batch.columns, batch.rows);
    Piece& piece = pieces_.back();
    place_bytes_ -= piece.place.size();
    piece.rows_end = rows_.rows();
    piece.place.clear();
    if (keeps_places_) from.SavePlace(batch.rows, &piece.place);
    place_bytes_ += piece.place.size();
    const size_t bytes = rows_.MemoryBytes() + place_bytes_ + pieces_.capacity() * sizeof(Piece);
    if (bytes > kPartRowsBytesMax) return absl::ResourceExhaustedError("a part has too many rows to wait");
    return memory_.Set(bytes);
  }
  void Clear() override {
    rows_.Release();
    pieces_ = {};
    place_bytes_ = 0;
    memory_.Clear();
  }
  const RowBuffer& rows() const { return rows_; }
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  RowBuffer rows_;
  const bool keeps_places_;
  std::vector<Piece> pieces_;
  size_t place_bytes_ = 0;
  OperatorMemory memory_;
};

bool DropsRows(const Plan& plan) {
  const Plan* at = &plan;
  while (at->kind == Plan::Kind::kProject) at = at->inputs[0].get();
  return at->kind == Plan::Kind::kFilter;
}

class DividedStream final : public Operator {
 public:
  DividedStream(const QueryScope* scope, const Plan& plan, OperatorPtr whole, BuildPart build, RowsCome come)
      : Operator(scope, "Divided"),
        plan_(plan),
        build_(std::move(build)),
        has_places_(come == RowsCome::kAtOnce && whole->HasPlaces()),
        state_(come == RowsCome::kAtOnce ? State::kFirst : State::kParts) {
    AddInput(std::move(whole));
  }

  // Helpers do nothing more: what is left is read by the thread that asks for it.
  void Suspend() override {
    if (rows_ != nullptr) rows_->Suspend();
    Operator::Suspend();
  }
  void Restart() override {
    Operator::Restart();
    rows_.reset();
    state_ = State::kWhole;  // what runs again and again is short
    part_ = nullptr;
  }

  bool HasPlaces() const override { return has_places_; }
  void KeepPlaces() override {
    keeps_places_ = true;
    Operator::KeepPlaces();
  }
  // Those of the operators that read the rows, which are the same whoever reads them.
  void SavePlace(size_t rows, std::string* place) const override {
    DCHECK(keeps_places_);
    if (state_ == State::kWhole || rows_ == nullptr) return input().SavePlace(rows, place);
    if (part_ == nullptr) {
      if (rows_->alone() != nullptr) rows_->alone()->SavePlace(rows, place);
      return;
    }
    if (rows == rows_given_here_) {
      *place += part_->pieces()[piece_ - 1].place;
    } else {
      // Only a limit that is reached cuts a batch; nothing is read behind it, and any place will do.
      input().SavePlace(0, place);
    }
  }
  bool RestorePlace(std::string_view* place) override {
    state_ = State::kWhole;
    return input().RestorePlace(place);
  }
  // The place of a plan is the same whether it is divided or not.
  std::string Shape() const override { return input().Shape(); }

 private:
  enum class State : uint8_t {
    kFirst,  // the first part comes as it is read
    kParts,
    kRest,
    kWhole,  // one thread does all
  };

  void Divide() {
    rows_ = std::make_unique<DividedRows>(
        &scope(), plan_, build_,
        [this](const QueryScope* part) {
          return absl::StatusOr<std::unique_ptr<PartFold>>(
              std::make_unique<PartRows>(part, plan_, keeps_places_));
        },
        keeps_places_);
  }
  absl::StatusOr<bool> Produce(rows::Batch* batch) override;
  // The next piece of the part at hand, or of the next one; false: there are no more.
  absl::StatusOr<bool> NextOfParts(rows::Batch* batch);
  std::string Details(bool has_run) const override {
    return has_run && rows_ != nullptr ? rows_->Text() : std::string();
  }

  const Plan& plan_;
  const BuildPart build_;
  const bool has_places_;
  bool keeps_places_ = false;
  State state_;
  std::unique_ptr<DividedRows> rows_;  // null: nothing has been asked for
  const PartRows* part_ = nullptr;     // of rows_
  size_t piece_ = 0;                   // the next one of part_
  size_t rows_given_here_ = 0;         // by the last batch
};

absl::StatusOr<bool> DividedStream::Produce(rows::Batch* batch) {
  if (state_ == State::kWhole) return input().Next(batch);
  if (rows_ == nullptr) Divide();
  if (state_ == State::kFirst) {
    absl::StatusOr<bool> more = rows_->NextOfFirst(batch);
    if (!more.ok() || *more) return more;
    rows_->TakeCountsOfAlone(&input());
    state_ = rows_->HasDivided() ? State::kParts : State::kWhole;
    if (state_ == State::kWhole) return input().Next(batch);
  }
  if (state_ == State::kParts) {
    absl::StatusOr<bool> more = NextOfParts(batch);
    if (!more.ok() || *more) return more;
    state_ = rows_->HasDivided() ? State::kRest : State::kWhole;
    if (state_ == State::kWhole) return input().Next(batch);
  }
  return rows_->NextOfRest(batch);
}

absl::StatusOr<bool> DividedStream::NextOfParts(rows::Batch* batch) {
  while (part_ == nullptr || piece_ == part_->pieces().size()) {
    const absl::StatusOr<PartFold*> part = rows_->NextPart(&input());
    if (!part.ok()) return part.status();
    part_ = static_cast<const PartRows*>(*part);
    piece_ = 0;
    if (part_ == nullptr) return false;
  }
  const size_t begin = piece_ == 0 ? 0 : part_->pieces()[piece_ - 1].rows_end;
  rows_given_here_ = part_->pieces()[piece_].rows_end - begin;
  ++piece_;
  batch->rows = rows_given_here_;
  for (const ColumnView& column : part_->rows().Views()) {
    batch->columns.push_back(column.Part(begin, batch->rows));
  }
  return true;
}

}  // namespace

OperatorPtr DivideRows(const QueryScope* scope, const Plan& plan, OperatorPtr input, BuildPart build,
                       RowsCome come) {
  if (!DropsRows(plan) || !DividedRows::Fits(*scope, plan)) return input;
  return std::make_unique<DividedStream>(scope, plan, std::move(input), std::move(build), come);
}

}  // namespace sonde::sql
