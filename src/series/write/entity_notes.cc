#include "series/write/entity_notes.h"

#include <algorithm>

namespace sonde::series {

EntityNotes::EntityNotes(const SeriesSchema& schema, TableAccess* tables, const Clock* clock,
                         IndexWriter* index)
    : view_(std::make_shared<const KnownSeries>(IndexedView(schema))),
      entity_texts_(schema),
      own_(index != nullptr ? nullptr
                            : std::make_unique<IndexWriter>(
                                  tables, clock, IndexWriterSettings{.known_bytes_max = kKnownBytesMax})),
      index_(index != nullptr ? index : own_.get()) {}

EntityNotes::~EntityNotes() {
  // What is not sealed stays as it was registered, which readers understand, too.
  if (own_ != nullptr) own_->FinishUp().IgnoreError();
}

void EntityNotes::AddDay(size_t use, int64_t time_micros) {
  const int32_t day = EntityDay(time_micros);
  auto& days = uses_[use].days;
  if (days.empty() || (days.back() != day && std::find(days.begin(), days.end(), day) == days.end()))
    days.push_back(day);
}

void EntityNotes::Note(absl::Span<const std::string_view> tags, int64_t time_micros, const KeyCodec& codec) {
  const bool is_last =
      !uses_.empty() && std::equal(tags.begin(), tags.end(), last_tags_.begin(), last_tags_.end());
  if (!is_last) {
    text_.clear();
    entity_texts_.Append(tags, &text_);
    const EntityHash hash = index_->HashOf(text_);
    const auto [entry, is_new] = use_of_.try_emplace(hash, uses_.size());
    if (is_new) {
      EntityUse& use = uses_.emplace_back();
      use.series = &view_;
      use.text = texts_.emplace_back(text_);
      use.hash = hash;
    }
    last_use_ = entry->second;
    last_tags_.assign(tags.begin(), tags.end());
  }
  const int64_t found_micros = TimeAsFound(codec, time_micros);
  AddDay(last_use_, found_micros);
  // Copies may say the time more exactly.
  if (found_micros != time_micros) AddDay(last_use_, time_micros);
}

absl::Status EntityNotes::Register() { return uses_.empty() ? absl::OkStatus() : index_->Register(uses_); }

void EntityNotes::Clear() {
  uses_.clear();
  use_of_.clear();
  texts_.clear();
  last_tags_.clear();
}

}  // namespace sonde::series
