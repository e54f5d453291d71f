#!/usr/bin/env python3
"""Ledgers under abuse: what was acknowledged is there, once and whole, though the server is killed again and again.

usage: chaos_test.py SONDE [--seconds N] [--seed N]
Writers put pairs of cells, append to logs and increment sums, and keep a ledger of what was acknowledged and what is in doubt; another client
makes and deletes a table; hostile ones send bodies slowly, reset calls and flood headers.  Every second or so the server is killed, or ended
by SIGTERM, and started again; then every ledger is compared with what is read.
Exit status: 0 all holds, 1 otherwise.
"""

import argparse
import collections
import random
import struct
import sys
import threading
import time

from raw_http import Peer, request
from raw_http2 import CONTINUATION, HEADERS, RST_STREAM, Connection, field, frame, header, request_headers, varint
from server import ADMIN_API, DATA_API, INSTANCE, READ, TABLE, Server, create_table, expect, run_tests, set_cell

WRITERS = 8
SHARED_ROWS = 3  # of logs, and of sums
ROWS_OF_WRITER = 10
NEWEST_OF_COLUMN = varint(12 << 3) + varint(1)


def fields(data):
    """Of a protobuf message: (number, integer or bytes)."""
    at = 0

    def integer():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = integer()
        if key & 7 == 0:
            yield key >> 3, integer()
        else:
            count = integer()
            yield key >> 3, data[at:at + count]
            at += count


def read_table(connection, table=TABLE):
    """{row: {qualifier: newest value}}."""
    answer = connection.ask(DATA_API + "ReadRows", field(1, table) + field(3, NEWEST_OF_COLUMN))
    rows, row, qualifier, value, at = collections.defaultdict(dict), b"", b"", b"", 0
    while at < len(answer):
        size = struct.unpack_from(">I", answer, at + 1)[0]
        for number, chunk in fields(answer[at + 5:at + 5 + size]):
            if number != 1:
                continue
            parts = dict(fields(chunk))
            row = parts.get(1, b"") or row
            qualifier = dict(fields(parts[3])).get(1, b"") if 3 in parts else qualifier
            value += parts.get(6, b"")
            if not parts.get(7):
                rows[row][qualifier], value = value, b""
        at += 5 + size
    return rows


class Writer:
    def __init__(self, number, seed):
        self.number, self.random, self.version = number, random.Random(seed), 0
        self.pairs = {}  # row: (acknowledged, in doubt since)
        self.appends, self.appends_in_doubt = [], []
        self.sum, self.sum_in_doubt = 0, 0
        self.acknowledged = 0

    def run(self, port, ends):
        connection = None
        while not ends.is_set():
            try:
                connection = connection or Connection(port, timeout_seconds=10)
                done = self.random.choice((self.put, self.append, self.increment))(connection)
            except OSError:
                connection, done = None, False
            if not done:
                ends.wait(0.01)
            self.acknowledged += bool(done)

    def put(self, connection):
        row = b"w%d-%d" % (self.number, self.random.randrange(ROWS_OF_WRITER))
        self.version += 1
        value = b"%d" % self.version
        before, doubt = self.pairs.get(row, (None, set()))
        self.pairs[row] = (before, doubt | {value})
        if answer := connection.ask(DATA_API + "MutateRow", field(1, TABLE) + field(2, row) + field(3, set_cell(b"a", value)) +
                                    field(3, set_cell(b"b", value))):
            self.pairs[row] = (value, set())
        return answer

    def change(self, connection, row, rule):
        return connection.ask(DATA_API + "ReadModifyWriteRow", field(1, TABLE) + field(2, row) +
                              field(3, field(1, b"f") + field(2, b"q") + rule))

    def append(self, connection):
        self.version += 1
        word = b"%d.%d;" % (self.number, self.version)
        self.appends_in_doubt.append(word)
        if answer := self.change(connection, b"log%d" % (self.number % SHARED_ROWS), field(3, word)):
            self.appends.append(self.appends_in_doubt.pop())
        return answer

    def increment(self, connection):
        self.sum_in_doubt += 1
        if answer := self.change(connection, b"sum%d" % (self.number % SHARED_ROWS), varint(4 << 3) + varint(1)):
            self.sum_in_doubt -= 1
            self.sum += 1
        return answer


