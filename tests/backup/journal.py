#!/usr/bin/env python3
"""`sonde backup create --follow` and `sonde restore --to-time` as people run them: a follower and a server that are killed in the midst,
moments that come back, moments and damage that are refused.

usage: journal.py SONDE [--kills N] [--seed N]

--kills N: how often the follower and the server are killed (4 each if none is given).
"""

import argparse
import datetime
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

START_SECONDS = 1_700_000_000
WAIT_SECONDS = 60


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


class Server:
    def __init__(self, sonde, data, *more):
        self.process = subprocess.Popen(
            [sonde, "serve", "--port", "0", "--http-port", "0", "--data-dir", str(data), "--log-level", "error", *more],
            stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if page := re.search(r"web page at (http://\S+?)/?$", line.strip()):
                self.url = page[1]
            if address := re.search(r"listening on (\S+:\d+)", line):
                self.address = address[1]
                return
        sys.exit("FAILED: the server did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            status = self.process.wait(timeout=60)
            if sys.exc_info()[0] is None and status != 0:
                sys.exit(f"FAILED: the server ended with {status}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def write(self, first, count):
        lines = "".join(f"weather,city=c{n % 10} degrees={n}.5 {(START_SECONDS + n) * 1_000_000_000}\n"
                        for n in range(first, first + count))
        with urllib.request.urlopen(f"{self.url}/api/v2/write?org=o&bucket=b&precision=ns", lines.encode()) as answer:
            check(answer.status == 204, f"a write was answered with {answer.status}")

    def rows(self):
        """All cells of all tables, with their times, as text."""
        with urllib.request.urlopen(f"{self.url}/api/v1/tables") as answer:
            tables = sorted(table["name"] for table in json.load(answer)["tables"])
        found = {}
        for table in tables:
            question = json.dumps({"query": f"SELECT * FROM `{table.rsplit('/', 1)[1]}`(with_history => TRUE)"}).encode()
            with urllib.request.urlopen(f"{self.url}/api/v1/sql", question) as answer:
                lines = answer.read().decode().splitlines()
            check('"stats"' in lines[-1], f"the answer about {table} ends with {lines[-1][:200]}")
            found[table] = lines[:-1]
        return found

    def metric(self, name):
        with urllib.request.urlopen(f"{self.url}/metrics") as answer:
            match = re.search(rf"^{name} (\S+)$", answer.read().decode(), re.MULTILINE)
        return float(match[1]) if match else None


class Follower:
    def __init__(self, sonde, data, repository):
        self.process = subprocess.Popen(
            [sonde, "backup", "create", "--to", str(repository), "--data-dir", str(data), "--follow"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        check("backup" in self.process.stdout.readline(), "the follower made no backup")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.terminate()
        check(self.process.wait(timeout=60) == 0, f"the follower ended with {self.process.returncode}")


def run(sonde, *arguments, status=0):
    ended = subprocess.run([sonde, *map(str, arguments)], capture_output=True, text=True, timeout=180)
    check(ended.returncode == status,
          f"{' '.join(map(str, arguments))}: exit status {ended.returncode} instead of {status}: {ended.stdout}{ended.stderr}")
    return ended.stdout + ended.stderr


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def text_of(moment):
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def latest(sonde, repository):
    listed = json.loads(run(sonde, "backup", "list", "--in", repository, "--json"))
    return max((backup["latest"] for backup in listed if "latest" in backup), default="")


def wait_until_stored(sonde, repository, moment):
    """Waits until the repository reaches the moment; returns how long that took."""
    start = time.monotonic()
    while latest(sonde, repository) < text_of(moment):
        check(time.monotonic() - start < WAIT_SECONDS, f"the repository does not reach {moment}: {latest(sonde, repository)}")
        time.sleep(0.05)
    return time.monotonic() - start


def restored_rows(sonde, repository, work, moment):
    directory = work / "restored"
    shutil.rmtree(directory, ignore_errors=True)
    text = run(sonde, "restore", "--from", repository, "--to-time", text_of(moment), "--data-dir", directory)
    check(f"restored the moment {text_of(moment)}" in text, f"the restore printed {text}")
    with Server(sonde, directory) as server:
        return server.rows()


def restore_tables(sonde, work, data, repository, server, moment, rows):
    """Restores each table as it was at a moment beside itself: into the server's directory, through its API, and into a stopped store."""
    stopped = work / "stopped"
    with Server(sonde, stopped) as other:
        other.write(0, 10)
    check(rows, f"no table has rows at {moment}")
    for table, before in rows.items():
        name = table.rsplit("/", 1)[1]
        copy = table + "-before"
        source = ("restore", "--from", repository, "--to-time", text_of(moment), "--table", table, "--as")
        text = run(sonde, *source, copy, "--data-dir", data)
        check(f"restored the moment {text_of(moment)}" in text and copy in text, f"the restore printed {text}")
        run(sonde, *source, copy + "-sent", "--address", server.address)
        run(sonde, *source, copy, "--data-dir", stopped)
        found = server.rows()
        check(found[copy] == before, f"{name} of {moment} came back with other rows beside a server")
        check(found[copy + "-sent"] == before, f"{name} of {moment} came back with other rows through the API")
        with Server(sonde, stopped) as other:
            check(other.rows()[copy] == before, f"{name} of {moment} came back with other rows in a stopped store")
    text = run(sonde, *source[:5], "--table", table + "-none", "--as", "new", "--data-dir", data, status=1)
    check("has no table" in text, text)


def killed(sonde, work, data, repository, kills):
    """Kills follower and server in turns while there are writes; returns moments and the rows that they had."""
    journal = ("--pitr-tables", "*", "--undelete-days", "0")
    moments = []
    written = 0
    server = Server(sonde, data, *journal)
    server.write(0, 500)
    follower = Follower(sonde, data, repository)
    for number in range(2 * kills):
        for _ in range(random.randint(1, 4)):
            written += 500
            server.write(written, 500)
            time.sleep(random.random() / 10)
        moments.append((now(), server.rows()))
        time.sleep(0.002)
        if number % 2 == 0:
            follower.kill()
            written += 500
            server.write(written, 500)
            follower = Follower(sonde, data, repository)
        else:
            server.kill()
            server = Server(sonde, data, *journal)
    written += 500
    server.write(written, 500)
    moments.append((now(), server.rows()))
    seconds = wait_until_stored(sonde, repository, moments[-1][0])
    print(f"the last write was in the repository after at most {seconds:.2f} s")
    lag = server.metric("sonde_journal_lag_seconds")
    check(lag is not None and lag < 10, f"the lag is {lag}")
    follower.end()
    return server, moments


def damaged(sonde, work, repository, last):
    """Flips bits of segments, and takes one away."""
    segments = sorted((repository / "changes").glob("*/*.log"))
    check(segments, "there are no segments")
    target = work / "damaged"
    for path in random.sample(segments, min(3, len(segments))):
        whole = path.read_bytes()
        content = bytearray(whole)
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
        path.write_bytes(content)
        text = run(sonde, "backup", "verify", "--in", repository, "--read-data", status=1)
        check(str(path) in text, f"the damage of {path} is not named: {text}")
        shutil.rmtree(target, ignore_errors=True)
        restored = subprocess.run([sonde, "restore", "--from", repository, "--to-time", text_of(last[0]), "--data-dir", target],
                                  capture_output=True, text=True, timeout=180)
        if restored.returncode == 0:   # the newest backup does not need that segment
            with Server(sonde, target) as server:
                check(server.rows() == last[1], f"{path} is damaged, and other rows came back")
        else:
            check(str(path) in restored.stderr, f"the damage is not named: {restored.stderr}")
            check(not (target / "FORMAT").exists(), "a restore that failed left a data directory")
        path.write_bytes(whole)
    if len(segments) > 2:
        segments[1].unlink()
        text = run(sonde, "backup", "verify", "--in", repository, status=1)
        check(str(segments[2]) in text and "the segment before it is missing" in text, f"nothing is missed: {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sonde")
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    sonde = arguments.sonde
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        data, repository = work / "data", work / "repository"
        server, moments = killed(sonde, work, data, repository, arguments.kills)
        with server:
            run(sonde, "backup", "verify", "--in", repository, "--read-data")
            for moment, rows in moments[1:]:
                check(restored_rows(sonde, repository, work, moment) == rows, f"{moment} came back with other rows")

            restore_tables(sonde, work, data, repository, server, *random.choice(moments[1:]))

            target = work / "refused"
            text = run(sonde, "restore", "--from", repository, "--to-time", "2020-01-01T00:00:00Z", "--data-dir", target, status=1)
            check("is before the earliest moment that can be restored" in text, text)
            text = run(sonde, "restore", "--from", repository, "--to-time", "2100-01-01T00:00:00Z", "--data-dir", target, status=1)
            check("is after the latest moment that can be restored" in text, text)
            text = run(sonde, "restore", "--from", repository, "--to-time", "yesterday", "--data-dir", target, status=2)
            check("must be a moment such as" in text, text)
            damaged(sonde, work, repository, moments[-1])
    print("passed")


if __name__ == "__main__":
    main()
