"""A server of one's own to be abused, and what tests of it share."""

import json
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from raw_http2 import Connection, field

DATA_API = "/google.bigtable.v2.Bigtable/"
ADMIN_API = "/google.bigtable.admin.v2.BigtableTableAdmin/"
INSTANCE = b"projects/p/instances/i"
TABLE = INSTANCE + b"/tables/t"
CALL_SECONDS_MAX = 2.0
REFUSED_SECONDS_MAX = 1.0
MIB = 1 << 20
PEAK_MIB_OVER_MEMORY = 128  # what the peak may be above --memory


class Server:
    """With a table `t`, which has a family `f` and a row `row`."""

    def __init__(self, sonde, memory="256MiB", files_max=None):
        self.directory = tempfile.TemporaryDirectory(prefix="sonde_abuse_")
        self.memory_mib = int(float(memory[:-3]) * (1024 if memory.endswith("GiB") else 1))
        self.limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files_max, files_max))) if files_max else None
        self.command = [sonde, "serve", "--port", "0", "--http-port", "0", "--data-dir", self.directory.name + "/data",
                        "--durability", "os", "--memory", memory, "--log-level", "error", "--grace", "5s"]
        self.begin()
        other = Connection(self.port)
        assert create_table(other, b"t", [b"f"]), "the table is made"
        assert write(other, b"row"), "a row is written"
        other.close()

    def begin(self):
        """Starts it, again on the data that it left."""
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True, preexec_fn=self.limit)
        self.http = self.port = None
        for line in self.process.stdout:
            if page := re.search(r"web page at (http://\S+?)/?$", line.strip()):
                self.http = page[1]
            if place := re.search(r"listening on \S+:(\d+)", line):
                self.port = int(place[1])
                break
        expect(self.port, "the server starts")
        self.http_port = int(self.http.rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.directory.cleanup()

    def memory(self, name):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(name + r":\s+(\d+) kB", status)[1]) * 1024

    def peak_mib(self):
        return self.memory("VmHWM") // MIB

    def expect_peak(self):
        """Within what --memory promises (docs/compatibility.md, "Overload"), with room for a busy machine."""
        peak = self.peak_mib()
        expect(peak <= self.memory_mib + PEAK_MIB_OVER_MEMORY, f"the peak is {peak} MiB with {self.memory_mib} MiB of --memory")

    def get(self, path, seconds=10):
        try:
            with urllib.request.urlopen(self.http + path, timeout=seconds) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def refused(self, reason):
        match = re.search(r'sonde_grpc_refused_total\{reason="%s"\} (\d+)' % reason, self.get("/metrics")[1])
        return int(match[1]) if match else 0

    def end(self):
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)
        return time.monotonic() - begin


class Bystander:
    """Another client, in a process of its own: point reads, /healthz and /readyz every 50 ms, until `end`, which judges."""

    def __init__(self, server):
        program = pathlib.Path(__file__).with_name("bystander.py")
        self.process = subprocess.Popen([sys.executable, program, str(server.port), str(server.http_port)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        expect(self.process.stdout.readline() == "begun\n", "the bystander begins")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        told, _ = self.process.communicate(timeout=60)  # which closes its input
        self.found = json.loads(told)
        if kind is None:
            self.judge()

    def judge(self):
        for door, found in self.found.items():
            expect(found["answered"] > 0, f"the bystander is answered by {door}")
            expect(found["slowest_s"] <= CALL_SECONDS_MAX, f"{door}: the bystander's slowest request took {found['slowest_s']:.2f} s")
            expect(found["refused_s"] <= REFUSED_SECONDS_MAX,
                   f"{door}: the bystander was refused for {found['refused_s']:.2f} s: {found['refusal']}")


def create_table(connection, name, families):
    made = b"".join(field(3, field(1, family) + field(2, b"")) for family in families)
    return connection.ask(ADMIN_API + "CreateTable", field(1, INSTANCE) + field(2, name) + field(3, made))


def set_cell(qualifier, value):
    """A mutation of family `f`."""
    return field(1, field(1, b"f") + field(2, qualifier) + field(4, value))


def write(connection, row, value=b"v"):
    return connection.ask(DATA_API + "MutateRow", field(1, TABLE) + field(2, row) + field(3, set_cell(b"q", value)))


READ = field(1, TABLE) + field(2, field(1, b"row"))


def read(connection):
    return connection.ask(DATA_API + "ReadRows", READ)


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def run_tests(tests, arguments):
    """`arguments`: SONDE, and the names of those to run; all when there are none."""
    failed = 0
    for test in tests:
        if len(arguments) > 1 and test.__name__ not in arguments[1:]:
            continue
        begin = time.monotonic()
        try:
            test(arguments[0])
            outcome = "ok"
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            outcome = f"FAILED: {type(error).__name__}: {error}"
            failed += 1
        print(f"{test.__name__}: {outcome} ({time.monotonic() - begin:.1f} s)", flush=True)
    sys.exit(1 if failed else 0)
