// SQL over tables of this process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/access/sql_access.h"
#include "sql/bind/binder.h"
#include "sql/exec/bundle_finder.h"
#include "sql/exec/series_finder.h"
#include "sql/spill/spill_space.h"
#include "table/tables.h"

namespace sonde::sql {

// Threads: all functions may be called at once.
class LocalSql final : public SqlAccess {
 public:
  // A query holds no more memory; what it does not hold goes to disk.
  static constexpr int64_t kMemoryBytes = int64_t{256} << 20;

  // `instance`: projects/P/instances/I.  `spill`: may be null, and is kept.
  LocalSql(std::shared_ptr<Tables> tables, std::string instance, Dialect dialect = Dialect::kSonde,
           std::unique_ptr<SpillSpace> spill = nullptr)
      : tables_(std::move(tables)),
        instance_(std::move(instance)),
        dialect_(dialect),
        bundles_(tables_ == nullptr ? nullptr : &tables_->catalog()),
        spill_(std::move(spill)) {
    if (tables_ != nullptr) series_.emplace(tables_.get());
  }

  absl::Status Ask(const Question& question, AnswerSink* sink) override;
  absl::StatusOr<std::vector<std::string>> ListViews() override;

 private:
  const std::shared_ptr<Tables> tables_;
  const std::string instance_;
  const Dialect dialect_;
  BundleFinder bundles_;
  std::optional<SeriesFinder> series_;  // nothing: there are no tables
  const std::unique_ptr<SpillSpace> spill_;
};

}  // namespace sonde::sql
