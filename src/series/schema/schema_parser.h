// Reads a declaration (YAML; examples/README.md has the syntax) into a SeriesSchema.
//
// Errors: INVALID_ARGUMENT, whose message has a line for each problem, in the order of the file's lines, up
// to kProblemsMax (yaml/yaml_reader.h):
//   FILE:LINE: what is wrong; allowed: what may stand there
// Nothing is guessed: unknown keys, repeated keys, missing keys and wrong types are errors; so is what other
// builds write but this one does not.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "series/schema/schema.h"

namespace sonde::series {

constexpr size_t kDeclarationBytesMax = 1 << 20;
constexpr int kKeyPartWidthBytesMax = 256;
constexpr int kSaltsMax = 1'000;
constexpr size_t kVersionsMax = 16;
constexpr size_t kDerivedTablesMax = 16;
constexpr size_t kQueriesMax = 100;

// `file` is only for messages.
absl::StatusOr<SeriesSchema> ParseSchema(std::string_view text, std::string_view file);

// NOT_FOUND when there is no such file.
absl::StatusOr<SeriesSchema> ReadSchemaFile(const std::string& file);

}  // namespace sonde::series