def compare(writers, rows):
    known = set()
    for writer in writers:
        for row, (acknowledged, doubt) in writer.pairs.items():
            found = rows.get(row, {})
            expect(found.get(b"a") == found.get(b"b"), f"{row} is not torn: {found}")
            expect(found.get(b"a") in {acknowledged} | doubt, f"{row} is {found.get(b'a')}: acknowledged {acknowledged}, in doubt {doubt}")
            writer.pairs[row] = (found.get(b"a"), set())  # what is in doubt has happened by now, or never will
        times = collections.Counter(rows.get(b"log%d" % (writer.number % SHARED_ROWS), {}).get(b"q", b"").split(b";"))
        for word in writer.appends:
            expect(times[word[:-1]] == 1, f"{word} was acknowledged, and is there {times[word[:-1]]} times")
        for word in writer.appends_in_doubt:
            expect(times[word[:-1]] <= 1, f"{word} is there {times[word[:-1]]} times")
        known |= {word[:-1] for word in writer.appends + writer.appends_in_doubt}
    for i in range(SHARED_ROWS):
        mine = [writer for writer in writers if writer.number % SHARED_ROWS == i]
        found = int.from_bytes(rows.get(b"sum%d" % i, {}).get(b"q", b""), "big")
        least, doubt = sum(writer.sum for writer in mine), sum(writer.sum_in_doubt for writer in mine)
        expect(least <= found <= least + doubt, f"sum{i} is {found}: acknowledged {least}, in doubt {doubt}")
        words = set(rows.get(b"log%d" % i, {}).get(b"q", b"").split(b";")) - {b""}
        expect(words <= known, f"log{i} has what nobody sent: {words - known}")


def make_and_delete(port, ends, faults):
    """A table that was deleted comes back empty."""
    table, number = INSTANCE + b"/tables/other", 0
    while not ends.is_set():
        try:
            connection = Connection(port, timeout_seconds=10)
            connection.ask(ADMIN_API + "DeleteTable", field(1, table))
            if create_table(connection, b"other", [b"f"]) and (old := read_table(connection, table)):
                faults.append(f"a new table has {dict(old)}")
            number += 1
            connection.ask(DATA_API + "MutateRow", field(1, table) + field(2, b"row%d" % number) + field(3, set_cell(b"q", b"v")))
        except OSError:
            pass
        ends.wait(0.05)


def be_hostile(server, ends):
    while not ends.is_set():
        try:
            slow = [Peer(server.http_port, timeout_seconds=1) for _ in range(40)]
            for peer in slow:
                peer.send(request("POST", "/write", ("Content-Length: 100000",), b"x"))
            resetter = Connection(server.port, timeout_seconds=1)
            for _ in range(500):
                call, stream = resetter.call(DATA_API + "ReadRows", READ)
                resetter.send(call + frame(RST_STREAM, 0, stream, struct.pack(">I", 8)))
            flooder = Connection(server.port, timeout_seconds=1)
            flooder.send(frame(HEADERS, 0, 1, request_headers(DATA_API + "ReadRows")))
            for _ in range(100):
                flooder.send(frame(CONTINUATION, 0, 1, header("x", "y" * 4000) * 3))
        except OSError:
            pass
        ends.wait(0.3)


def run(sonde, seconds, seed):
    chance = random.Random(seed)
    writers = [Writer(i, chance.random()) for i in range(WRITERS)]
    faults, cycles, deadline = [], 0, time.monotonic() + seconds
    with Server(sonde) as server:
        while time.monotonic() < deadline:
            ends = threading.Event()
            threads = [threading.Thread(target=writer.run, args=(server.port, ends)) for writer in writers]
            threads.append(threading.Thread(target=make_and_delete, args=(server.port, ends, faults)))
            threads.append(threading.Thread(target=be_hostile, args=(server, ends)))
            for thread in threads:
                thread.start()
            time.sleep(chance.uniform(0.3, 2))
            if chance.random() < 0.7:
                server.process.kill()
                server.process.wait()
            elif (took := server.end()) > 8:
                faults.append(f"SIGTERM took {took:.1f} s")
            ends.set()
            for thread in threads:
                thread.join()
            server.begin()
            compare(writers, read_table(Connection(server.port, timeout_seconds=30)))
            expect(not faults, "; ".join(faults))
            cycles += 1
    acknowledged = sum(writer.acknowledged for writer in writers)
    expect(acknowledged > 100 * cycles // 2, f"writes go on beside all this: {acknowledged}")
    print(f"seed {seed}: {cycles} ends, {acknowledged} acknowledged writes, each there once")


def main():
    parser = argparse.ArgumentParser(description="Ledgers under abuse.")
    parser.add_argument("sonde")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    def test_ledgers_hold_under_abuse(sonde):
        run(sonde, arguments.seconds, arguments.seed)

    run_tests([test_ledgers_hold_under_abuse], [arguments.sonde])


if __name__ == "__main__":
    main()
