#!/usr/bin/env python3
"""Proves that check_thread_safety.py finds what it is for, on small trees made here."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().with_name("check_thread_safety.py")

HEADER = """
#pragma once
#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
class Counter {
 public:
  void Add();
 private:
  void AddLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Mutex mutex_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};
"""
LOCKED = '#include "a/counter.h"\nvoid Counter::AddLocked() { ++count_; }\n'
WITH_THE_LOCK = LOCKED + "void Counter::Add() { const absl::MutexLock lock(&mutex_); AddLocked(); ++count_; }\n"
WITHOUT_THE_LOCK = LOCKED + "void Counter::Add() { ++count_; }\n"
CALLS_WITHOUT_THE_LOCK = LOCKED + "void Counter::Add() { AddLocked(); }\n"
NEVER_GIVES_BACK = LOCKED + "void Counter::Add() { mutex_.Lock(); AddLocked(); }\n"


class CheckThreadSafety(unittest.TestCase):
    def run_on(self, files, *arguments, unit=None):
        """`files`: texts by path under src/.  `unit`: includes all sources, as a release build's do."""
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name, text in files.items():
                path = root / "src" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            sources = [root / "src" / name for name in files if name.endswith(".cc")]
            if unit is not None:
                (root / unit).write_text("".join(f'#include "{path.relative_to(root / "src")}"\n' for path in sources),
                                         encoding="utf-8")
                sources = [root / unit]
            commands = root / "compile_commands.json"
            commands.write_text(json.dumps([{"directory": str(root), "file": str(path),
                                             "command": f"c++ -I{root}/src -O2 -std=c++20 -c {path}"} for path in sources]),
                                encoding="utf-8")
            done = subprocess.run([sys.executable, CHECK, "--source", root / "src", "--compile-commands", commands, *arguments],
                                  text=True, capture_output=True, check=False)
            if done.returncode == 77:
                self.skipTest(done.stdout)
            return done.returncode, done.stdout

    def test_accepts_members_that_are_used_with_their_lock(self):
        status, output = self.run_on({"a/counter.h": HEADER, "a/counter.cc": WITH_THE_LOCK})
        self.assertEqual(status, 0, output)
        self.assertIn("1 of 2 files in 1 units, ", output)

    def test_finds_a_member_that_is_used_without_its_lock(self):
        status, output = self.run_on({"a/counter.h": HEADER, "a/counter.cc": WITHOUT_THE_LOCK})
        self.assertEqual(status, 1)
        self.assertIn("a/counter.cc:3:25: error: writing variable 'count_' requires holding mutex 'mutex_'", output)

    def test_finds_a_call_without_the_lock(self):
        status, output = self.run_on({"a/counter.h": HEADER, "a/counter.cc": CALLS_WITHOUT_THE_LOCK})
        self.assertEqual(status, 1)
        self.assertIn("calling function 'AddLocked' requires holding mutex 'mutex_'", output)

    def test_finds_a_lock_that_is_not_given_back(self):
        status, output = self.run_on({"a/counter.h": HEADER, "a/counter.cc": NEVER_GIVES_BACK})
        self.assertEqual(status, 1)
        self.assertIn("mutex 'mutex_' is still held at the end of function", output)

    def test_looks_into_the_units_of_a_release_build(self):
        status, output = self.run_on({"a/counter.h": HEADER, "a/counter.cc": WITHOUT_THE_LOCK}, unit="unit_0.cc")
        self.assertEqual(status, 1)
        self.assertIn("a/counter.cc:3:25: error: writing variable 'count_'", output)

    def test_finds_a_mutex_that_clang_does_not_know(self):
        files = {"a/counter.h": "#pragma once\n#include <mutex>\nstruct Counter {\n  std::mutex mutex;\n};\n"}
        status, output = self.run_on(files)
        self.assertEqual(status, 1)
        self.assertIn("src/a/counter.h: std::mutex, whose locks clang cannot check: take absl::Mutex\n", output)
        self.assertEqual(self.run_on(files, "--except", "a/counter.h")[0], 0)

    def test_finds_an_exception_that_is_needless(self):
        status, output = self.run_on({"a/counter.h": HEADER, "a/counter.cc": WITH_THE_LOCK}, "--except", "a/counter.h")
        self.assertEqual(status, 1)
        self.assertIn("src/a/counter.h is excepted, and has no mutex of the standard library\n", output)

    def test_leaves_tests_alone(self):
        status, output = self.run_on({"a/counter_test.cc": "#include <mutex>\nstd::mutex mutex;\n"})
        self.assertEqual(status, 0, output)


if __name__ == "__main__":
    unittest.main()
