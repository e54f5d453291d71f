#!/usr/bin/env python3
"""Runs every expression of ops/dashboard.json on a Prometheus that has scraped a loaded server and a secure one, and looks whether each
gives a series.  Each metric that the dashboard, ops/alerts.yaml and docs/runbook.md name must be in /metrics.

usage: dashboard.py SONDE ROOT        Exit status 77: no prometheus here.
"""

import datetime
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

START_SECONDS = 60
SCRAPED_SECONDS = 60      # within which all expressions must have a series
PROJECT, INSTANCE, TABLE = "p", "i", "t"
METRIC = re.compile(r"\b(?:sonde|process)_[a-z0-9_]+\b")


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Process:
    def __init__(self, log, *command):
        self.log = log
        self.process = subprocess.Popen([str(part) for part in command], stdout=open(log, "wb"), stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def found(self, pattern):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            if found := re.search(pattern, self.log.read_text(errors="replace")):
                return found[1]
            time.sleep(0.1)
        sys.exit(f"FAILED: it did not start:\n{self.log.read_text(errors='replace')[-2000:]}")


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120)
    check(done.returncode == 0, f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def load(endpoint, http, stops):
    """Calls of all kinds, again and again: what there is to see on a dashboard."""
    os.environ["BIGTABLE_EMULATOR_HOST"] = endpoint
    admin = bigtable.Client(project=PROJECT, admin=True)
    instance = admin.instance(INSTANCE)
    instance.table(TABLE).create(column_families={"f": None})
    [cluster, *_] = instance.list_clusters()[0]
    tomorrow = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
    instance.table(TABLE).backup("b", cluster_id=cluster.cluster_id, expire_time=tomorrow).create().result(timeout=60)
    admin.instance_admin_client.create_materialized_view(
        parent=f"projects/{PROJECT}/instances/{INSTANCE}", materialized_view_id="all",
        materialized_view={"query": f"SELECT '*' AS _key, COUNT(*) AS n FROM {TABLE} GROUP BY _key"}).result(timeout=60)
    table = f"projects/{PROJECT}/instances/{INSTANCE}/tables/{TABLE}"
    channel = grpc.insecure_channel(endpoint)
    call = lambda name, request, answer, kind="unary_unary": getattr(channel, kind)(
        f"/google.bigtable.v2.Bigtable/{name}", request_serializer=type(request).serialize,
        response_deserializer=answer.deserialize)(request, timeout=30)
    number = 0
    while not stops.is_set():
        number += 1
        cell = pb.Mutation(set_cell=pb.Mutation.SetCell(family_name="f", column_qualifier=b"q", value=b"v" * 50, timestamp_micros=1000))
        call("MutateRow", pb.MutateRowRequest(table_name=table, row_key=f"{number:08}".encode(), mutations=[cell]), pb.MutateRowResponse)
        list(call("ReadRows", pb.ReadRowsRequest(table_name=table, rows_limit=10), pb.ReadRowsResponse, "unary_stream"))
        try:
            list(call("ReadRows", pb.ReadRowsRequest(table_name=table + "x"), pb.ReadRowsResponse, "unary_stream"))
        except grpc.RpcError as error:
            check(error.code() == grpc.StatusCode.NOT_FOUND, f"{error}")
        body = json.dumps({"query": f"SELECT COUNT(*) FROM {TABLE}", "project": PROJECT, "instance": INSTANCE}).encode()
        request = urllib.request.Request(f"{http}api/v1/sql", body, {"content-type": "application/json"})
        urllib.request.urlopen(request, timeout=30).read()
        time.sleep(0.02)
    channel.close()


def expressions(root):
    dashboard = json.loads((root / "ops/dashboard.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"].replace("$__rate_interval", "30s").replace("$instance", ".+")


def metric_names(text):
    return set(METRIC.findall(text))


def base_name(name):
    return re.sub(r"_(bucket|sum|count)$", "", name)


def main():
    sonde, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    if not shutil.which("prometheus"):
        print("dashboard: NOT RUN: no prometheus on PATH (scripts/install-dependencies --tests)", file=sys.stderr)
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        home = pathlib.Path(name)
        secure_home = home / "secure"
        run(sonde, "init", "--data-dir", secure_home)
        token = home / "token"
        token.write_text(run(sonde, "auth", "create-token", "prometheus", "--expires", "1d", "--data-dir", secure_home).strip())
        run(sonde, "auth", "bind", "prometheus", "roles/sonde.monitor", "--data-dir", secure_home)
        authority = secure_home / "certificates/ca.pem"
        with Process(home / "plain.log", sonde, "serve", "--port", "0", "--http-port", "0", "--durability", "os", "--memory", "256MiB",
                     "--pitr-tables", "*", "--data-dir", home / "plain") as plain, \
             Process(home / "secure.log", sonde, "serve", "--config", secure_home / "sonde.yaml", "--port", "0", "--http-port", "0",
                     "--memory", "256MiB") as secure:
            http = plain.found(r"web page at (http://\S+)")
            endpoint = plain.found(r"listening on (\S+)")
            secure_http = secure.found(r"web page at (https://\S+)")
            try:
                urllib.request.urlopen(f"{secure_http}metrics", timeout=20, context=ssl.create_default_context(cafile=authority))
                sys.exit("FAILED: /metrics of the secure server is open to all")
            except urllib.error.HTTPError as error:
                check(error.code == 401, f"/metrics answers {error.code} to nobody")
            port = free_port()
            config = home / "prometheus.yml"
            config.write_text(f"""
global: {{ scrape_interval: 1s, scrape_timeout: 1s }}
rule_files: ["{(root / 'ops/alerts.yaml').resolve()}"]
scrape_configs:
  - {{ job_name: sonde, static_configs: [{{ targets: ["{urllib.parse.urlsplit(http).netloc}"] }}] }}
  - job_name: secure
    scheme: https
    tls_config: {{ ca_file: "{authority}" }}
    authorization: {{ credentials_file: "{token}" }}
    static_configs: [{{ targets: ["{urllib.parse.urlsplit(secure_http).netloc}"] }}]
""")
            stops = threading.Event()
            failures = []

            def work():
                try:
                    load(endpoint, http, stops)
                except BaseException as error:
                    failures.append(error)

            loader = threading.Thread(target=work)
            loader.start()
            try:
                with Process(home / "prometheus.log", "prometheus", f"--config.file={config}", f"--storage.tsdb.path={home}/tsdb",
                             f"--web.listen-address=127.0.0.1:{port}") as prometheus:
                    prometheus.found(r"(Server is ready)")
                    look(root, port, failures)
                    # A server over a cluster has more; docs/stability.md has their names.
                    names = known_names(http) | {
                        base_name(one) for one in ask(port, 'group by (__name__) ({job="secure"})', "__name__")} | set(
                            re.findall(r"^sonde_hbase_\w+", (root / "docs/stability.md").read_text(), re.MULTILINE))
            finally:
                stops.set()
                loader.join(60)
            check(not failures, f"the load failed: {failures}")
            for file in ["ops/dashboard.json", "ops/alerts.yaml", "docs/runbook.md"]:
                missing = sorted(one for one in metric_names((root / file).read_text()) if base_name(one) not in names)
                check(not missing, f"{file} names metrics that are not there: {missing}")


def known_names(http):
    with urllib.request.urlopen(f"{http}metrics", timeout=20) as response:
        return set(re.findall(r"^# TYPE (\S+)", response.read().decode(), re.MULTILINE))


def ask(port, expression, label=None):
    query = urllib.parse.urlencode({"query": expression})
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{query}", timeout=20) as response:
            answer = json.load(response)
    except urllib.error.HTTPError as error:
        sys.exit(f"FAILED: {expression}: {error.read().decode()}")
    check(answer["status"] == "success", f"{expression}: {answer}")
    return [one["metric"].get(label) if label else one for one in answer["data"]["result"]]


def look(root, port, failures):
    wanted = list(expressions(root))
    check(len(wanted) > 20, f"the dashboard has {len(wanted)} expressions")
    end = time.monotonic() + SCRAPED_SECONDS
    while wanted and not failures:
        wanted = [(title, expression) for title, expression in wanted if not ask(port, expression)]
        if wanted and time.monotonic() > end:
            sys.exit("FAILED: without a series: " + "; ".join(f"{title}: {expression}" for title, expression in wanted))
        time.sleep(0.5)
    up = ask(port, "up == 1", "job")
    check(sorted(up) == ["secure", "sonde"], f"only {up} can be scraped")
    # A rule that names nothing that is there gives nothing, like one that does not fire: only an error is seen here.
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/rules", timeout=20) as response:
        groups = json.load(response)["data"]["groups"]
    unhealthy = [rule["name"] for group in groups for rule in group["rules"] if rule["health"] == "err"]
    check(groups and not unhealthy, f"rules that cannot be evaluated: {unhealthy}")


if __name__ == "__main__":
    import grpc
    from google.cloud import bigtable
    from google.cloud.bigtable_v2 import types as pb
    main()
