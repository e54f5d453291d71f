#!/usr/bin/env python3
"""Clients of ExecuteQuery that ask long queries and take nothing: a full scan, a sort, and a result that is put on disk behind its first 8 MiB.

usage: sql_stalled_test.py SONDE [--clients N] [--memory SIZE] [--large]
    --large   1,000 clients at 1GiB; waits, besides, until results on disk are not kept any more
Each client has a connection of its own.  Held: the peak of memory; scans are given back (RocksDB has no snapshot of theirs); point selects and
ReadRows of others take no longer than they did without; files of queries go with their clients, those of results within their time;
the server ends within its grace.
Exit status: 0 all hold, 1 otherwise.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import selectors
import sys
import threading
import time

from raw_http2 import DATA, END_STREAM, HEADERS, RST_STREAM, Connection, field
from server import DATA_API, INSTANCE, MIB, READ, TABLE, Bystander, Server, expect, set_cell

ROWS = 3_600
VALUE_BYTES = 4_096
ROWS_A_REQUEST = 200
SPOOLED_FROM_BYTES = 8 * MIB  # SpooledResults::Limits::begin_bytes
SPOOLER_TAKES_BYTES = SPOOLED_FROM_BYTES + MIB
SPOOLED_RESULTS_MAX = 256  # SpooledResults::Limits::results_max
SPOOLED_KEPT_SECONDS = 60 + 60 / 8 + 10  # SpooledResults::Limits::kept, until they are looked for, and room for a busy machine
SORT = b"SELECT _key, f['q'] AS v FROM t ORDER BY v"
SCAN = b"SELECT * FROM t"
POINT = b"SELECT f['q'] FROM t WHERE _key = 'row'"
# What a client asks, and how much of its answer it takes before it stops.
KINDS = ((SCAN, 0), (SORT, 0), (SORT, SPOOLER_TAKES_BYTES))
# The first clients sort one after the other, so that each has memory for its rows as long as there is any.
FIRST_A_GIB = 8
AT_ONCE = 16  # clients that are let in at the same time
PATIENCE_SECONDS = 5  # after which the server gives back what a stalled read can give
SETTLE_SECONDS = PATIENCE_SECONDS * 1.25 + 2
WAIT_SECONDS_MAX = 20  # of a client to be let in; then it gives up
LET_IN_SHARE_MIN = 0.5
GONE_SECONDS_MAX = 20
END_SECONDS_MAX = 8
TIMES = 400


def fill(server):
    connection = Connection(server.port, timeout_seconds=30)
    generator = random.Random(7)
    for begin in range(0, ROWS, ROWS_A_REQUEST):
        entries = b"".join(field(2, field(1, b"row%06d" % i) + field(2, set_cell(b"q", generator.randbytes(VALUE_BYTES))))
                           for i in range(begin, begin + ROWS_A_REQUEST))
        expect(connection.ask(DATA_API + "MutateRows", field(1, TABLE) + entries), f"rows from {begin} are written")
    connection.close()


def fields_of(message):
    """The fields of a message that hold bytes, by number."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte, at = message[at], at + 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    while at < len(message):
        key = number()
        expect(key & 7 in (0, 2), f"field {key >> 3} is a number or has a length")
        value = number()
        if key & 7 == 2:
            found[key >> 3], at = message[at:at + value], at + value
    return found


def prepare(connection, query):
    """The request that executes it."""
    answer = connection.ask(DATA_API + "PrepareQuery", field(1, INSTANCE) + field(3, query) + field(4, b""))
    expect(answer, f"{query} is prepared")
    return field(1, INSTANCE) + field(9, fields_of(answer[5:])[2])


class Keeper:
    """Answers the pings of clients that take nothing: they are there, and the server can see it."""

    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()
        self.selector.close()

    def keep(self, connection):
        self.selector.register(connection.socket, selectors.EVENT_READ, connection)

    def _run(self):
        while not self.is_over.is_set():
            for key, _ in self.selector.select(0.1):
                try:
                    key.data.receive_frame()
                except OSError:
                    self.selector.unregister(key.fileobj)


