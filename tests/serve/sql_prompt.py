#!/usr/bin/env python3
"""The prompt of `sonde sql` on a terminal: the tabulator completes names of series, of their tags and fields, of tables, families and views, over a
data directory and over a server; EXPLAIN names the table that answers, DESCRIBE the units of fields.

usage: sql_prompt.py SONDE ROOT
"""
import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import tempfile
import time

PATIENCE_SECONDS = 30
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x07|\r")
# What is typed, and what stands there behind the tabulator.
COMPLETIONS = [("SELECT cpu_u", "cpu_usr"), ("SELECT hos", "host"), ("SELECT * FROM series.MET", "series.METRIC"),
               ("SELECT * FROM CURRENT_M", "CURRENT_METRIC"), ("SELECT TIMESTAMP_BUCK", "TIMESTAMP_BUCKET("),
               ("SELECT * FROM series.disk", "`disk.free`"), ("SELECT rack", "`rack-unit`")]
ODD = """series: disk.free
table: disks
tags: { rack-unit: string }
fields: { bytes: double }
bucket: hour
key: [rack-unit, bucket]
"""


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


class Prompt:
    def __init__(self, sonde, home, *place):
        self.text = ""
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.environ.update(TERM="xterm", XDG_STATE_HOME=home, HOME=home)
            os.execv(sonde, [sonde, "sql", *place])

    def type(self, text):
        os.write(self.terminal, text.encode())

    def expect(self, text, about):
        """Reads until `text` stands behind what was read before; what came up to its end is taken."""
        until = time.monotonic() + PATIENCE_SECONDS
        while text not in self.text:
            check(time.monotonic() < until, f"{about}: {text!r} did not come, but {self.text!r}")
            if select.select([self.terminal], [], [], 0.2)[0]:
                try:
                    self.text += ESCAPES.sub("", os.read(self.terminal, 65536).decode(errors="replace"))
                except OSError:
                    check(text in self.text, f"{about}: the prompt ended: {self.text!r}")
        before, _, self.text = self.text.partition(text)
        return before

    def end(self):
        self.type("\x15quit\n")
        _, status = os.waitpid(self.child, 0)
        os.close(self.terminal)
        check(status == 0, f"the prompt ended with {status}")


def try_prompt(sonde, home, *place):
    prompt = Prompt(sonde, home, *place)
    prompt.expect("sonde> ", "the prompt")
    for typed, completed in COMPLETIONS:
        prompt.type(typed + "\t")
        # Where a quote comes in front of what was typed, the terminal gets only the name anew.
        prompt.expect(("" if completed.startswith("`") else typed[: typed.rindex(" ") + 1]) + completed, f"{place[0]}: {typed}")
        prompt.type("\x15")  # the line is left
    prompt.type("SELECT COUNT(*) AS points_there FROM series.METRIC WHERE host = 'server1.aaa.bbb.com';\n")
    prompt.expect("points_there", "the echo")
    prompt.expect("points_there", "the head of the answer")
    prompt.expect("120", "the answer")
    prompt.end()


def try_explain(sonde, *place):
    """Which table answers is said before anything is read."""
    for query, text in (("SELECT * FROM series.METRIC(latest_n => 1)", "newest 1 of each series, METRIC from CURRENT_METRIC"),
                        ("SELECT * FROM series.METRIC(latest_n => 2)", "newest 2 of each series, METRIC from METRIC"),
                        ("SELECT * FROM series.METRIC(as_of => TIMESTAMP '2015-03-16 20:00:00Z')", "METRIC from METRIC"),
                        ("SELECT win FROM series.games WHERE game = 'LoL' AND time >= '2015-03-01' AND time < '2015-04-01'", "games from games_by_day")):
        done = subprocess.run([sonde, "sql", "EXPLAIN " + query, "--format", "csv", *place], capture_output=True, text=True, timeout=60, check=False)
        check(text in done.stdout, f"EXPLAIN {query}: no '{text}' in {done.stdout} {done.stderr}")


def try_describe(sonde, *place):
    """The columns of a series, with the units that its declaration says."""
    done = subprocess.run([sonde, "sql", "DESCRIBE series.machine", *place], capture_output=True, text=True, timeout=60, check=False)
    rows = [line.split() for line in done.stdout.splitlines()]
    check(rows[0] == ["column", "type", "unit"] and ["used", "INT64", "bytes"] in rows and ["wait", "FLOAT64", "ms"] in rows and ["n", "INT64"] in rows,
          f"DESCRIBE: {done.stdout} {done.stderr}")


def main():
    sonde, examples = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]) / "examples"
    os.environ["SONDE_ALLOW_ROOT"] = "true"
    with tempfile.TemporaryDirectory(prefix="sonde-prompt-") as work:
        data = ["--data-dir", f"{work}/data"]
        for declaration, points in (("servers/metrics.yaml", "servers/metrics.csv"), ("games/games.yaml", "games/games.csv")):
            subprocess.run([sonde, "series", "load", examples / declaration, examples / points, *data], check=True, capture_output=True, timeout=60)
        odd = pathlib.Path(work) / "disk.yaml"
        odd.write_text(ODD, encoding="utf-8")
        (odd_points := pathlib.Path(work) / "disk.csv").write_text("rack-unit,time,bytes\nr1,2024-01-01T00:00:00Z,5.5\n")
        subprocess.run([sonde, "series", "load", odd, odd_points, *data], check=True, capture_output=True, timeout=60)
        machine = pathlib.Path(work) / "machine.yaml"
        machine.write_text("series: machine\ntags: { host: string }\nfields: { used: { type: int, unit: bytes }, wait: { unit: ms }, n: int }\n"
                           "key: [host, bucket]\nbucket: day\n")
        (points := pathlib.Path(work) / "machine.csv").write_text("host,time,used,wait,n\na,2024-01-01T00:00:00Z,5,1.5,2\n")
        subprocess.run([sonde, "series", "load", machine, points, *data], check=True, capture_output=True, timeout=60)
        try_prompt(sonde, work, *data)
        try_explain(sonde, *data)
        try_describe(sonde, *data)
        server = subprocess.Popen([sonde, "serve", "--port", "0", "--http-port", "0", "--log-level", "error", *data], stdout=subprocess.PIPE, text=True)
        try:
            place = next(found[1] for line in server.stdout if (found := re.search(r"listening on (\S+)", line)))
            try_prompt(sonde, work, "--endpoint", place)
            try_explain(sonde, "--endpoint", place)
            try_describe(sonde, "--endpoint", place)
        finally:
            server.terminate()
            server.wait(timeout=60)
    print("the prompt completes, and EXPLAIN names what answers")


if __name__ == "__main__":
    main()
