#!/usr/bin/env python3
"""A client that does little and wants to go on: a point read, /healthz and /readyz every 50 ms until its input ends.

usage: bystander.py GRPC_PORT HTTP_PORT
Prints, for each door, how many requests were answered, the slowest of all, and the longest time in which none was answered
because they were refused.
"""

import http.client
import json
import select
import sys
import time

from raw_http2 import Connection
from server import read

PAUSE_SECONDS = 0.05
PATIENCE_SECONDS = 30


class Door:
    def __init__(self, ask):
        self.ask = ask
        self.answered, self.slowest, self.refused_longest, self.refused_since, self.refusal = 0, 0.0, 0.0, None, ""

    def knock(self):
        begin = time.monotonic()
        try:
            refusal = self.ask()
        except OSError as error:
            refusal = f"{type(error).__name__}: {error}"
        except http.client.HTTPException as error:
            refusal = f"{type(error).__name__}: {error}"
        now = time.monotonic()
        self.slowest = max(self.slowest, now - begin)
        if refusal:
            self.refusal = refusal
            self.refused_since = self.refused_since or begin
            self.refused_longest = max(self.refused_longest, now - self.refused_since)
            return
        self.answered += 1
        if self.refused_since:
            self.refused_longest = max(self.refused_longest, now - self.refused_since)
        self.refused_since = None

    def told(self):
        return {"answered": self.answered, "slowest_s": self.slowest, "refused_s": self.refused_longest, "refusal": self.refusal}


class Reader:
    """Reads on one connection; on a new one when that has failed.  Ask gives what was refused."""

    def __init__(self, port):
        self.port = port
        self.connection = None

    def __call__(self):
        try:
            if self.connection is None:
                self.connection = Connection(self.port, timeout_seconds=PATIENCE_SECONDS)
            return "" if read(self.connection) else "the read was refused"
        except OSError:
            self.connection = None
            raise


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", path)
        status = connection.getresponse().status
        return "" if status == 200 else f"status {status}"
    finally:
        connection.close()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    http_port = int(sys.argv[2])
    doors = {"a point read": Door(Reader(int(sys.argv[1]))), "/healthz": Door(lambda: get(http_port, "/healthz")),
             "/readyz": Door(lambda: get(http_port, "/readyz"))}
    for door in doors.values():  # a connection first
        door.knock()
    print("begun", flush=True)
    while not select.select([sys.stdin], [], [], PAUSE_SECONDS)[0]:
        for door in doors.values():
            door.knock()
    print(json.dumps({name: door.told() for name, door in doors.items()}))


if __name__ == "__main__":
    main()
