#!/usr/bin/env python3
"""Proves that check_rings.py finds what it is for, on small trees made here."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().with_name("check_rings.py")


class CheckRings(unittest.TestCase):
    def run_on(self, files):
        """`files`: by path under src/, the units whose headers a file includes."""
        with tempfile.TemporaryDirectory() as directory:
            source = pathlib.Path(directory, "src")
            for name, units in files.items():
                path = source / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(f'#include "{unit}.h"\n' for unit in units), encoding="utf-8")
            done = subprocess.run([sys.executable, CHECK, "--source", source], text=True, capture_output=True, check=False)
            return done.returncode, done.stdout

    def test_accepts_units_in_order(self):
        status, output = self.run_on({"a/top.cc": ["a/top", "a/left", "a/right"], "a/top.h": [], "a/left.h": ["a/bottom"],
                                      "a/right.h": ["a/bottom"], "a/bottom.h": [], "a/bottom.cc": ["a/bottom"]})
        self.assertEqual((status, output), (0, "4 units, 0 of them in 0 rings, 0 findings\n"))

    def test_finds_a_ring_through_a_source(self):
        status, output = self.run_on({"a/store.h": [], "a/store.cc": ["a/store", "a/check"], "a/check.h": ["a/store"]})
        self.assertEqual(status, 1)
        self.assertIn("2 units: a/check, a/store; a/check -> a/store -> a/check\n", output)

    def test_finds_a_long_ring_and_says_a_way_around(self):
        status, output = self.run_on({"a/one.h": ["a/two"], "a/two.h": ["b/three"], "b/three.h": ["a/four", "a/five"],
                                      "a/four.h": ["a/one"], "a/five.h": []})
        self.assertEqual(status, 1)
        self.assertIn("4 units: a/four, a/one, a/two, b/three; a/four -> a/one -> a/two -> b/three -> a/four\n", output)
        self.assertIn("5 units, 4 of them in 1 rings, 1 findings\n", output)

    def test_tells_two_rings_apart(self):
        status, output = self.run_on({"a/one.h": ["a/two"], "a/two.h": ["a/one"], "b/one.h": ["b/two", "a/one"],
                                      "b/two.h": ["b/one"]})
        self.assertEqual(status, 1)
        self.assertIn("2 units: a/one, a/two;", output)
        self.assertIn("2 units: b/one, b/two;", output)

    def test_a_unit_is_no_ring_with_itself(self):
        self.assertEqual(self.run_on({"a/one.h": [], "a/one.cc": ["a/one"]})[0], 0)

    def test_tests_are_not_counted(self):
        status, output = self.run_on({"a/one.h": [], "a/one_test.cc": ["a/one", "a/two_test_support"],
                                      "a/two_test_support.h": ["a/one"]})
        self.assertEqual((status, output), (0, "1 units, 0 of them in 0 rings, 0 findings\n"))


if __name__ == "__main__":
    unittest.main()
