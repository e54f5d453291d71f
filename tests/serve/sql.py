#!/usr/bin/env python3
"""SQL where people use it, on a server of its own: POST /api/v1/sql streams, waits for a slow client, ends a query when its
client goes, and counts; the key visualizer names the query that has read a table; --sql-dialect=production refuses extensions by name, over gRPC and HTTP; INSERT
writes points by both; and the example of docs/http-api.md works.

usage: sql.py SONDE
"""

import http.client
import json
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROWS = 20_000
REFUSED = {
    "WITH": "WITH w AS (SELECT 1) SELECT * FROM w",
    "a subquery in FROM": "SELECT * FROM (SELECT 1)",
    "scalar subquery": "SELECT (SELECT 1)",
    "INNER JOIN": "SELECT 1 FROM timeseries a JOIN timeseries b ON a._key = b._key",
    "UNION ALL": "SELECT 1 UNION ALL SELECT 2",
}
ENDLESS = "SELECT COUNT(*) FROM " + ", ".join(f"UNNEST(GENERATE_ARRAY(1, 10000)) {name}" for name in "abcd")


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


class Server:
    def __init__(self, sonde, data, *arguments):
        self.sonde = sonde
        self.process = subprocess.Popen(
            [sonde, "serve", "--port", "0", "--http-port", "0", "--durability", "os", "--data-dir", data, "--log-level",
             "error", *arguments], stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if page := re.search(r"web page at http://(\S+?)/?$", line.strip()):
                self.http = page[1]
            if place := re.search(r"listening on (\S+)", line):
                self.endpoint = place[1]
                return
        sys.exit("FAILED: the server did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)

    def post(self, path, body, headers=None, receive_bytes=None):
        connection = http.client.HTTPConnection(self.http, timeout=60)
        if receive_bytes:
            host, port = self.http.split(":")
            connection.sock = socket.socket()
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
            connection.sock.connect((host, int(port)))
        connection.request("POST", path, body if isinstance(body, (str, bytes)) else json.dumps(body), headers or {})
        return connection, connection.getresponse()

    def ask(self, query, **rest):
        """The status, and the lines of the answer, parsed."""
        _, response = self.post("/api/v1/sql", {"query": query, **rest})
        return response.status, [json.loads(line) for line in response.read().splitlines()]

    def figures(self):
        with urllib.request.urlopen(f"http://{self.http}/metrics") as answer:
            text = answer.read().decode()
        return {name: float(value) for name, value in re.findall(r"^([^#].*) (\S+)$", text, re.MULTILINE)}

    def queries(self, code):
        return self.figures().get(f'sonde_requests_total{{method="POST /api/v1/sql",code="{code}"}}', 0)

    def by_grpc(self, query):
        return subprocess.run([self.sonde, "sql", query, "--endpoint", self.endpoint, "--format", "csv"],
                              capture_output=True, text=True, timeout=60)


def wait_until(condition, text, seconds):
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, text)
        time.sleep(0.02)


def load(server):
    """An open series, a row a host, in the table `timeseries`."""
    lines = "".join(f"speed,host=h{i:05} note=\"{'n' * 500}\",x={i} 1700000000000000000\n" for i in range(ROWS))
    _, response = server.post("/write", lines)
    check(response.status == 204, f"the lines were not taken: {response.status} {response.read()}")


def test_stream(server, table):
    everything = f"SELECT * FROM `{table}`"
    status, lines = server.ask(everything)
    check(status == 200 and [column["name"] for column in lines[0]["columns"]][0] == "_key", f"{status} {lines[:1]}")
    check("stats" in lines[-1] and lines[-1]["stats"]["rows"] == len(lines) - 2, f"the end is {lines[-1]}")
    # The answer is longer than what sockets hold: while the client takes nothing, the query waits, and then goes on.
    ended = server.queries("OK")
    connection, response = server.post("/api/v1/sql", {"query": everything}, receive_bytes=64 << 10)
    first = response.readline()
    time.sleep(1)
    check(server.queries("OK") == ended, "a query has ended though its client has taken only the first line")
    again = [json.loads(line) for line in [first, *response.read().splitlines()]]
    check(again[:-1] == lines[:-1] and again[-1]["stats"]["rows"] == ROWS, "a slow client got another answer")
    check(server.queries("OK") == ended + 1, "the query is not counted")
    connection.close()


def test_client_goes(server, table):
    cancelled = server.queries("CANCELLED")
    connection, _ = None, None
    for query in (ENDLESS, f"SELECT COUNT(*) FROM `{table}` a, `{table}` b WHERE a._key > b._key"):
        connection = http.client.HTTPConnection(server.http, timeout=60)
        connection.request("POST", "/api/v1/sql", json.dumps({"query": query}))
        time.sleep(0.5)
        gone = time.monotonic()
        connection.close()
        cancelled += 1
        wait_until(lambda: server.queries("CANCELLED") == cancelled, f"not cancelled: {query}", 5)
        took_ms = (time.monotonic() - gone) * 1000
        print(f"  cancelled {took_ms:.0f} ms after the client had gone (the metrics were read in that time, too)")
        check(took_ms < 1000, f"{took_ms:.0f} ms until the end of {query}")


def test_errors(server):
    check(server.ask("SELECT 1/0") == (400, [{"error": {"code": 400, "message": "division by zero: 1 / 0",
                                                        "status": "OUT_OF_RANGE"}}]), "1/0")
    status, lines = server.ask(ENDLESS, timeout_ms=200)
    check((status, lines[0]["error"]["status"]) == (504, "DEADLINE_EXCEEDED"), f"{status} {lines}")
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        _, response = server.post("/api/v1/sql", {"query": "SELECT 1"}, headers)
        check(response.status == 403, f"{headers} was let in: {response.status}")


def test_insert(server):
    """INSERT INTO series.NAME writes points by every door of SQL."""
    for name in ("boiler", "boiler_mean"):
        declaration = f"series: {name}\ntags: {{ house: string }}\nfields: {{ degrees: double }}\nkey: [house, time]\nlayout: row\n"
        connection = http.client.HTTPConnection(server.http, timeout=60)
        connection.request("PUT", f"/api/v1/series/{name}", declaration)
        check(connection.getresponse().status == 200, f"{name} is not declared")
    into = "INSERT INTO series.boiler (house, time, degrees) "
    status, lines = server.ask(into + "VALUES (@house, '2024-01-01 00:00:00Z', 60.5), (NULL, '2024-01-01', 1)", params={"house": "a"})
    check(status == 200 and lines[1] == [1, 1, "Row 2: tag house is NULL"], f"{status} {lines}")
    # The same again is the same points, and rows of a query go out as they come.
    many = into + "SELECT 'b', TIMESTAMP_SECONDS(i), i / 2 FROM UNNEST(GENERATE_ARRAY(1, 20000)) i"
    for _ in range(2):
        done = server.by_grpc(many)
        check(done.stdout.splitlines() == ["points,refused,first_refusal", "20000,0,"], f"{done}")
    status, lines = server.ask("SELECT COUNT(*), SUM(degrees) FROM series.boiler")
    check(lines[1] == [20001, 100005000 + 60.5], f"{lines}")
    done = server.by_grpc("INSERT INTO series.boiler_mean SELECT house, TIMESTAMP_TRUNC(time, HOUR) AS time, AVG(degrees) FROM series.boiler "
                          "GROUP BY house, time")
    check(done.stdout.splitlines()[1:] == ["7,0,"], f"{done}")
    check(server.ask("SELECT house, degrees FROM series.boiler_mean ORDER BY house, time LIMIT 2")[1][1:3] == [["a", 60.5], ["b", 900]],
          "the means are others")
    status, lines = server.ask(into + "VALUES (NULL, '2024-01-01', 1)")
    check(status == 400 and "none of its 1 rows is a point. Row 1: tag house is NULL" in lines[0]["error"]["message"], f"{lines}")
    done = server.by_grpc(into + "VALUES ('a', '2024-01-01', 1, 2)")
    check(done.returncode == 2 and "Inserted row has wrong column count; Has 4, expected 3" in done.stderr, f"{done}")
    status, lines = server.ask("EXPLAIN " + many)
    check(status == 200 and lines[1][0].startswith("Insert: into series boiler"), f"{lines}")


def test_counts(server):
    with urllib.request.urlopen(f"http://{server.http}/api/v1/overview") as answer:
        overview = json.load(answer)
    slow = overview["slow_queries"]
    check([one["status"] for one in slow if one["query"].startswith("SELECT COUNT(*) FROM UNNEST")] and
          all(one["took_ms"] >= 100 for one in slow), f"slow: {slow}")
    before = server.figures()
    server.by_grpc("SELECT _key FROM timeseries LIMIT 7")
    figures = server.figures()
    check(figures["sonde_sql_rows_returned_total"] == before["sonde_sql_rows_returned_total"] + 7 and
          figures["sonde_sql_rows_scanned_total"] >= before["sonde_sql_rows_scanned_total"] + 7 and
          figures["sonde_sql_bytes_returned_total"] > before["sonde_sql_bytes_returned_total"],
          "a query over gRPC is not counted")
    for name in ('sonde_requests_total{method="ExecuteQuery",code="OK"}',
                 'sonde_requests_total{method="PrepareQuery",code="OK"}',
                 'sonde_request_duration_seconds_count{method="POST /api/v1/sql"}', "sonde_sql_rows_returned_total",
                 "sonde_sql_rows_scanned_total", "sonde_sql_bytes_returned_total"):
        check(figures.get(name, 0) > 0, f"{name} is {figures.get(name)}")
    check(figures["sonde_sql_memory_bytes"] == 0, f"memory is held: {figures['sonde_sql_memory_bytes']}")


def test_finding(server, table):
    """The key visualizer names the query that has read all of a table."""
    def is_found():
        with urllib.request.urlopen(f"http://{server.http}/api/v1/findings") as answer:
            findings = json.load(answer)["findings"]
        return any(one["pattern"] == "full_scan" and one["text"].startswith(f"SELECT * FROM `{table}` has read ")
                   for one in findings)
    wait_until(is_found, "no finding names the query that has read all rows", 20)


def test_documented_example(server):
    text = (pathlib.Path(__file__).parents[2] / "docs/http-api.md").read_text()
    example = re.search(r"^    curl .*?/api/v1/sql.*?(?=\n\n)", text, re.MULTILINE | re.DOTALL)
    check(example, "docs/http-api.md has no example")
    command = shlex.split(example[0].replace("\\\n", " ").replace("127.0.0.1:8087", server.http))
    done = subprocess.run([*command, "--silent", "--show-error"], capture_output=True, text=True, timeout=60)
    check(done.returncode == 0 and '{"columns":' in done.stdout and '{"stats":' in done.stdout,
          f"{command}: {done.stdout} {done.stderr}")


def test_dialect(sonde, data):
    with Server(sonde, data, "--sql-dialect=production") as server:
        for name, query in REFUSED.items():
            text = f"Not in the language of Bigtable: {name}"
            status, lines = server.ask(query)
            check(status == 501 and text in lines[0]["error"]["message"], f"HTTP: {query}: {status} {lines}")
            done = server.by_grpc(query)
            check(done.returncode == 1 and text in done.stderr, f"gRPC: {query}: {done.stderr}")
        insert, text = "INSERT INTO series.boiler VALUES ('a', '2024-01-01', 1)", "Statement not supported: InsertStatement"
        status, lines = server.ask(insert)
        check(status == 400 and text in lines[0]["error"]["message"], f"HTTP: {insert}: {status} {lines}")
        check(text in server.by_grpc(insert).stderr, f"gRPC: {insert} is not refused")
        check(server.by_grpc("SELECT 1 AS n").stdout.splitlines() == ["n", "1"], "production's language is not served")
    with Server(sonde, data) as server:
        for query in REFUSED.values():
            check(server.ask(query)[0] == 200, f"refused by default: {query}")
    done = subprocess.run([sonde, "serve", "--sql-dialect", "ansi"], capture_output=True, text=True, timeout=60)
    check(done.returncode == 2 and "--sql-dialect must be extended or production, but is 'ansi'" in done.stderr,
          f"{done}")


def test_end(sonde, data):
    """A server that is told to end waits for a long query no longer than its grace."""
    with Server(sonde, data, "--grace", "1s") as server:
        connection = http.client.HTTPConnection(server.http, timeout=60)
        connection.request("POST", "/api/v1/sql", json.dumps({"query": ENDLESS}))
        time.sleep(0.5)
        began = time.monotonic()
        server.process.terminate()
        answer = connection.getresponse()
        check((answer.status, json.load(answer)["error"]["status"]) == (503, "UNAVAILABLE"), f"{answer.status}")
        server.process.wait(timeout=60)
        check(1 <= time.monotonic() - began < 6, f"the server ended after {time.monotonic() - began:.1f} s")


def main():
    sonde = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        data = name + "/data"
        with Server(sonde, data) as server:
            load(server)
            table = "timeseries"
            test_stream(server, table)
            test_errors(server)
            test_insert(server)
            test_client_goes(server, table)
            test_counts(server)
            test_finding(server, table)
            test_documented_example(server)
        test_dialect(sonde, data)
        test_end(sonde, data)
    print("sql: all is as it should be")


if __name__ == "__main__":
    main()
