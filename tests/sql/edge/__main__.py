#!/usr/bin/env python3
"""Random joins, ASOF joins, windows, sorts and groups, answered by Sonde and by DuckDB; says where the answers differ.

usage: edge PROGRAM [--statements N] [--seed N] [--differences N]
PROGRAM is sonde_sql_answers.  Columns are integers, texts, and doubles without NaN, on which both databases agree what order and
equality are; tables have up to 60 rows, more than the other suite's.  Every order is total, and says where NULL comes.
Exit status: 0: no difference; 1: some; 2: a wrong call.
"""
import argparse
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
from answers import Sonde, same_value  # noqa: E402  (it lies beside this suite)

TOLERANCE = 1e-12  # of sums and means, whose terms DuckDB adds in an order of its own
COLUMNS = [("n", "INT64", "BIGINT"), ("g", "INT64", "BIGINT"), ("i", "INT64", "BIGINT"), ("f", "FLOAT64", "DOUBLE"), ("s", "STRING", "VARCHAR")]
VALUES = {"g": ["0", "1", "2", "NULL"], "i": ["-5", "0", "1", "2", "3", "7", "100", "NULL"],
          "f": ["-1.5", "0.0", "0.25", "2.0", "3.5", "1e10", "NULL"], "s": ["'a'", "'b'", "'ab'", "''", "'é'", "'日本'", "NULL"]}
FRAMES = ["", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW", "ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING",
          "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "ROWS BETWEEN 2 FOLLOWING AND 5 FOLLOWING",
          "ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING", "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"]
RANGES = ["RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING", "RANGE BETWEEN 5 PRECEDING AND CURRENT ROW", "RANGE BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING",
          "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"]
AGGREGATES = ["SUM({})", "COUNT({})", "MIN({})", "MAX({})", "AVG({})", "COUNT(*)"]
NUMBERING = ["ROW_NUMBER()", "RANK()", "DENSE_RANK()", "PERCENT_RANK()", "CUME_DIST()", "NTILE(3)", "NTILE(7)"]
NAVIGATION = ["FIRST_VALUE({})", "LAST_VALUE({})", "NTH_VALUE({}, 2)"]
SHIFTS = ["LAG({})", "LEAD({})", "LAG({}, 2)", "LEAD({}, 3)"]


class Table:
    """The same rows, as each database writes them."""

    def __init__(self, source, rows_max):
        self.rows = [[str(n)] + [source.choice(VALUES[name]) for name, _, _ in COLUMNS[1:]]
                     for n in range(source.choice([0, 1, 2, 5, 12, rows_max]))]

    def sonde(self):
        kind = "STRUCT<" + ", ".join(f"{name} {kind}" for name, kind, _ in COLUMNS) + ">"
        return f"(SELECT * FROM UNNEST(ARRAY<{kind}>[{', '.join('(' + ', '.join(row) + ')' for row in self.rows)}]))"

    def duckdb(self):
        columns = ", ".join(f"CAST(c{i} AS {kind}) AS {name}" for i, (name, _, kind) in enumerate(COLUMNS))
        names = ", ".join(f"c{i}" for i in range(len(COLUMNS)))
        rows = self.rows or [["0"] + ["NULL"] * (len(COLUMNS) - 1)]
        where = "" if self.rows else " WHERE FALSE"
        return f"(SELECT {columns} FROM (VALUES {', '.join('(' + ', '.join(row) + ')' for row in rows)}) AS v({names}){where})"


