// An engine that tells before and after each of its steps that last: writes of records, tables that come and go, snapshots.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/forwarding_engine.h"

namespace sonde {

class SteppingEngine final : public ForwardingEngine, private Snapshots {
 public:
  // `engine` must outlive this.  `on_step` is called by any thread, with locks of its callers held.
  SteppingEngine(Engine* engine, std::function<void()> on_step)
      : ForwardingEngine(engine), on_step_(std::move(on_step)) {}

  class Snapshots* snapshots() override { return this; }
  absl::Status WriteRecords(const std::vector<RecordChange>& changes, absl::Time deadline) override {
    return Step([&] { return engine_->WriteRecords(changes, deadline); });
  }
  absl::Status CreateTable(const TableSpec& spec, absl::Time deadline) override {
    return Step([&] { return engine_->CreateTable(spec, deadline); });
  }
  absl::Status DropTable(TableId table, absl::Time deadline) override {
    return Step([&] { return engine_->DropTable(table, deadline); });
  }

 private:
  template <typename Call>
  absl::Status Step(const Call& call) {
    on_step_();
    absl::Status status = call();
    on_step_();
    return status;
  }

  absl::Status Make(std::string_view name, TableId table, absl::Time deadline) override {
    return Step([&] { return engine_->snapshots()->Make(name, table, deadline); });
  }
  absl::StatusOr<std::vector<Facts>> List(absl::Time deadline) override {
    return engine_->snapshots()->List(deadline);
  }
  // Each progress that is told is a step, too.
  absl::Status Restore(std::string_view name, TableId into, const RestoreOptions& options) override {
    return Step([&] { return engine_->snapshots()->Restore(name, into, Stepping(options)); });
  }
  absl::Status Optimize(TableId table, const RestoreOptions& options) override {
    return Step([&] { return engine_->snapshots()->Optimize(table, Stepping(options)); });
  }
  absl::Status Drop(std::string_view name, absl::Time deadline) override {
    return Step([&] { return engine_->snapshots()->Drop(name, deadline); });
  }
  RestoreOptions Stepping(const RestoreOptions& options) const {
    return {.deadline = options.deadline, .on_progress = [this, told = options.on_progress](double done) {
              on_step_();
              return told ? told(done) : absl::OkStatus();
            }};
  }

  const std::function<void()> on_step_;
};

}  // namespace sonde
