#!/usr/bin/env bash
# Fails when a tracked C++ file is not what clang-format 19 makes of it, and names it.  scripts/tidy --format repairs it.
# Exit status 77 when clang-format-19 is not there (with CI=true: 1).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! command -v clang-format-19 >/dev/null; then
  echo "architecture.format: NOT RUN: no clang-format-19 (scripts/install-dependencies --tests installs it)" >&2
  [ "${CI:-}" = true ] && exit 1
  exit 77
fi
mapfile -d '' -t files < <(git ls-files -z -- '*.cc' '*.h')
[ ${#files[@]} -gt 0 ] || { echo "architecture.format: git tracks no C++ file here" >&2; exit 1; }
if findings=$(clang-format-19 --dry-run -Werror "${files[@]}" 2>&1); then
  echo "${#files[@]} files are formatted"
  exit 0
fi
echo "Not formatted (scripts/tidy --format repairs it), with the number of places:"
places=$(grep -E '^[^ ].*: error: ' <<< "$findings" | cut -d: -f1 | sort | uniq -c)
echo "${places:-$findings}"
exit 1
