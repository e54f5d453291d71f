#!/usr/bin/env python3
"""Proves that check_includes.py finds what it is for, on a small tree made here."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().with_name("check_includes.py")
FOLDERS = "base::\nmodel:base:\nfilter:model:base\nwire:model:\n"


class CheckIncludes(unittest.TestCase):
    def run_on(self, files):
        with tempfile.TemporaryDirectory() as directory:
            source = pathlib.Path(directory, "src")
            good = {"base/bytes.h": "#pragma once\n", "model/cell.h": "#pragma once\n#include \"base/bytes.h\"\n"}
            for name, text in {**good, **files}.items():
                path = source / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
                if path.suffix == ".cc" and not (path.parent / "unlisted").exists():
                    with open(path.parent / "CMakeLists.txt", "a", encoding="utf-8") as lists:
                        lists.write(f"sonde_folder({path.parent.name} SOURCES {path.name})\n")
            folders = pathlib.Path(directory, "folders.txt")
            folders.write_text(FOLDERS, encoding="utf-8")
            done = subprocess.run([sys.executable, CHECK, "--source", source, "--folders", folders], text=True,
                                  capture_output=True, check=False)
            return done.returncode, done.stdout

    def expect_finding(self, files, text):
        status, output = self.run_on(files)
        self.assertEqual(status, 1, output)
        self.assertIn(text, output)

    def test_accepts_declared_includes(self):
        status, output = self.run_on({
            "filter/match.h": "#pragma once\n#include <re2/re2.h>\n#include \"model/cell.h\"\n",
            "filter/match.cc": "#include \"filter/match.h\"\n#include <vector>\n",
            "filter/match_test.cc": "#include \"filter/match.h\"\n#include \"base/bytes.h\"\n#include \"absl/status/status.h\"\n",
            "wire/read.cc": "#include <grpcpp/grpcpp.h>\n#include \"google/bigtable/v2/bigtable.pb.h\"\n"})
        self.assertEqual((status, output), (0, "6 files, 0 findings\n"))

    def test_finds_an_undeclared_folder(self):
        self.expect_finding({"model/cell.cc": '#include "model/cell.h"\n#include "filter/match.h"\n',
                             "filter/match.h": "#pragma once\n"}, "src/model/cell.cc:2: ")

    def test_dependencies_are_not_passed_on(self):
        self.expect_finding({"filter/match.h": '#pragma once\n#include "base/bytes.h"\n'}, "does not name base in its DEPS")

    def test_test_dependencies_are_for_tests(self):
        self.expect_finding({"filter/match.cc": '#include "base/bytes.h"\n'}, "does not name base in its DEPS")

    def test_finds_a_header_without_a_guard(self):
        self.expect_finding({"model/row.h": "\n"}, "src/model/row.h:1: a header without #pragma once")

    def test_finds_a_late_own_header(self):
        self.expect_finding({"model/cell.cc": '#include <vector>\n#include "model/cell.h"\n'},
                            'src/model/cell.cc:1: the first include is not "model/cell.h"')

    def test_keeps_third_parties_at_home(self):
        for header in ("google/bigtable/v2/data.pb.h", "grpcpp/server.h", "rocksdb/db.h", "re2/re2.h", "CLI/App.hpp"):
            with self.subTest(header):
                self.expect_finding({"model/cell.cc": f'#include "model/cell.h"\n#include <{header}>\n'}, "belongs to")

    def test_finds_a_missing_header(self):
        self.expect_finding({"model/cell.cc": '#include "model/cell.h"\n#include "cell.h"\n'}, '"cell.h" is no file')

    def test_finds_a_source_that_nothing_compiles(self):
        self.expect_finding({"filter/match.cc": "", "wire/unlisted": "", "wire/read_test.cc": ""},
                            "src/wire/read_test.cc:1: src/wire/CMakeLists.txt does not name it")

    def test_keeps_support_of_tests_with_tests(self):
        support = {"model/cells_test_support.h": "#pragma once\n"}
        include = '#include "model/cells_test_support.h"\n'
        self.expect_finding({**support, "filter/match.cc": include},
                            'src/filter/match.cc:1: "model/cells_test_support.h" is for tests')
        self.assertEqual(self.run_on({**support, "filter/match_test.cc": include})[0], 0)
        self.assertEqual(self.run_on({**support, "model/cells_test_support.cc": include})[0], 0)

    def test_finds_a_project_header_in_angle_brackets(self):
        self.expect_finding({"filter/match.cc": "#include <base/bytes.h>\n"},
                            "src/filter/match.cc:1: <base/bytes.h> is a project header: it takes quotes")

    def test_finds_a_folder_that_is_not_declared(self):
        self.expect_finding({"extra/thing.h": "#pragma once\n"}, "src/extra/thing.h:1: its folder is not declared")


if __name__ == "__main__":
    unittest.main()
