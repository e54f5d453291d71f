#!/usr/bin/env python3
"""What `sonde series` says where a declaration, its tables and its files do not agree.

usage: messages.py SONDE
"""
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

HEAD = "series: s\ntags: { host: string }\nfields: { x: int }\nkey: [host, bucket]\nbucket: day\nretention: { max_versions: all }\n"
CSV = "host,time,x\na,2021-03-05T00:00:00Z,1\n"


class Series:
    """Commands in a directory, with a data directory of their own."""

    def __init__(self, sonde, directory):
        self.sonde, self.directory = sonde, pathlib.Path(directory)

    def write(self, name, text):
        (self.directory / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    def run(self, *arguments, status, says="", has_tables=True):
        access = ["--data-dir", "data"] if has_tables else []
        result = subprocess.run([self.sonde, "series", *arguments, *access], cwd=self.directory, capture_output=True,
                                text=True, timeout=120, check=False)
        said = result.stdout + result.stderr
        assert result.returncode == status, f"{arguments}: exit status {result.returncode}, not {status}: {said}"
        assert says in said, f"{arguments}: '{says}' is not in: {said}"
        return result.stdout


def check_contradictions(series):
    own = series.write("s.yaml", HEAD)
    other = series.write("unwritten.yaml", HEAD.replace("series: s", "series: unwritten"))
    series.run("load", own, series.write("s.csv", CSV), status=0)
    series.run("query", other, status=1, says="table 'unwritten' is not there: no point of it was ever written here")
    assert "2021-03-05" in series.run("query", own, "--format", "csv", status=0)
    for change, what in {"layout: blob": "the layout", "family: z": "the family of field 'x'"}.items():
        other = series.write("other.yaml", HEAD + change + "\n")
        says = f"{what} is not the one that the points in table 's' were written with"
        series.run("query", other, status=1, says=says)
        series.run("load", other, "s.csv", status=1, says=says)
    series.run("query", series.write("same.yaml", "# The same.\n" + HEAD), status=0, says="2021-03-05")


def check_unknown_fields(series):
    wide = series.write("wide.csv", "host,time,x,volt\nb,2021-03-05T00:00:00Z,1,230\nb,2021-03-06T00:00:00Z,1,\n")
    series.run("load", "s.yaml", wide, "--strict", status=2, says="line 1: column 'volt' is not in series 's'")
    series.run("load", "s.yaml", wide, status=0, says="columns that the series does not have: volt; 1 value was passed over")
    lines = [{"host": "c", "time": f"2021-03-0{day}T00:00:00Z", "x": 1} for day in (5, 6)]
    lines[1]["volt"] = 230
    lines = series.write("wide.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    series.run("load", "s.yaml", lines, "--strict", status=1, says="wide.jsonl:2: member 'volt' is not in series 's'")
    assert series.run("query", "s.yaml", "--where", "host=c", "--format", "csv", status=0).count("\n") == 1
    series.run("load", "s.yaml", lines, status=0, says="volt; 1 value was passed over")
    bad = series.write("nan.jsonl", '{"host": "c", "time": "2021-03-05T00:00:00Z", "x": NaN}\n')
    series.run("load", "s.yaml", bad, status=1, says="nan.jsonl:1: not JSON: 'NaN' at byte")


def check_drafts(series):
    stocks = "symbol;when;price\nMSFT;Jan 1 2000;39.81\nIBM;Jan 1 2000;100.5\nMSFT;Feb 1 2000;36.35\n"
    packed = series.write("stocks.csv.gz", gzip.compress(stocks.encode()))
    draft = series.run("init", packed, "--separator", ";", status=0, says="series: stocks\n", has_tables=False)
    series.run("check", series.write("stocks.yaml", draft), status=0, says="nothing found", has_tables=False)
    series.run("load", "stocks.yaml", packed, "--separator", ";", status=0, says="3 points")
    american = series.write("us.csv", stocks.replace("Jan 1 2000", "1/2/2000").replace("Feb 1 2000", "2/2/2000").replace(";", ","))
    series.run("init", american, status=2, says="say --time-format", has_tables=False)
    series.run("init", american, "--time-format", "%m/%d/%Y", status=0, says='format: "%m/%d/%Y"', has_tables=False)
    # As Mauna Loa's: monthly, from 1958, and one series.
    months = [f"{year}-{month:02}-01" for year in range(1958, 2021) for month in range(1, 13)]
    co2 = series.write("co2.csv", "Date,CO2,adjusted CO2\n" + "".join(
        f"{month},{315 + i / 7:.2f},{314 + i / 7:.2f}\n" for i, month in enumerate(months)))
    draft = series.run("init", co2, status=0, says="zone: UTC, origin: 0001-01-01 }", has_tables=False)
    series.run("check", series.write("co2.yaml", draft), status=0, says="takes times of the years 0001 to 9999", has_tables=False)
    series.run("load", "co2.yaml", co2, status=0, says=f"{len(months)} points")
    lines = series.run("query", "co2.yaml", "--to", "1958-03-02", "--field", "CO2", "--format", "csv", status=0).split()
    assert lines == ["time,CO2", "1958-01-01T00:00:00Z,315", "1958-02-01T00:00:00Z,315.14", "1958-03-01T00:00:00Z,315.29"], lines
    series.run("load", series.write("now.yaml", draft.replace(", origin: 0001-01-01", "").replace("series: co2", "series: now")),
               co2, status=1, says="144 lines refused")


def check_directories(series):
    """Only what writes points makes a data directory."""
    own = series.write("s.yaml", HEAD)
    for command in (["query", own], ["show"], ["show", "s"], ["rebuild", own], ["rewrite", own], ["query", "stored:s"]):
        series.run(*command, "--data-dir", "typo", status=2, has_tables=False,
                   says="--data-dir: typo is no data directory of Sonde (it has no file FORMAT)")
        assert not (series.directory / "typo").exists(), command


def check_full_output(series):
    """What is printed is there, or the command fails."""
    csv = series.write("s.csv", CSV)
    # The bucket in front of the key is worth a warning, so that there is something to print.
    series.write("warned.yaml", HEAD.replace("[host, bucket]", "[bucket, host]"))
    for command in (["show", "--data-dir", "data"], ["show", "s", "--data-dir", "data"], ["init", csv], ["check", "s.yaml"],
                    ["check", "warned.yaml", "--json"], ["explain", "s.yaml"], ["query", "s.yaml", "--data-dir", "data"],
                    ["query", "s.yaml", "--format", "csv", "--data-dir", "data"], ["query", "--help"]):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([series.sonde, "series", *command], cwd=series.directory, stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        assert result.returncode == 1, f"{command}: exit status {result.returncode}: {result.stderr}"
        assert "sonde: the output could not be written" in result.stderr, (command, result.stderr)


def check_resume(series):
    """Where a load goes on must be writable before anything is loaded."""
    fresh = series.write("fresh.yaml", HEAD.replace("series: s", "series: fresh"))
    series.run("load", fresh, "s.csv", "--resume", "nope/x", status=1,
               says="--resume 'nope/x': can't be written: No such file or directory")
    series.run("query", fresh, status=1, says="table 'fresh' is not there")
    series.run("load", fresh, "s.csv", "--resume", "fresh.resume", status=0, says="1 points")
    assert not list(series.directory.glob("fresh.resume*"))


def check_copies(series):
    """An order that begins with the time answers a question for all series of an hour, and --explain names it."""
    copies = series.write("copies.yaml", HEAD.replace("series: s", "series: copies").replace("{ x: int }", "{ x: int }\ntime: { resolution: 1s }") +
                          "derive:\n  - order: { table: by_time, key: [{ salt: 4 }, time, host] }\n")
    points = "".join(f"h{host},2021-03-05T{hour:02}:00:00Z,{host}\n" for host in range(27) for hour in range(24))
    series.run("load", copies, series.write("copies.csv", "host,time,x\n" + points), status=0)
    hour = ["--from", "2021-03-05T07:00:00Z", "--to", "2021-03-05T08:00:00Z", "--format", "csv"]
    result = series.run("query", copies, *hour, "--explain", status=0, says="table 'by_time', 4 ranges")
    assert len(result.splitlines()) == 28
    series.run("query", copies, *hour, "--explain", status=0, says="read 27 rows")
    assert sorted(result.splitlines()) == sorted(series.run("query", copies + "@by_time", *hour, status=0).splitlines())


def main():
    with tempfile.TemporaryDirectory(prefix="sonde-messages-") as directory:
        series = Series(str(pathlib.Path(sys.argv[1]).resolve()), directory)
        check_contradictions(series)
        check_unknown_fields(series)
        check_drafts(series)
        check_copies(series)
        check_directories(series)
        check_full_output(series)
        check_resume(series)
    print("sonde series says what does not agree")


if __name__ == "__main__":
    main()
