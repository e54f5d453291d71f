#!/usr/bin/env python3
"""Checks every #include under src/ against what its folder declares.

usage: check_includes.py --source DIR --folders FILE

FILE is what cmake/Layers.cmake writes at configure time: a line `folder:dep,dep:test_dep,test_dep` for each folder.
The rules:
  - a file includes from its own folder and from folders that it declares, nothing else; a *_test.cc, and what
    supports them (*_test_support.h and .cc), also from TEST_DEPS;
  - what supports tests is included by tests and their support only;
  - a project header is included in quotes by its path from src/, and exists;
  - foo.cc includes its own foo.h first; every header says #pragma once;
  - the CMakeLists.txt beside a source names it (foo.cc, or as a program's name), so that it is compiled and its tests run;
  - third-party parts stay where docs/architecture.md puts them (EXTERNAL_HOMES).
Exit status: 0 all keep the rules, 1 some do not (a line each), 2 the call was wrong.
"""

import argparse
import pathlib
import re
import sys

# A pattern of <...> or "..." headers, the folders that may include it, and its name.
EXTERNAL_HOMES = [
    (r"^(google/protobuf|google/rpc|google/bigtable|google/longrunning|grpcpp?|grpc\+\+)/", {"wire", "client", "prometheus", "bench", "server", "sql/descriptor", "sql/message"},
     "protobuf and gRPC"),
    (r"^hbase/wire/messages\.pb\.h", {"hbase"}, "messages of HBase"),
    (r"^nghttp2/", {"rpc"}, "nghttp2"),
    (r"^openssl/", {"tls", "wire/sql", "identity", "backup/repository"}, "OpenSSL"),
    (r"^rocksdb/", {"engine/rocks", "bench/inside"}, "RocksDB"),
    (r"^re2/", {"filter", "promql", "series", "sql", "wire/resources"}, "RE2"),
    (r"^utf8proc", {"sql/function"}, "utf8proc"),
    (r"^CLI/", {"cli", "bench/inside"}, "CLI11"),
    (r"^httplib", {"bench", "cli"}, "cpp-httplib"),
    (r"^editline/", {"cli"}, "libedit"),
    (r"^yaml-cpp/", {"yaml", "series", "server", "identity"}, "yaml-cpp"),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".h", ".cc"}


class Folders:
    def __init__(self, text):
        self.deps, self.test_deps = {}, {}
        for line in text.split("\n"):
            if not line:
                continue
            name, deps, test_deps = line.split(":")
            self.deps[name] = {dep for dep in deps.split(",") if dep}
            self.test_deps[name] = {dep for dep in test_deps.split(",") if dep}

    def of(self, path):
        """The innermost declared folder that holds a path relative to src/."""
        for parent in path.parents:
            if parent.as_posix() in self.deps:
                return parent.as_posix()
        return None


def in_home(folder, homes):
    return any(folder == home or folder.startswith(home + "/") for home in homes)


def check_project_include(source, folders, path, header):
    folder = folders.of(path)
    target = folders.of(pathlib.PurePosixPath(header))
    if target is None or not (source / header).is_file():
        return f'"{header}" is no file of a declared folder under src/; external headers take <>'
    is_test = path.name.endswith(("_test.cc", "_test_support.h", "_test_support.cc"))
    if header.endswith("_test_support.h") and not is_test:
        return f'"{header}" is for tests'
    allowed = {folder} | folders.deps[folder] | (folders.test_deps[folder] if is_test else set())
    if target in allowed:
        return None
    where = "DEPS or TEST_DEPS" if is_test else "DEPS"
    return f'"{header}": src/{folder}/CMakeLists.txt does not name {target} in its {where}'


def check_external_include(folder, header):
    for pattern, homes, name in EXTERNAL_HOMES:
        if re.match(pattern, header) and not in_home(folder, homes):
            return f"<{header}>: {name} belongs to {', '.join(sorted(homes))} only"
    return None


def is_built(source, path):
    lists = source / path.parent / "CMakeLists.txt"
    words = re.split(r"[\s()]+", lists.read_text(encoding="utf-8")) if lists.is_file() else []
    return path.name in words or path.stem in words


def check_file(source, folders, path):
    """Yields (line, finding); `path` is relative to src/."""
    folder = folders.of(path)
    if folder is None:
        yield 1, "its folder is not declared: it needs a CMakeLists.txt with sonde_folder(...) that configure reads"
        return
    if path.suffix == ".cc" and not is_built(source, path):
        yield 1, f"src/{path.parent}/CMakeLists.txt does not name it: nothing compiles it"
    lines = (source / path).read_text(encoding="utf-8").split("\n")
    if path.suffix == ".h" and "#pragma once" not in lines:
        yield 1, "a header without #pragma once"
    own_header = path.with_suffix(".h").as_posix()
    first = None
    for number, line in enumerate(lines, 1):
        include = INCLUDE.match(line)
        if not include:
            continue
        quote, header = include.groups()
        first = first or (number, header)
        if quote == '"' and not re.match("absl/|" + "|".join(pattern for pattern, _, _ in EXTERNAL_HOMES), header):
            finding = check_project_include(source, folders, path, header)
        elif (source / header).is_file():
            finding = f"<{header}> is a project header: it takes quotes"
        else:
            finding = check_external_include(folder, header)
        if finding:
            yield number, finding
    if path.suffix == ".cc" and (source / own_header).is_file() and (first is None or first[1] != own_header):
        yield (first or (1,))[0], f'the first include is not "{own_header}"'


def main():
    parser = argparse.ArgumentParser(description="Checks the includes under src/ against the declared folders.")
    parser.add_argument("--source", required=True, type=pathlib.Path, help="the src/ directory")
    parser.add_argument("--folders", required=True, type=pathlib.Path, help="folders.txt of the build directory")
    arguments = parser.parse_args()
    for path in (arguments.source, arguments.folders):
        if not path.exists():
            parser.error(f"{path} does not exist")
    folders = Folders(arguments.folders.read_text(encoding="utf-8"))
    files = sorted(path.relative_to(arguments.source) for path in arguments.source.rglob("*") if path.suffix in SUFFIXES)
    if not files:
        parser.error(f"{arguments.source} holds no C++")
    findings = 0
    for path in files:
        for line, finding in check_file(arguments.source, folders, pathlib.PurePosixPath(path)):
            print(f"src/{path}:{line}: {finding}")
            findings += 1
    print(f"{len(files)} files, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
