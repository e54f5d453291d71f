#!/usr/bin/env python3
"""What one client without rights may do to the gRPC port, at small sizes; another client goes on meanwhile, or as soon as it is over.

usage: grpc_port_test.py SONDE [TEST...]
Exit status: 0 all hold, 1 otherwise.
"""

import os
import struct
import sys
import threading
import time

from raw_http2 import (CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, RST_STREAM, Connection, field, frame, header, header_table_bomb,
                       integer, request_headers)
from server import CALL_SECONDS_MAX, DATA_API, MIB, READ, TABLE, Bystander, Server, expect, read, run_tests, write


def expect_served(server, times=10):
    """By a connection each, a write and a point read; one second may pass before the first."""
    deadline = time.monotonic() + 1
    for i in range(times):
        begin = time.monotonic()
        while True:
            try:
                connection = Connection(server.port, timeout_seconds=CALL_SECONDS_MAX)
                served = write(connection, b"other") and read(connection)
                connection.close()
            except OSError as error:
                served = str(error) and None
            if served or time.monotonic() > deadline or i > 0:
                break
            time.sleep(0.05)
        expect(served, f"another client is served, at its call {i}")
        if i > 0:
            expect(time.monotonic() - begin < CALL_SECONDS_MAX, "another client is served soon")


def test_descriptors_that_run_out_come_back(sonde):
    """Defect 1: the port never accepted again, and writes stopped until a restart."""
    with Server(sonde, files_max=256) as server:
        held = []
        for _ in range(300):
            try:
                held.append(Connection(server.port, timeout_seconds=0.5))
            except OSError:
                break
        time.sleep(0.5)
        expect(server.refused("connections") + server.refused("peer_connections") > 0, "connections are refused and counted")
        for connection in held:
            connection.close()
        expect_served(server)
        expect(server.get("/readyz")[0] == 200, "it is ready")
        connection = Connection(server.port)
        for i in range(2000):  # some write buffers, so that logs and tables are opened
            expect(write(connection, b"other%d" % i, os.urandom(15_000)), f"write {i}")


def test_reads_that_nobody_takes_leave_room(sonde):
    """Defect 2: from then on all reads of others were refused."""
    with Server(sonde) as server:
        stalled = Connection(server.port, window_bytes=0)
        for i in range(3000):
            stalled.send(stalled.call(DATA_API + "ReadRows", READ)[0])
            if i % 50 == 49:
                time.sleep(0.01)
        expect_served(server, 30)
        time.sleep(7)  # their scans, and most of their places, are given back
        expect_served(server, 30)
        expect(server.memory("VmHWM") < 256 * MIB + 64 * MIB, "memory is bounded")


def test_headers_that_never_end_cost_nothing(sonde):
    """Defect 3: a core for each connection, and memory without bound."""
    with Server(sonde) as server:
        before = server.memory("VmHWM")
        name = b"\0" + integer(1, 7) + b"x" + integer(1_000_000_000, 7)
        for first, part in ((name, b"y" * 16_000), (header("a", "b"), header("x", "y" * 4_000) * 3)):
            attackers = [Connection(server.port, timeout_seconds=0.2) for _ in range(4)]
            for attacker in attackers:
                try:
                    attacker.send(frame(HEADERS, 0, 1, request_headers(DATA_API + "ReadRows") + first))
                    for _ in range(1000):
                        attacker.send(frame(CONTINUATION, 0, 1, part))
                except OSError:
                    pass  # as it should be
            expect_served(server)
            for attacker in attackers:
                attacker.close()
        expect(server.memory("VmHWM") - before < 32 * MIB, "memory does not grow")


def test_header_table_bombs_leave_time_for_others(sonde):
    """15 kB that unpack to 60 MB, which were checked byte by byte: every core for as long as it liked."""
    kinds = ({}, {"in_trailers": True}, {"value": "y" * 3999 + "\1"}, {"references": 5, "requests": 20_000})
    with Server(sonde) as server:
        for kind in kinds:
            with Bystander(server):
                attackers = [threading.Thread(target=send_bombs, args=(server, kind), daemon=True) for _ in range(8)]
                for attacker in attackers:
                    attacker.start()
                for attacker in attackers:
                    attacker.join()
        expect(server.refused("header_bytes") > 8 * len(kinds), "large headers are refused and counted")


