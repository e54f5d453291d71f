// SQL over tables of this process.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "sql/access/sql_access.h"
#include "sql/exec/bundle_finder.h"
#include "sql/plan/binder.h"
#include "table/tables.h"

namespace sonde::sql {

// Threads: all functions may be called at once.
class LocalSql final : public SqlAccess {
 public:
  // `instance`: projects/P/instances/I.
  LocalSql(std::shared_ptr<Tables> tables, std::string instance, Dialect dialect = Dialect::kSonde)
      : tables_(std::move(tables)),
        instance_(std::move(instance)),
        dialect_(dialect),
        bundles_(&tables_->catalog()) {}

  absl::Status Ask(const Question& question, AnswerSink* sink) override;

 private:
  const std::shared_ptr<Tables> tables_;
  const std::string instance_;
  const Dialect dialect_;
  BundleFinder bundles_;
};

}  // namespace sonde::sql
