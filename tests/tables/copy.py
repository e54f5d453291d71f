#!/usr/bin/env python3
"""`sonde copy` as people run it: between data directories, from and to servers, into an HBase cluster and back; killed in the midst
and resumed; and its words where it refuses.

usage: copy.py SONDE [--kills N] [--store hbase://HOST[:PORT]/NAMESPACE]

--kills N: how many copies are killed (3 if none is given); one that comes to its end before is begun again with another target.
--store: an empty store, which tables are copied to and from; by tests/hbase/run it is made of SONDE_HBASE_MASTER.
"""

import argparse
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

POINTS = 60_000
FIELDS = 4


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


class Server:
    def __init__(self, sonde, data, *flags):
        self.process = subprocess.Popen(
            [sonde, "serve", "--port", "0", "--no-http", "--data-dir", str(data), "--log-level", "error", *flags],
            stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if address := re.search(r"listening on (\S+)", line):
                self.address = address[1]
                return
        sys.exit("FAILED: the server did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)


class Sonde:
    def __init__(self, sonde):
        self.sonde = sonde

    def run(self, *arguments, status=0):
        done = subprocess.run([self.sonde, *map(str, arguments)], capture_output=True, text=True, timeout=300)
        check(done.returncode == status, f"sonde {' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr}")
        return done

    def copy(self, *arguments, status=0):
        return self.run("copy", *arguments, status=status)

    def refuses(self, words, *arguments, status=2):
        done = self.copy(*arguments, status=status)
        check(done.stderr.strip() == f"sonde copy: {words}", f"the words are {done.stderr!r} and not {words!r}")
        check(done.stdout == "", f"there is output: {done.stdout}")

    def rows(self, place, table, limit=10_000):
        flag = "--endpoint" if ":" in str(place) else "--data-dir"
        return self.run("read", table, flag, place, "--limit", limit, "--versions", 10_000, "--json").stdout


def fill(sonde, work):
    """A data directory with a declared series, and a table with an aggregate and versions."""
    declaration = work / "weather.yaml"
    fields = ", ".join(f"f{n}: double" for n in range(FIELDS))
    declaration.write_text("series: weather\ntable: weather\ntags: { city: string }\n"
                           f"fields: {{ {fields} }}\nkey: [city, bucket]\nbucket: hour\n")
    points = work / "points.csv"
    with points.open("w") as out:
        out.write("time,city," + ",".join(f"f{n}" for n in range(FIELDS)) + "\n")
        for n in range(POINTS):
            values = ",".join(str((n * 7919 + f) % 1000 / 10) for f in range(FIELDS))
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_700_000_000 + n * 60))
            out.write(f"{at},c{n % 10},{values}\n")
    data = work / "data"
    sonde.run("series", "load", declaration, points, "--data-dir", data)
    return data


def same(sonde, one, other):
    for table in ("weather", "sonde_series"):
        check(sonde.rows(one, table) == sonde.rows(other, table), f"table {table} of {other} is not as that of {one}")