class Statements:
    def __init__(self, source):
        self.source = source

    def any(self):
        """A text with {a} and {b} for tables."""
        return self.source.choice([self.windows, self.windows, self.join, self.asof, self.sort, self.groups, self.nested])()

    def key(self, column):
        return column + self.source.choice([" ASC NULLS FIRST", " ASC NULLS LAST", " DESC NULLS FIRST", " DESC NULLS LAST"])

    def keys(self, prefix=""):
        columns = self.source.sample(["g", "i", "f", "s"], self.source.randint(0, 3))
        return ", ".join(self.key(prefix + column) for column in columns + ["n"])

    def window(self):
        partition = self.source.choice(["", "PARTITION BY g ", "PARTITION BY s ", "PARTITION BY g, s "])
        column = self.source.choice(["i", "f", "g", "n"])
        way = self.source.randrange(5)
        if way == 0:
            return f"{self.source.choice(NUMBERING)} OVER ({partition}ORDER BY {self.keys()})"
        if way == 1:
            return f"{self.source.choice(SHIFTS).format(self.source.choice([column, 's']))} OVER ({partition}ORDER BY {self.keys()})"
        if way == 2:
            return f"{self.source.choice(NAVIGATION).format(self.source.choice([column, 's']))} OVER ({partition}ORDER BY {self.keys()} {self.source.choice(FRAMES)})"
        call = self.source.choice(AGGREGATES).format(column)
        if way == 3:
            return f"{call} OVER ({partition}ORDER BY n{self.source.choice([' ASC', ' DESC'])} {self.source.choice(RANGES)})"
        return f"{call} OVER ({partition}ORDER BY {self.keys()} {self.source.choice(FRAMES)})"

    def windows(self):
        items = ", ".join(f"{self.window()} AS w{i}" for i in range(self.source.randint(1, 3)))
        return f"SELECT n, {items} FROM {{a}} AS a ORDER BY n"

    def join(self):
        word = self.source.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"])
        key = self.source.choice(["g", "i", "s", "f"])
        condition = "" if word == "CROSS JOIN" else " ON " + self.source.choice(
            [f"a.{key} = b.{key}", f"a.{key} = b.{key} AND a.n <= b.n", f"a.{key} = b.{key} AND b.i > 1", "a.g = b.g AND a.s = b.s"])
        where = self.source.choice(["", "", " WHERE a.i IS NULL OR b.i IS NULL", " WHERE a.n + 1 = b.n"])
        return (f"SELECT a.n AS x, b.n AS y, a.{key} AS k, b.s AS z FROM {{a}} AS a {word} {{b}} AS b{condition}{where} "
                "ORDER BY x NULLS FIRST, y NULLS FIRST")

    def asof(self):
        """The right side has one row at each time and group, so that the nearest is one."""
        word = self.source.choice(["ASOF JOIN", "ASOF LEFT JOIN"])
        equal = self.source.choice(["a.g = b.g", "a.s = b.s", "a.g = b.g AND a.s = b.s"])
        order = self.source.choice(["a.n >= b.n", "a.n > b.n", "a.n <= b.n", "a.n < b.n"])
        return f"SELECT a.n AS x, b.n AS y, b.f AS z FROM {{a}} AS a {word} {{b}} AS b ON {equal} AND {order} ORDER BY x"

    def sort(self):
        limit = self.source.choice(["", f" LIMIT {self.source.randint(0, 20)}", f" LIMIT {self.source.randint(1, 9)} OFFSET {self.source.randint(0, 9)}"])
        return f"SELECT n, g, i, f, s FROM {{a}} AS a ORDER BY {self.keys()}{limit}"

    def groups(self):
        keys = self.source.sample(["g", "s", "i", "f"], self.source.randint(1, 3))
        calls = ", ".join(self.source.choice(AGGREGATES + ["COUNT(DISTINCT {})", "SUM(DISTINCT {})"]).format(self.source.choice(["i", "n", "f"])) + f" AS a{i}" for i in range(2))
        having = self.source.choice(["", "", " HAVING COUNT(*) > 1", " HAVING MIN(i) < 2"])
        return f"SELECT {', '.join(keys)}, {calls} FROM {{a}} AS a GROUP BY {', '.join(keys)}{having} ORDER BY {', '.join(self.key(key) for key in keys)}"

    def nested(self):
        inner = f"SELECT n, g, i, {self.source.choice(NUMBERING)} OVER (PARTITION BY g ORDER BY {self.keys()}) AS r FROM {{a}} AS a"
        return (f"SELECT q.n, q.r, b.s FROM ({inner}) AS q LEFT JOIN {{b}} AS b ON q.n = b.n WHERE q.r <= 4 "
                f"ORDER BY {self.key('q.g')}, q.n")


def text_of(value):
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "%.17g" % value
    return f'"{value}"' if isinstance(value, str) else str(value)


def run(options):
    import duckdb  # pylint: disable=import-outside-toplevel  (so that --help needs no packages)
    sonde, connection, begin, failures = Sonde(options.program), duckdb.connect(), time.time(), 0
    for number in range(options.statements):
        source = random.Random(f"{options.seed}/{number}")
        statement = Statements(source).any()
        a, b = Table(source, 60), Table(source, 40)
        ours = sonde.ask(statement.format(a=a.sonde(), b=b.sonde()))
        theirs = [[text_of(value) for value in row] for row in connection.execute(statement.format(a=a.duckdb(), b=b.duckdb())).fetchall()]
        same = ours.rows is not None and len(ours.rows) == len(theirs) and all(
            same_value(x, y, TOLERANCE) for row, other in zip(ours.rows, theirs) for x, y in zip(row, other))
        if same:
            continue
        failures += 1
        print(f"#{number} {statement.format(a=a.sonde(), b=b.sonde())}\n  sonde:  {ours}\n  DuckDB: {theirs}", flush=True)
        if failures == options.differences:
            break
    print(f"{number + 1} statements of seed {options.seed}: {failures} differ, {time.time() - begin:.0f} s")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("--statements", type=int, default=2000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--differences", type=int, default=20, help="so many end the run")
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
