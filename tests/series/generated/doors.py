"""The ways in: HTTP, `sonde series --endpoint` and `sonde series --data-dir`.

A door declares series, sends points and asks questions, and says what came of it.  It knows nothing of what is right.
"""
import csv
import gzip
import http.client
import io
import json
import pathlib
import re
import subprocess
import threading
import time
import urllib.parse

import declarations
from clocks import parse, text_of
from judge import Answer
from questions import parameters

START_SECONDS = 60
STOP_SECONDS = 20
ANSWER_SECONDS = 60


class Refused(Exception):
    """The server refuses what was asked."""


class Gone(Exception):
    """The server went away before it answered."""


class Sent:
    """What came of a request: the points that were refused, by place; None: all of them."""

    def __init__(self, refused, message=""):
        self.refused, self.message = refused, message


class Server:
    """A server on a data directory of its own."""

    def __init__(self, sonde, directory, durability="os"):
        self.sonde, self.directory, self.durability = sonde, pathlib.Path(directory), durability
        self.directory.mkdir(parents=True, exist_ok=True)
        self.start()

    def start(self):
        self.log = open(self.directory / "server.log", "ab")
        self.process = subprocess.Popen(
            [self.sonde, "serve", "--port", "0", "--http-port", "0", "--data-dir", str(self.directory / "data"), "--memory",
             "256MiB", "--durability", self.durability], stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.address = self.http = None
        for line in self.process.stdout:
            self.address = line.partition("sonde: listening on ")[2].strip() or self.address
            self.http = line.partition("sonde: web page at http://")[2].strip().rstrip("/") or self.http
            if self.address and self.http:
                # Nobody reads what it says later.
                threading.Thread(target=self.process.stdout.read, daemon=True).start()
                return
        raise AssertionError(f"the server did not start; see {self.directory}/server.log")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def stop(self):
        """None, or how it ended wrongly."""
        self.process.terminate()
        try:
            status = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return f"the server did not end within {STOP_SECONDS} s of SIGTERM"
        self.log.close()
        return None if status == 0 else f"the server ended with status {status}"

    def is_gone(self):
        return self.process.poll() is not None


# Points as text.

def as_json(declaration, points):
    names = [tag["name"] for tag in declaration["tags"]]
    return "".join(json.dumps({"time": text_of(micros), **dict(zip(names, tags)), **fields}, ensure_ascii=False) + "\n"
                   for tags, micros, fields in points).encode()


def as_csv(declaration, points):
    out = io.StringIO()
    writer = csv.writer(out)
    fields = [field["name"] for field in declaration["fields"]]
    writer.writerow([*(tag["name"] for tag in declaration["tags"]), "time", *fields])
    for tags, micros, values in points:
        writer.writerow([*tags, text_of(micros), *("" if values.get(name) is None else values[name] for name in fields)])
    return out.getvalue().encode()


def _line_value(value):
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"{value}i" if isinstance(value, int) else repr(value)


def _escaped(name):
    return re.sub(r"([,= ])", r"\\\1", name)


def as_lines(series, declaration, points, nanos, comments=()):
    """Line protocol; `comments` are lines that mean nothing, each in front of the point of its number."""
    return "".join(text for text, _ in _lines(series, declaration, points, nanos, comments)).encode()


def _lines(series, declaration, points, nanos, comments):
    """(text, the place of its point, or None) of each; a text may be several lines."""
    lines = []
    comments = dict(comments)
    names = [tag["name"] for tag in declaration["tags"]]
    for place, (tags, micros, fields) in enumerate(points):
        if place in comments:
            lines.append((comments[place] + "\n", None))
        # An open series has no labels without a value.
        text = "".join(f",{_escaped(name)}={_escaped(tag)}" for name, tag in zip(names, tags)
                       if tag != "" or "open" not in declaration)
        values = ",".join(f"{_escaped(name)}={_line_value(value)}" for name, value in fields.items())
        lines.append((f"{series}{text} {values} {micros * 1000 if nanos else micros}\n", place))
    return lines


def cut_gzip(body):
    """A gzip body that ends too early: half of it, blocks that are not packed, so that whole lines are in front."""
    packed = gzip.compress(body, 0)
    return packed[:max(20, len(packed) * 2 // 3)]


class HttpDoor:
    """The HTTP port; commands that HTTP does not have go through the command line."""

    name = "http"

    def __init__(self, server):
        self.server = server
        self.connection = None

    def request(self, method, path, body=None, headers=()):
        for attempt in (0, 1):
            is_new = self.connection is None
            if is_new:
                host, port = self.server.http.rsplit(":", 1)
                self.connection = http.client.HTTPConnection(host, int(port), timeout=ANSWER_SECONDS)
            try:
                self.connection.request(method, path, body, dict(headers))
                response = self.connection.getresponse()
                return response.status, response.read(), response.headers
            except (OSError, http.client.HTTPException) as error:
                self.close()
                # A connection that was kept may have been closed meanwhile.
                if is_new or attempt or isinstance(error, TimeoutError):
                    raise Gone(f"{method} {path}: {error!r}") from error
        raise AssertionError

    def is_alive(self):
        try:
            return self.request("GET", "/healthz")[0] == 200
        except Gone:
            return False

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def open(self, series, declaration):
        """Nothing: the first point opens it."""

    def declare(self, series, declaration):
        status, text, _ = self.request("PUT", f"/api/v1/series/{series}", declarations.to_yaml(declaration, series).encode())
        if status != 200:
            raise Refused(f"{status} {text.decode(errors='replace')}")

    def body(self, series, declaration, step):
        """(path, bytes, headers) of a step that sends."""
        points, way = step["points"], step["way"]
        if way == "json":
            path, body, headers = f"/api/v1/series/{series}/write", as_json(declaration, points), {}
        elif way == "csv":
            path, body = f"/api/v1/series/{series}/write", as_csv(declaration, points)
            headers = {"Content-Type": "text/csv"}
        else:
            nanos = way == "line_ns"
            path = "/write" + ("" if nanos else "?precision=us")
            body, headers = as_lines(series, declaration, points, nanos, step.get("comments", ())), {}
        if step.get("cut"):
            body, headers = cut_gzip(body), {**headers, "Content-Encoding": "gzip"}
        elif step.get("gzip"):
            body, headers = gzip.compress(body, 1), {**headers, "Content-Encoding": "gzip"}
        return path, body, headers

    def send(self, series, declaration, step):
        status, text, _ = self.request("POST", *self.body(series, declaration, step))
        if status in (200, 204):
            return Sent(set())
        text = text.decode(errors="replace")
        if status != 400:
            return Sent(None, f"{status} {text}")
        if step["way"].startswith("line"):
            lines = {int(line) for line in re.findall(r"line (\d+): ", text)}
            if "dropped=" not in text:
                return Sent(None, text)
            return Sent(self._places(series, declaration, step, lines), text)
        answer = json.loads(text)
        if "problems" not in answer:
            return Sent(None, text)
        first = 2 if step["way"] == "csv" else 1
        return Sent({problem["line"] - first for problem in answer["problems"]}, text)

    @staticmethod
    def _places(series, declaration, step, lines):
        """The points that begin in these lines."""
        places, line = set(), 1
        for text, place in _lines(series, declaration, step["points"], step["way"] == "line_ns", step.get("comments", ())):
            if line in lines:
                places.add(place)
            line += text.count("\n")
        return places

    def ask(self, series, table, source, question):
        name = series if table is None else f"{series}@{series}{table}"
        path = f"/api/v1/series/{urllib.parse.quote(name)}/query"
        pairs = parameters(question)
        if question["way"] == "post":
            members = {}
            for key, value in pairs:
                members.setdefault(key, []).append(value)
            body = json.dumps({key: value if len(value) > 1 else value[0] for key, value in members.items()}).encode()
            status, text, headers = self.request("POST", path, body)
        else:
            if question["way"] == "csv":
                pairs = [*pairs, ("format", "csv")]
            status, text, headers = self.request("GET", path + "?" + urllib.parse.urlencode(pairs))
        if status != 200:
            raise Refused(f"{status} {text.decode(errors='replace').strip()}")
        if question["way"] == "csv":
            return answer_of_csv(text.decode(), source, question, headers["Sonde-Is-Truncated"] == "true")
        answer = json.loads(text)
        tags = sum(column["kind"] == "tag" for column in answer["columns"])
        return Answer([column["name"] for column in answer["columns"][tags + 1:]],
                      [(tuple(row[:tags]), parse(row[tags]), row[tags + 1:]) for row in answer["rows"]],
                      answer["is_truncated"])

    def command(self, name, series, *more):
        return run([self.server.sonde, "series", name, f"stored:{series}", "--endpoint", self.server.address, *more])

    def index_command(self, series, *more):
        return run([self.server.sonde, "series", "rebuild", f"stored:{series}@index", "--endpoint", self.server.address, *more])


class CommandDoor:
    """`sonde series load` and `query`, with --endpoint or --data-dir."""

    def __init__(self, name, sonde, access, directory):
        self.name, self.sonde, self.access = name, sonde, access
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)

    def _file(self, series):
        return str(self.directory / f"{series}.yaml")

    def declare(self, series, declaration):
        old = pathlib.Path(self._file(series))
        before = old.read_text() if old.exists() else None
        old.write_text(declarations.to_yaml(declaration, series))
        status, text = self._load(series, b"", "jsonl")
        if status != 0:
            if before is not None:
                old.write_text(before)
            raise Refused(text)

    def _load(self, series, body, ending):
        file = self.directory / f"points.{ending}"
        file.write_bytes(body)
        result = subprocess.run([self.sonde, "series", "load", self._file(series), str(file), *self.access],
                                capture_output=True, text=True, timeout=ANSWER_SECONDS)
        return result.returncode, result.stderr

    def send(self, series, declaration, step):
        way = "csv" if step["way"] == "csv" else "json"
        body = as_csv(declaration, step["points"]) if way == "csv" else as_json(declaration, step["points"])
        ending = "csv" if way == "csv" else "jsonl"
        if step.get("gzip") or step.get("cut"):
            body, ending = (cut_gzip(body) if step.get("cut") else gzip.compress(body, 1)), ending + ".gz"
        status, text = self._load(series, body, ending)
        loaded = re.search(r"(\d+) points \(\d+ cells\) loaded", text)
        if loaded is None:
            return Sent(None, text)
        lines = {int(line) for line in re.findall(r"points\.[a-z.]+:(\d+): ", text)}
        return Sent({line - (2 if way == "csv" else 1) for line in lines}, text)

    def ask(self, series, table, source, question):
        what = self._file(series) + ("" if table is None else f"@{series}{table}")
        flags = []
        for name, text in parameters(question):
            flags.append(f"--{name.replace('_', '-')}={text}")
        form = "csv" if question["way"] == "csv" else "json"
        result = subprocess.run([self.sonde, "series", "query", what, *flags, "--format", form, *self.access],
                                capture_output=True, timeout=ANSWER_SECONDS)
        if result.returncode != 0:
            raise Refused(result.stderr.decode(errors="replace"))
        # The command line does not say that a limit left rows out.
        truncated = None
        if form == "csv":
            return answer_of_csv(result.stdout.decode(), source, question, truncated)
        tags = len(source.tags) if question.get("group_by") is None else len(question["group_by"])
        rows, columns = [], None
        for line in result.stdout.decode().splitlines():
            members = json.loads(line)
            values = list(members.values())
            columns = list(members)[tags + 1:]
            rows.append((tuple(values[:tags]), parse(values[tags]), values[tags + 1:]))
        return Answer(columns, rows, truncated)

    def command(self, name, series, *more):
        return run([self.sonde, "series", name, self._file(series), *self.access, *more])

    def index_command(self, series, *more):
        return run([self.sonde, "series", "rebuild", f"stored:{series}@index", *self.access, *more])

    def close(self):
        pass


def run(command):
    """(whether it succeeded, what it said)."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_SECONDS)
    return result.returncode == 0, result.stdout + result.stderr


def answer_of_csv(text, source, question, is_truncated):
    lines = list(csv.reader(io.StringIO(text, newline="")))
    tags = len(source.tags) if question.get("group_by") is None else len(question["group_by"])
    is_text = [source.kinds[name] == "string" and not question.get("agg") for name in source.fields_of(question)]
    if question.get("agg"):
        is_text = [False] * (len(lines[0]) - tags - 1)

    def value(text, is_text):
        if text == "":
            return None
        return text if is_text else int(text) if re.fullmatch(r"-?\d+", text) else float(text)

    rows = [(tuple(line[:tags]), parse(line[tags]), [value(*pair) for pair in zip(line[tags + 1:], is_text)])
            for line in lines[1:]]
    return Answer(lines[0][tags + 1:], rows, is_truncated)


def wait_until(is_true, seconds):
    """Asks again until it is so, or the time is over; what it was at last."""
    end = time.monotonic() + seconds
    while not (found := is_true()) and time.monotonic() < end:
        time.sleep(0.1)
    return found