class Stalled:
    """A client that takes `takes_bytes` of its answer, and no more, once it has been let in."""

    def __init__(self, server, query, takes_bytes):
        self.refusals = 0
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        self.is_let_in = False
        while not self.is_let_in and time.monotonic() < deadline:
            self.connection = Connection(server.port, timeout_seconds=WAIT_SECONDS_MAX, window_bytes=takes_bytes)
            self.is_let_in = self._ask(query, takes_bytes)
            if not self.is_let_in:
                self.connection.close()
                self.refusals += 1
                time.sleep(0.05 + 0.1 * random.random())

    def _ask(self, query, takes_bytes):
        asker = Connection(self.connection.socket.getpeername()[1], timeout_seconds=WAIT_SECONDS_MAX)
        request = prepare_or_none(asker, query)
        asker.close()
        if request is None:
            return False
        frames, stream = self.connection.call(DATA_API + "ExecuteQuery", request)
        self.connection.send(frames)
        taken, is_let_in = 0, False
        while not is_let_in or taken < takes_bytes:
            kind, flags, of, payload = self.connection.receive_frame()
            if of != stream:
                continue
            if kind == RST_STREAM or (kind in (HEADERS, DATA) and flags & END_STREAM):
                return False
            is_let_in = is_let_in or kind == HEADERS
            taken += len(payload) if kind == DATA else 0
        return True


def prepare_or_none(connection, query):
    try:
        return prepare(connection, query)
    except AssertionError:
        return None  # it is refused for now


def times_of(connection, path, request):
    """In ms, ascending; one that is refused for now lasts until it is answered."""
    times = []
    for _ in range(TIMES):
        begin = time.monotonic()
        while not connection.ask(path, request):
            expect(time.monotonic() - begin < 10, f"{path} is answered within 10 s")
            time.sleep(0.02)
        times.append((time.monotonic() - begin) * 1000)
    return sorted(times)


