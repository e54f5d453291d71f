#!/usr/bin/env python3
"""The command line as somebody meets it: wrong words, the environment, nothing found, a terminal; and texts that stand alone.

usage: words.py SONDE
"""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request

# A text is read alone: it names its noun.
LEANING = re.compile(r"^(of|what|to|as|likewise|the same)\b|\bof these\b", re.IGNORECASE)
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("SONDE_ENDPOINT", "SONDE_DATA_DIR", "BIGTABLE_EMULATOR_HOST")}
DAYS = 100


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


class Program:
    def __init__(self, sonde):
        self.sonde = sonde

    def run(self, *arguments, status=0, **variables):
        """What it prints, on stdout and on stderr.  `status` is one, or a list of those that are right."""
        done = subprocess.run([self.sonde, *arguments], capture_output=True, text=True, timeout=60, env={**ENVIRONMENT, **variables},
                              stdin=subprocess.DEVNULL)
        check(done.returncode in (status if isinstance(status, list) else [status]), f"sonde {' '.join(arguments)} ended with {done.returncode}, not {status}: {done.stdout}{done.stderr}")
        return done.stdout, done.stderr

    def says(self, arguments, text, status=2, **variables):
        """On stderr, as its only line."""
        error = self.run(*arguments, status=status, **variables)[1]
        check(error == text + "\n", f"sonde {' '.join(arguments)} says {error!r}, not {text!r}")

    def on_terminal(self, *arguments, **variables):
        """What it shows on a terminal."""
        child, terminal = pty.fork()
        if child == 0:
            os.execve(self.sonde, [str(self.sonde), *arguments], {**ENVIRONMENT, **variables})
        text = b""
        try:
            while part := os.read(terminal, 65536):
                text += part
        except OSError:
            pass   # the end
        os.waitpid(child, 0)
        os.close(terminal)
        return text.decode().replace("\r\n", "\n")


def check_words(program):
    program.says(["serv"], "sonde: no command 'serv'; did you mean 'serve'? `sonde --help` says more")
    program.says(["series", "qurey"], "sonde series: no command 'qurey'; did you mean 'query'? `sonde series --help` says more")
    program.says(["serve", "--prot", "1"], "sonde serve: no flag '--prot'; did you mean '--port'? `sonde serve --help` says more")
    program.says(["serve", "--port", "abc"], "sonde serve: --port 'abc'; allowed: a whole number; `sonde serve --help` says more")
    program.says(["sql", "SELECT 1", "--format", "jsn"], "sonde sql: --format 'jsn'; allowed: table, csv, json; `sonde sql --help` says more")
    for arguments in ([], ["help"], ["--help"]):
        out, error = program.run(*arguments)
        check("Subcommands" in out and "serve" in out and error == "", f"sonde {arguments} shows no help: {out[:200]}")
    check(program.run("help", "series", "query")[0] == program.run("series", "query", "--help")[0], "sonde help series query is not its help")
    program.says(["keyviz", "--http", "127.0.0.1:1"], "sonde keyviz: no HTTP server answers at 127.0.0.1:1: nobody listens there, or a "
                 "firewall is between; `sonde serve` prints the address of its page", status=1)


# Their output is a text: a page, a script, a declaration, or what they do while they run.
WITHOUT_JSON = {("serve",), ("completion",), ("manual",), ("help",), ("series", "init"), ("series", "explain"), ("config", "schema"),
                ("config", "reference")}


def commands(program, path=()):
    """All commands that have no others below them."""
    text = program.run(*path, "--help")[0]
    found = re.findall(r"^  ([a-z][a-z-]*)  ", text[text.index("Subcommands:"):], re.MULTILINE) if "Subcommands:" in text else []
    for name in found:
        yield from commands(program, (*path, name)) if name != "help" else [("help",)]
    if not found:
        yield path


def check_convention(program):
    """All commands have one way to ask for JSON, to say errors, and to end."""
    found = list(commands(program))
    check(len(found) > 30, f"only {len(found)} commands are found")
    for path in found:
        has_json = "--json" in program.run(*path, "--help")[0]
        check(has_json != (path in WITHOUT_JSON), f"sonde {' '.join(path)} {'has' if has_json else 'lacks'} --json")
        if path[0] == "help":
            continue
        name = " ".join(("sonde", *path))
        out, error = program.run(*path, "--no-such-flag", status=2)
        check(out == "" and error.startswith(f"{name}: "), f"{name}: {out}{error}")
        out, again = program.run(*path, "--no-such-flag", "--json", status=2)
        told = json.loads(again)["error"]
        check(out == "" and told["command"] == name and told["code"] == "INVALID_ARGUMENT" and error == f"{name}: {told['message']}\n", again)
    # What fails is told in the same form.
    for arguments in (["read", "t", "--endpoint", "127.0.0.1:1"], ["check", "--data-dir", "/none/data"], ["compact", "--data-dir", "/none/data"],
                      ["backup", "list", "--in", "/none"], ["restore", "--from", "/none", "--data-dir", "/none/data"],
                      ["auth", "list", "--data-dir", "/none"], ["keyviz", "--http", "127.0.0.1:1"], ["top", "--once", "--http", "127.0.0.1:1"],
                      ["sql", "SELECT 1", "--data-dir", "/none/data"], ["series", "show", "--data-dir", "/none/data"],
                      ["series", "check", "/none.yaml"], ["table", "deleted", "--data-dir", "/none/data"],
                      ["debug", "bundle", "--out", "/none/x.tar"], ["init", "--data-dir", "/proc/none"]):
        out, error = program.run(*arguments, "--json", status=[1, 2])
        told = json.loads(error.splitlines()[-1])["error"]
        check(out == "" and told["command"].startswith(f"sonde {arguments[0]}") and told["code"] != "OK" and told["message"],
              f"{arguments}: {error}")