def words(sonde, work, data):
    """The copy of a whole directory as a person sees it."""
    done = sonde.copy("--from", data, "--to", work / "seen")
    lines = [line.split() for line in done.stdout.splitlines()]
    check(lines[0] == ["table", "rows", "cells", "bytes", "left", "out"], f"the head is {lines[0]}")
    cells = {line[0]: line[2] for line in lines[1:] if line and line[0] in ("weather", "sonde_series")}
    check(cells == {"weather": str(POINTS * FIELDS), "sonde_series": "2"}, f"the cells are {cells} in\n{done.stdout}")
    same(sonde, data, work / "seen")
    # The copy is a series like the original.
    asked = ["series", "query", work / "weather.yaml", "--where", "city=c3", "--agg", "max", "--format", "json", "--data-dir"]
    check(sonde.run(*asked, data).stdout == sonde.run(*asked, work / "seen").stdout, "the series gives other answers")
    sonde.refuses("the target's table 'sonde_series' has rows: drop it, or name the tables to copy; a copy that was broken off "
                  "goes on with --resume FILE, if it was begun so", "--from", data, "--to", work / "seen", status=1)
    sonde.refuses(f"--from and --to are the same: '{data}' and projects/sonde/instances/sonde", "--from", data, "--to", data)
    sonde.refuses(f"--from: '{work}/none' is no data directory of Sonde (it has no file FORMAT), no HOST:PORT and no "
                  "hbase://HOST[:PORT]/NAMESPACE", "--from", work / "none", "--to", work / "other")
    sonde.refuses("--range is 0 bytes; allowed: 1 to 1099511627776", "--from", data, "--to", work / "other", "--range", "0")
    sonde.refuses("the source has no table 'absent'", "absent", "--from", data, "--to", work / "other", status=1)
    sonde.refuses(f"--to-ca-file and --to-key-file are for an endpoint, which '{work}/other' is not", "--from", data, "--to",
                  work / "other", "--to-ca-file", "ca.pem")
    sonde.refuses("the source has no tables in this project and instance", "--from", data, "--to", work / "other", "--instance",
                  "absent", status=1)


def kill_and_resume(sonde, data, to, kills, rng, resume):
    """Copies that are killed at some moment, until one comes to its end."""
    arguments = ["copy", "--from", data, "--to", to, "--resume", resume, "--range", "256KiB", "--json"]
    killed = 0
    while killed < kills:
        before = resume.read_text() if resume.exists() else ""
        process = subprocess.Popen([sonde.sonde, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # Each gets somewhere, and is then killed at some moment.
        while process.poll() is None and (not resume.exists() or resume.read_text() == before or '"tables":{}' in resume.read_text()):
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.2))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        output, errors = process.communicate(timeout=300)
        if process.returncode == 0:
            break
        check(process.returncode == -signal.SIGKILL, f"the copy ended with {process.returncode}: {errors}")
        if not resume.exists():
            return killed  # it was done, and did not come to tell
    check(killed > 0, "no copy was killed in its midst")
    done = sonde.run(*arguments) if process.returncode != 0 else None
    report = json.loads(done.stdout if done else output)
    totals = {table["table"]: table["cells"] for table in report["tables"]}
    check(totals == {"weather": POINTS * FIELDS, "sonde_series": 2}, f"the report is {report}")
    check(not resume.exists(), "the file of --resume is left")
    return killed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sonde")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--store")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    arguments = parser.parse_args()
    store = arguments.store
    if store is None and (master := os.environ.get("SONDE_HBASE_MASTER")):
        store = f"hbase://{master}/sonde_copy_{int(time.time())}_{os.getpid()}"
    print(f"seed {arguments.seed}")
    rng = random.Random(arguments.seed)
    sonde = Sonde(arguments.sonde)
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        data = fill(sonde, work)
        if store:
            killed = round_number = 0
            while killed < arguments.kills:
                target = store + (f"_{round_number}" if round_number else "")
                killed += kill_and_resume(sonde, data, target, arguments.kills - killed, rng, work / "copy.json")
                with Server(arguments.sonde, work / f"front{round_number}", "--store", target) as server:
                    same(sonde, data, server.address)
                sonde.copy("--from", target, "--to", work / f"back{round_number}")
                same(sonde, data, work / f"back{round_number}")
                round_number += 1
            print(f"to {store} and back, {round_number} times: {killed} copies killed")
            return
        words(sonde, work, data)
        with Server(arguments.sonde, work / "served") as server:
            killed = kill_and_resume(sonde, data, server.address, arguments.kills, rng, work / "copy.json")
            same(sonde, data, server.address)
            sonde.copy("--from", server.address, "--to", work / "back", "weather", "sonde_series")
            # An instance beside the first one, of the same server.
            sonde.copy("--from", server.address, "--to", server.address, "--to-instance", "second", "weather")
        same(sonde, data, work / "back")
        print(f"between directories and servers: {killed} copies killed")


if __name__ == "__main__":
    main()
