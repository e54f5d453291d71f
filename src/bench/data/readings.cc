#include "bench/data/readings.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/format.h"
#include "base/random.h"

namespace sonde::bench {
namespace {

// iot: the steps of a batch, and how many parts in a thousand are missing or late.
constexpr int kBatchSteps = 10;
constexpr uint64_t kBatchMissing = 10;
constexpr uint64_t kBatchLate = 50;
constexpr uint64_t kReadingMissing = 100;
constexpr uint64_t kReadingLate = 300;
constexpr uint64_t kFieldMissing = 100;

// market: one ticker in this many is busy.  A ticker sends at so many steps of a thousand.
constexpr int kBusyTickers = 10;
constexpr uint64_t kBusySends = 810;
constexpr uint64_t kQuietSends = 10;

void SetText(std::string_view text, ReadingCell* cell) {
  cell->size = static_cast<uint8_t>(std::min(text.size(), cell->text.size()));
  std::copy_n(text.begin(), cell->size, cell->text.begin());
}

// `units` of the last decimal, without zeros at the end.
void SetNumber(int64_t units, int decimals, ReadingCell* cell) {
  if (decimals == 0) {
    const fmt::format_int text(units);
    return SetText({text.data(), text.size()}, cell);
  }
  int64_t power = 1;
  for (int i = 0; i < decimals; ++i) power *= 10;
  char text[32];
  const int64_t size_all = std::abs(units);
  char* end =
      fmt::format_to(text, "{}{}.{:0{}}", units < 0 ? "-" : "", size_all / power, size_all % power, decimals);
  while (end[-1] == '0') --end;
  if (end[-1] == '.') --end;
  SetText({text, static_cast<size_t>(end - text)}, cell);
}

SeededRandom EntityRandom(const DataShape& shape, int entity) {
  return SeededRandom(SeededRandom(shape.seed * 1'000'003 + static_cast<uint64_t>(entity)).Next());
}

// TSBS's cpu-only, of HostWalk.
class CpuEntity final : public Entity {
 public:
  CpuEntity(const DataShape& shape, int entity) : walk_(shape, entity) {}

  void Next(std::vector<Reading>* readings) override {
    walk_.Next(&values_);
    readings->resize(1);
    Reading& reading = readings->front();
    reading.micros = StepMicros(step_++);
    reading.cells.resize(values_.size());
    for (size_t i = 0; i < values_.size(); ++i) {
      reading.cells[i].field = static_cast<int>(i);
      SetNumber(values_[i], 0, &reading.cells[i]);
    }
  }

 private:
  HostWalk walk_;
  std::vector<uint8_t> values_;
  int64_t step_ = 0;
};

// The numbers of a group.
class GroupWalk {
 public:
  GroupWalk(const FieldGroup& group, RandomSource* random) : group_(&group), levels_(group.fields.size()) {
    for (size_t i = 0; i < levels_.size(); ++i) {
      const Field& field = group.fields[i];
      levels_[i] = field.low * kWalkUnit +
                   static_cast<int64_t>(random->Uniform((field.high - field.low + 1))) * kWalkUnit;
      if (field.motion == FieldMotion::kCounter)
        levels_[i] = static_cast<int64_t>(random->Uniform(field.high + 1));
      if (field.motion == FieldMotion::kConstant) levels_[i] = field.high;
    }
    numbers_.resize(levels_.size());
  }

  void Step(RandomSource* random) {
    for (size_t i = 0; i < levels_.size(); ++i) {
      const Field& field = group_->fields[i];
      int64_t& level = levels_[i];
      switch (field.motion) {
        case FieldMotion::kWalk:
          level = std::clamp(level + WalkStep(random->Next()) * field.step, field.low * kWalkUnit,
                             field.high * kWalkUnit);
          numbers_[i] = level / kWalkUnit;
          break;
        case FieldMotion::kCounter:
          numbers_[i] = level += static_cast<int64_t>(random->Uniform(2 * field.step + 1));
          break;
        case FieldMotion::kConstant:
          numbers_[i] = level;
          break;
        case FieldMotion::kDraw:
          numbers_[i] = field.low + static_cast<int64_t>(random->Uniform(field.high - field.low + 1));
          break;
        case FieldMotion::kRest:
          numbers_[i] = numbers_[field.first] - numbers_[field.second];
          break;
        case FieldMotion::kSame:
          numbers_[i] = numbers_[field.first];
          break;
        case FieldMotion::kPercent:
          break;  // it is no whole number: Write
      }
    }
  }

  void Write(Reading* reading) const {
    reading->cells.resize(levels_.size());
    for (size_t i = 0; i < levels_.size(); ++i) {
      const Field& field = group_->fields[i];
      ReadingCell& cell = reading->cells[i];
      cell.field = static_cast<int>(i);
      if (field.motion != FieldMotion::kPercent) {
        SetNumber(numbers_[i], field.decimals, &cell);
        continue;
      }
      char text[32];
      const double percent = 100.0 * static_cast<double>(numbers_[field.first]) /
                             static_cast<double>(std::max<int64_t>(numbers_[field.second], 1));
      const char* const end = fmt::format_to(text, "{}", percent);
      SetText({text, static_cast<size_t>(end - text)}, &cell);
    }
  }

