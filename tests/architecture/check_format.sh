#!/usr/bin/env bash
# Fails when a tracked C++ file is not what clang-format 19 makes of it.  scripts/tidy --format repairs it.
# Exit status 77 when clang-format-19 is not there (with CI=true: 1).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! command -v clang-format-19 >/dev/null; then
  echo "architecture.format: NOT RUN: no clang-format-19 (scripts/install-dependencies --tests installs it)" >&2
  [ "${CI:-}" = true ] && exit 1
  exit 77
fi
git ls-files -z -- '*.cc' '*.h' | xargs -0 --no-run-if-empty clang-format-19 --dry-run -Werror
echo "$(git ls-files -- '*.cc' '*.h' | wc -l) files are formatted"
