#!/usr/bin/env python3
"""Generated questions, asked of `sonde series query` and of DuckDB on the same CSV file.

The points come shuffled (so: late), some of them twice with other values; values are missing here and there; counters
start again from 0; days of changing clocks are among them.  Each declaration below orders the same points by another
key, in each layout but columns, where a reading that is corrected stays beside the first (and without 'field' in
the key, where a point is a row of the answer for each field).  DuckDB sees the points once, the last value of each field
winning; where buckets begin is worked out here, with Python's zoneinfo.

usage: compare_queries.py [--questions N] [--seed N] [--points N]   (SONDE_BINARY and BIGTABLE_EMULATOR_HOST are set)
"""
import argparse
import csv
import datetime
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import zoneinfo

import duckdb

UTC = datetime.timezone.utc
START = datetime.datetime(2021, 3, 20, tzinfo=UTC)  # Rome's clocks change on the 28th
DAYS = 14
FIELDS = ["x", "n"]

DECLARATIONS = {
    "by_series": "bucket: day\nkey: [a, b, bucket]",
    "time_first": "bucket: 6h\nkey: [bucket, b, a]",
    "between": "bucket: week\nkey: [a, bucket, b]",
    "rows": "layout: row\nkey: [b, a, time]",
    "newest_first": "layout: row\nkey: [a, b, { time: epoch_ms, reverse: true }]",
    "salted_tags": "bucket: day\nkey: [{ salt: 8, of: [a, b] }, a, b, bucket]",
    "salted_time": "bucket: 6h\nkey: [{ salt: 8, of: time }, a, b, bucket]",
    "salted_newest_first": "layout: row\nkey: [{ salt: 3, of: time }, b, a, { time: epoch_ms, reverse: true }]",
    "salted_between": "bucket: 6h\nkey: [a, { salt: 8, of: time }, b, bucket]",
    "salted_widely": "bucket: day\nkey: [{ salt: 70, of: [a, b] }, a, b, bucket]",
    "salted_time_widely": "layout: row\nkey: [{ salt: 70, of: time }, b, a, time]",
    "offsets": "bucket: hour\nlayout: offsets\nslot: 10s\nkey: [a, b, bucket]",
    "blobs": "layout: blob\nkey: [a, b, time]\nderive: [ latest: blobs_now ]",
    "blobs_in_buckets": "bucket: day\nlayout: blob\nkey: [b, a, bucket]",
    "protobufs": "bucket: 6h\nlayout: blob\nblob: { format: protobuf }\nkey: [{ salt: 4 }, a, b, bucket]",
    # Questions are answered from whichever narrows them most.
    "copies": """bucket: day
key: [a, b, bucket]
retention: { max_versions: all }
derive:
  - order: { table: copies_by_time, key: [{ salt: 4 }, time, a, b] }
  - order: { table: copies_by_b, layout: cells, bucket: 6h, key: [b, bucket, a] }
  - period: { table: "copies_{yyyymmdd}", every: day }
  - latest: copies_now""",
    "versions": """bucket: day
key: [a, b, bucket]
versions:
  - { until: 2021-03-24-0600, table: versions_1, layout: row, key: [b, a, time] }
  - { until: 2021-03-29, table: versions_2, bucket: hour, key: [{ salt: 4, of: time }, a, b, bucket] }""",
}


def write_points(path, rng, count):
    counters = {}
    lines = []
    taken = set()
    while len(lines) < count:
        a = rng.choice(["web-1", "web-2", "web-30", "db-1", "cache"])
        b = rng.choice([1, 2, 12])
        time = START + datetime.timedelta(seconds=10 * rng.randrange(DAYS * 8640))
        if (a, b, time) in taken:
            continue
        taken.add((a, b, time))
        x = "" if rng.random() < 0.1 else f"{rng.gauss(20, 8):.3f}"
        lines.append([a, b, time, x])
    lines.sort(key=lambda line: line[2])
    for line in lines:
        key = (line[0], line[1])
        value = counters.get(key, 0) + rng.randrange(100)
        if rng.random() < 0.02:
            value = rng.randrange(10)
        counters[key] = value
        line.append("" if line[3] != "" and rng.random() < 0.1 else value)
    again = [line[:3] + ["" if rng.random() < 0.3 and line[4] != "" else f"{rng.gauss(50, 5):.3f}", line[4]]
             for line in rng.sample(lines, count // 20)]
    lines += again
    rng.shuffle(lines)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "time", "x", "n"])
        for line in lines:
            writer.writerow([line[0], line[1], line[2].strftime("%Y-%m-%dT%H:%M:%SZ"), line[3], line[4]])


