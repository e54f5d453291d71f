#!/usr/bin/env python3
"""Serves data directories that older versions of Sonde left, and compares what cbt reads with what it read then.

usage: run.py --cbt PROGRAM                                 the test; SONDE_BINARY is the program
       run.py --cbt PROGRAM --make FORMAT --binary OLD      makes formatFORMAT.tar.xz by an older version

An archive holds what cbt read, and the directory as `kill -9` left it: tables of RocksDB, and writes that are in its log
only; without the ballast, and without the logs for people, which name the machine.  It is opened, compared, written to,
killed, compared, settled and compared again.
"""

import argparse
import contextlib
import difflib
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
FORMAT = "sonde data format 3"  # what this version writes
FORMAT_OF_PAGES = 3             # the first in which cells settle
START_SECONDS = 60
COMMAND_SECONDS = 60
# What cbt says about credentials whatever it is told.
CREDENTIALS = "-creds flag unset, will use gcloud credential"


class Failure(Exception):
    pass


class Sonde:
    """A server on the directory `data`, and cbt as its client."""

    def __init__(self, binary, cbt, data):
        self.cbt_program = cbt
        self.log = open(data.parent / "log", "ab")
        self.process = subprocess.Popen([binary, "serve", "--host", "127.0.0.1", "--port", "0", "--data-dir", data],
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.address = None
        for line in self.process.stdout:
            if line.startswith("sonde: listening on "):
                self.address = line.split()[-1]
                break
        if self.address is None:
            self.process.wait(timeout=START_SECONDS)
            raise Failure(f"the server did not start: {(data.parent / 'log').read_text()}")

    def cbt(self, *arguments):
        environment = {**os.environ, "TZ": "UTC", "BIGTABLE_EMULATOR_HOST": self.address, "HOME": tempfile.gettempdir()}
        done = subprocess.run([self.cbt_program, "-project", "p", "-instance", "i", *arguments], env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=COMMAND_SECONDS, check=False)
        lines = [line for line in done.stdout.splitlines() if CREDENTIALS not in line]
        if done.returncode:
            raise Failure(f"cbt {' '.join(arguments)}: {lines}")
        return lines

    def tell(self):
        """All tables, their families with their rules, and all their cells."""
        tables = self.cbt("ls")
        lines = list(tables)
        for table in tables:
            lines += [f"--- {table}", *self.cbt("ls", table), *self.cbt("read", table)]
        return lines

    def end(self, kill=False):
        if kill:
            self.process.kill()
        else:
            self.process.terminate()
        self.process.wait(timeout=START_SECONDS)
        self.process.stdout.close()
        self.log.close()
        if not kill and self.process.returncode:
            raise Failure(f"the server ended with status {self.process.returncode}")


@contextlib.contextmanager
def serving(binary, cbt, data, kill=False):
    server = Sonde(binary, cbt, data)
    try:
        yield server
    except BaseException:
        server.process.kill()
        raise
    server.end(kill)


def write_settled(server, directory):
    """What lies in tables of RocksDB, as the server ends well after it and starts again."""
    server.cbt("createtable", "meters", "families=m:maxversions=3,notes:never")
    server.cbt("createtable", "gone", "families=m:maxversions=1")
    readings = directory / "readings.csv"
    readings.write_text(",m,,\n,watts,volts,state\n" + "".join(
        f"meter#{meter:03}#{day:02},{1000 + meter * 7 + day % 5},{230 + (meter + day) % 3}.{day % 10},"
        f"{'on' if day % 4 else 'off'}\n"
        for meter in range(40) for day in range(1, 11)))
    server.cbt("import", "meters", str(readings))
    server.cbt("import", "gone", str(readings))
    for version in range(5):  # more than the rule keeps
        server.cbt("set", "meters", "meter#000#01", f"m:watts={version}@{1_600_000_000_000_000 + version * 1_000}")


def write_logged(server):
    """What lies in the log: deletes of what is in tables, newer cells, rows of their own, a table that is dropped."""
    server.cbt("deleterow", "meters", "meter#001#01")
    server.cbt("deletecolumn", "meters", "meter#001#02", "m", "volts")
    server.cbt("deletecolumn", "meters", "meter#001#03", "m", "state")
    server.cbt("set", "meters", "meter#001#03", "m:state=mended")
    server.cbt("set", "meters", "meter#001#04", "m:watts=1", "notes:by=a person", "notes:why=")
    for minute in range(30):
        server.cbt("set", "meters", "live", f"m:watts={minute}@{1_700_000_000_000_000 + minute * 60_000_000}",
                   f"notes:minute {minute}={minute * minute}@{1_700_000_000_000_000}")
    server.cbt("createtable", "later", "families=f:maxage=36500d")
    server.cbt("set", "later", "row", "f:q=v")
    server.cbt("deletetable", "gone")


def settle(binary, data):
    done = subprocess.run([binary, "compact", "--data-dir", data], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"sonde compact: {done.stderr}")


def make(number, binary, cbt):
    with tempfile.TemporaryDirectory() as directory:
        data = pathlib.Path(directory, "data")
        with serving(binary, cbt, data) as server:
            write_settled(server, data.parent)
        if int(number) >= FORMAT_OF_PAGES:
            settle(binary, data)
        with serving(binary, cbt, data, kill=True) as server:
            write_logged(server)
            told = server.tell()
        if (data / "FORMAT").read_text().split()[-1] != number:
            raise Failure(f"{binary} writes another format: {(data / 'FORMAT').read_text()}")
        (data.parent / "read").write_text("\n".join(told) + "\n")

        def keep(info):
            name = pathlib.PurePath(info.name).name
            if name.startswith("LOG") or name == "BALLAST":
                return None
            info.uid = info.gid = info.mtime = 0
            info.uname = info.gname = ""
            return info

        with tarfile.open(here / f"format{number}.tar.xz", "w:xz") as archive:
            archive.add(data.parent / "read", "read", filter=keep)
            archive.add(data, "data", filter=keep)


def compare(when, expected, found):
    if expected != found:
        raise Failure(f"{when}:\n" + "\n".join(difflib.unified_diff(expected, found, "then", "now", lineterm="", n=1)))


def check(archive, binary, cbt):
    with tempfile.TemporaryDirectory() as directory:
        with tarfile.open(archive) as packed:
            packed.extractall(directory)
        data = pathlib.Path(directory, "data")
        expected = pathlib.Path(directory, "read").read_text().splitlines()
        before = (data / "FORMAT").read_text().strip()
        begin = time.monotonic()
        with serving(binary, cbt, data, kill=True) as server:
            compare("as it was opened", expected, server.tell())
            server.cbt("set", "meters", "zz", "m:watts=5@1700000000000000")
            server.cbt("deleterow", "meters", "live")
            after = server.tell()
        if (data / "FORMAT").read_text().strip() != FORMAT:
            raise Failure(f"FORMAT says {(data / 'FORMAT').read_text().strip()}")
        if "zz" not in after or "live" in after:
            raise Failure("it does not take writes")
        with serving(binary, cbt, data) as server:
            compare("after kill -9", after, server.tell())
        settle(binary, data)
        with serving(binary, cbt, data) as server:
            compare("settled", after, server.tell())
        print(f"{archive.name}: '{before}' was upgraded, {len(expected)} lines of cbt, {time.monotonic() - begin:.1f} s")


def main():
    parser = argparse.ArgumentParser(description="Serves data directories that older versions of Sonde left.")
    parser.add_argument("--cbt", required=True)
    parser.add_argument("--make", metavar="FORMAT")
    parser.add_argument("--binary", default=os.environ.get("SONDE_BINARY"))
    arguments = parser.parse_args()
    if not arguments.binary:
        parser.error("SONDE_BINARY is not set: run tests/conformance/run upgrade SONDE")
    if arguments.make:
        make(arguments.make, arguments.binary, arguments.cbt)
        return 0
    archives = sorted(here.glob("*.tar.xz"))
    failed = not archives
    for archive in archives:
        try:
            check(archive, arguments.binary, arguments.cbt)
        except (Failure, subprocess.SubprocessError) as failure:
            print(f"{archive.name}: {failure}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
