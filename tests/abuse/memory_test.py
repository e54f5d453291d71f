#!/usr/bin/env python3
"""The peak of memory (VmHWM), in one server after the other, while one client takes as much of it as it can.

usage: memory_test.py SONDE [--large] [--memory SIZE] [ROW...]
    --large   at 256MiB and 1GiB, and the slow rows as well; otherwise the fast ones at 256MiB
Prints a table.  Exit status: 0 each peak is within --memory and 128 MiB, 1 otherwise.
"""

import argparse
import concurrent.futures
import gzip
import os
import re
import resource
import socket
import struct
import sys
import threading
import time

from raw_http import Peer, request
from raw_http2 import (CONTINUATION, HEADERS, PING, PREFACE, RST_STREAM, SETTINGS, Connection, field, frame, header, header_table_bomb,
                       request_headers, varint)
from server import ADMIN_API, DATA_API, INSTANCE, MIB, PEAK_MIB_OVER_MEMORY, READ, TABLE, Server, create_table, expect, set_cell, write

ROWS_PATH = "/api/v1/tables/p/i/t/rows?limit=500"
TRIES_MAX = 60
DAY_SECONDS = 86_400
OWN_DESCRIPTORS = 200  # of this program, besides those of an attack
MESSAGE_PREFIX_BYTES = 5


def together(work, count):
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


def insist(ask):
    """Until it is not refused."""
    for _ in range(TRIES_MAX):
        if answer := ask():
            return answer
        time.sleep(0.5)
    raise AssertionError("refused for as often as it was tried")


