#!/usr/bin/env python3
"""Restarts a server under load, and watches what its clients see: the official Python client, with the retries that it has.

usage: run.py SONDE [--restarts N] [--workers N] [--grace SECONDS] [--seed N]

Each worker writes rows with times of its own (so that calls may be tried again), one by one and several at once, and reads back what
was acknowledged.  Meanwhile the server gets SIGTERM and is started again on the same port and directory.  Some restarts meet a
scan that is held open, which must end with the grace, and some get a second SIGTERM.

It fails if a call fails, an acknowledged write is not there, a server takes longer than its grace and five seconds to end, or does not
end with 0.  Then, as a control, the same load without retries must see calls that fail: otherwise restarts met no call.
"""

import argparse
import logging
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

PROJECT = "restarts"
INSTANCE = "i"
TABLE = "t"
START_SECONDS = 60
CALL_SECONDS = 120        # of a call with its retries
END_SECONDS = 5           # beyond the grace
CONTROL_RESTARTS_MAX = 20
SECOND_SIGNAL_EVERY = 5
SCAN_EVERY = 7


class Failure(Exception):
    pass


class Server:
    """Servers one after the other, on one port and one directory."""

    def __init__(self, sonde, home, grace_seconds):
        self.sonde, self.home, self.grace_seconds = sonde, home, grace_seconds
        self.port = 0
        self.process = None
        self.log = open(home / "log", "ab")

    def start(self):
        self.process = subprocess.Popen(
            [self.sonde, "serve", "--host", "127.0.0.1", "--port", str(self.port), "--no-http", "--data-dir", self.home / "data",
             "--memory", "256MiB", "--grace", f"{self.grace_seconds}s"], stdout=subprocess.PIPE, stderr=self.log, text=True)
        for line in self.process.stdout:
            if line.startswith("sonde: listening on "):
                self.port = int(line.rsplit(":", 1)[1])
                return
        raise Failure(f"the server did not start:\n{(self.home / 'log').read_text()[-2000:]}")

    def end(self, again_after=None):
        """Returns how long the server took; `again_after`: seconds until a second signal."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        most = self.grace_seconds + END_SECONDS
        if again_after is not None:
            time.sleep(again_after)
            self.process.send_signal(signal.SIGTERM)
            most = again_after + END_SECONDS
        try:
            status = self.process.wait(timeout=most + 60)
        except subprocess.TimeoutExpired:
            raise Failure("the server did not end") from None
        took = time.monotonic() - began
        if status != 0:
            raise Failure(f"the server ended with {status}")
        if took > most:
            raise Failure(f"the server took {took:.1f} s to end; at most {most:.1f} are allowed")
        return took


def key_of(worker, number):
    return f"w{worker:02}-{number:08}".encode()


class Worker(threading.Thread):
    def __init__(self, table, number, seed, retries):
        super().__init__(daemon=True)
        self.table, self.number, self.random = table, number, random.Random(f"{seed} {number}")
        self.options = {} if retries else {"retryable_errors": ()}
        self.stops = threading.Event()
        self.acknowledged = {}   # key -> value
        self.calls, self.slowest_seconds, self.failures = 0, 0.0, []
        self.next_row = 0

    def run(self):
        while not self.stops.is_set():
            step = self.random.choices([self.write, self.write_several, self.read, self.read_several], [6, 2, 3, 1])[0]
            began = time.monotonic()
            try:
                step()
            except Exception as error:   # whatever a client may throw is what this test is about
                self.failures.append(f"{step.__name__}: {type(error).__name__}: {error}")
                time.sleep(0.05)
            self.calls += 1
            self.slowest_seconds = max(self.slowest_seconds, time.monotonic() - began)

    def new_rows(self, count):
        rows = {}
        for _ in range(count):
            rows[key_of(self.number, self.next_row)] = self.random.randbytes(self.random.randrange(1, 200))
            self.next_row += 1
        return rows

    def mutation(self, value):
        return data.SetCell("f", b"q", value, timestamp_micros=1_000_000)

    def write(self):
        [(key, value)] = self.new_rows(1).items()
        self.table.mutate_row(key, self.mutation(value), operation_timeout=CALL_SECONDS, **self.options)
        self.acknowledged[key] = value

    def write_several(self):
        rows = self.new_rows(5)
        entries = [data.RowMutationEntry(key, self.mutation(value)) for key, value in rows.items()]
        self.table.bulk_mutate_rows(entries, operation_timeout=CALL_SECONDS, **self.options)
        self.acknowledged.update(rows)

    def check(self, rows, wanted):
        found = {row.row_key: row.cells[0].value for row in rows}
        for key, value in wanted.items():
            if found.get(key) != value:
                raise Failure(f"LOST {key}: {'another value' if key in found else 'it is not there'}")

    def read(self):
        if not self.acknowledged:
            return
        number = self.random.randrange(self.next_row)
        key = key_of(self.number, number)
        row = self.table.read_row(key, operation_timeout=CALL_SECONDS, **self.options)
        if key in self.acknowledged:
            self.check([] if row is None else [row], {key: self.acknowledged[key]})

    def read_several(self):
        first = self.random.randrange(self.next_row + 1)
        query = data.ReadRowsQuery(row_ranges=data.RowRange(key_of(self.number, first), key_of(self.number, first + 50)))
        rows = self.table.read_rows(query, operation_timeout=CALL_SECONDS, **self.options)
        wanted = [key_of(self.number, number) for number in range(first, first + 50)]
        self.check(rows, {key: self.acknowledged[key] for key in wanted if key in self.acknowledged})


def fill(table):
    """Rows that a scan takes a while to give to a client that is slow."""
    value = bytes(100_000)
    table.bulk_mutate_rows([data.RowMutationEntry(f"z{i:04}".encode(), data.SetCell("f", b"q", value, timestamp_micros=1_000_000))
                            for i in range(300)], operation_timeout=CALL_SECONDS)


class HeldScan:
    """A read whose client takes nothing: bytes of HTTP/2 from a socket that is never read."""

    def __init__(self, port):
        # A plain client of gRPC's own, whose flow control stops the server when nobody reads.
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.http2.bdp_probe", 0)])
        request = bigtable_pb.ReadRowsRequest(
            table_name=f"projects/{PROJECT}/instances/{INSTANCE}/tables/{TABLE}")
        request.rows.row_ranges.append(bigtable_pb.RowRange(start_key_closed=b"z"))
        self.call = self.channel.unary_stream(
            "/google.bigtable.v2.Bigtable/ReadRows",
            request_serializer=bigtable_pb.ReadRowsRequest.serialize,
            response_deserializer=bigtable_pb.ReadRowsResponse.deserialize)(request, timeout=CALL_SECONDS)
        next(self.call)

    def close(self):
        self.call.cancel()
        self.channel.close()


def await_progress(workers):
    """Until each worker has had an answer: a client waits longer and longer before it tries again, and a restart is to meet all."""
    before = [worker.calls for worker in workers]
    end = time.monotonic() + 2 * CALL_SECONDS
    while any(worker.calls == count for worker, count in zip(workers, before)):
        if time.monotonic() > end:
            raise Failure("a call did not end")
        time.sleep(0.02)


def campaign(server, table, arguments, restarts, retries):
    """Returns the workers, after so many restarts; without retries, after the first restart that calls have failed in."""
    workers = [Worker(table, i if retries else i + 50, arguments.seed, retries) for i in range(arguments.workers)]
    chance = random.Random(f"{arguments.seed} restarts")
    for worker in workers:
        worker.start()
    slowest = 0.0
    try:
        for restart in range(restarts):
            if retries:
                await_progress(workers)
            time.sleep(chance.uniform(0.05, 0.5))
            scan = HeldScan(server.port) if retries and restart % SCAN_EVERY == SCAN_EVERY - 1 else None
            again = chance.uniform(0, 0.2) if restart % SECOND_SIGNAL_EVERY == SECOND_SIGNAL_EVERY - 1 else None
            if scan is not None and again is None:
                # It is there until the grace is over.
                took = server.end()
                if took < server.grace_seconds * 0.5:
                    print(f"restart {restart}: a scan that nobody takes ended after {took:.2f} s", file=sys.stderr)
            else:
                took = server.end(again)
            slowest = max(slowest, took)
            server.start()
            if scan is not None:
                scan.close()
            if restart % 50 == 49:
                print(f"{restart + 1} restarts, {sum(worker.calls for worker in workers)} calls", flush=True)
            failures = [failure for worker in workers for failure in worker.failures]
            if failures and (not retries or any("LOST" in failure for failure in failures)):
                break
    finally:
        for worker in workers:
            worker.stops.set()
        for worker in workers:
            worker.join(timeout=2 * CALL_SECONDS)
    if any(worker.is_alive() for worker in workers):
        raise Failure("a call did not end")
    print(f"{'with' if retries else 'without'} retries: {restarts} restarts at most, slowest end {slowest:.2f} s, "
          f"{sum(worker.calls for worker in workers)} calls, slowest {max(worker.slowest_seconds for worker in workers):.2f} s, "
          f"{sum(len(worker.failures) for worker in workers)} failed", flush=True)
    return workers


def check_all(table, workers):
    acknowledged = {}
    for worker in workers:
        acknowledged.update(worker.acknowledged)
    found = {row.row_key: row.cells[0].value for row in table.read_rows_stream(
        data.ReadRowsQuery(row_ranges=data.RowRange(b"w", b"x")), operation_timeout=CALL_SECONDS)}
    lost = [key for key, value in acknowledged.items() if found.get(key) != value]
    if lost:
        raise Failure(f"{len(lost)} of {len(acknowledged)} acknowledged writes are lost, such as {lost[0]}")
    return len(acknowledged)


def run(arguments, home):
    server = Server(arguments.sonde, home, arguments.grace)
    server.start()
    os.environ["BIGTABLE_EMULATOR_HOST"] = f"127.0.0.1:{server.port}"
    admin = bigtable.Client(project=PROJECT, admin=True)
    admin.instance(INSTANCE).table(TABLE).create(column_families={"f": None})
    try:
        with data.BigtableDataClient(project=PROJECT) as client, client.get_table(INSTANCE, TABLE) as table:
            fill(table)
            workers = campaign(server, table, arguments, arguments.restarts, retries=True)
            failures = [failure for worker in workers for failure in worker.failures]
            if failures:
                raise Failure(f"{len(failures)} calls failed: {failures[:3]}")
            rows = check_all(table, workers)
            print(f"{rows} acknowledged rows, all there", flush=True)
            control = campaign(server, table, arguments, CONTROL_RESTARTS_MAX, retries=False)
            if not any(worker.failures for worker in control):
                raise Failure(f"{CONTROL_RESTARTS_MAX} restarts met no call of clients that do not try again: the test sees nothing")
            server.end()
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sonde", type=pathlib.Path)
    parser.add_argument("--restarts", type=int, default=14)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--grace", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if not 1 <= arguments.workers <= 50 or arguments.restarts < 1 or arguments.grace < 0:
        parser.error("--workers must be from 1 to 50, --restarts at least 1, --grace at least 0")
    with tempfile.TemporaryDirectory() as name:
        try:
            run(arguments, pathlib.Path(name))
        except Failure as failure:
            sys.exit(f"FAILED: {failure}")


if __name__ == "__main__":
    import grpc
    from google.cloud import bigtable
    from google.cloud.bigtable import data
    from google.cloud.bigtable_v2 import types as bigtable_pb
    # The client's own figures lose count when its calls are tried again, and say so each time.
    logging.getLogger("google.cloud.bigtable.data._metrics").setLevel(logging.CRITICAL)
    main()
