#!/usr/bin/env python3
"""Sonde's own client (`--endpoint`) against Sonde's own TLS port, with the files that `sonde init` and `sonde auth create-key` made.

usage: endpoint.py SONDE

Whatever the programs print on the way is searched for secrets, as are the answers of the HTTP port, its figures among them, the audit
log, and the server's arguments and environment: no part of a private key or of a token is in it.
"""

import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

DECLARATION = """series: weather
tags: {location: string}
fields: {temp: double}
time: {resolution: 1d, zone: UTC}
key: [location, bucket]
bucket: month
layout: cells
retention: {max_versions: all}
csv: {time: date}
"""
POINTS = "location,date,temp\nSeattle,2026-01-01,4.5\nSeattle,2026-01-02,5.5\n"
ROWS = "SELECT COUNT(*) AS months FROM weather"
TOKEN = re.compile(r"eyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.|sonde_[0-9a-f]{12}_[A-Za-z0-9_-]{43}")


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


class Place:
    """A server as `sonde init` sets it up, and its clients."""

    def __init__(self, sonde, work, **options):
        self.sonde, self.work, self.data = sonde, work, work / "data"
        self.said = ""  # all that the programs have printed
        self.secrets = []
        self.run("init", "--data-dir", self.data)
        for name, role in (("look", "roles/bigtable.viewer"), ("read", "roles/bigtable.reader")):
            self.run("auth", "create-key", name, "--out", work / f"{name}.json", "--data-dir", self.data)
            self.run("auth", "bind", name, role, "--data-dir", self.data)
        self.keys = {"admin": self.data / "admin-key.json", "look": work / "look.json", "read": work / "read.json"}
        for key in self.keys.values():
            self.secrets += json.loads(key.read_text())["private_key"].split("\n")[1:-2]
        self.run("auth", "bind", "watch", "roles/sonde.monitor", "--data-dir", self.data)
        made = subprocess.run([sonde, "auth", "create-token", "watch", "--expires", "1d", "--data-dir", self.data], capture_output=True,
                              text=True, timeout=60, check=True)
        self.token = made.stdout.strip()  # which is printed once, and here alone
        self.said += made.stderr
        self.secrets.append(self.token[-43:])
        self.ca = self.data / "certificates/ca.pem"
        self.log = open(work / "log", "wb")
        self.process = subprocess.Popen([sonde, "serve", "--config", self.data / "sonde.yaml", "--port", "0", "--http-port", "0"],
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        first = self.process.stdout.readline() + self.process.stdout.readline()
        self.said += first
        self.web = re.search(r"https://\S+", first)[0]
        self.endpoint = "127.0.0.1:" + re.search(r"listening on 127\.0\.0\.1:(\d+)", first)[1]

    def run(self, *arguments, wanted=0, **variables):
        environment = {name: value for name, value in os.environ.items() if name != "GOOGLE_APPLICATION_CREDENTIALS"}
        environment["HOME"] = str(self.work)
        done = subprocess.run([self.sonde, *arguments], capture_output=True, text=True, timeout=60, check=False, cwd=self.work,
                              env=environment | {name: str(value) for name, value in variables.items()})
        self.said += done.stdout + done.stderr
        check(done.returncode == wanted, f"{arguments} ends with {done.returncode}, not {wanted}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def sql(self, text, *arguments, wanted=0, **variables):
        return self.run("sql", text, "--format", "csv", "--endpoint", *arguments, wanted=wanted, **variables)

    def get(self, path, authorization, body=None):
        request = urllib.request.Request(self.web + path, data=body, headers={"Authorization": authorization})
        try:
            with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=str(self.ca)), timeout=30) as answer:
                status, text = answer.status, f"{answer.headers}{answer.read().decode()}"
        except urllib.error.HTTPError as error:
            status, text = error.code, f"{error.headers}{error.read().decode()}"
        self.said += text
        return status

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        check(self.process.wait(timeout=60) == 0, "the server ends well")
        self.log.close()
        self.said += self.process.stdout.read() + (self.work / "log").read_text()


