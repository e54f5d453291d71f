#!/usr/bin/env python3
"""Kills servers and loads in the middle of what they do, and looks at what is left.

  server   a server whose writer sends points of a series with every kind of derived table is killed again and again.
           Each time, before anything is repaired: each point of the series' own table must be in its other order, in the
           table of its period, and hidden by nothing older in the table of newest values.  At the end, with everything
           sent that was not acknowledged, all tables and the roll-up must be what the points say.
  load     `sonde series load --resume`, of CSV and JSON lines, plain and packed by gzip and zstd, is killed (and once,
           its server); the same command then goes on, reads less than all, and leaves what a load leaves that nobody
           disturbed, roll-up included.

usage: kill.py SONDE server [--kills N] [--seed N]
       kill.py SONDE load [--points N] [--seed N]
"""
import argparse
import collections
import csv
import ctypes
import ctypes.util
import gzip
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

START_SECONDS = 60
DAY_SECONDS = 86400
FIRST = 1_614_816_000  # 2021-03-04
DECLARATION = """series: s
tags: { host: string }
fields: { cpu: double, n: int }
time: { resolution: 1s }
bucket: day
key: [host, bucket]
retention: { max_versions: all }
derive:
  - latest: s_now
  - period: { table: "s_{yyyymmdd}", every: day }
  - order: { table: s_by_time, layout: row, key: [{ salt: 4, of: time }, time, host] }
  - rollup: { table: s_1h, every: hour, aggregates: [count, sum, max], retention: 100y }
"""


class Server:
    def __init__(self, sonde, directory, durability="fsync"):
        self.log = open(f"{directory}/server.log", "ab")
        self.process = subprocess.Popen(
            [sonde, "serve", "--port", "0", "--http-port", "0", "--data-dir", f"{directory}/data", "--memory", "256MiB",
             "--durability", durability],
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.address = self.http = None
        for line in self.process.stdout:
            self.address = self.address or line.partition("sonde: listening on ")[2].strip()
            self.http = self.http or line.partition("sonde: web page at ")[2].strip().rstrip("/")
            if self.address and self.http:
                return
        raise AssertionError(f"the server did not start; see {directory}/server.log")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        assert self.process.wait(START_SECONDS) == 0


def ask(sonde, directory, what, *more):
    """The rows of an answer, from the data directory itself: no server, and nothing repaired."""
    result = subprocess.run([sonde, "series", "query", what, "--data-dir", f"{directory}/data", "--format", "csv", *more],
                            capture_output=True, text=True)
    assert result.returncode == 0, f"query {what}: {result.stderr}"
    return list(csv.DictReader(io.StringIO(result.stdout)))


def values(rows):
    return {(row["host"], row["time"], name): row[name] for row in rows for name in ("cpu", "n") if row[name] != ""}


def contains(derived, own, table):
    lacking = [of for of, value in own.items() if derived.get(of) != value]
    assert not lacking, f"table {table} lacks {len(lacking)} of {len(own)} values, such as {lacking[0]}"


class Sender(threading.Thread):
    """Sends batches, in no order of time, until the server is gone."""

    def __init__(self, http, batches, first):
        super().__init__()
        self.http, self.batches, self.acknowledged, self.refusal = http, batches, first, None

    def run(self):
        while self.acknowledged < len(self.batches):
            body = self.batches[self.acknowledged].encode()
            request = urllib.request.Request(f"{self.http}/api/v1/series/s/write", data=body, method="POST")
            try:
                urllib.request.urlopen(request, timeout=30).read()
            except urllib.error.HTTPError as error:
                self.refusal = error.read()
                return
            except OSError:
                return  # it was killed
            self.acknowledged += 1


def make_points(rng, count):
    points = []
    for i in range(count):
        time_text = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(FIRST + i * 61))
        point = {"time": time_text, "host": f"h{rng.randrange(5)}", "cpu": rng.randrange(1000) / 4}
        if i % 3:
            point["n"] = rng.randrange(100)
        points.append(point)
    return points


def check_rollup(points, rows):
    pieces = collections.defaultdict(list)
    for point in points:
        pieces[point["host"], point["time"][:13] + ":00:00Z"].append(point["cpu"])
    found = {(row["host"], row["time"]): [float(row[f"cpu_{name}"]) for name in ("count", "sum", "max")] for row in rows}
    wanted = {of: [len(cpu), sum(cpu), max(cpu)] for of, cpu in pieces.items()}
    assert found == wanted, "the roll-up is not what the points say"


