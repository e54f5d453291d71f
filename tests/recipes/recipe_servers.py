"""Servers and tools that the recipes of the documents run beside: see run.py."""

import contextlib
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import time
import urllib.parse
import urllib.request

SOON_SECONDS = 40
# Nothing of the caller's own leads elsewhere.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("SONDE_", "BIGTABLE_", "GOOGLE_", "GRPC_"))} | {"SONDE_ALLOW_ROOT": "true"}


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def soon(condition, text, seconds=SOON_SECONDS):
    end = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except OSError:
            pass   # not there yet
        if time.monotonic() > end:
            sys.exit(f"FAILED: {text() if callable(text) else text}")
        time.sleep(0.2)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run(*command, seconds=120, **options):
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, **options)
    check(done.returncode == 0, f"{[str(part)[:200] for part in command]} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done.stdout


def get(url, body=None, headers=None, context=None):
    with urllib.request.urlopen(urllib.request.Request(url, body, headers or {}), timeout=30, context=context) as answer:
        return answer.read()


class Process:
    """A program that runs until the end of a `with`."""

    def __init__(self, log, *command, env=None):
        self.log = pathlib.Path(log)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "wb") as file:
            self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                            env={**ENVIRONMENT, **(env or {})})

    def text(self):
        return self.log.read_text(errors="replace")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Server(Process):
    """A server; `address` of gRPC, `http` with a slash at its end, and an `environment` for commands that ask it."""

    def __init__(self, sonde, work, *arguments):
        work.mkdir(parents=True, exist_ok=True)
        more = arguments or ("--data-dir", work / "data")
        super().__init__(work / "sonde.log", sonde, "serve", "--port", 0, "--http-port", 0, *more)
        found = {}

        def listens():
            check(self.process.poll() is None, f"the server does not start: {self.text()}")
            found.update(re.findall(r"sonde: (web page at|listening on) (\S+)", self.text()))
            return len(found) == 2

        soon(listens, lambda: f"the server does not start: {self.text()}")
        self.address, self.http = found["listening on"], found["web page at"]
        self.environment = {**ENVIRONMENT, "SONDE_ENDPOINT": self.address}
        self.context, self.headers = None, {}

    def series(self):
        """The names of its series."""
        answer = json.loads(get(f"{self.http}api/v1/series", headers=self.headers, context=self.context))
        return {one["name"] for one in answer["series"]}


class SecureServer(Server):
    """One of `sonde init`, on loopback, whose accounts the test makes."""

    def __init__(self, sonde, work):
        self.sonde, self.data = sonde, work / "data"
        work.mkdir(parents=True, exist_ok=True)
        run(sonde, "init", "--data-dir", self.data, env=ENVIRONMENT)
        super().__init__(sonde, work, "--config", self.data / "sonde.yaml")
        self.http = self.http.replace("127.0.0.1", "localhost")
        self.ca = self.data / "certificates/ca.pem"
        self.context = ssl.create_default_context(cafile=self.ca)
        self.grant("look", "roles/bigtable.reader")
        self.headers = {"Authorization": f"Bearer {self.token('look')}"}

    def auth(self, *arguments):
        printed = run(self.sonde, "auth", *arguments, "--data-dir", self.data, env=ENVIRONMENT)
        self.process.send_signal(1)   # SIGHUP: the server reads the file again
        time.sleep(0.5)
        return printed

    def grant(self, name, role):
        self.auth("bind", name, role)

    def token(self, name):
        return self.auth("create-token", name, "--expires", "1d").strip()

    def key(self, name):
        file = self.data / f"{name}-key.json"
        self.auth("create-key", name, "--out", file)
        return file


@contextlib.contextmanager
def prometheus(work, config, port=None):
    """A Prometheus; its address."""
    port = port or free_port()
    with Process(work / "prometheus.log", "prometheus", f"--config.file={config}", f"--storage.tsdb.path={work}/prometheus",
                 f"--web.listen-address=127.0.0.1:{port}") as process:
        soon(lambda: get(f"http://127.0.0.1:{port}/-/ready"), lambda: f"Prometheus does not start: {process.text()[-2000:]}")
        yield f"http://127.0.0.1:{port}"


def ask(address, expression):
    """The values of an expression now."""
    answer = json.loads(get(f"{address}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"))
    return [one["value"][1] for one in answer["data"]["result"]]
