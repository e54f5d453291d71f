#!/usr/bin/env python3
"""What one client without rights may do to the HTTP port, at small sizes, while another client goes on.

usage: http_port_test.py SONDE [TEST...]
Exit status: 0 all hold, 1 otherwise.
"""

import concurrent.futures
import gzip
import re
import struct
import sys
import threading
import time

from raw_http import Peer, request, statuses
from raw_http2 import Connection, field
from server import DATA_API, MIB, TABLE, Bystander, Server, expect, run_tests, set_cell

ROWS_PATH = "/api/v1/tables/p/i/t/rows"
CLIENTS = 32  # as many as the server has threads for all that is not for watchers


def all_at_once(work, count):
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


def send_endless(port, head, part):
    """Sends `part` again and again, until that is not taken, or for 10 s; gives how long, and the answer's statuses."""
    peer = Peer(port)
    peer.send(head)
    begin = time.monotonic()
    while time.monotonic() < begin + 10 and peer.send(part):
        pass
    seconds = time.monotonic() - begin
    answer, _ = peer.receive()
    peer.close()
    return seconds, statuses(answer)


def test_what_stands_between_chunks_is_bounded(sonde):
    """Defect 4: memory grew by all that was sent, and as much again where it doubled; a GiB within the 10 s."""
    head = ("Transfer-Encoding: chunked",)
    endless = ((b"1;", b"a" * MIB), (b"0", b"0" * MIB), (b"0\r\n", b"name: value\r\n" * 80_000), (b"0\r\nname: ", b"v" * MIB))
    with Server(sonde) as server, Bystander(server):
        before = server.memory("VmHWM")
        for begin, part in endless:
            seconds, codes = send_endless(server.http_port, request("POST", "/write", head, begin), part)
            expect(seconds < 8, f"the connection is ended behind {begin!r}")
            expect(codes in ([400], []), f"{begin!r} is answered {codes}")  # none: what was in flight reset the connection
        grown = (server.memory("VmHWM") - before) // MIB
        expect(grown < 32, f"memory grows by {grown} MiB")
        server.expect_peak()


def write_large_rows(server, rows, cells, value):
    connection = Connection(server.port)
    mutations = b"".join(field(3, set_cell(b"%06d" % i, value)) for i in range(cells))
    for row in range(rows):
        expect(connection.ask(DATA_API + "MutateRow", field(1, TABLE) + field(2, b"large%03d" % row) + mutations), "a row is written")
    connection.close()


def test_answers_with_many_rows_stay_within_memory(sonde):
    """Defect 6: an answer of 500 rows was made whole: 32 of them took 4 GiB.  Each has 24 MiB here, 768 in all."""
    with Server(sonde) as server:
        write_large_rows(server, 3, 2000, b"\0" * 1024)

        def take(_):
            peer = Peer(server.http_port, timeout_seconds=60)
            peer.send(request("GET", ROWS_PATH + "?limit=500", ("Connection: close",)))
            answer, is_ended = peer.receive()
            peer.close()
            expect(is_ended, "the answer ends")
            return statuses(answer[:20])[0], len(answer)

        with Bystander(server):
            answers = all_at_once(take, CLIENTS)
        answered = [size for code, size in answers if code == 200]
        expect(answered and min(answered) > 16 * MIB, f"answers are whole: {answers[:4]}")
        expect(all(code in (200, 503) for code, _ in answers), f"the others are told to come again: {answers}")
        server.expect_peak()


def test_answers_that_nobody_takes_stay_within_memory(sonde):
    """Defect 6: each of them was held whole until its client had gone."""
    with Server(sonde) as server:
        write_large_rows(server, 3, 2000, b"\0" * 1024)
        with Bystander(server):
            slow = [Peer(server.http_port, receive_buffer_bytes=4096) for _ in range(CLIENTS)]
            for peer in slow:
                peer.send(request("GET", ROWS_PATH + "?limit=500"))
            time.sleep(3)
            server.expect_peak()
        for peer in slow:
            peer.close()


def test_ranges_do_not_multiply_a_file(sonde):
    """Defect 6: 2,700 ranges of a file of 91 kB were an answer of 246 MB in memory, 8 of them 1.6 GB."""
    with Server(sonde) as server:
        page = server.get("/")[1]
        script = re.search(r'src="[./]*(assets/[^"]+\.js)"', page)
        expect(script, "the page has a script")
        target = "/" + script[1]
        whole = len(server.get(target)[1].encode())
        before = server.memory("VmHWM")
        ranges = "Range: bytes=" + ",".join(["0-"] * 2700)

        def take(_):
            peer = Peer(server.http_port, timeout_seconds=20)
            peer.send(request("GET", target, (ranges, "Connection: close")))
            answer, _ = peer.receive()
            peer.close()
            return statuses(answer[:20]), len(answer)

        with Bystander(server):
            answers = all_at_once(take, 8)
        for codes, size in answers:
            expect(codes and codes[0] in (200, 206, 416), f"it is answered {codes}")
            expect(size < whole + 8192, f"{size} bytes of a file that has {whole}")
        expect(server.memory("VmHWM") - before < 64 * MIB, "memory does not grow")
        server.expect_peak()


