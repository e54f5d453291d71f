#!/usr/bin/env python3
"""`sonde keyviz` against a live server: a declared series is loaded and one row of it read again and again; what the
terminal, --json and --png then show is looked at, and the declaration of a finding's cure given to `sonde series check`.
Then keys in the order of time, a sudden increase and full scans are made, and asked for over HTTP: of their own time and
of another, before a restart and after it.

usage: keyviz_command.py SONDE
"""

import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib

DECLARATION = """\
series: machines
table: MACHINES
tags: { host: string }
fields: { cpu: double }
key: [host, bucket]
bucket: day
retention: { max_age: 3650d }
"""
METERS = """\
series: meters
table: METERS
tags: { meter: { type: int, width: 6 } }
fields: { kwh: double }
bucket: 1s
key: [{ bucket: 1s, format: epoch_s }, meter]
retention: { max_age: 30d }
"""
HOSTS = 60
QUIET_SECONDS = 12  # each part of the increase
STEPS_PER_SECOND = 4
HOT_ROW = "host042#20240101"
READS = 900


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def run(sonde, *arguments, status=0):
    done = subprocess.run([sonde, *arguments], capture_output=True, timeout=60)
    check(done.returncode == status, f"{arguments}: status {done.returncode}, not {status}\n{done.stderr.decode()}")
    return done.stdout if status == 0 else done.stderr.decode()


def start(sonde, directory):
    server = subprocess.Popen([sonde, "serve", "--port", "0", "--http-port", "0", "--durability", "os", "--data-dir",
                               str(directory / "data")], stdout=subprocess.PIPE, text=True)
    http = None
    for line in server.stdout:
        if found := re.search(r"web page at http://(\S+)/", line):
            http = found[1]
        if found := re.search(r"listening on (\S+)", line):
            return server, http, found[1]
    sys.exit("FAILED: the server did not start")


def pixels_of(png):
    """(width, height, the set of colours), of a PNG whose every part is checked."""
    check(png.startswith(b"\x89PNG\r\n\x1a\n"), "no PNG")
    at, names, packed, header = 8, [], b"", None
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        check(struct.unpack(">I", png[at + 8 + size:at + 12 + size])[0] == zlib.crc32(name + body), f"checksum of {name}")
        names.append(name)
        header = body if name == b"IHDR" else header
        packed += body if name == b"IDAT" else b""
        at += 12 + size
    check(names[0] == b"IHDR" and names[-1] == b"IEND" and at == len(png), f"parts {names}")
    width, height, depth, kind = struct.unpack(">IIBB", header[:10])
    check((depth, kind) == (8, 2), f"depth {depth}, colour type {kind}")
    raw = zlib.decompress(packed)
    check(len(raw) == height * (1 + 3 * width), f"{len(raw)} bytes of {width} x {height} pixels")
    lines = [raw[y * (1 + 3 * width):(y + 1) * (1 + 3 * width)] for y in range(height)]
    check(all(line[0] == 0 for line in lines), "a filter")
    return width, height, {line[x:x + 3] for line in lines for x in range(1, len(line), 3)}


def load(sonde, directory, http, endpoint):
    (directory / "machines.yaml").write_text(DECLARATION)
    points = ["host,time,cpu"] + [f"host{host:03},2024-01-01T{hour:02}:00:00Z,{host + hour}"
                                  for host in range(HOSTS) for hour in range(10)]
    (directory / "points.csv").write_text("\n".join(points) + "\n")
    run(sonde, "series", "load", str(directory / "machines.yaml"), str(directory / "points.csv"), "--endpoint", endpoint)
    rows = f"http://{http}/api/v1/tables/sonde/sonde/MACHINES/rows?prefix={HOT_ROW.split('#')[0]}&limit=1"
    time.sleep(2.5)  # the map divides itself by the keys in its first seconds
    for _ in range(READS):
        urllib.request.urlopen(rows).read()
    time.sleep(2.5)


