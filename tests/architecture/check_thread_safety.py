#!/usr/bin/env python3
"""Holds the locks of src/ to what is written beside them, by clang's -Wthread-safety.

Members say by ABSL_GUARDED_BY which mutex guards them, functions by ABSL_EXCLUSIVE_LOCKS_REQUIRED and the like which mutex
their callers hold. clang reads the sources that name such a class, many in one go, and compiles nothing; so it takes two
minutes of two processors. GCC, which builds Sonde, knows nothing of these words.

clang knows absl::Mutex, and not std::mutex: a file that has one is a finding, unless it is excepted.

usage: check_thread_safety.py --source DIR --compile-commands FILE [--clang PROGRAM] [--jobs N] [--except FILE]...

--source            the src/ directory
--compile-commands  compile_commands.json of a build that was configured; its generated headers must be there
--except            a file below src/ that may have mutexes of the standard library
Exit status: 0 no finding, 1 there are, 2 the call was wrong, 77 there is no such clang (with CI=true: 1).
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
ANNOTATED = re.compile(r"\babsl::Mutex\b|\bABSL_\w*(GUARDED_BY|LOCKS_REQUIRED|LOCKS_EXCLUDED|LOCK_FUNCTION)\b")
UNKNOWN_TO_CLANG = re.compile(r"\bstd::(?:\w+_)?mutex\b|\bstd::condition_variable\b")
FILES_AT_ONCE_MAX = 24
WARNINGS = ["-Wno-everything", "-Wthread-safety", "-Werror=thread-safety"]
NO_CLANG = 77


def is_checked(path):
    """Tests hold what they test to its words; they themselves may lock as they like."""
    return not path.stem.endswith(("_test", "_test_support"))


def read_tree(source):
    """The text of each file of the tree, by its path below `source`."""
    return {path.relative_to(source).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(source.rglob("*")) if path.suffix in (".h", ".cc") and is_checked(path)}


def names_a_lock(file, texts):
    """Whether the file, or a header that it or its own header includes, has annotations or a mutex."""
    files = {file}
    for each in (file, file.removesuffix(".cc") + ".h"):
        files.update(INCLUDE.findall(texts.get(each, "")))
    return any(ANNOTATED.search(texts.get(each, "")) for each in files)


def flags_of(arguments):
    """What a compiler's command says of headers, names and the language."""
    flags = []
    words = iter(arguments[1:])
    for word in words:
        if word in ("-I", "-isystem", "-D"):
            flags += [word, next(words)]
        elif word.startswith(("-I", "-isystem", "-D", "-std=")):
            flags.append(word)
    return tuple(flags)


def units_of(source, texts, commands):
    """(flags, files) for clang: the files of a folder that have the same flags are read together."""
    flags = {}
    for command in commands:
        path = pathlib.Path(command["directory"], command["file"])
        arguments = command.get("arguments") or shlex.split(command["command"])
        files = [path.relative_to(source).as_posix()] if path.is_relative_to(source) else []
        if not files and path.name.startswith("unit_"):  # which includes several (cmake/Layers.cmake)
            files = [name for name in INCLUDE.findall(path.read_text(encoding="utf-8")) if name.endswith(".cc")]
        for file in files:
            if file in texts:
                flags.setdefault(file, flags_of(arguments))
    groups = {}
    for file in sorted(flags):
        if names_a_lock(file, texts):
            groups.setdefault((os.path.dirname(file), flags[file]), []).append(file)
    for (_, of_group), files in groups.items():
        for start in range(0, len(files), FILES_AT_ONCE_MAX):
            yield of_group, files[start:start + FILES_AT_ONCE_MAX]


def analyse(clang, source, unit):
    """What clang finds in the files of the unit."""
    flags, files = unit
    text = "".join(f'#include "{file}"\n' for file in files)
    done = subprocess.run([clang, "-fsyntax-only", *WARNINGS, *flags, "-I", str(source), "-x", "c++", "-"], input=text, text=True,
                          capture_output=True, check=False)
    if done.returncode == 0:
        return ""
    return done.stderr or f"{clang} ended with {done.returncode} on {' '.join(files)}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--compile-commands", required=True, type=pathlib.Path)
    parser.add_argument("--clang", default="clang++-19")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--except", dest="excepted", action="append", default=[])
    arguments = parser.parse_args()
    source = arguments.source.resolve()
    if shutil.which(arguments.clang) is None:
        print(f"architecture.thread_safety: NOT RUN: no {arguments.clang} (scripts/install-dependencies --tests installs it)")
        return 1 if os.environ.get("CI") == "true" else NO_CLANG

    start = time.monotonic()
    texts = read_tree(source)
    findings = 0
    for file, text in texts.items():
        unknown = UNKNOWN_TO_CLANG.search(text)
        if unknown and file not in arguments.excepted:
            findings += 1
            print(f"src/{file}: {unknown[0]}, whose locks clang cannot check: take absl::Mutex")
        elif not unknown and file in arguments.excepted:
            findings += 1
            print(f"src/{file} is excepted, and has no mutex of the standard library")

    commands = json.loads(arguments.compile_commands.read_text(encoding="utf-8"))
    units = list(units_of(source, texts, commands))
    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        for found in pool.map(lambda unit: analyse(arguments.clang, source, unit), units):
            if found:
                findings += 1
                print(found, end="")
    print(f"{sum(len(files) for _, files in units)} of {len(texts)} files in {len(units)} units, "
          f"{time.monotonic() - start:.0f} s, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
