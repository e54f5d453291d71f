#!/usr/bin/env python3
"""What a server acknowledges has come whole, and no sender that stalls keeps it from answering others.

usage: bodies.py SONDE
"""
import gzip
import http.client
import json
import pathlib
import socket
import sys
import tempfile
import time
import urllib.parse
import zlib

import kill

LINES = 20_000
STALLED = 60
SOON_SECONDS = 1.5
DECLARATION = "series: d\ntags: { host: string }\nfields: { x: int }\nkey: [host, bucket]\nbucket: day\nretention: { max_versions: all }\n"


class Client:
    def __init__(self, server):
        self.host = urllib.parse.urlsplit(server.http).netloc

    def call(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        answer = response.read().decode()
        connection.close()
        return response.status, answer

    def raw(self, data):
        """Sends and says that nothing more comes; the first line of the answer."""
        host, port = self.host.split(":")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return connection.makefile("rb").readline().decode()

    def count(self, series):
        status, answer = self.call("GET", f"/api/v1/series/{series}/query?agg=count&group_by=-")
        return 0 if status == 404 or not json.loads(answer)["rows"] else json.loads(answer)["rows"][0][-1]


def check_cut(client):
    lines = "".join(f"SERIES,host=h{i % 7} x={i}i {1_600_000_000 + i}\n" for i in range(LINES))
    points = "".join(json.dumps({"host": f"h{i % 7}", "time": 1_600_000_000 + i, "x": i}) + "\n" for i in range(LINES))
    routes = {"/write?precision=s": lines, "/api/v2/write?precision=s": lines,
              "/api/v1/series/d/write?time_format=epoch_s": points}
    assert client.call("PUT", "/api/v1/series/d", DECLARATION)[0] == 200
    for route, text in routes.items():
        declared = "/series/d/" in route
        series = "d" if declared else f"cut{len(route)}"
        plain = text.replace("SERIES", series).encode()
        # Of blocks that are stored, the cut leaves whole lines, and one that only looks whole.
        stored = zlib.compressobj(0, wbits=31)
        for packed in (gzip.compress(plain), stored.compress(plain) + stored.flush()):
            for kept in (len(packed) // 2, len(packed) - 1, len(packed) - 8, len(packed) - 12):
                status, answer = client.call("POST", route, packed[:kept], {"Content-Encoding": "gzip"})
                assert status == 400 and "gzip data ends early" in answer, (route, kept, status, answer)
        head = f"POST {route} HTTP/1.1\r\nHost: localhost\r\n".encode()
        cut = plain[:len(plain) // 2]
        for body in (b"Content-Length: %d\r\n\r\n" % len(plain) + cut,
                     b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(plain) + cut,
                     b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(plain) + plain + b"\r\n",
                     b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(cut) + plain + b"\r\n0\r\n\r\n"):
            assert client.raw(head + body).startswith("HTTP/1.1 400 "), (route, body[:60])
        assert client.count(series) == 0, f"{route}: something of a body that was cut is written"
        for coding in ("br", "compress", "gzip, gzip"):
            assert client.call("POST", route, plain, {"Content-Encoding": coding})[0] == 415, (route, coding)
        half = len(plain) // 2
        members = gzip.compress(plain[:half]) + gzip.compress(plain[half:])
        status, answer = client.call("POST", route, members, {"Content-Encoding": "X-GZIP"})
        assert status == (200 if declared else 204), (route, status, answer)
        assert client.count(series) == LINES, route


def check_stalled(client):
    host, port = client.host.split(":")
    connections = []
    try:
        for body_bytes in (0, 1_000, 1_000_000):
            for _ in range(STALLED):
                connection = socket.create_connection((host, int(port)))
                connection.sendall(b"" if body_bytes == 0 else
                                   b"POST /write HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\nx" % body_bytes)
                connections.append(connection)
            time.sleep(0.2)
            for path in ("/healthz", "/readyz", "/metrics"):
                begin = time.monotonic()
                assert client.call("GET", path)[0] == 200
                assert time.monotonic() - begin < SOON_SECONDS, f"{path}: {time.monotonic() - begin:.1f} s, beside {len(connections)} stalled"
    finally:
        for connection in connections:
            connection.close()


def main():
    with tempfile.TemporaryDirectory(prefix="sonde-bodies-") as directory:
        server = kill.Server(str(pathlib.Path(sys.argv[1]).resolve()), directory)
        try:
            client = Client(server)
            check_cut(client)
            check_stalled(client)
        finally:
            server.kill()
    print("what was acknowledged has come whole; stalled senders keep nobody waiting")


if __name__ == "__main__":
    main()