def look(sonde, directory, http):
    terminal = run(sonde, "keyviz", "MACHINES", "--http", http, "--metric", "reads").decode()
    check("projects/sonde/instances/sonde/tables/MACHINES: reads" in terminal, terminal)
    check(re.search(r"host\d\d\d#\S* .*[.:=+*#%@]", terminal), f"nothing in the map:\n{terminal}")
    check(re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +\d{4}-\d\d-\d\d", terminal), f"no times:\n{terminal}")
    check(re.search(r"Shades: '.*@' from 0 to [\d.e+]+ reads a second", terminal), f"no scale:\n{terminal}")
    check("Hot single row: reads" in terminal and HOT_ROW in terminal, f"no finding:\n{terminal}")
    check("(series machines)" in terminal and "    | series: machines" in terminal, f"no declaration:\n{terminal}")

    answer = json.loads(run(sonde, "keyviz", "--http", http, "--json", "--metric", "reads"))
    heat = answer["heatmap"]
    check(answer["table"].endswith("/MACHINES"), answer["table"])
    check(len(heat["values"]) == heat["columns"] * len(heat["row_starts"]), "the size of the map")
    check(sum(heat["values"]) >= READS, f"{sum(heat['values'])} reads")
    hot = [one for one in answer["findings"] if one["pattern"] == "hot_row"]
    check(len(hot) == 1 and hot[0]["start_key"] == HOT_ROW, answer["findings"])
    (directory / "cured.yaml").write_text(hot[0]["declaration"])
    run(sonde, "series", "check", str(directory / "cured.yaml"))

    sizes = json.loads(run(sonde, "keyviz", "MACHINES", "--http", http, "--json", "--metric", "size"))["heatmap"]
    check(sizes["columns"] == 1 and sum(sizes["values"]) > 0, "no sizes")

    picture = directory / "map.png"
    run(sonde, "keyviz", "MACHINES", "--http", http, "--png", str(picture))
    width, height, colours = pixels_of(picture.read_bytes())
    check(width > 100 and height > 20, f"{width} x {height}")
    check(len(colours) > 2, f"nearly blank: {colours}")  # nothing, what was written once, and the hot row


def ask(http, path, data=None, method="GET", agent="keyviz-test"):
    request = urllib.request.Request(f"http://{http}/api/v1/{path}", data=data, method=method,
                                     headers={"User-Agent": agent})
    return json.loads(urllib.request.urlopen(request).read())


def findings(http, table, window):
    """{pattern: texts}"""
    found = {}
    start, end = window
    for one in ask(http, f"tables/sonde/sonde/{table}/findings?from={start}&to={end}")["findings"]:
        found.setdefault(one["pattern"], []).append(one["text"])
    return found


def make_patterns(sonde, directory, http, endpoint):
    """The window in which they were made."""
    ask(http, "series/meters", METERS.encode(), "PUT")
    start = int(time.time())
    for step in range(2 * QUIET_SECONDS * STEPS_PER_SECOND):
        due = start + 1 + step / STEPS_PER_SECOND
        time.sleep(max(0, due - time.time()))
        points = [json.dumps({"meter": step * 40 + meter, "time": int(time.time() * 1000), "kwh": 1}) for meter in range(40)]
        ask(http, "series/meters/write?time_format=epoch_ms", "\n".join(points).encode(), "POST")
        ask(http, f"tables/sonde/sonde/MACHINES/rows?limit={5 if step < QUIET_SECONDS * STEPS_PER_SECOND else 59}")
    end = int(time.time()) + 1
    ask(http, "series/meters/query?limit=100000", agent="nightly-report")
    (directory / "meters.yaml").write_text(METERS)
    run(sonde, "series", "query", str(directory / "meters.yaml"), "--endpoint", endpoint)
    time.sleep(2.5)
    return start, end


def judge_patterns(http, window):
    start, end = window
    meters = findings(http, "METERS", (start, end + 5))
    check("sequential_keys" in meters, meters)
    scans = "\n".join(meters.get("full_scan", []))
    for who in ("nightly-report from 127.0.0.1", "sonde series query from 127.0.0.1"):
        check(f"{who} has read METERS" in scans, meters)
    check("sudden_increase" in findings(http, "MACHINES", window), findings(http, "MACHINES", window))
    for table in ("METERS", "MACHINES"):
        check(findings(http, table, (start - 400, start - 300)) == {}, f"{table} before it was there")
    everywhere = ask(http, f"findings?from={start}&to={end}")["findings"]  # no idle end: it would be no increase
    tables = {one["table"].split("/")[-1] for one in everywhere}
    check(tables == {"METERS", "MACHINES"}, tables)
    check(ask(http, f"findings?from={start - 400}&to={start - 300}")["findings"] == [], "before")


def ask_wrongly(sonde, directory, http, endpoint):
    error = run(sonde, "keyviz", "--http", endpoint, status=1)
    check("the port speaks no HTTP" in error and "the Bigtable port is another one" in error, f"takes the Bigtable port: {error}")
    check("there are MACHINES" in run(sonde, "keyviz", "NONE", "--http", http, status=1), "names the tables")
    check("must be one of ops" in run(sonde, "keyviz", "--http", http, "--metric", "colour", status=2), "names metrics")
    check("--last must be a time" in run(sonde, "keyviz", "--http", http, "--last", "soon", status=2), "says a time")
    check("cannot be written" in run(sonde, "keyviz", "--http", http, "--png", str(directory / "no" / "x.png"), status=1),
          "says what cannot be written")
    run(sonde, "keyviz", "--http", "127.0.0.1:1", status=1)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sonde = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="sonde-keyviz-") as name:
        directory = pathlib.Path(name)
        server, http, endpoint = start(sonde, directory)
        try:
            load(sonde, directory, http, endpoint)
            look(sonde, directory, http)
            ask_wrongly(sonde, directory, http, endpoint)
            window = make_patterns(sonde, directory, http, endpoint)
            judge_patterns(http, window)
            server.terminate()
            check(server.wait(30) == 0, "the server ended badly")
            server, http, endpoint = start(sonde, directory)
            judge_patterns(http, window)
        finally:
            server.terminate()
            server.wait(30)
    print("sonde keyviz: terminal, JSON, PNG and errors are right")


if __name__ == "__main__":
    main()