def send_bombs(server, kind):
    connection = Connection(server.port, timeout_seconds=30)
    try:
        for piece in header_table_bomb(DATA_API + "ReadRows", **{"requests": 100, **kind}):
            connection.send(piece)
        while connection.socket.recv(1 << 16):  # until it is asked to go
            pass
    except OSError:
        pass  # it is asked to go, or cut
    connection.close()


def test_calls_that_are_reset_leave_nothing(sonde):
    """Defect 5: 20 kB a call, for as long as it liked."""
    with Server(sonde) as server:
        before = server.memory("VmHWM")
        attackers = [Connection(server.port) for _ in range(4)]
        for attacker in attackers:
            frames = b""
            for _ in range(5000):
                call, stream = attacker.call(DATA_API + "ReadRows", READ)
                frames += call + frame(RST_STREAM, 0, stream, struct.pack(">I", 8))
            try:
                attacker.send(frames)
            except OSError:
                pass
        expect_served(server)
        expect(server.memory("VmHWM") - before < 64 * MIB, f"memory grows by {(server.memory('VmHWM') - before) // MIB} MiB")


def test_a_slow_sender_gives_way(sonde):
    """A large request has its place in memory while it comes in: whoever sent it slowly kept others out."""
    with Server(sonde) as server:
        slow = Connection(server.port)
        head, stream = slow.call(DATA_API + "MutateRow", b"", ends=False)
        slow.send(head[:-9 - 5] + frame(DATA, 0, stream, b"\0" + struct.pack(">I", 36 * MIB)))  # takes 216 of 256 MiB
        other = Connection(server.port, timeout_seconds=30)
        cell = field(1, b"f") + field(2, b"q") + field(4, bytes(12 * MIB))
        begin = time.monotonic()
        over = threading.Event()
        trickle = threading.Thread(target=send_until, args=(over, slow, stream), daemon=True)
        trickle.start()
        time.sleep(1)
        large = other.send_message(DATA_API + "MutateRow", field(1, TABLE) + field(2, b"large") + field(3, field(1, cell)))
        while True:
            kind, flags, of, _ = other.receive_frame()
            if of == large and kind == HEADERS and flags & END_STREAM:
                break
        seconds = time.monotonic() - begin
        over.set()
        trickle.join()
        expect(5 < seconds < 28, f"the other's write took {seconds:.1f} s")
        expect(server.refused("slow_body") == 1, "the slow one is refused and counted")


def send_until(over, connection, stream):
    """32 KiB/s, though the window lets more pass."""
    try:
        while not over.wait(0.25):
            connection.send(frame(DATA, 0, stream, bytes(8_192)))
    except OSError:
        pass


def test_watches_are_bounded(sonde):
    """Defect 9: 18 kB each, without bound."""
    with Server(sonde) as server:
        before = server.memory("VmHWM")
        attackers = [Connection(server.port) for _ in range(2)]
        for attacker in attackers:
            for _ in range(100):
                attacker.send(b"".join(attacker.call("/grpc.health.v1.Health/Watch", b"")[0] for _ in range(100)))
        expect_served(server)
        grown = server.memory("VmHWM") - before
        expect(grown < 96 * MIB, f"memory grows by {grown // MIB} MiB")
        other = Connection(server.port)
        expect(other.ask("/grpc.health.v1.Health/Check", b"") == b"\0\0\0\0\2\x08\1", "health is told")
        expect(not other.ask("/grpc.health.v1.Health/Watch", b""), "one more watch is refused")
        expect(server.end() < 4, "watches do not hold up the end")


def test_ends_in_time_whatever_hangs(sonde):
    """Defect 11: a stuck call made it last longer than those who end it wait."""
    with Server(sonde) as server:
        unfinished = Connection(server.port)
        unfinished.send(frame(HEADERS, 0, 1, request_headers(DATA_API + "ReadRows")))
        stalled = Connection(server.port, window_bytes=0)
        stalled.send(stalled.call(DATA_API + "ReadRows", READ)[0])
        half = Connection(server.port)
        half.send(frame(HEADERS, END_HEADERS, 1, request_headers(DATA_API + "MutateRow")) + frame(DATA, 0, 1, b"\0\0\1\0\0half"))
        time.sleep(0.2)
        seconds = server.end()
        expect(seconds < 8, f"it took {seconds:.1f} s")
        expect(server.process.returncode == 0, f"exit status {server.process.returncode}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    run_tests([test for name, test in globals().items() if name.startswith("test_")], sys.argv[1:])


if __name__ == "__main__":
    main()
