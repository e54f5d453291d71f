#!/usr/bin/env python3
"""TSBS's own generator and loaders (InfluxDB's and VictoriaMetrics'), unchanged, against a server: every value that was
generated must be there.

usage: run.py --bin DIRECTORY [--hosts N]   (SONDE_HTTP is set)
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

# Each loader has a day of its own, as they write the same series.
LOADERS = {
    "influx": ("2016-01-01", ["--do-create-db=true", "--db-name=benchmark"]),
    "victoriametrics": ("2016-01-02", []),
}


def generate(binaries, kind, day, hosts, path):
    with open(path, "wb") as file:
        subprocess.run([f"{binaries}/tsbs_generate_data", "--use-case=cpu-only", "--seed=123", f"--scale={hosts}",
                        f"--timestamp-start={day}T00:00:00Z", f"--timestamp-end={day}T00:30:00Z", "--log-interval=10s",
                        f"--format={kind}"], stdout=file, stderr=subprocess.DEVNULL, check=True)


def sums_of(path):
    """What is in the file, by a parser of four lines: points and sum of each host and field."""
    sums = collections.defaultdict(lambda: [0, 0.0])
    for line in path.read_text().splitlines():
        tags, fields, _ = line.split(" ")
        host = dict(tag.split("=") for tag in tags.split(",")[1:])["hostname"]
        for field in fields.split(","):
            name, value = field.split("=")
            one = sums[host, name]
            one[0] += 1
            one[1] += float(value.rstrip("i"))
    return {of: tuple(one) for of, one in sums.items()}


def stored_sums(http, day):
    query = {"from": f"{day}T00:00:00Z", "to": f"{day}T01:00:00Z", "agg": ["count", "sum"], "group_by": "hostname"}
    request = urllib.request.Request(f"{http}/api/v1/series/cpu/query", data=json.dumps(query).encode())
    with urllib.request.urlopen(request, timeout=60) as response:
        answer = json.load(response)
    names = [column["name"] for column in answer["columns"]]
    sums = {}
    for row in answer["rows"]:
        values = dict(zip(names, row))
        for name in names:
            if name.startswith("count(") and values[name] > 0:
                field = name[len("count("):-1]
                sums[values["hostname"], field] = (values[name], values[f"sum({field})"])
    return sums


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--hosts", type=int, default=50)
    arguments = parser.parse_args()
    http = os.environ["SONDE_HTTP"].rstrip("/")
    with tempfile.TemporaryDirectory() as directory:
        for kind, (day, flags) in LOADERS.items():
            path = pathlib.Path(directory, kind)
            generate(arguments.bin, kind, day, arguments.hosts, path)
            urls = http if kind == "influx" else f"{http}/write"
            with open(path, "rb") as file:
                result = subprocess.run([f"{arguments.bin}/tsbs_load_{kind}", f"--urls={urls}", "--workers=2",
                                         "--batch-size=1000", *flags], stdin=file, capture_output=True, text=True)
            assert result.returncode == 0, result.stdout + result.stderr
            wanted = sums_of(path)
            found = stored_sums(http, day)
            assert len(wanted) == 10 * arguments.hosts
            assert found.keys() == wanted.keys(), f"{kind}: series that differ: {sorted(found.keys() ^ wanted.keys())[:5]}"
            differing = [(of, wanted[of], found[of]) for of in wanted if found[of] != wanted[of]]
            assert not differing, f"{kind}: {len(differing)} of {len(wanted)} differ, such as {differing[0]}"
            points = sum(count for count, _ in wanted.values())
            print(f"tsbs_load_{kind}: {points} values of {arguments.hosts} hosts")


if __name__ == "__main__":
    sys.exit(main())
