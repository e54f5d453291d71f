#include "bench/data/line_bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace sonde::bench {
namespace {

std::string Tags(const DataModel& model, int entity) {
  static constexpr const char* kRegions[] = {"eu-central-1", "us-west-2", "us-east-1", "ap-southeast-2",
                                             "sa-east-1"};
  static constexpr const char* kTeams[] = {"SF", "NYC", "LON", "CHI"};
  static constexpr const char* kStages[] = {"production", "staging", "test"};
  const auto number = static_cast<uint32_t>(entity) * 2'654'435'761u;
  const char* const region = kRegions[number % std::size(kRegions)];
  return fmt::format(
      "hostname={}_{},region={},datacenter={}{},rack={},os=Ubuntu16.{}LTS,arch=x{},team={},service={},"
      "service_version={},service_environment={}",
      model.entity, entity, region, region, static_cast<char>('a' + number / 7 % 3), number / 11 % 100,
      number / 13 % 2 == 0 ? "04" : "10", number / 17 % 2 == 0 ? "64" : "86", kTeams[number / 19 % 4],
      number / 23 % 20, number / 29 % 2, kStages[number / 31 % 3]);
}

}  // namespace

LineBodies::LineBodies(const DataShape& shape, int entity_begin, int entity_end, int64_t steps,
                       int lines_per_body)
    : model_(ModelOf(shape)),
      steps_(steps),
      lines_per_body_(lines_per_body),
      entity_begin_(entity_begin),
      readings_(shape, entity_begin, entity_end) {
  for (int entity = entity_begin; entity < entity_end; ++entity) {
    const std::string tags = Tags(model_, entity);
    for (const FieldGroup& group : model_.groups) {
      const std::string_view measurement =
          group.name.empty() ? kDataKindNames[static_cast<size_t>(shape.kind)] : std::string_view(group.name);
      starts_.push_back(fmt::format("{},{} ", measurement, tags));
    }
  }
}

std::string_view LineBodies::Next() {
  buffer_.clear();
  uint64_t lines_left = lines_per_body_;
  while (lines_left > 0 && readings_.Next(steps_)) {
    for (const Reading& reading : readings_.readings()) {
      const std::vector<Field>& fields = model_.groups[reading.group].fields;
      buffer_ += starts_[(readings_.entity() - entity_begin_) * model_.groups.size() + reading.group];
      for (const ReadingCell& cell : reading.cells) {
        const Field& field = fields[cell.field];
        buffer_ += field.name;
        buffer_ += '=';
        buffer_ += cell.value();
        if (field.decimals == 0 && field.motion != FieldMotion::kPercent) buffer_ += 'i';
        buffer_ += ',';
      }
      buffer_.back() = ' ';
      const fmt::format_int nanoseconds(reading.micros * 1'000);
      buffer_.append(nanoseconds.data(), nanoseconds.size());
      buffer_ += '\n';
      points_ += reading.cells.size();
      ++lines_;
      lines_left -= std::min<uint64_t>(lines_left, 1);
    }
  }
  bytes_ += buffer_.size();
  return buffer_;
}

}  // namespace sonde::bench
