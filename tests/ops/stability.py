#!/usr/bin/env python3
"""docs/stability.md beside the program: the metrics that the source names, the keys of a log line, exit statuses, members of JSON.

usage: stability.py SONDE ROOT
"""

import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

MAY_CHANGE = ("sonde_rocksdb_", "sonde_memory_engine_")


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def blocks(text):
    return {name: lines.split() for name, lines in re.findall(r"^```text (\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)}


def members(value, prefix=""):
    """The paths of all members: name, name[]member of objects in lists, name.member of objects."""
    found = []
    for name, inner in value.items():
        found.append(prefix + name)
        if isinstance(inner, list) and inner and isinstance(inner[0], dict):
            found += members(inner[0], f"{prefix}{name}[]")
        elif isinstance(inner, dict) and name != "load":   # whose members are kinds of load
            found += members(inner, f"{prefix}{name}.")
    return found


def compare(what, listed, found):
    needed = [name for name in listed if not name.endswith("?")]
    known = {name.removesuffix("?") for name in listed}
    check(set(needed) <= set(found), f"{what}: the program lacks {sorted(set(needed) - set(found))}")
    check(set(found) <= known, f"{what}: docs/stability.md lacks {sorted(set(found) - known)}")


def metrics_of_source(root):
    names = set()
    for path in (root / "src").rglob("*.cc"):
        place = path.relative_to(root / "src").as_posix()
        if place.endswith("_test.cc") or place.startswith(("cli/", "bench/")):
            continue
        names |= set(re.findall(r'"((?:sonde|process)_[a-z0-9_]+)"', path.read_text(encoding="utf-8")))
    return {name for name in names if not name.startswith(MAY_CHANGE)}


def get(url, body=None):
    with urllib.request.urlopen(urllib.request.Request(url, body, {"content-type": "application/json"}), timeout=60) as answer:
        return answer.read().decode()


def main():
    sonde, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    listed = blocks((root / "docs/stability.md").read_text(encoding="utf-8"))
    compare("metrics", listed["metrics"], metrics_of_source(root))

    def run(*arguments, status=0):
        done = subprocess.run([sonde, *arguments], capture_output=True, text=True, timeout=60)
        check(done.returncode == status, f"sonde {' '.join(map(str, arguments))} ended with {done.returncode}, not {status}: {done.stderr}")
        return done.stdout

    with tempfile.TemporaryDirectory() as name:
        log = pathlib.Path(name) / "log"
        server = subprocess.Popen([sonde, "serve", "--port", "0", "--http-port", "0", "--data-dir", f"{name}/data", "--log-format", "json",
                                   "--log-file", log, "--slow-ms", "0"], stdout=subprocess.PIPE, text=True)
        try:
            for line in server.stdout:
                if found := re.search(r"web page at (http://\S+)/$", line.strip()):
                    http = found[1]
                if "listening on" in line:
                    break
            place = http.removeprefix("http://")
            get(f"{http}/api/v2/write?bucket=b&org=o&precision=s", b"m,host=a value=1 1700000000")
            get(f"{http}/api/v1/sql", b'{"query": "SELECT 1"}')
            names = set(re.findall(r"^# TYPE (\S+)", get(f"{http}/metrics"), re.MULTILINE))
            unknown = {one for one in names if not one.startswith(MAY_CHANGE)} - set(listed["metrics"])
            check(names and not unknown, f"/metrics has {unknown}, which docs/stability.md lacks")
            compare("sonde top", listed["top"], members(json.loads(run("top", "--http", place, "--once", "--json", "--interval", "1s"))) + [
                one for one in members(json.loads(run("status", "--http", place, "--json"))["server"]) if one.startswith("methods[]")])
            compare("sonde status", listed["status"], json.loads(run("status", "--http", place, "--json")))
            compare("sonde config show", listed["config"], json.loads(run("config", "show", "--json"))[0])
            slow = False
            for line in get(f"{http}/api/v1/slow").splitlines():
                compare("/api/v1/slow", listed["slow"], json.loads(line))
                slow = True
            check(slow, "there is no slow call")
            try:
                get(f"{http}/api/v1/none")
                sys.exit("FAILED: there is something at /api/v1/none")
            except urllib.error.HTTPError as error:
                compare("errors", listed["error"], members(json.loads(error.read())))
        finally:
            server.send_signal(signal.SIGTERM)
            check(server.wait(timeout=60) == 0, f"sonde serve ended with {server.returncode}")
        run("status", "--http", place, "--quiet", status=1)
        run("status", "--http", "nowhere", status=2)
        run("serve", "--no-such-flag", status=2)
        order = [name.removesuffix("?") for name in listed["log"]]
        for line in log.read_text(encoding="utf-8").splitlines():
            keys = list(json.loads(line))
            compare("the log", listed["log"], keys)
            check(keys == sorted(keys, key=order.index), f"a line of the log is {line}")
        check(log.stat().st_size > 0, "the log is empty")


if __name__ == "__main__":
    main()