def check_texts(program, http):
    """No text begins with a word that leans on another text."""
    manual = program.run("manual")[0]
    helps = re.findall(r"\.TP\n(.*)\n(.*)", manual)
    check(len(helps) > 100, "the manual has no options")
    for name, text in helps:
        check(not LEANING.search(text.replace("\\", "")), f"the help of {name} does not stand alone: {text}")
    metrics = urllib.request.urlopen(f"{http}/metrics", timeout=60).read().decode()
    lines = re.findall(r"^# HELP (\S+) (.*)$", metrics, re.MULTILINE)
    check(len(lines) > 50, "/metrics has no HELP")
    for name, text in lines:
        check(not LEANING.search(text), f"the HELP of {name} does not stand alone: {text}")


def check_page(root):
    """Nor does one of the page, where it is a text of its own: in a heading, a hint, an empty place."""
    literals = 0
    for path in (root / "web/src").rglob("*.ts"):
        for text in re.findall(r'(?:empty|problem|caution|Error)\((?:"[^"]*", )?"([^"]+)"', path.read_text(encoding="utf-8")):
            literals += 1
            check(not LEANING.search(text), f"{path.name}: a text does not stand alone: {text}")
    check(literals > 10, "the page has no texts")


def start(sonde, directory):
    server = subprocess.Popen([sonde, "serve", "--port", "0", "--http-port", "0", "--data-dir", f"{directory}/data", "--durability", "os"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in server.stdout:
        if found := re.search(r"web page at (http://\S+)/$", line.strip()):
            http = found[1]
        if found := re.search(r"listening on (\S+)", line):
            return server, found[1], http
    sys.exit("FAILED: the server did not start")


def check_answers(program, root, directory, endpoint):
    declaration = str(root / "examples/weather.yaml")
    points = pathlib.Path(directory) / "weather.csv"
    rows = [f"{place},2012-{1 + day // 28:02}-{1 + day % 28:02},0.0,10.0,5.0,3.1,sun" for day in range(DAYS) for place in ("Seattle", "New York")]
    points.write_text("location,date,precipitation,temp_max,temp_min,wind,weather\n" + "\n".join(rows) + "\n")
    # The emulator's variable is that of the official clients; Sonde's own comes before it.
    loaded = json.loads(program.run("series", "load", declaration, str(points), "--json", BIGTABLE_EMULATOR_HOST=endpoint)[0])
    check(loaded["points"] == 2 * DAYS and loaded["refused_lines"] == 0 and loaded["table"] == "weather", loaded)
    place = {"SONDE_ENDPOINT": endpoint}
    query = ["series", "query", declaration]
    out = program.run(*query, **place, BIGTABLE_EMULATOR_HOST="127.0.0.1:1")[0]
    check(out.count("\n") >= 2 * DAYS, "a pipe does not get all rows")
    check(program.run(*query, "--json", **place) == program.run(*query, "--format", "json", **place), "--json is not --format json")
    # Nothing found is said, with what there is.
    out, error = program.run(*query, "--where", "location=Paris", **place)
    check(error == "sonde series query: 0 rows; location has New York, Seattle; the newest point is of 2012-04-16T00:00:00Z\n", repr(error))
    # A terminal shows some rows, and says how many there are.
    shown = program.on_terminal(*query, **place)
    check(re.search(r"^200 rows \(40 shown; --limit 200 or --format csv gives all\) in [\d.]+ ms$", shown, re.MULTILINE), shown[-300:])
    check(shown.count("Seattle") + shown.count("New York") == 40, shown)
    check(re.search(r"^3 rows in [\d.]+ ms$", program.on_terminal(*query, "--limit", "3", **place), re.MULTILINE), "no footer")
    # Tables without a client.
    tables = [json.loads(line) for line in program.run("tables", "--json", **place)[0].splitlines()]
    check("weather" in [one["table"] for one in tables], tables)
    check("weather" in program.run("tables", **place)[0], "sonde tables lacks weather")
    first = [json.loads(line) for line in program.run("read", "weather", "--prefix", "Seattle", "--limit", "2", "--json", **place)[0].splitlines()]
    check(len(first) == 2 and all(row["key"].startswith("Seattle") and row["cells"] for row in first), first)
    check("Seattle" in program.run("read", "weather", "--prefix", "Seattle", "--limit", "1", **place)[0], "sonde read draws no row")
    program.says(["read", "weathr"], "sonde read: no table 'weathr' in projects/sonde/instances/sonde; did you mean 'weather'?", status=1, **place)
    error = program.run("read", "weather", "--prefix", "Paris", **place)[1]
    check(error.startswith("sonde read: 0 rows; the first key of the table is 'New York"), repr(error))
    program.says(["tables", "--data-dir", "/none", "--endpoint", endpoint], "sonde tables: --data-dir and --endpoint exclude each other")
    error = program.run("tables", "--data-dir", f"{directory}/data", status=1)[1]
    check("is in use by another process, such as a running server" in error and "IO error" not in error, repr(error))


def main():
    program = Program(pathlib.Path(sys.argv[1]).resolve())
    root = pathlib.Path(__file__).resolve().parents[2]
    check_words(program)
    check_convention(program)
    check_page(root)
    with tempfile.TemporaryDirectory() as directory:
        server, endpoint, http = start(program.sonde, directory)
        try:
            check_answers(program, root, directory, endpoint)
            check_texts(program, http)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=60)


if __name__ == "__main__":
    main()
