"""Processes of a benchmark: servers with what they used, commands with what they printed, and a clock over all."""

import json
import os
import pathlib
import queue
import re
import resource
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time

READY_SECONDS = 60
STOP_SECONDS = 120


class Failure(Exception):
    """A server or a command did not do what it should."""


class OutOfTime(Failure):
    """The run has no time left for this."""


def talk(text):
    print(text, file=sys.stderr, flush=True)


class Clock:
    """How long all of it may take."""

    def __init__(self, seconds):
        self.start = time.monotonic()
        self.seconds = seconds

    def elapsed(self):
        return time.monotonic() - self.start

    def left(self):
        left = self.seconds - self.elapsed()
        if left <= 0:
            raise OutOfTime(f"the {self.seconds:.0f} s of this run are over")
        return left

    def tell(self, text):
        minutes, seconds = divmod(int(self.elapsed()), 60)
        talk(f"[{minutes:02}:{seconds:02}] {text}")


def children_disk_bytes():
    """What the kernel says that children, those that have ended, had written to a disk."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_oublock * 512


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run_json(command, clock=None):
    """What a command prints as JSON."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              timeout=clock.left() if clock else None)
    except subprocess.TimeoutExpired:
        raise OutOfTime(f"{shlex.join(map(str, command))}: no time was left") from None
    if done.returncode != 0:
        raise Failure(f"{shlex.join(map(str, command))}: status {done.returncode}\n{done.stderr.strip()}")
    return json.loads(done.stdout)


class Server:
    """A server process; it is stopped by its own process id when the `with` ends."""

    def __init__(self, command, log):
        self.command = [str(word) for word in command]
        self.log = log
        self.peak_bytes = None  # of its memory
        self.disk_bytes = None  # that it had written to a disk, when it has ended

    def __enter__(self):
        with open(self.log, "wb") as log:
            try:
                self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=log)
            except OSError as error:
                raise Failure(f"cannot start {self.command[0]}: {error}") from error
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.peak_bytes = self.read_peak()
            before = children_disk_bytes()
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.disk_bytes = children_disk_bytes() - before
        self.process.stdout.close()

    def read_peak(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        return None

    def fail(self, what):
        tail = pathlib.Path(self.log).read_text(errors="replace").strip().splitlines()[-5:]
        raise Failure("\n".join([f"{shlex.join(self.command)}: {what}"] + tail))

    def wait_for_lines(self, patterns):
        """The first group of the first line on stdout that matches, of each; the rest of stdout is read and forgotten."""
        lines = queue.Queue()

        def read():
            for line in self.process.stdout:
                lines.put(line.decode(errors="replace"))
            lines.put(None)

        threading.Thread(target=read, daemon=True).start()
        deadline = time.monotonic() + READY_SECONDS
        found = {}
        while len(found) < len(patterns):
            try:
                line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                self.fail(f"not ready after {READY_SECONDS} s")
            if line is None:
                self.fail(f"ended with status {self.process.wait()} before it was ready")
            for pattern in patterns:
                match = re.search(pattern, line)
                if match:
                    found.setdefault(pattern, match.group(1))
        return [found[pattern] for pattern in patterns]

    def wait_for_port(self, port):
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                self.fail(f"ended with status {self.process.returncode} before it was ready")
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.fail(f"not ready after {READY_SECONDS} s")


class SondeServer(Server):
    """`sonde serve` on free ports of the loopback interface."""

    def __init__(self, sonde, data, log, durability="fsync", memory="1GiB", flags=()):
        super().__init__([sonde, "serve", "--host", "127.0.0.1", "--port", "0", "--http-port", "0", "--data-dir", data,
                          "--durability", durability, "--memory", memory, *flags], log)

    def __enter__(self):
        super().__enter__()
        try:
            self.endpoint, http = self.wait_for_lines([r"sonde: listening on (\S+)", r"web page at https?://([^/\s]+)"])
        except Failure:
            self.__exit__()
            raise
        self.http_endpoint = http
        return self


def directory_bytes(directory):
    """The lengths of all files, but for the room that is kept for a full disk."""
    total = 0
    for path in pathlib.Path(directory).rglob("*"):
        try:
            if path.is_file() and path.name != "BALLAST":
                total += path.stat().st_size
        except OSError:
            continue  # gone meanwhile
    return total