def test_packed_bodies_stay_within_memory(sonde):
    """Defect 6: a body was counted as 8 MiB, and held the 62 MiB that it unpacks to: 32 of them took 2 GiB."""
    packed = gzip.compress(b'm,h=a s="' + b"a" * (62 * MIB) + b'" 1\n', 6)
    with Server(sonde) as server:

        def post(_):
            peer = Peer(server.http_port, timeout_seconds=60)
            peer.send(request("POST", "/write", ("Content-Encoding: gzip", f"Content-Length: {len(packed)}", "Connection: close"),
                              packed))
            answer, _ = peer.receive()
            peer.close()
            return tuple(statuses(answer))

        with Bystander(server):
            answers = all_at_once(post, CLIENTS)
        # No value has 62 MiB, so 400 where there was room for the line.
        expect(set(answers) <= {(400,), (413,), (429,), (503,)}, f"each is refused: {set(answers)}")
        server.expect_peak()


def snappy_block(unit, times):
    """What `unit`, again and again, is in snappy's format: itself, and copies of it, of up to 64 bytes each."""
    length, size = len(unit) * times, b""
    while length >= 128:
        size, length = size + bytes([length % 128 + 128]), length // 128
    literal = bytes([61 << 2]) + struct.pack("<H", len(unit) - 1) + unit
    full, rest = divmod(len(unit) * (times - 1), 64)
    copy = [bytes([(n - 1) << 2 | 2]) + struct.pack("<H", len(unit)) for n in (64, rest or 64)]
    return size + bytes([length]) + literal + copy[0] * full + (copy[1] if rest else b"")


def test_small_messages_in_a_packed_body_stay_within_memory(sonde):
    """3 MB, which unpack to 60 MiB of empty series, or of labels of two bytes, took 5 GB as messages."""
    units = {"series": b"\x0a\0" * 2000, "labels": field(1, b"\x0a\0" * 900), "samples": field(1, b"\x12\x02\x10\x01" * 900)}
    for name, unit in units.items():
        packed = snappy_block(unit, 60 * MIB // len(unit))
        with Server(sonde) as server:

            def post(_):
                peer = Peer(server.http_port, timeout_seconds=60)
                peer.send(request("POST", "/api/v1/write", (f"Content-Length: {len(packed)}", "Connection: close"), packed))
                answer, _ = peer.receive()
                peer.close()
                return tuple(statuses(answer))

            with Bystander(server):
                answers = all_at_once(post, 4)
            # 503: each holds its body already, and there is no room for what comes out of any.
            expect(set(answers) <= {(204,), (400,), (503,)}, f"{name}: {set(answers)}")
            server.expect_peak()


def test_clients_that_send_slowly_lock_nobody_out(sonde):
    """Defect 7: 32 slow bodies, or open connections, held all threads: /healthz had no answer in 30 s, and none of them was ended."""
    with Server(sonde) as server:
        with Bystander(server):
            slow = [Peer(server.http_port) for _ in range(2 * CLIENTS)]
            for i, peer in enumerate(slow):
                peer.send(request("POST", "/write", (f"Content-Length: {1_000_000 if i % 2 else 10_000}",), b"x"))
            idle = [Peer(server.http_port) for _ in range(500)]
            begun = [Peer(server.http_port) for _ in range(100)]
            for peer in begun:
                peer.send(b"GET /healthz HTTP/1.1\r\nX: ")
            for _ in range(12):  # beyond what a body, or a head, may take at so little a second
                time.sleep(1)
                for peer in slow + begun:
                    peer.send(b"x")
        ended = sum(peer.receive()[1] for peer in slow[:4] + begun[:4])
        expect(ended == 8, f"slow ones are ended: {ended} of 8")
        for peer in slow + idle + begun:
            peer.close()
        expect(server.get(ROWS_PATH)[0] == 200, "the others are served")


def test_clients_that_read_slowly_lock_nobody_out(sonde):
    """Defect 7: with 32 slow readers of /metrics, /healthz waited for 4 s."""
    with Server(sonde) as server:
        slow = [Peer(server.http_port, receive_buffer_bytes=4096) for _ in range(4 * CLIENTS)]
        ends = threading.Event()
        with Bystander(server):
            for peer in slow:
                peer.send(request("GET", "/metrics") * 20)  # more than a socket's buffers hold

            def sip():
                while not ends.wait(0.2):
                    for peer in slow:
                        peer.receive(10)

            sipping = threading.Thread(target=sip)
            for peer in slow:
                peer.socket.settimeout(0.01)
            sipping.start()
            time.sleep(5)
            status = server.get("/metrics")[0]
            ends.set()
            sipping.join()
            expect(status == 200, "/metrics is answered")
        for peer in slow:
            peer.close()
        server.expect_peak()


def test_more_connections_than_there_may_be(sonde):
    """Defect 7: with 200 open connections, /healthz took 29 s.  The one that has been idle for the longest time gives way."""
    with Server(sonde) as server, Bystander(server):
        held = [Peer(server.http_port) for _ in range(1500)]
        time.sleep(1)
        for peer in held:
            peer.close()


def test_second_requests_in_bodies_are_not_answered(sonde):
    """Defect 10: what followed a body with two lengths was answered as a request of its own (more cases: http_framing_test.py)."""
    hidden = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    framings = (("Content-Length: 0", f"Content-Length: {len(hidden)}"), ("Content-Length: +0",), ("Content-Length: 0x10",),
                ("Content-Length: 6", "Transfer-Encoding: chunked"))
    with Server(sonde) as server, Bystander(server):
        for framing in framings:
            peer = Peer(server.http_port)
            body = b"0\r\n\r\n" if "Transfer-Encoding: chunked" in framing else b""
            peer.send(request("POST", "/write", framing, body + hidden))
            answer, is_ended = peer.receive()
            peer.close()
            expect(statuses(answer) == [400] and is_ended, f"{framing} is answered {statuses(answer)}, ended: {is_ended}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    run_tests([test for name, test in globals().items() if name.startswith("test_")], sys.argv[1:])


if __name__ == "__main__":
    main()