def large_values(clients):
    def attack(server):
        value = os.urandom(server.memory_mib * MIB // 8 if server.memory_mib < 800 else 100 * MIB)

        def client(i):
            connection = Connection(server.port, timeout_seconds=120)
            row = b"large%d" % i
            for q in (b"a", b"b"):
                insist(lambda: connection.ask(DATA_API + "MutateRow", field(1, TABLE) + field(2, row) + field(3, set_cell(q, value))))
            wanted = field(1, TABLE) + field(2, field(1, row))
            insist(lambda: len(connection.ask(DATA_API + "ReadRows", wanted)) > 2 * len(value))  # whole: it may be refused on its way

        together(client, clients)
    return attack


def wide_row(server):
    connection = Connection(server.port, timeout_seconds=60)
    for begin in range(0, 1_000_000, 50_000):
        mutations = b"".join(field(3, set_cell(b"column%08d" % i, b"value of %d" % i)) for i in range(begin, begin + 50_000))
        insist(lambda: connection.ask(DATA_API + "MutateRow", field(1, TABLE) + field(2, b"wide") + mutations))

    def client(_):
        reader = Connection(server.port, timeout_seconds=60)
        insist(lambda: reader.ask(DATA_API + "ReadRows", field(1, TABLE) + field(2, field(1, b"wide"))))

    together(client, 6)


def http_rows(clients):
    def attack(server):
        connection = Connection(server.port)
        mutations = b"".join(field(3, set_cell(b"%06d" % i, bytes(1024))) for i in range(2000))
        for i in range(5):
            insist(lambda: connection.ask(DATA_API + "MutateRow", field(1, TABLE) + field(2, b"row%d" % i) + mutations))

        def client(_):
            peer = Peer(server.http_port, timeout_seconds=60)
            peer.send(request("GET", ROWS_PATH, ("Connection: close",)))
            peer.receive()

        together(client, clients)
    return attack


def packed_bodies(server):
    packed = gzip.compress(b'm,h=a s="' + b"a" * (62 * MIB) + b'" 1\n', 6)

    def client(_):
        peer = Peer(server.http_port, timeout_seconds=60)
        peer.send(request("POST", "/write", ("Content-Encoding: gzip", f"Content-Length: {len(packed)}", "Connection: close"), packed))
        peer.receive()

    together(client, 32)


def ranges(clients):
    def attack(server):
        script = "/" + re.search(r'src="[./]*(assets/[^"]+\.js)"', server.get("/")[1])[1]
        wanted = "Range: bytes=" + ",".join(["0-"] * 2700)

        def client(_):
            peer = Peer(server.http_port, timeout_seconds=60)
            peer.send(request("GET", script, (wanted, "Connection: close")))
            expect(len(peer.receive()[0]) > 10_000, "the script, or its ranges, come")

        together(client, clients)
    return attack


def chunk_lines(server):
    """Until they are not taken, 1,500 MB at most."""
    def client(_):
        peer = Peer(server.http_port, timeout_seconds=5)
        peer.send(request("POST", "/write", ("Transfer-Encoding: chunked",), b"1;"))
        part = b"a" * MIB
        any(not peer.send(part) for _ in range(1500))

    together(client, 4)


def flood(connections, make, hold_seconds=3):
    """Sends what `make(connection)` gives, piece by piece, without taking answers; then waits."""
    def attack(server):
        def client(_):
            connection = Connection(server.port, timeout_seconds=2)
            try:
                for piece in make(connection):
                    connection.send(piece)
            except OSError:
                pass  # it is refused, as it may be
            time.sleep(hold_seconds)
            connection.close()

        together(client, connections)
    return attack


def continuations(connection):
    yield frame(HEADERS, 0, 1, request_headers(DATA_API + "ReadRows"))
    part = frame(CONTINUATION, 0, 1, header("x", "y" * 5000) * 3)
    yield from (part for _ in range(70_000))


def resets(connection):
    for _ in range(20_000):
        call, stream = connection.call(DATA_API + "ReadRows", READ)
        yield call + frame(RST_STREAM, 0, stream, struct.pack(">I", 8))


def table_bomb(requests):
    return lambda _: header_table_bomb(DATA_API + "ReadRows", requests)


def unfinished(count):
    return lambda connection: (connection.call(DATA_API + "ReadRows", READ, ends=False)[0] for _ in range(count))


def change_streams(server):
    """10,000 that are not read, or as many as are let in, while much is written: which ends those that it has no room for."""
    connection = Connection(server.port, timeout_seconds=60)
    streamed = b"t2"
    table = field(3, field(1, b"f") + field(2, b"")) + field(8, field(1, b"\x08" + varint(DAY_SECONDS)))
    expect(connection.ask(ADMIN_API + "CreateTable", field(1, INSTANCE) + field(2, streamed) + field(3, table)), "the table is made")
    name = field(1, INSTANCE + b"/tables/" + streamed)
    answer = connection.ask(DATA_API + "GenerateInitialChangeStreamPartitions", name)
    partition = answer[MESSAGE_PREFIX_BYTES + 2:]  # of a message with this one field, whose length has one byte
    expect(answer[MESSAGE_PREFIX_BYTES:] == field(1, partition), "there is one partition")
    reader = Connection(server.port)
    for _ in range(10_000):
        reader.send(reader.call(DATA_API + "ReadChangeStream", name + field(3, partition))[0])
    wait_for(lambda: figure(server, "sonde_change_stream_readers") >= 1000, "change streams are open")
    for i in range(200):
        wanted = name + field(2, b"row%d" % i) + field(3, set_cell(b"q", os.urandom(100 << 10)))
        insist(lambda: connection.ask(DATA_API + "MutateRow", wanted))
    time.sleep(3)


def idle_connections(server):
    """20,000 that have only said HTTP/2, from four addresses, or as many as there are descriptors for."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    held = []
    for i in range(min(20_000, most - OWN_DESCRIPTORS)):
        try:
            held.append(socket.create_connection(("127.0.0.1", server.port), 5, (f"127.0.0.{2 + i % 4}", 0)))
            held[-1].sendall(PREFACE + frame(SETTINGS, 0, 0))
        except OSError:
            pass  # it is turned away, as it may be
    wait_for(lambda: figure(server, "sonde_grpc_connections") >= min(5_000, most // 4), "connections are held")
    for peer in held:
        peer.close()


def figure(server, name):
    """Of /metrics, over all labels."""
    return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", server.get("/metrics")[1], re.MULTILINE))


def wait_for(condition, what):
    for _ in range(TRIES_MAX):
        if condition():
            return
        time.sleep(0.5)
    raise AssertionError(what)


def calls(path, body, count):
    return lambda connection: (connection.call(path, body)[0] for _ in range(count))


def stalled(server):
    connection = Connection(server.port, window_bytes=0)
    for _ in range(6000):
        connection.send(connection.call(DATA_API + "ReadRows", READ)[0])
    time.sleep(8)


def many_tables(server):
    connection = Connection(server.port, timeout_seconds=30)
    for i in range(1500):
        families = [b"f%d" % f for f in range(1000)] if i % 15 == 0 else [b"f"]
        insist(lambda: create_table(connection, b"table%d" % i, families))

    def client(_):
        lister = Connection(server.port, timeout_seconds=60)
        lister.ask("/google.bigtable.admin.v2.BigtableTableAdmin/ListTables", field(1, INSTANCE) + b"\x10\x04")

    together(client, 16)


def slow_writes(server):
    ends = threading.Event()

    def client(i):
        connection = Connection(server.port)
        while not ends.is_set():
            write(connection, b"small%d" % i, bytes(100_000))

    threads = [threading.Thread(target=client, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    time.sleep(5)
    ends.set()
    for thread in threads:
        thread.join()


# Name: what it does, and whether it is fast.
ROWS = {
    "large-values-1": (large_values(1), False),
    "large-values-8": (large_values(8), False),
    "wide-row-6": (wide_row, False),
    "http-rows-4": (http_rows(4), True),
    "http-rows-32": (http_rows(32), False),
    "packed-bodies-32": (packed_bodies, True),
    "continuations-70000": (flood(1, continuations), True),
    "resets-4x20000": (flood(4, resets), True),
    "watches-2x20000": (flood(2, calls("/grpc.health.v1.Health/Watch", b"", 20_000)), True),
    "reads-20000-no-answers-taken": (flood(1, calls(DATA_API + "ReadRows", READ, 20_000)), True),
    "stalled-reads-6000": (stalled, True),
    "pings-600000": (flood(1, lambda _: (frame(PING, 0, 0, b"12345678") * 1000 for _ in range(600))), True),
    "settings-400000": (flood(1, lambda _: (frame(SETTINGS, 0, 0) * 1000 for _ in range(400))), True),
    "writes-of-100-kB-8": (slow_writes, True),
    "ranges-2700-x-32": (ranges(32), True),
    "chunk-lines-4x1500-MB": (chunk_lines, True),
    "header-table-bomb-2x100": (flood(2, table_bomb(100)), True),
    "header-table-bomb-8x500": (flood(8, table_bomb(500)), False),
    "unfinished-calls-7000": (flood(1, unfinished(7000)), True),
    "change-streams-10000": (change_streams, True),
    "idle-connections-20000": (idle_connections, True),
    "tables-1500": (many_tables, False),
}


def main():
    parser = argparse.ArgumentParser(description="Peaks of memory under abuse.")
    parser.add_argument("sonde")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--memory")
    parser.add_argument("rows", nargs="*")
    arguments = parser.parse_intermixed_args()
    if unknown := set(arguments.rows) - set(ROWS):
        parser.error(f"there is no row {unknown}; there are: {', '.join(ROWS)}")
    failed = 0
    print("| --memory | row | peak, MiB | seconds | |\n| --- | --- | ---: | ---: | --- |")
    for memory in [arguments.memory] if arguments.memory else ["256MiB", "1GiB"] if arguments.large else ["256MiB"]:
        for name, (attack, is_fast) in ROWS.items():
            if name not in arguments.rows if arguments.rows else not (is_fast or arguments.large):
                continue
            begin, fault = time.monotonic(), ""
            with Server(arguments.sonde, memory) as server:
                try:
                    attack(server)
                    expect(server.get("/readyz", 30)[0] == 200, "it is ready afterwards")
                except (AssertionError, OSError) as error:
                    fault = f"{type(error).__name__}: {error}"
                peak = server.peak_mib() if server.process.poll() is None else 0
                if peak == 0 or peak > server.memory_mib + PEAK_MIB_OVER_MEMORY:
                    fault += " the peak is beyond its bound" if peak else " the server is gone"
            failed += bool(fault)
            print(f"| {memory} | {name} | {peak} | {time.monotonic() - begin:.0f} | {'FAILED: ' + fault if fault else ''} |", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