 private:
  const FieldGroup* group_;
  std::vector<int64_t> levels_;  // of walks in 1/kWalkUnit
  std::vector<int64_t> numbers_;
};

// Sends every group at every step.
class GroupsEntity : public Entity {
 public:
  GroupsEntity(const DataShape& shape, const DataModel& model, int entity)
      : random_(EntityRandom(shape, entity)), step_micros_(model.step_seconds * 1'000'000) {
    for (const FieldGroup& group : model.groups) walks_.emplace_back(group, &random_);
  }

  void Next(std::vector<Reading>* readings) override { Measure(readings); }

 protected:
  void Measure(std::vector<Reading>* readings) {
    readings->resize(walks_.size());
    for (size_t group = 0; group < walks_.size(); ++group) {
      Reading& reading = (*readings)[group];
      reading.group = static_cast<int>(group);
      reading.micros = kFirstSecond * 1'000'000 + step_ * step_micros_;
      walks_[group].Step(&random_);
      walks_[group].Write(&reading);
    }
    ++step_;
  }
  bool Happens(uint64_t of_a_thousand) { return random_.Uniform(1'000) < of_a_thousand; }

  SeededRandom random_;

 private:
  const int64_t step_micros_;
  std::vector<GroupWalk> walks_;
  int64_t step_ = 0;
};

// Loses some, delays some.
class IotEntity final : public GroupsEntity {
 public:
  using GroupsEntity::GroupsEntity;

  void Next(std::vector<Reading>* readings) override {
    if (slot_ == 0) MakeBatch();
    const size_t begin = outbox_.size() * slot_ / kBatchSteps;
    const size_t end = outbox_.size() * (slot_ + 1) / kBatchSteps;
    readings->assign(outbox_.begin() + begin, outbox_.begin() + end);
    slot_ = (slot_ + 1) % kBatchSteps;
  }

 private:
  void MakeBatch() {
    std::vector<Reading> batch;
    for (int i = 0; i < kBatchSteps; ++i) {
      Measure(&measured_);
      for (Reading& reading : measured_) {
        if (Happens(kReadingMissing)) continue;
        if (Happens(kFieldMissing)) {
          reading.cells.erase(reading.cells.begin() +
                              static_cast<std::ptrdiff_t>(random_.Uniform(reading.cells.size())));
        }
        batch.push_back(reading);
        const size_t groups = measured_.size();
        if (batch.size() > groups && Happens(kReadingLate))
          std::swap(batch.back(), batch[batch.size() - 1 - groups]);
      }
    }
    outbox_.clear();
    if (Happens(kBatchMissing)) batch.clear();
    if (held_.empty() && Happens(kBatchLate)) {
      held_ = std::move(batch);
      return;
    }
    outbox_ = std::move(batch);
    outbox_.insert(outbox_.end(), held_.begin(), held_.end());
    held_.clear();
  }

  int slot_ = 0;
  std::vector<Reading> measured_;
  std::vector<Reading> outbox_;
  std::vector<Reading> held_;
};

// Sends now and then, at some moment of the step.
class TickerEntity final : public GroupsEntity {
 public:
  TickerEntity(const DataShape& shape, const DataModel& model, int entity)
      : GroupsEntity(shape, model, entity), sends_(entity % kBusyTickers == 0 ? kBusySends : kQuietSends) {}

  void Next(std::vector<Reading>* readings) override {
    Measure(readings);
    const int64_t millis = static_cast<int64_t>(random_.Uniform(1'000));
    for (Reading& reading : *readings) reading.micros += millis * 1'000;
    if (!Happens(sends_)) readings->clear();
  }

 private:
  const uint64_t sends_;
};

}  // namespace

std::unique_ptr<Entity> MakeEntity(const DataShape& shape, const DataModel& model, int entity) {
  switch (shape.kind) {
    case DataKind::kCpu:
      return std::make_unique<CpuEntity>(shape, entity);
    case DataKind::kIot:
      return std::make_unique<IotEntity>(shape, model, entity);
    case DataKind::kMarket:
      return std::make_unique<TickerEntity>(shape, model, entity);
    case DataKind::kDevops:
    case DataKind::kMachines:
    case DataKind::kMeters:
      break;
  }
  return std::make_unique<GroupsEntity>(shape, model, entity);
}

Readings::Readings(const DataShape& shape, int entity_begin, int entity_end)
    : begin_(entity_begin), model_(ModelOf(shape)) {
  for (int entity = entity_begin; entity < entity_end; ++entity) {
    entities_.push_back(MakeEntity(shape, model_, entity));
  }
}

bool Readings::Next(int64_t end) {
  while (true) {
    if (next_ == entities_.size()) {
      next_ = 0;
      ++step_;
    }
    if (step_ >= end) return false;
    entities_[next_++]->Next(&readings_);
    if (!readings_.empty()) return true;
  }
}

void Readings::SkipTo(int64_t step) {
  while (Next(step)) continue;
}

}  // namespace sonde::bench
