"""That bars are judged by their figures: bench.bars of ctest."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bars  # noqa: E402


class Bars(unittest.TestCase):

    def test_at_least(self):
        bar = bars.Bar("speed", "s.x/s", 100, 200)
        self.assertTrue(bars.judge(bar, {"s.x/s": 100}).must)
        self.assertFalse(bars.judge(bar, {"s.x/s": 99.9}).must)
        self.assertFalse(bars.judge(bar, {"s.x/s": 100}).aim_met)
        self.assertEqual(bars.judge(bar, {"s.x/s": 100}).of_aim, 0.5)

    def test_at_most_and_ratio(self):
        bar = bars.Bar("bytes", "a.B", 1 / 12, over="b.B", at_most=True)
        self.assertTrue(bars.judge(bar, {"a.B": 1.0, "b.B": 12.0}).must)
        self.assertFalse(bars.judge(bar, {"a.B": 1.01, "b.B": 12.0}).must)

    def test_aim_of_a_peer(self):
        bar = bars.Bar("memory", "a.MB", aim_figure="peer.MB", at_most=True)
        self.assertTrue(bars.judge(bar, {"a.MB": 10, "peer.MB": 10}).aim_met)
        self.assertEqual(bars.judge(bar, {"a.MB": 10, "peer.MB": 5}).of_aim, 0.5)
        self.assertIsNone(bars.judge(bar, {"a.MB": 10}).aim_met)

    def test_what_was_not_measured_is_neither(self):
        bar = bars.Bar("speed", "s.x/s", 100, over="peer.x/s")
        self.assertIsNone(bars.judge(bar, {}).must)
        self.assertIsNone(bars.judge(bar, {"s.x/s": 100}).must)
        self.assertIsNone(bars.judge(bar, {"s.x/s": 100, "peer.x/s": 0}).must)

    def test_the_table_counts(self):
        text, missed, unmeasured = bars.table({"sonde bucket fsync ingest.cells/s": 1.2e6,
                                               "sonde tall fsync ingest.cells/s": 0.9e6})
        self.assertEqual(missed, 1)
        self.assertEqual(unmeasured, len(bars.bars()) - 2)
        self.assertIn("| ingest, MutateRows, fsync, bucket rows | >= 1,000,000 cells/s | 1,200,000 cells/s | met | 1,500,000 | 80% |",
                      text)
        self.assertIn("900,000 cells/s | **missed** |", text)

    def test_new_series_are_held_to_half_of_the_same_path_with_few(self):
        paths = {bar.figure: bar.over for bar in bars.bars() if bar.must == 0.5 and bar.over}
        self.assertEqual(paths, {"sonde bucket many-series ingest.cells/s": "sonde bucket fsync ingest.cells/s",
                                 "sonde tall many-series ingest.cells/s": "sonde tall fsync ingest.cells/s",
                                 "sonde many-series lines.cells/s": "sonde lines.cells/s"})
        text, missed, _ = bars.table({"sonde many-series lines.cells/s": 0.4e6, "sonde lines.cells/s": 1.0e6})
        self.assertEqual(missed, 1)
        self.assertIn("| 1 million new series, line protocol, against line protocol of few | >= 0.500 x | 0.400 x | **missed** |",
                      text)

    def test_settling_doubles_no_p99(self):
        found = {bar.figure: bar.must for bar in bars.bars() if bar.figure.endswith(" settling.p99_us")}
        self.assertEqual(found, {f"sonde {schema} {name} settling.p99_us": 2.0 for schema in ("bucket", "tall")
                                 for name in ("point-read", "point-write")})

    def test_figures_have_one_bar_each(self):
        names = [bar.what for bar in bars.bars()]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