class Others:
    """Other clients: prepared point selects, and ReadRows of a row."""

    def __init__(self, server):
        self.port = server.port
        connection = Connection(self.port)
        self.calls = {"a point select": (DATA_API + "ExecuteQuery", prepare(connection, POINT)), "ReadRows": (DATA_API + "ReadRows", READ)}
        connection.close()
        self.measure()
        self.before = self.measure()

    def measure(self):
        connection = Connection(self.port, timeout_seconds=30)
        times = {name: times_of(connection, *call) for name, call in self.calls.items()}
        connection.close()
        return times

    def judge(self):
        """Neighbours on the machine only ever add to a time: what the stalled clients cost is in the best of a few."""
        rounds = [self.measure() for _ in range(3)]
        for name, before in self.before.items():
            during = min((round[name] for round in rounds), key=lambda times: times[TIMES * 99 // 100])
            p50, p99 = TIMES // 2, TIMES * 99 // 100
            print(f"  {name}: p50 {before[p50]:.2f} -> {during[p50]:.2f} ms, p99 {before[p99]:.2f} -> {during[p99]:.2f} ms", flush=True)
            expect(during[p99] <= max(2 * before[p99], before[p99] + 20), f"{name}: p99 was {before[p99]:.2f} ms and is {during[p99]:.2f} ms")


def figure(server, name):
    """Of /metrics, over all labels."""
    return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", server.get("/metrics", 30)[1], re.MULTILINE))


def files_on_disk(server):
    """The files of queries and results that the server has open: they have no names."""
    count = 0
    for descriptor in pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir():
        try:
            count += "/spill/" in os.readlink(descriptor)
        except OSError:
            pass  # it was closed meanwhile
    return count


def wait_until(at_most, read, seconds):
    deadline = time.monotonic() + seconds
    while (value := read()) > at_most and time.monotonic() < deadline:
        time.sleep(0.5)
    return value


def hold(server, clients, keeper):
    """The clients that were let in, and how often any was refused."""
    first = [Stalled(server, SORT, 0) for _ in range(FIRST_A_GIB * server.memory_mib // 1024)]
    kinds = [KINDS[i % len(KINDS)] for i in range(clients - len(first))]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        asked = first + list(pool.map(lambda kind: Stalled(server, *kind), kinds))
    let_in = [each for each in asked if each.is_let_in]
    for each in let_in:
        keeper.keep(each.connection)
    return let_in, sum(each.refusals for each in asked)


def stall(server, clients, others):
    """What holds while clients are stalled; their connections are closed then."""
    snapshots = figure(server, "sonde_rocksdb_snapshots")
    begin = time.monotonic()
    with Keeper() as keeper:
        with Bystander(server):  # who is not kept out while they come, either
            stalled, refusals = hold(server, clients, keeper)
        print(f"{len(stalled)} of {clients} clients are stalled after {time.monotonic() - begin:.1f} s and {refusals} refusals; queries "
              f"hold {figure(server, 'sonde_sql_memory_bytes') / MIB:.1f} MiB and {files_on_disk(server)} files", flush=True)
        expect(len(stalled) >= LET_IN_SHARE_MIN * clients, "most clients are let in")
        expect(files_on_disk(server) > 0, "results are on disk")
        time.sleep(SETTLE_SECONDS)
        others.judge()
        left = wait_until(snapshots, lambda: figure(server, "sonde_rocksdb_snapshots"), GONE_SECONDS_MAX)
        expect(left <= snapshots, f"scans are given back: RocksDB has {left:.0f} snapshots, and had {snapshots:.0f} before")
        server.expect_peak()
    for each in stalled:
        each.connection.close()


def expect_gone(server, clients, waits_for_results):
    """That nothing is left of clients that have gone, but results that wait for them to come back."""
    results = min(clients // len(KINDS) + 1, SPOOLED_RESULTS_MAX)
    left = wait_until(results, lambda: files_on_disk(server), GONE_SECONDS_MAX)
    expect(left <= results, f"files of queries go with their clients: {left} are left, {results} of them may be results")
    left = wait_until(0, lambda: figure(server, "sonde_sql_memory_bytes"), GONE_SECONDS_MAX)
    expect(left == 0, f"queries hold nothing: they hold {left:.0f} bytes")
    if waits_for_results:
        left = wait_until(0, lambda: files_on_disk(server), SPOOLED_KEPT_SECONDS)
        expect(left == 0, f"results on disk are kept for 60 s: {left} files are left")


def test(sonde, clients, memory, waits_for_results):
    with Server(sonde, memory) as server:
        fill(server)
        others = Others(server)
        stall(server, clients, others)
        expect_gone(server, clients, waits_for_results)
        others.judge()
        peak = server.peak_mib()
        with Keeper() as keeper:
            again, _ = hold(server, min(clients, 2 * AT_ONCE), keeper)
            seconds = server.end()
        print(f"the peak was {peak} MiB; the server ended in {seconds:.1f} s with {len(again)} clients stalled", flush=True)
        expect(seconds < END_SECONDS_MAX, f"the end took {seconds:.1f} s")
        expect(server.process.returncode == 0, f"exit status {server.process.returncode}")


def main():
    parser = argparse.ArgumentParser(description="Clients of ExecuteQuery that take nothing.")
    parser.add_argument("sonde")
    parser.add_argument("--clients", type=int)
    parser.add_argument("--memory")
    parser.add_argument("--large", action="store_true")
    arguments = parser.parse_args()
    begin = time.monotonic()
    try:
        test(arguments.sonde, arguments.clients or (1_000 if arguments.large else 48), arguments.memory or ("1GiB" if arguments.large else "256MiB"),
             arguments.large)
        outcome, status = "ok", 0
    except (AssertionError, OSError) as error:
        outcome, status = f"FAILED: {type(error).__name__}: {error}", 1
    print(f"{outcome} ({time.monotonic() - begin:.1f} s)", flush=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
