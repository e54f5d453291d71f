// An authorized view's record: JSON, so that a person can read it (docs/formats/data-directory.md).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/authorized_view.h"

namespace sonde {

std::string EncodeViewRecord(const AuthorizedView& view);
// DATA_LOSS: the bytes are no view's record.
absl::StatusOr<AuthorizedView> DecodeViewRecord(std::string_view bytes);

}  // namespace sonde
