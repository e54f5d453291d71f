#include "sql/operator/divided_stream.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "sql/spill/row_buffer.h"

namespace sonde::sql {
namespace {

// A part that gives more is read again by the thread that takes the rows.
constexpr size_t kPartRowsBytesMax = size_t{8} << 20;

class PartRows final : public PartFold {
 public:
  PartRows(const QueryScope* scope, const Plan& plan)
      : rows_(plan.types), memory_(*scope->state, "Divided") {}

  absl::Status Add(const rows::Batch& batch) override {
    rows_.Append(batch.columns, batch.rows);
    const size_t bytes = rows_.MemoryBytes();
    if (bytes > kPartRowsBytesMax) return absl::ResourceExhaustedError("a part has too many rows to wait");
    return memory_.Set(bytes);
  }
  void Clear() override {
    rows_.Release();
    memory_.Clear();
  }
  const RowBuffer& rows() const { return rows_; }

 private:
  RowBuffer rows_;
  OperatorMemory memory_;
};

bool DropsRows(const Plan& plan) {
  const Plan* at = &plan;
  while (at->kind == Plan::Kind::kProject) at = at->inputs[0].get();
  return at->kind == Plan::Kind::kFilter;
}

class DividedStream final : public Operator {
 public:
  DividedStream(const QueryScope* scope, const Plan& plan, OperatorPtr whole, BuildPart build)
      : Operator(scope, "Divided"),
        rows_(std::make_unique<DividedRows>(scope, plan, std::move(build), [&plan](const QueryScope* part) {
          return absl::StatusOr<std::unique_ptr<PartFold>>(std::make_unique<PartRows>(part, plan));
        })) {
    AddInput(std::move(whole));
  }

  // Helpers do nothing more: what is left is read by the thread that asks for it.
  void Suspend() override {
    if (rows_ != nullptr) rows_->EndParts();
    Operator::Suspend();
  }
  void Restart() override {
    Operator::Restart();
    rows_.reset();  // what runs again and again is short
    part_ = nullptr;
  }

 private:
  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    if (rows_ == nullptr) return input().Next(batch);
    while (part_ == nullptr || given_ == part_->rows().rows()) {
      const absl::StatusOr<PartFold*> part = rows_->NextPart(&input());
      if (!part.ok()) return part.status();
      part_ = static_cast<const PartRows*>(*part);
      given_ = 0;
      if (part_ == nullptr) return rows_->HasDivided() ? rows_->NextOfRest(batch) : input().Next(batch);
    }
    batch->rows = std::min(rows::kBatchRowsMax, part_->rows().rows() - given_);
    for (const ColumnView& column : part_->rows().Views())
      batch->columns.push_back(column.Part(given_, batch->rows));
    given_ += batch->rows;
    return true;
  }
  std::string Details(bool has_run) const override {
    return has_run && rows_ != nullptr ? rows_->Text() : std::string();
  }

  std::unique_ptr<DividedRows> rows_;  // null: one thread does all
  const PartRows* part_ = nullptr;     // of rows_
  size_t given_ = 0;                   // rows of part_
};

}  // namespace

OperatorPtr DivideRows(const QueryScope* scope, const Plan& plan, OperatorPtr input, BuildPart build) {
  if (!DropsRows(plan) || !DividedRows::Fits(*scope, plan)) return input;
  return std::make_unique<DividedStream>(scope, plan, std::move(input), std::move(build));
}

}  // namespace sonde::sql
