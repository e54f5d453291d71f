#include "sql/exec/insert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/datum.h"
#include "series/schema/status_text.h"
#include "series/write/point_writer.h"
#include "table/local_tables.h"

namespace sonde::sql {
namespace {

constexpr series::PointWriter::Limits kWriterLimits{.value_bytes_max = kInsertBytes};

class Insert final : public Operator {
 public:
  Insert(const QueryScope* scope, const InsertTarget& target, OperatorPtr rows)
      : Operator(scope, "Insert"),
        target_(target),
        schema_(target.series.known->schema),
        tables_(scope->state->tables, target.series.instance,
                scope->state->caller ? scope->state->caller() : ""),
        memory_(*scope->state, name()),
        tags_(schema_.tags.size()),
        fields_(schema_.fields.size()),
        texts_(target.columns.size()) {
    AddInput(std::move(rows));
  }

 private:
  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    if (writer_.has_value()) return false;
    if (absl::Status status = memory_.Set(kInsertBytes); !status.ok()) return status;
    series::IndexWriter* const index = target_.series.index_writer;
    writer_.emplace(schema_, &tables_, kWriterLimits, &state().tables->clock(),
                    series::PointWriter::Target::kAll, series::PointWriter::Keepers{.index = index});
    const absl::Status written = WriteAll();
    if (index != nullptr) index->KeepUp().IgnoreError();  // what was not done is done by the next one
    if (!written.ok()) return written;
    memory_.Clear();
    if (written_ == 0 && refused_ > 0) {
      return absl::InvalidArgumentError(fmt::format(
          "INSERT INTO series.{}: none of its {} rows is a point. {}", schema_.name, refused_, refusal_));
    }
    shown_refusal_ = refusal_;
    batch->rows = 1;
    batch->columns.push_back(ColumnView::OfInts({&written_, 1}));
    batch->columns.push_back(ColumnView::OfInts({&refused_, 1}));
    batch->columns.push_back(refused_ == 0 ? ColumnView::Missing(ColumnType::kBytes, 1)
                                           : ColumnView::OfBytes({&shown_refusal_, 1}));
    return true;
  }

  absl::Status WriteAll() {
    rows::Batch rows;
    while (true) {
      const absl::StatusOr<bool> more = input().Next(&rows);
      if (!more.ok()) return Stopped(more.status());
      if (!*more) return Flush();
      for (size_t row = 0; row < rows.rows; ++row) {
        ++row_;
        if (absl::Status status = Add(rows, row); !status.ok()) {
          if (!absl::IsInvalidArgument(status)) return Stopped(status);
          Refuse(status);
          continue;
        }
        if (!writer_->IsFull()) continue;
        if (absl::Status status = Flush(); !status.ok()) return status;
      }
    }
  }

  absl::Status Add(const rows::Batch& rows, size_t row) {
    int64_t time_micros = 0;
    std::ranges::fill(fields_, std::string_view());
    for (size_t i = 0; i < target_.columns.size(); ++i) {
      const SeriesColumn& column = target_.columns[i];
      const Datum datum = DatumAt(rows.columns[i], row);
      if (column.kind == SeriesColumn::Kind::kField) {
        if (datum.is_there) fields_[column.index] = TextOf(column.type, datum, &texts_[i]);
        continue;
      }
      if (!datum.is_there) return NullError(column);
      if (column.kind == SeriesColumn::Kind::kTime) {
        time_micros = datum.integer;
      } else {
        tags_[column.index] = TextOf(column.type, datum, &texts_[i]);
      }
    }
    return writer_->Add({tags_, time_micros, fields_});
  }

  absl::Status NullError(const SeriesColumn& column) const {
    if (column.kind == SeriesColumn::Kind::kTime) return absl::InvalidArgumentError("time is NULL");
    return absl::InvalidArgumentError(fmt::format("tag {} is NULL", schema_.tags[column.index].name));
  }

  // As points have it; never without data, which would be no value.
  static std::string_view TextOf(const Type& type, const Datum& datum, std::string* text) {
    if (type.Is(TypeKind::kString)) {
      const std::string_view bytes = datum.bytes();
      return bytes.empty() ? std::string_view("") : bytes;
    }
    *text = type.Is(TypeKind::kInt64) ? fmt::format("{}", datum.integer) : fmt::format("{}", datum.number);
    return *text;
  }

  absl::Status Flush() {
    if (absl::Status status = CheckInterrupted(); !status.ok()) return Stopped(status);
    const absl::Status status = writer_->Flush();
    if (!status.ok()) {
      const std::string some =
          fmt::format(", and so may be some of the next {}", writer_->totals().points - written_);
      return Stopped(status, some);
    }
    written_ = writer_->totals().points;
    return absl::OkStatus();
  }

  // The row at hand is no point.
  void Refuse(const absl::Status& why) {
    if (refused_++ == 0) refusal_ = fmt::format("Row {}: {}", row_, series::TextOfStatus(why));
  }
  absl::Status Stopped(const absl::Status& why, std::string_view some = "") const {
    return {why.code(), fmt::format("{}. {} points are written and stay{}: an INSERT is no transaction",
                                    std::string(why.message()), written_, some)};
  }

  std::optional<double> EstimateRows() const override { return 1; }
  std::string Details(bool /*has_run*/) const override {
    return fmt::format("into series {}, {} columns", schema_.name, target_.columns.size());
  }

  const InsertTarget& target_;
  const series::SeriesSchema& schema_;
  LocalTables tables_;
  OperatorMemory memory_;
  std::optional<series::PointWriter> writer_;  // nothing: it has not begun
  // Of the row at hand.
  std::vector<std::string_view> tags_;
  std::vector<std::string_view> fields_;
  std::vector<std::string> texts_;  // of numbers, by column
  int64_t row_ = 0;                 // from 1
  int64_t written_ = 0;
  int64_t refused_ = 0;
  std::string refusal_;  // of the first row that was refused
  std::string_view shown_refusal_;
};

}  // namespace

OperatorPtr MakeInsert(const QueryScope* scope, const InsertTarget& target, OperatorPtr rows) {
  return std::make_unique<Insert>(scope, target, std::move(rows));
}

}  // namespace sonde::sql