def bucket_start(time, every, zone):
    local = time.astimezone(zone)
    day = local.replace(hour=0, minute=0, second=0, microsecond=0)
    if every == "15m":
        return (local - datetime.timedelta(minutes=local.minute % 15, seconds=local.second)).astimezone(UTC)
    if every == "hour":
        return (time - datetime.timedelta(minutes=local.minute, seconds=local.second)).astimezone(UTC)
    if every == "6h":
        return local.replace(hour=local.hour // 6 * 6, minute=0, second=0, fold=0).astimezone(UTC)
    if every == "day":
        return day.astimezone(UTC)
    if every == "week":
        first = day.date() - datetime.timedelta(days=day.weekday())
        return datetime.datetime(first.year, first.month, first.day, tzinfo=zone).astimezone(UTC)
    if every == "month":
        return day.replace(day=1).astimezone(UTC)
    if every == "quarter":
        return day.replace(day=1, month=(day.month - 1) // 3 * 3 + 1).astimezone(UTC)
    raise ValueError(every)


class Question:
    """One question: the command's arguments, and the same in SQL."""

    def __init__(self, rng):
        self.rng = rng
        self.arguments = []
        self.where = []
        self.fields = rng.choice([["x"], ["n"], ["x", "n"]])
        self.arguments += ["--field", ",".join(self.fields)]
        self.select()
        self.change = rng.choice([None, None, None, "delta", "increase", "rate"])
        self.kind = rng.choice(["raw", "latest", "aggregate", "aggregate", "buckets", "buckets", "buckets", "buckets"])
        if self.kind == "latest":
            self.change = None
            self.latest = rng.choice([1, 3])
            self.arguments += ["--latest", str(self.latest)]
        if self.change:
            self.arguments += ["--change", self.change]
        self.top = None
        if self.kind in ("aggregate", "buckets"):
            self.aggregate()
        if self.kind != "latest" and rng.random() < 0.15:
            self.top = rng.choice([1, 4])
            self.arguments += ["--top", str(self.top)]

    def select(self):
        rng = self.rng
        for _ in range(rng.choice([0, 1, 1, 2])):
            text, sql = rng.choice([
                ("a=web-1", "a = 'web-1'"), ("a=web*", "a LIKE 'web%'"), ("b=12", "b = 12"),
                ("a=~web-[0-9]", "regexp_full_match(a, 'web-[0-9]')"), ("a!~web.*", "NOT regexp_full_match(a, 'web.*')"),
                ("a=~cache|db-1", "a IN ('cache', 'db-1')"), ("a!=cache", "a <> 'cache'"), ("b!~1.*", "b NOT IN (1, 12)"),
                ("a=nobody", "a = 'nobody'")])
            if text[0] + "=" in "".join(self.arguments) and text[1] == "=" and text[2] != "~":
                continue  # several = of a tag are one of them: tested below
            self.arguments += ["--where", text]
            self.where.append(sql)
        if rng.random() < 0.1:
            self.arguments += ["--where", "b=1", "--where", "b=2"]
            self.where = [sql for sql in self.where if not sql.startswith("b =")] + ["b IN (1, 2)"]
            self.arguments = [t for i, t in enumerate(self.arguments)
                              if t != "b=12" and not (t == "--where" and self.arguments[i + 1] == "b=12")]
        self.start = self.end = None
        if rng.random() < 0.6:
            self.start = START + datetime.timedelta(seconds=rng.randrange(DAYS * 43200))
            self.arguments += ["--from", self.start.strftime("%Y-%m-%dT%H:%M:%SZ")]
        if rng.random() < 0.6:
            self.end = START + datetime.timedelta(seconds=rng.randrange(DAYS * 43200, DAYS * 86400))
            self.arguments += ["--to", self.end.strftime("%Y-%m-%dT%H:%M:%SZ")]

    def aggregate(self):
        rng = self.rng
        names = ["avg", "min", "max", "count", "sum", "first", "last", "stddev", "p50", "p95", "p12"]
        self.aggregates = rng.sample(names, rng.choice([1, 2, 3]))
        self.arguments += ["--agg", ",".join(self.aggregates)]
        self.group = ["a", "b"]
        if rng.random() < 0.5:
            self.group = rng.choice([["a"], ["b"], [], ["b", "a"]])
            self.arguments += ["--group-by", ",".join(self.group) or "-"]
        self.fill = None
        self.windows = [1]
        if self.kind != "buckets":
            return
        self.every = rng.choice(["15m", "hour", "6h", "day", "day", "week", "month", "quarter"])
        self.zone = rng.choice(["UTC", "UTC", "Europe/Rome", "America/New_York", "Asia/Kolkata"])
        self.arguments += ["--every", self.every, "--zone", self.zone]
        if rng.random() < 0.2:
            self.windows = rng.choice([[3], [1, 2, 5]])
            self.arguments += ["--window", ",".join(map(str, self.windows))]
        if rng.random() < 0.4:
            self.fill = rng.choice(["null", "previous", "linear"])
            self.arguments += ["--fill", self.fill]

    def condition(self, with_start=True):
        parts = ["(" + " OR ".join(f"{field} IS NOT NULL" for field in self.fields) + ")", *self.where]
        if self.start and with_start:
            parts.append(f"t >= {micros(self.start)}")
        if self.end:
            parts.append(f"t < {micros(self.end)}")
        return " AND ".join(parts)

    def source(self, start=None):
        """The selected points, with changes in place of values."""
        condition = self.condition(with_start=start is None)
        if start is not None:
            condition += f" AND t >= {micros(start)}"
        columns = []
        for field in self.fields:
            if not self.change:
                columns.append(f"{field}::DOUBLE AS {field}")
                continue
            before = f"lag({field} IGNORE NULLS) OVER series"
            time = f"lag(CASE WHEN {field} IS NOT NULL THEN t END IGNORE NULLS) OVER series"
            value = f"{field} - {before}"
            if self.change != "delta":
                value = f"CASE WHEN {field} < {before} THEN {field} ELSE {value} END"
            if self.change == "rate":
                value = f"({value}) * 1e6 / (t - {time})"
            columns.append(f"CASE WHEN {field} IS NOT NULL THEN ({value})::DOUBLE END AS {field}")
        return (f"(SELECT a, b, t, {', '.join(columns)} FROM points WHERE {condition} "
                "WINDOW series AS (PARTITION BY a, b ORDER BY t))")


def micros(time):
    return int(time.timestamp()) * 1_000_000


def aggregate_sql(name, field):
    if name in ("first", "last"):
        function = "arg_min" if name == "first" else "arg_max"
        return f"{function}({field}, {{'t': t, 'v': {field}}}) FILTER (WHERE {field} IS NOT NULL)"
    if name.startswith("p"):
        return f"quantile_cont({field}, {int(name[1:]) / 100})"
    return {"stddev": f"stddev_samp({field})"}.get(name, f"{name}({field})")


def answer_of_buckets(database, question):
    """Rows (group, bucket, values) as DuckDB makes them of the buckets that Python has worked out."""
    zone = zoneinfo.ZoneInfo(question.zone)
    first = bucket_start(question.start or START, question.every, zone)
    for _ in range(max(question.windows) - 1):
        first = bucket_start(first - datetime.timedelta(seconds=1), question.every, zone)
    extends = question.start and max(question.windows) > 1
    source = question.source(first if extends else None)
    database.execute(f"CREATE OR REPLACE TEMP TABLE selected AS SELECT * FROM {source} ORDER BY a, b, t")
    last = START + datetime.timedelta(days=DAYS)
    numbered, time = [], first
    while time < last:
        start = bucket_start(time, question.every, zone)
        numbered.append(micros(start))
        time = start
        while bucket_start(time, question.every, zone) == start:  # to the next, without arithmetic on calendars
            time += datetime.timedelta(minutes=15)
    database.execute("CREATE OR REPLACE TEMP TABLE buckets (number INTEGER, start BIGINT, stop BIGINT)")
    stops = numbered[1:] + [micros(last) + 400 * 86400 * 1_000_000]
    database.executemany("INSERT INTO buckets VALUES (?, ?, ?)", [list(row) for row in zip(range(len(numbered)), numbered, stops)])
    group = "".join(f"{tag}, " for tag in question.group)
    names = [(field, aggregate, window) for field in question.fields for aggregate in question.aggregates
             for window in question.windows]
    database.execute(f"""CREATE OR REPLACE TEMP TABLE placed AS SELECT s.*, k.number, k.start FROM selected s
        JOIN buckets k ON s.t >= k.start AND s.t < k.stop""")
    same_group = " AND ".join(["TRUE"] + [f"p.{tag} = g.{tag}" for tag in question.group])
    low = f"WHERE start >= {micros(bucket_start(question.start, question.every, zone))}" if question.start else ""
    if question.fill:
        high = f"start < {micros(question.end)}" if question.end else f"number <= g.last"
        low = low.replace("WHERE ", "") or "number >= g.first"
        grid = f"""SELECT {group}number, start FROM (SELECT {group}min(number) AS first, max(number) AS last FROM placed
            {'GROUP BY ' + ', '.join(question.group) if question.group else 'HAVING count(*) > 0'}) g
            JOIN buckets ON {high} AND {low}"""
    else:
        grid = f"SELECT DISTINCT {group}number, start FROM placed {low}"
    tags = "".join(f"g.{tag}, " for tag in question.group)
    columns = []
    for i, (field, aggregate, window) in enumerate(names):
        columns.append(f"""(SELECT {aggregate_sql(aggregate, 'p.' + field).replace("'t': t", "'t': p.t")} FROM placed p
            WHERE {same_group} AND p.number BETWEEN g.number - {window - 1} AND g.number) AS v{i}""")
    rows = database.execute(
        f"SELECT {tags}g.start, {', '.join(columns)} FROM ({grid}) g ORDER BY {tags}g.start").fetchall()
    width = len(question.group)
    result = [(tuple(map(str, row[:width])), row[width], list(row[width + 1:])) for row in rows]
    return fill_gaps(result, question, names)


def fill_gaps(rows, question, names):
    if question.fill not in ("previous", "linear"):
        return rows
    groups = {}
    for row in rows:
        groups.setdefault(row[0], []).append(row)
    for group in groups.values():
        for i, (_, aggregate, _) in enumerate(names):
            if aggregate == "count":
                continue
            known = [k for k, row in enumerate(group) if row[2][i] is not None]
            for k, row in enumerate(group):
                if row[2][i] is not None:
                    continue
                before = max((j for j in known if j < k), default=None)
                after = min((j for j in known if j > k), default=None)
                if question.fill == "previous" and before is not None:
                    row[2][i] = group[before][2][i]
                elif question.fill == "linear" and before is not None and after is not None:
                    (_, t0, v0), (_, t1, v1) = group[before], group[after]
                    row[2][i] = v0[i] + (v1[i] - v0[i]) * (row[1] - t0) / (t1 - t0)
    return rows


def answer_of(database, question):
    if question.kind == "buckets":
        return answer_of_buckets(database, question)
    if question.kind == "aggregate":
        group = "".join(f"{tag}, " for tag in question.group)
        columns = [aggregate_sql(name, field) for field in question.fields for name in question.aggregates]
        rows = database.execute(
            f"SELECT {group}min(t), {', '.join(columns)} FROM {question.source()} "
            f"{'GROUP BY ' + ', '.join(question.group) if question.group else 'HAVING count(*) > 0'}").fetchall()
        width = len(question.group)
    else:
        having = " OR ".join(f"{field} IS NOT NULL" for field in question.fields)
        latest = ""
        if question.kind == "latest":
            latest = f"QUALIFY row_number() OVER (PARTITION BY a, b ORDER BY t DESC) <= {question.latest}"
        rows = database.execute(f"SELECT a, b, t, {', '.join(question.fields)} FROM {question.source()} s "
                                f"WHERE {having} {latest}").fetchall()
        width = 2
    return [(tuple(map(str, row[:width])), row[width], list(row[width + 1:])) for row in rows]


def take_top(rows, count):
    rows = [row for row in rows if row[2][0] is not None]
    return sorted(rows, key=lambda row: (-row[2][0], row[0], row[1]))[:count]


def ask(sonde, declaration, endpoint, question):
    command = [sonde, "series", "query", declaration, "--endpoint", endpoint, "--format", "json", *question.arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(command)}\nended with {result.returncode}: {result.stderr}")
    tags = question.group if question.kind in ("aggregate", "buckets") else ["a", "b"]
    rows = []
    for line in result.stdout.splitlines():
        row = json.loads(line)
        time = datetime.datetime.fromisoformat(row["time"].replace("Z", "+00:00"))
        values = [value for name, value in row.items() if name not in ("time", *tags)]
        rows.append((tuple(row[tag] for tag in tags), micros(time), values))
    return rows, command


def differs(a, b):
    if a is None or b is None:
        return a is not b
    return abs(a - b) > 1e-6 + 1e-9 * max(abs(a), abs(b))


def compare(answer, expected, question):
    if not question.top:
        answer, expected = sorted(answer, key=lambda row: row[:2]), sorted(expected, key=lambda row: row[:2])
    if len(answer) != len(expected):
        only = set(row[:2] for row in answer) ^ set(row[:2] for row in expected)
        return f"{len(answer)} rows, not {len(expected)}; in one only: {sorted(only)[:5]}"
    for left, right in zip(answer, expected):
        values_differ = any(differs(a, b) for a, b in zip(left[2], right[2]))
        if question.top:  # near ties may come in another order
            if differs(left[2][0], right[2][0]):
                return f"{left} instead of {right}"
        elif left[:2] != right[:2] or len(left[2]) != len(right[2]) or values_differ:
            return f"{left} instead of {right}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--points", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sonde, endpoint = os.environ["SONDE_BINARY"], os.environ["BIGTABLE_EMULATOR_HOST"]
    rng = random.Random(options.seed)
    failures = asked = rows_compared = 0
    with tempfile.TemporaryDirectory() as directory:
        points = pathlib.Path(directory, "points.csv")
        write_points(points, rng, options.points)
        declarations = {}
        for name, text in DECLARATIONS.items():
            file = pathlib.Path(directory, f"{name}.yaml")
            file.write_text(f"series: {name}\ntags: {{ a: string, b: int }}\n"
                            f"fields: {{ x: double, n: int }}\ntime: {{ resolution: 10s }}\n{text}\n")
            checked = subprocess.run([sonde, "series", "check", file], capture_output=True, text=True)
            load = subprocess.run([sonde, "series", "load", str(file), points, "--endpoint", endpoint],
                                  capture_output=True, text=True, timeout=120)
            if load.returncode != 0:
                print(load.stderr, checked.stderr, file=sys.stderr)
                return 1
            declarations[name] = str(file)
        lines = f"""(SELECT *, row_number() OVER () AS line FROM read_csv('{points}',
              columns={{'a': 'VARCHAR', 'b': 'BIGINT', 'time': 'TIMESTAMP', 'x': 'DOUBLE', 'n': 'BIGINT'}}))"""
        database = duckdb.connect()
        database.execute(f"""CREATE TABLE points AS SELECT a, b, epoch_us(time) AS t,
            arg_max(x, line) FILTER (x IS NOT NULL) AS x, arg_max(n, line) FILTER (n IS NOT NULL) AS n
            FROM {lines} GROUP BY a, b, time""")
        for number in range(options.questions):
            question = Question(rng)
            for name in rng.sample(sorted(declarations), min(2, len(declarations))):
                expected = answer_of(database, question)
                if question.top:
                    expected = take_top(expected, question.top)
                answer, command = ask(sonde, declarations[name], endpoint, question)
                asked += 1
                rows_compared += len(answer)
                problem = compare(answer, expected, question)
                if problem:
                    failures += 1
                    print(f"question {number} of {name}: {' '.join(command)}\n  {problem}", file=sys.stderr)
                    if failures == 10:
                        return 1
    print(f"compare_queries: {asked} questions, {rows_compared} rows, {failures} differ (seed {options.seed})")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
