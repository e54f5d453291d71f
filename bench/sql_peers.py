"""Asks DuckDB (on Parquet) and chDB (on MergeTree) the questions of bench/sql, in this process.

Reads from stdin, as JSON: csv (a path), scratch (a directory), repeats, questions (each with name, duckdb, chdb).  Prints, as
JSON, by peer its version and by question p50_ms and rows; or `error`.  Runs in the environment that bench/sql makes.
"""

import json
import pathlib
import statistics
import sys
import time


class DuckDb:
    def __init__(self, csv, scratch):
        import duckdb
        self.version = duckdb.__version__
        self.connection = duckdb.connect()
        parquet = scratch / "cpu.parquet"
        self.connection.execute(f"COPY (SELECT * FROM read_csv('{csv}') ORDER BY hostname, time) TO '{parquet}' (FORMAT parquet)")
        self.connection.execute(f"CREATE VIEW cpu AS SELECT * FROM '{parquet}'")

    def ask(self, sql):
        columns = self.connection.execute(sql).fetchnumpy()
        return len(next(iter(columns.values())))


class ChDb:
    def __init__(self, csv, scratch):
        import chdb
        from chdb import session
        self.version = chdb.__version__
        self.session = session.Session(str(scratch / "chdb"))
        metrics = ", ".join(f"{name} Int64" for name in csv.open().readline().strip().split(",")[2:])
        columns = f"hostname String, time DateTime, {metrics}"
        self.session.query(f"CREATE DATABASE b; CREATE TABLE b.cpu ({columns}) ENGINE = MergeTree ORDER BY (hostname, time)")
        self.session.query(f"INSERT INTO b.cpu SELECT * FROM file('{csv}', CSVWithNames, '{columns}')")
        self.session.query("OPTIMIZE TABLE b.cpu FINAL")
        self.session.query("USE b")

    def ask(self, sql):
        return self.session.query(sql, "Native").rows_read()


def measure(peer, key, work):
    found = {"version": peer.version}
    for question in work["questions"]:
        took = []
        for _ in range(work["repeats"] + 1):
            start = time.perf_counter()
            rows = peer.ask(question[key])
            took.append(time.perf_counter() - start)
        found[question["name"]] = {"p50_ms": statistics.median(took[1:]) * 1000, "rows": rows}
    return found


def main():
    work = json.load(sys.stdin)
    answer = {}
    for name, key, make in (("DuckDB", "duckdb", DuckDb), ("chDB", "chdb", ChDb)):
        try:
            answer[name] = measure(make(pathlib.Path(work["csv"]), pathlib.Path(work["scratch"])), key, work)
        except Exception as error:  # a peer that does not work is told, and is no reason to end
            answer[name] = {"error": f"{type(error).__name__}: {error}"}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