def check_keys(place):
    """The key that is named, that of the variable, and the default one; what each of them may do."""
    trusted = (place.endpoint, "--ca-file", place.ca)
    (place.work / "weather.yaml").write_text(DECLARATION)
    (place.work / "weather.csv").write_text(POINTS)
    place.run("series", "load", "weather.yaml", "weather.csv", "--endpoint", *trusted, "--key-file", place.keys["admin"])
    check(place.sql(ROWS, *trusted, "--key-file", place.keys["read"]) == "months\n1\n", "a reader reads")
    check("weather" in place.sql("SHOW TABLES", *trusted, GOOGLE_APPLICATION_CREDENTIALS=place.keys["read"]),
          "GOOGLE_APPLICATION_CREDENTIALS names the key")
    default = place.work / ".config/gcloud/application_default_credentials.json"
    default.parent.mkdir(parents=True)
    default.write_text(place.keys["read"].read_text())
    check("weather" in place.sql("SHOW TABLES", *trusted), "the default file is the key")
    default.unlink()
    check("Access denied. Missing IAM permission: bigtable." in
          place.sql(ROWS, *trusted, "--key-file", place.keys["look"], wanted=1), "a viewer reads nothing")
    check("Request had invalid authentication credentials." in place.sql(ROWS, *trusted, wanted=1), "nobody is let in without a key")
    place.run("auth", "revoke", json.loads(place.keys["read"].read_text())["private_key_id"], "--data-dir", place.data)
    place.process.send_signal(signal.SIGHUP)
    for _ in range(100):
        done = subprocess.run([place.sonde, "sql", "SHOW TABLES", "--endpoint", *trusted, "--key-file", place.keys["read"]],
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            break
    check("Request had invalid authentication credentials." in done.stderr, f"a revoked key is refused: {done.stderr}")
    revoked = json.loads(place.keys["read"].read_text())["private_key_id"]
    lines = [json.loads(line) for line in (place.data / "audit.log").read_text().splitlines()]
    changes = [(line["resource"], line["cause"]) for line in lines if line["event"] == "changed"]
    check((f"key {revoked} of serviceAccount:read@sonde.local", "removed") in changes, f"the audit log has the revoked key: {changes}")
    check(("certificate of the server", "loaded anew") in changes, f"the audit log has the certificate: {changes}")


def check_connections(place):
    """What is no connection: another CA, no CA, plain text, TLS to a plain port."""
    key = ("--key-file", place.keys["admin"])
    (place.work / "other").mkdir()
    place.run("init", "--data-dir", place.work / "other")
    refused = place.sql(ROWS, place.endpoint, "--ca-file", place.work / "other/certificates/ca.pem", *key, wanted=1)
    check("--ca-file names the CA of the server's certificate" in refused, f"another CA is told: {refused}")
    check("answers by TLS" in place.sql(ROWS, f"https://{place.endpoint}", *key, wanted=1), "a CA that nobody has named is not trusted")
    check("SSL" in place.sql(ROWS, f"https://{place.endpoint}", *key, wanted=1).upper(), "the cause is told")
    check("is for TLS: write https://" in place.sql(ROWS, f"http://{place.endpoint}", "--ca-file", place.ca, wanted=2), "a contradiction")
    check("is not shown to 192.0.2.1:8086 without TLS" in place.sql(ROWS, "http://192.0.2.1:8086", *key, wanted=1),
          "no key is shown in plain text")
    check("are for an endpoint, not for a data directory" in place.run("sql", ROWS, "--data-dir", place.work / "other", *key, wanted=2),
          "a key without an endpoint")
    google = place.work / "google.json"
    google.write_text(place.keys["admin"].read_text().replace("admin@sonde.local", "a@p.iam.gserviceaccount.com"))
    check("is a key of Google's" in place.sql(ROWS, place.endpoint, "--ca-file", place.ca, "--key-file", google, wanted=1),
          "a key of Google's is shown to Google alone")


def check_other_commands(place):
    """`sonde bench` measures, and `sonde restore` sends a table, by TLS and with a key."""
    trusted = ("--endpoint", place.endpoint, "--ca-file", place.ca)
    sizes = ("--hosts", "2", "--cells", "200", "--requests", "20")
    for workload in ("ingest", "point-read"):
        place.run("bench", workload, *sizes, *trusted, "--key-file", place.keys["admin"])
    said = place.run("bench", "point-read", *sizes, *trusted, wanted=1)
    check("Request had invalid authentication credentials." in said, f"a benchmark without a key: {said}")
    repository = place.work / "repository"
    place.run("backup", "create", "--to", repository, "--data-dir", place.data)
    restore = ("restore", "--from", repository, "--table", "weather", "--as", "weather-again", "--address", place.endpoint, "--ca-file",
               place.ca, "--key-file")
    denied = place.run(*restore, place.keys["look"], wanted=1)
    check("Access denied. Missing IAM permission: bigtable.tables.create." in denied, f"a viewer restores nothing: {denied}")
    check("which were read back" in place.run(*restore, place.keys["admin"]), "a table is restored by TLS")
    check(place.sql("SELECT COUNT(*) AS months FROM `weather-again`", place.endpoint, "--ca-file", place.ca, "--key-file",
                    place.keys["admin"]) == "months\n1\n", "the new table has the rows")


def check_web(place):
    """Figures, errors and the login have no secret; neither have the server's arguments and environment."""
    bearer = f"Bearer {place.token}"
    for path, wanted in (("metrics", 200), ("api/v1/overview", 200), ("api/v1/session", 200), ("api/v1/tables/p/i/t/rows", 403),
                         ("nothing", 404)):
        check(place.get(path, bearer) == wanted, f"{path} ends with {wanted}")
    for scheme in ("Bearer", "Token", "Basic", "Nothing"):
        check(place.get("metrics", f"{scheme} {place.token}x") == 401, f"{scheme}: a wrong token is refused")
    check(place.get("login", "", f"token={place.token}x".encode()) == 401, "a login with a wrong token is refused")
    check(place.get("api/v1/sql", bearer, json.dumps({"query": f"SELECT '{'x' * 9}"}).encode()) in (400, 403), "a wrong query")
    process = pathlib.Path(f"/proc/{place.process.pid}")
    place.said += (process / "cmdline").read_text()
    try:
        place.said += (process / "environ").read_text()
    except PermissionError:  # of a process that nobody may look into
        pass


def check_secrets(place):
    """After the end of the server: its output, its logs and the clients' output."""
    audit = "".join(path.read_text() for path in place.data.rglob("audit.log"))
    check('"event"' in audit, "the audit log was written")
    said = place.said + audit
    check(len(place.secrets) > 60 and not any(line in said for line in place.secrets), "no part of a private key is printed")
    check(not TOKEN.search(said), "no token is printed")


def main():
    if len(sys.argv) != 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as work:
        place = Place(os.path.abspath(sys.argv[1]), pathlib.Path(work))
        try:
            check_keys(place)
            check_other_commands(place)
            check_connections(place)
            check_web(place)
        finally:
            place.process.poll()
            if place.process.returncode is None:
                place.end()
        check_secrets(place)
    print("--endpoint: TLS, keys and refusals are as they must be, and no secret is printed")


if __name__ == "__main__":
    main()