def kill_servers(sonde, directory, kills, seed):
    rng = random.Random(seed)
    points = make_points(rng, kills * 600)
    shuffled = rng.sample(points, len(points))
    batches = ["\n".join(json.dumps(point) for point in shuffled[i:i + 40]) for i in range(0, len(shuffled), 40)]
    days = sorted({point["time"][:10].replace("-", "") for point in points})

    def look(is_whole):
        own = values(ask(sonde, directory, "stored:s"))
        by_time = values(ask(sonde, directory, "stored:s@s_by_time"))
        by_day = {}
        for day in days:
            try:
                by_day |= values(ask(sonde, directory, f"stored:s@s_{day}"))
            except AssertionError as error:
                if is_whole or "not found" not in str(error).lower():
                    raise
        newest = {(host, name): (at, value) for (host, at, name), value in
                  sorted(values(ask(sonde, directory, "stored:s@s_now")).items(), key=lambda item: item[0][1])}
        contains(by_time, own, "s_by_time")
        contains(by_day, own, "of periods")
        for (host, at, name), value in own.items():
            assert newest[host, name][0] >= at, f"s_now hides {host} {name} of {at}"
        if is_whole:
            assert own == by_time == by_day, "points that are in one table only"
        return len(own)

    sent = in_between = 0
    for kill in range(kills):
        server = Server(sonde, directory, durability=rng.choice(["fsync", "os"]))
        if kill == 0:
            request = urllib.request.Request(f"{server.http}/api/v1/series/s", data=DECLARATION.encode(), method="PUT")
            urllib.request.urlopen(request, timeout=30).read()
        sender = Sender(server.http, batches, sent)
        sender.start()
        time.sleep(0.02 + rng.random() * 0.4)
        server.kill()
        sender.join()
        assert sender.refusal is None, sender.refusal
        in_between += sender.acknowledged < len(batches)
        sent = sender.acknowledged
        look(is_whole=False)
    assert in_between > 0, "no server was killed at work; say more --kills"
    server = Server(sonde, directory)
    sender = Sender(server.http, batches, sent)
    sender.start()
    sender.join()
    assert sender.acknowledged == len(batches)
    server.stop()
    kept = look(is_whole=True)
    assert kept == sum(1 + ("n" in point) for point in points)
    check_rollup(points, ask(sonde, directory, "stored:s@s_1h"))
    print(f"{kills} kills, {in_between} of them at work; {len(points)} points in {len(batches)} requests; seed {seed}")


def zstd(data):
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    library.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    packed = ctypes.create_string_buffer(library.ZSTD_compressBound(len(data)))
    size = library.ZSTD_compress(packed, len(packed), data, len(data), 1)
    return packed.raw[:size]


PACKED = {"": lambda data: data, ".gz": lambda data: gzip.compress(data, 1), ".zst": zstd}


def tables(sonde, directory):
    return {table: ask(sonde, directory, f"stored:s{table}") for table in ("", "@s_now", "@s_1h", "@s_by_time")}


def break_off(command, resume, rng, kill=None):
    """Starts the load and ends it after it has written something; True when that was before its end."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + START_SECONDS
    while not resume.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.001)
    time.sleep(rng.random() * 0.1)
    if kill is not None:
        kill()
        process.wait(START_SECONDS)
    else:
        process.kill()
        process.wait()
    return process.returncode != 0 and resume.exists()


def kill_loads(sonde, directory, count, seed):
    rng = random.Random(seed)
    points = make_points(rng, count)
    rng.shuffle(points)
    declaration = pathlib.Path(directory, "s.yaml")
    declaration.write_text(DECLARATION)
    csv_text = "time,host,cpu,n\n" + "".join(
        f"{p['time']},{p['host']},{p['cpu']},{p.get('n', '')}\n" for p in points)
    texts = {"csv": csv_text, "jsonl": "".join(json.dumps(point) + "\n" for point in points)}
    whole = None
    broken_off = collections.Counter()
    for kind, text in texts.items():
        for packing, pack in PACKED.items():
            here = pathlib.Path(directory, kind + packing)
            here.mkdir()
            file = here / f"points.{kind}{packing}"
            file.write_bytes(pack(text.encode()))
            resume = here / "resume"
            load = [sonde, "series", "load", str(declaration), str(file), "--data-dir", str(here / "data")]
            if whole is None:
                subprocess.run(load, check=True, stderr=subprocess.DEVNULL)
                whole = tables(sonde, here)
                check_rollup(points, whole["@s_1h"])
                assert len(whole[""]) == len(points)
                here = pathlib.Path(directory, "again")
                here.mkdir()
                resume = here / "resume"
                load[-1] = str(here / "data")
            load += ["--resume", str(resume)]
            for _ in range(2):
                broken_off[kind + packing] += break_off(load, resume, rng)
            lines_before = int(resume.read_text().split()[0]) if resume.exists() else 0
            result = subprocess.run(load, capture_output=True, text=True)
            assert result.returncode == 0, result.stderr
            assert not resume.exists()
            if lines_before > 0:
                assert f"{lines_before} lines were loaded before" in result.stderr, result.stderr
                assert f"{count - lines_before} points (" in result.stderr, result.stderr
            assert tables(sonde, here) == whole, f"{kind}{packing}: the tables differ from those of a whole load"
    assert all(broken_off[kind + packing] > 0 for kind in texts for packing in PACKED), (
        f"loads that ended before they were killed; say more --points: {broken_off}")

    # The server goes, not the load.
    here = pathlib.Path(directory, "served")
    here.mkdir()
    server = Server(sonde, here)
    resume = here / "resume"
    load = [sonde, "series", "load", str(declaration), f"{directory}/csv/points.csv", "--resume", str(resume)]
    was_broken_off = break_off([*load, "--endpoint", server.address], resume, rng, server.kill)
    assert was_broken_off, "the load ended before its server was killed"
    server = Server(sonde, here)
    subprocess.run([*load, "--endpoint", server.address], check=True, stderr=subprocess.DEVNULL)
    server.stop()
    assert tables(sonde, here) == whole, "the tables differ from those of a whole load"
    print(f"{sum(broken_off.values())} loads and a server killed, {count} points each, all tables as of a whole load; "
          f"seed {seed}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sonde")
    parser.add_argument("what", choices=["server", "load"])
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--points", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        if arguments.what == "server":
            kill_servers(arguments.sonde, directory, arguments.kills, arguments.seed)
        else:
            kill_loads(arguments.sonde, directory, arguments.points, arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
