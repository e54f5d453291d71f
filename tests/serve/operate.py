#!/usr/bin/env python3
"""A server as an operator meets it: settings that are checked and shown, a log in both formats that is moved away, a level that is loaded
again, a drain with and without a second signal, and `sonde status`, `top` and `debug bundle` of a secure server.

usage: operate.py SONDE
"""

import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request

SOON_SECONDS = 20


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def soon(condition, text):
    end = time.monotonic() + SOON_SECONDS
    while not condition():
        check(time.monotonic() < end, text)
        time.sleep(0.05)


class Server:
    def __init__(self, sonde, *arguments):
        self.process = subprocess.Popen([sonde, "serve", "--port", "0", "--http-port", "0", *map(str, arguments)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if found := re.search(r"web page at (https?://\S+?)/?$", line.strip()):
                self.http = found[1]
            if "listening on" in line:
                return
        sys.exit(f"FAILED: the server did not start: {self.process.stderr.read()}")

    def signal(self, number):
        self.process.send_signal(number)

    def end(self):
        """Its exit status must be 0; returns what it logged to stderr."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        log = self.process.communicate(timeout=60)[1]
        check(self.process.returncode == 0, f"the server ended with {self.process.returncode}: {log[-2000:]}")
        return log

    def ready(self):
        """The status of /readyz and its text; 0: nobody answers."""
        try:
            with urllib.request.urlopen(f"{self.http}/readyz", timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""


def check_settings(sonde, home):
    def run(*arguments, status=0, **environment):
        done = subprocess.run([sonde, *map(str, arguments)], capture_output=True, text=True, timeout=60, cwd=home,
                              env={"PATH": "/usr/bin:/bin", **environment})
        check(done.returncode == status, f"{arguments} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout if status == 0 else done.stderr

    config = home / "sonde.yaml"
    config.write_text("port: 9000\nmemory: 128MiB\ngrace: 3s\n")
    check(run("serve", "--config", config, "--check-config") == "", "a check that succeeds says something")
    check(sorted(path.name for path in home.iterdir()) == ["sonde.yaml"], f"a check left {list(home.iterdir())}")
    for text, wanted in [("prot: 1\n", f"{config}:1: unknown key 'prot'"), ("grace: -1s\n", "--grace must be from 0 to 1h, but is -1s"),
                         ("auth: none.yaml\n", "none.yaml"), ("tls: {certificate: a.pem, key: a.key}\n", "a.pem"),
                         ("host: 0.0.0.0\n", "--insecure-allow-remote")]:
        (home / "wrong.yaml").write_text(text)
        said = run("serve", "--config", home / "wrong.yaml", "--check-config", status=2)
        check(wanted.replace("sonde.yaml", "wrong.yaml") in said, f"{text!r}: {said}")
    said = run("serve", "--check-config", status=2, SONDE_MEMORY="lots")
    check("SONDE_MEMORY" in said, f"a wrong variable: {said}")

    shown = run("config", "show", "--config", config, "--port", "7000", "--json", SONDE_GRACE="5s", SONDE_PORT="8000")
    lines = {line["key"]: (line["value"], line["from"]) for line in json.loads(shown)}
    for key, wanted in {"port": ("7000", "--port"), "grace": ("5s", "SONDE_GRACE"), "memory": (str(128 << 20), f"{config}:2"),
                        "host": ("127.0.0.1", "default"), "tls.key": ("", "default")}.items():
        check(lines[key] == wanted, f"config show has {key} {lines[key]}, not {wanted}")
    text = run("config", "show", "--config", config)
    check(re.search(rf"^grace: 3s +# {re.escape(str(config))}:3$", text, re.MULTILINE), f"config show prints {text}")


def check_log(sonde, home):
    config, log = home / "log.yaml", home / "server.log"
    write = lambda text: config.write_text(f"data_dir: {home / 'log-data'}\nlog_file: {log}\nlog_format: json\n{text}")
    write("")
    server = Server(sonde, "--config", config)
    lines = lambda path: [json.loads(line) for line in path.read_text().splitlines()]
    check(any("serving address" in line["msg"] for line in lines(log)), f"the log is {log.read_text()}")
    check(log.stat().st_mode & 0o777 == 0o600, f"the log has mode {log.stat().st_mode:o}")
    log.rename(home / "server.log.1")
    write("log_level: warn\nmemory: 256MiB\n")
    server.signal(signal.SIGHUP)
    soon(lambda: log.exists() and "count from the next start" in log.read_text(), "SIGHUP opens no new log, or tells of no settings")
    texts = [line["msg"] for line in lines(log)]
    check("settings: log_level=warn" not in texts or len(texts) <= 3, f"the level is not taken over: {texts}")
    check("settings: memory count from the next start" in texts, f"it is said: {texts}")
    write("nonsense: 1\n")
    server.signal(signal.SIGHUP)
    soon(lambda: "unknown key 'nonsense'" in log.read_text(), "wrong settings are not told of")
    server.end()
    check(not any(line["msg"].startswith("ending") for line in lines(log)), "a line of level info is in a log of level warn")

    plain = Server(sonde, "--data-dir", home / "log-data").end()
    for line in plain.splitlines():
        check(re.fullmatch(r'time=\S+Z level=\w+ msg="(?:[^"\\]|\\.)*"', line), f"a line of the log is {line}")


def check_drain(sonde, home):
    server = Server(sonde, "--data-dir", home / "drain", "--drain-delay", "10m")
    check(server.ready() == (200, "ready\n"), f"a server that serves says {server.ready()}")
    server.signal(signal.SIGTERM)
    soon(lambda: server.ready()[0] == 503, "a server that drains says that it is ready")
    check(json.loads(server.ready()[1])["error"]["message"] == "draining", f"it says {server.ready()}")
    said = subprocess.run([sonde, "status", "--http", server.http], capture_output=True, text=True, timeout=60)
    check(said.returncode == 1 and said.stdout.startswith("not ready: draining\n"), f"sonde status says {said}")
    request = urllib.request.Request(f"{server.http}/api/v1/sql", b'{"query": "SELECT 1 AS one"}', {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        check("one" in answer.read().decode(), "a server that drains does not answer")
    began = time.monotonic()
    server.signal(signal.SIGTERM)
    log = server.end()
    check(time.monotonic() - began < 5, "a second signal does not end the server at once")
    check('msg="ended"' in log, f"it did not end cleanly: {log[-1000:]}")

    server = Server(sonde, "--data-dir", home / "drain", "--drain-delay", "1s", "--grace", "20s")
    server.signal(signal.SIGTERM)
    began = time.monotonic()
    server.process.wait(timeout=60)
    took = time.monotonic() - began
    check(0.9 < took < 5, f"a server with nothing to do and a delay of 1 s took {took:.2f} s to end")
    server.end()


def check_debug(sonde, home):
    secure = home / "secure"
    run = lambda *arguments: subprocess.run([sonde, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    check(run("init", "--data-dir", secure).returncode == 0, "init failed")
    token = home / "token"
    token.write_text(run("auth", "create-token", "operator", "--expires", "1d", "--data-dir", secure).stdout)
    token.chmod(0o600)
    check(run("auth", "bind", "operator", "roles/bigtable.admin", "--data-dir", secure).returncode == 0, "bind failed")
    log = home / "secure.log"
    server = Server(sonde, "--config", secure / "sonde.yaml", "--log-file", log, "--log-level", "debug", "--slow-ms", "0")
    access = ["--http", server.http, "--ca", secure / "certificates/ca.pem", "--token-file", token]
    trusted = ssl.create_default_context(cafile=secure / "certificates/ca.pem")
    secret = token.read_text().strip()

    def post(path, body, kind="text/plain"):
        request = urllib.request.Request(server.http + path, body.encode(), {"authorization": f"Bearer {secret}", "content-type": kind})
        with urllib.request.urlopen(request, timeout=60, context=trusted) as answer:
            return answer.read().decode()

    post("/api/v2/write?bucket=b&org=o&precision=s", 'm,host=TAGMARKER text="CELLMARKER",value=4242.125 1700000000')
    post("/api/v1/sql", json.dumps({"query": "SELECT 'QUERYMARKER' AS text"}), "application/json")
    for wrong in ["/api/v1/slow", "/metrics"]:
        try:
            urllib.request.urlopen(server.http + wrong, timeout=20, context=trusted)
            sys.exit(f"FAILED: {wrong} is open to all")
        except urllib.error.HTTPError as error:
            check(error.code == 401, f"{wrong} answers nobody with {error.code}")

    status = run("status", *access, "--json")
    check(status.returncode == 0 and json.loads(status.stdout)["server"]["version"], f"status says {status}")
    without = run("status", *access[:4])
    check(without.returncode == 0 and without.stdout == "ready\n" and "no figures" in without.stderr, f"status without a token says {without}")
    top = run("top", *access, "--once", "--interval", "200ms")
    check(top.returncode == 0 and top.stdout.startswith("sonde ") and "table" in top.stdout, f"top says {top}")
    token.chmod(0o644)
    open_token = run("top", *access, "--once")
    check(open_token.returncode == 2 and "mode 0644" in open_token.stderr, f"a token for all is taken: {open_token}")
    token.chmod(0o600)

    with open(log, "a") as file:   # what no log should have, and some have
        file.write(f"authorization: Bearer {secret}\n{secret}\n{(secure / 'certificates/server.key').read_text()}\n")
    bundle = home / "bundle.tar"
    made = run("debug", "bundle", "--out", bundle, "--config", secure / "sonde.yaml", "--log", log, *access)
    check(made.returncode == 0 and made.stdout == f"{bundle}\n" and made.stderr == "", f"debug bundle says {made}")
    check(bundle.stat().st_mode & 0o777 == 0o600, "the bundle is for others, too")
    again = run("debug", "bundle", "--out", bundle, *access)
    check(again.returncode == 1, "a file that is there was replaced")
    with tarfile.open(bundle) as archive:
        files = {entry.name.removeprefix("sonde-debug/"): archive.extractfile(entry).read().decode() for entry in archive}
    check(set(files) == {"facts.json", "readyz.txt", "metrics.txt", "slow.ndjson", "overview.json", "settings.json", "inventory.txt",
                         "log-1.txt", "missing.txt"}, f"the bundle has {sorted(files)}")
    check(files["missing.txt"] == "nothing\n" and "sonde_build_info" in files["metrics.txt"], f"missing: {files['missing.txt']}")
    check("serving address" in files["log-1.txt"] and "[secret]" in files["log-1.txt"], "the log is another")
    check("CURRENT" in files["inventory.txt"] and "ExecuteQuery" or "sql" in files["slow.ndjson"], "inventory or slow calls lack")
    everything = bundle.read_bytes().decode(errors="replace")
    keys = [line for path in [secure / "certificates/server.key", secure / "admin-key.json"]
            for line in re.findall(r"[A-Za-z0-9+/]{40,64}", path.read_text())]
    check(len(keys) > 5, "the keys are not found")
    for text in [secret, secret.split("_", 2)[2], "PRIVATE KEY", "CELLMARKER", "4242.125", "TAGMARKER", "QUERYMARKER", *keys]:
        check(text not in everything, f"the bundle has {text[:20]}... in it")
    server.end()


def main():
    sonde = pathlib.Path(sys.argv[1]).resolve()
    os.umask(0o022)
    for one in [check_settings, check_log, check_drain, check_debug]:
        with tempfile.TemporaryDirectory() as name:
            one(sonde, pathlib.Path(name))


if __name__ == "__main__":
    main()
