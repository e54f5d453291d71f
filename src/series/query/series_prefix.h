// The bytes that the keys of a series begin with, for reads that pass over the rest of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "series/key/key_codec.h"
#include "series/known/known_series.h"

namespace sonde::series {

// What all keys with these tags begin with: the parts before the time; `last_tag`: up to that tag's part, so what all keys
// with its value, and those of the tags before it in the key, begin with.  Empty: the key begins with the time, or has a
// time, a field or a salt of the time before that tag, or nothing behind it.  Errors: those of KeyCodec::AppendTag.
absl::StatusOr<std::string> SeriesPrefix(const KeyCodec& codec, const std::vector<std::string>& tags,
                                         std::optional<size_t> last_tag = std::nullopt);

// The same for a label of an open series; `labels`: the values of all of them, of which that of `last_label` is not empty.
absl::StatusOr<std::string> OpenSeriesPrefix(const KeyCodec& codec, const KnownSeries& series,
                                             const std::vector<std::string>& labels, size_t last_label);

}  // namespace sonde::series
