#!/usr/bin/env python3
"""Counts the source files that include protobuf's generated headers or gRPC's, themselves or by a header of ours, and looks whether
those that use fmt::format_to or spdlog include base/format.h, without which each compiles the whole formatter.

Each file with such headers reads 100,000 to 300,000 lines before its own first one.  The counts below are today's: a change that needs one more
file raises them knowingly, and one that needs fewer lowers them (docs/decisions/0021-build-time.md).

usage: check_heavy_headers.py ROOT
Exit status: 0 the counts are these and nothing lacks base/format.h, 1 otherwise (the files are listed), 2 the call was wrong.
"""

import pathlib
import re
import sys

KINDS = {
    "protobuf": re.compile(r"^google/protobuf/|\.pb\.h$"),
    "gRPC": re.compile(r"^(grpc|grpcpp|grpc\+\+)/|\.grpc\.pb\.h$"),
}
# (folder, kind): files; tests are not counted, and src/bench is counted apart.
COUNTS = {
    ("src", "protobuf"): 64,
    ("src", "gRPC"): 6,
    ("src/bench", "protobuf"): 13,
    ("src/bench", "gRPC"): 13,
}
WHOLE_FORMATTER = re.compile(r"fmt::format_to\b|<spdlog/")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)


class Tree:
    def __init__(self, root):
        self.root = root
        self.includes = {}

    def includes_of(self, path):
        if path not in self.includes:
            self.includes[path] = INCLUDE.findall(path.read_text(encoding="utf-8"))
        return self.includes[path]

    def find(self, path, header):
        """The file of ours that an include of `path` names, or None."""
        for place in (self.root / "src", self.root, path.parent):
            if (place / header).is_file():
                return (place / header).resolve()
        return None

    def reaches(self, path, kind):
        seen, waiting = set(), [path.resolve()]
        while waiting:
            file = waiting.pop()
            if file in seen:
                continue
            seen.add(file)
            for header in self.includes_of(file):
                if kind.search(header):
                    return True
                found = self.find(file, header)
                if found:
                    waiting.append(found)
        return False


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1], "src").is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[1]).resolve()
    tree = Tree(root)
    wrong = 0
    for (folder, name), count in COUNTS.items():
        apart = root / "src/bench" if folder == "src" else None
        sources = sorted(path for path in (root / folder).rglob("*.cc")
                         if not path.name.endswith("_test.cc") and apart not in path.parents)
        heavy = [path for path in sources if tree.reaches(path, KINDS[name])]
        print(f"{folder}: {len(heavy)} of {len(sources)} source files include {name}'s headers; {count} are expected")
        if len(heavy) != count:
            wrong += 1
            for path in heavy:
                print(f"  {path.relative_to(root)}")
    for path in sorted(path for path in (root / "src").rglob("*.cc") if not path.name.endswith("_test.cc")):
        if WHOLE_FORMATTER.search(path.read_text(encoding="utf-8")) and "base/format.h" not in tree.includes_of(path):
            wrong += 1
            print(f"{path.relative_to(root)} uses fmt::format_to or spdlog without base/format.h")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
