#!/usr/bin/env python3
"""Runs what a recipe of the documents shows, beside the tool that it is about: configurations and programs are blocks of the page, and only
addresses, paths and waiting times are replaced.

usage: run.py first-server|telegraf|prometheus|grafana|kafka|beam SONDE ROOT      (by tests/conformance/run recipe-NAME SONDE)
SONDE_TELEGRAF, SONDE_KAFKA_JARS: where these are.  Exit status: 77, if the tool cannot be had.
"""

import base64
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
import uuid

import recipe_servers
from recipe_servers import check, free_port, Process, run, soon

BLOCK = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
MESSAGES = 500


class Page:
    def __init__(self, root, name):
        text = (root / "docs" / name).read_text(encoding="utf-8")
        self.blocks = dict(BLOCK.findall(text))

    def block(self, title, replacements):
        """A block of the page, in which each text of `replacements` must stand, and is replaced."""
        text = self.blocks[title]
        for old, new in replacements.items():
            check(old in text, f"the block '{title}' does not have '{old}'")
            text = text.replace(old, str(new))
        return text

    def write(self, directory, title, replacements, name=None):
        file = directory / (name or title)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.block(title, replacements), encoding="utf-8")
        return file


def answers(sonde, server, page, title, work):
    """What the block prints, whose commands ask the server."""
    text = page.blocks[title].replace("http://127.0.0.1:8087/", server.http)
    return run("bash", "-euc", text, cwd=work, env={**server.environment, "PATH": f"{sonde.parent}:{os.environ['PATH']}"})


def with_rows(sonde, server, page, title, work, marks):
    """Asks until the answer has all marks."""
    last = {}

    def there():
        done = subprocess.run(["bash", "-euc", page.blocks[title].replace("http://127.0.0.1:8087/", server.http)], cwd=work, text=True,
                              capture_output=True, env={**server.environment, "PATH": f"{sonde.parent}:{os.environ['PATH']}"}, timeout=60)
        last["text"] = done.stdout + done.stderr
        return done.returncode == 0 and all(re.search(mark, done.stdout) for mark in marks)

    soon(there, lambda: f"the block '{title}' gives no {marks}: {last['text']}")


def first_server(sonde, root, work):
    page, watching = Page(root, "first-server.md"), Page(root, "monitoring.md")
    data = work / "data"
    words = {"/var/lib/sonde": data}
    environment = {**recipe_servers.ENVIRONMENT, "PATH": f"{sonde.parent}:{os.environ['PATH']}"}
    shell = lambda text: run("bash", "-euc", text.replace("systemctl reload sonde", ":"), cwd=work, env=environment)
    shell(page.block("secure", {**words, "db.example.com": "localhost"}))
    shell(page.block("accounts", words))
    shell(watching.block("a token for Prometheus", words))
    config = page.write(work, "sonde.yaml", {**words, "host: 0.0.0.0": "host: 127.0.0.1", "memory: 4GiB": "memory: 512MiB"})
    with recipe_servers.Server(sonde, work, "--config", config) as server:
        https = server.http.rstrip("/").replace("127.0.0.1", "localhost")
        check("ready" in shell(page.block("ready", {**words, "https://localhost:8087": https})), "the server is not ready")
        shell(page.block("backup", {**words, "/mnt/backups/sonde": work / "backups"}))
        if not shutil.which("prometheus"):
            return "there is no prometheus"
        os.chmod(work / "token", 0o600)
        shutil.copy(data / "certificates/ca.pem", work / "ca.pem")
        config = watching.write(work, "secure.yml", {"scrape_configs:": "global: { scrape_interval: 1s }\nscrape_configs:",
                                                     "localhost:8087": https.removeprefix("https://")})
        with recipe_servers.prometheus(work, config) as address:
            soon(lambda: recipe_servers.ask(address, 'up{job="sonde"}') == ["1"], "Prometheus does not scrape the secure server")
            check(recipe_servers.ask(address, "sonde_memory_budget_bytes") == [str(512 << 20)], "the memory of the page is not the server's")
    return None


def telegraf(sonde, root, work):
    program, page = os.environ["SONDE_TELEGRAF"], Page(root, "recipes/telegraf.md")
    with recipe_servers.Server(sonde, work) as server:
        config = page.write(work, "telegraf.conf", {'"10s"': '"1s"', "http://127.0.0.1:8087": server.http.rstrip("/")})
        with Process(work / "telegraf.log", program, "--config", config):
            with_rows(sonde, server, page, "ask", work, [r"\d+\.\d+", r'"rows":\[\[.*\d'])
    with recipe_servers.SecureServer(sonde, work / "secure") as server:
        server.grant("telegraf", "roles/editor")
        text = page.block("telegraf.conf", {'"10s"': '"1s"'}).split("[[outputs")[0] + page.block(
            "secure.conf", {"https://localhost:8087": server.http.rstrip("/"), "/etc/telegraf/sonde-ca.pem": server.ca})
        (work / "secure.conf").write_text(text, encoding="utf-8")
        with Process(work / "secure.log", program, "--config", work / "secure.conf", env={"SONDE_TOKEN": server.token("telegraf")}):
            soon(lambda: "mem" in server.series(), lambda: f"nothing came by TLS: {(work / 'secure.log').read_text()[-2000:]}")


def prometheus(sonde, root, work):
    if not shutil.which("prometheus"):
        return "there is no prometheus"
    page = Page(root, "recipes/prometheus.md")
    port = free_port()
    with recipe_servers.Server(sonde, work) as server:
        config = page.write(work, "prometheus.yml", {"15s": "1s", "127.0.0.1:9090": f"127.0.0.1:{port}", "http://127.0.0.1:8087/": server.http})
        with recipe_servers.prometheus(work, config, port):
            with_rows(sonde, server, page, "ask", work, [r'{"job":"prometheus"},"value":\[[\d.]+,"1"\]', r'"rows":\[\["prometheus"'])
        # One that has nothing of its own answers from Sonde.
        empty = work / "empty.yml"
        empty.write_text("remote_read:" + config.read_text().split("remote_read:")[1], encoding="utf-8")
        with recipe_servers.prometheus(work / "empty", empty) as address:
            check(int(recipe_servers.ask(address, "sum(count_over_time(up[10m]))")[0]) > 0, "an empty Prometheus finds nothing")
    with recipe_servers.SecureServer(sonde, work / "secure") as server:
        server.grant("prometheus", "roles/editor")
        (work / "token").write_text(server.token("prometheus"), encoding="utf-8")
        shutil.copy(server.ca, work / "ca.pem")
        scraped = page.block("prometheus.yml", {"15s": "1s", "127.0.0.1:9090": f"127.0.0.1:{port}"}).split("remote_write:")[0]
        config = work / "secure.yml"
        config.write_text(scraped + page.block("secure.yml", {"https://localhost:8087/": server.http}), encoding="utf-8")
        with recipe_servers.prometheus(work / "by-tls", config, port):
            soon(lambda: "up" in server.series(), "nothing came by TLS")
    return None


def grafana(sonde, root, work):
    try:
        import yaml
    except ImportError:
        return "there is no PyYAML (Debian: python3-yaml)"
    page = Page(root, "recipes/grafana.md")

    def look(source, server, headers):
        """What Grafana asks of its data source, for a panel and while somebody types."""
        def ask(path, form=None):
            body = urllib.parse.urlencode(form).encode() if form else None
            return json.loads(recipe_servers.get(f"{source['url']}/api/v1/{path}", body, headers, server.context))["data"]

        check(source["type"] == "prometheus" and source["access"] == "proxy" and source["jsonData"]["httpMethod"] == "POST", f"{source}")
        now = time.time()
        found = ask("query_range", {"query": page.blocks["a panel"].strip(), "start": now - 60, "end": now, "step": 10})["result"]
        check({one["metric"]["region"]: one["values"][-1][1] for one in found} == {"eu": "2", "us": "5"}, f"the panel has {found}")
        check("cpu_usage" in ask("label/__name__/values"), "the name of the metric is not completed")
        check(ask("label/region/values", None) == ["eu", "us"], "the regions are not completed")

    def fill(server, headers):
        at = int(time.time()) - 5
        lines = "".join(f"cpu,host={host},region={region} usage={usage} {at}000000000\n" for host, region, usage in
                        [("a", "eu", 1), ("b", "eu", 3), ("c", "us", 5)])
        recipe_servers.get(f"{server.http}write", lines.encode(), headers, server.context)

    with recipe_servers.Server(sonde, work) as server:
        fill(server, {})
        [source] = yaml.safe_load(page.block("provisioning/datasources/sonde.yaml", {"http://127.0.0.1:8087": server.http.rstrip("/")}))["datasources"]
        look(source, server, {})
        rows = recipe_servers.get(page.block("an address", {"http://127.0.0.1:8087/": server.http}).strip()).decode().splitlines()
        check(rows[0].split(",")[:2] == ["region", "time"] and len(rows) == 3 and rows[1].startswith("eu,"), f"the address gives {rows}")
    with recipe_servers.SecureServer(sonde, work / "secure") as server:
        server.grant("telegraf", "roles/editor")
        fill(server, {"Authorization": f"Bearer {server.token('telegraf')}"})
        [source] = yaml.safe_load(page.block("provisioning/datasources/secure.yaml", {
            "https://localhost:8087": server.http.rstrip("/"), "$SONDE_TOKEN": server.token("look")}))["datasources"]
        check(source["secureJsonData"]["tlsCACert"].startswith("$__file{"), f"{source}")
        look(source, server, {source["jsonData"]["httpHeaderName1"]: source["secureJsonData"]["httpHeaderValue1"]})
    [provider] = yaml.safe_load(page.blocks["provisioning/dashboards/sonde.yaml"])["providers"]
    check(provider["type"] == "file" and provider["options"]["path"], f"{provider}")
    check(json.loads((root / "ops/dashboard.json").read_text())["panels"], "the dashboard has no panels")
    return "Grafana is in no registry; what it asks was asked, and answered"


@contextlib.contextmanager
def broker(work, jars):
    """A broker of Kafka, alone; its address."""
    port, controller = free_port(), free_port()
    config = work / "server.properties"
    config.write_text(f"""process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={work}/kafka
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
""", encoding="utf-8")
    java = ["java", "-Xmx400m", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*"]
    name = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    run(*java, "kafka.tools.StorageTool", "format", f"--cluster-id={name}", "-c", config, cwd=work)  # a name may begin with "-"
    with Process(work / "kafka.log", *java, "kafka.Kafka", config) as process:
        def answers_():
            with socket.socket() as client:
                return client.connect_ex(("127.0.0.1", port)) == 0
        soon(answers_, lambda: f"Kafka does not start: {process.text()[-2000:]}", 90)
        yield f"127.0.0.1:{port}"


def kafka(sonde, root, work):
    from kafka import KafkaProducer
    page = Page(root, "recipes/kafka.md")
    with recipe_servers.Server(sonde, work) as server, broker(work, os.environ["SONDE_KAFKA_JARS"]) as address:
        producer = KafkaProducer(bootstrap_servers=address)
        now = int(time.time())
        for i in range(MESSAGES):
            producer.send("metrics", f"queue,host=h{i % 5} depth={i} {(now - i) * 10**9}".encode())
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - i))
            producer.send("readings", json.dumps({"time": at, "sensor": f"s{i % 5}", "temperature": i / 10, "humidity": i % 100}).encode())
        producer.flush()

        page.write(work, "readings.yaml", {})
        answers(sonde, server, page, "declare", work)

        def count(series, field):
            found = json.loads(recipe_servers.get(f"{server.http}api/v1/series/{series}/query?agg=count&group_by=-&field={field}"))["rows"]
            return found[0][-1] if found else 0

        program = page.write(work, "to_sonde.py", {})
        places = {"KAFKA": address, "SONDE_HTTP": server.http}
        with Process(work / "program.log", sys.executable, program, env=places) as process:
            soon(lambda: count("readings", "humidity") == MESSAGES, lambda: f"the program has written {count('readings', 'humidity')}: {process.text()}")
        with_rows(sonde, server, page, "ask", work, [r"s0\b", r"s4\b"])
        # Offsets are committed: one that comes later has nothing to do until there is more.
        with Process(work / "again.log", sys.executable, program, env=places):
            producer.send("readings", json.dumps({"time": "2026-01-02T03:04:05Z", "sensor": "s9", "temperature": 1, "humidity": 1}).encode())
            producer.flush()
            soon(lambda: count("readings", "humidity") == MESSAGES + 1, "a message that came later is not there")

        config = page.write(work, "telegraf.conf", {'"10s"': '"1s"', "127.0.0.1:9092": address, "http://127.0.0.1:8087": server.http.rstrip("/")})
        with Process(work / "telegraf.log", os.environ["SONDE_TELEGRAF"], "--config", config) as process:
            soon(lambda: "queue" in server.series() and count("queue", "depth") == MESSAGES, lambda: f"Telegraf has not written all: {process.text()[-2000:]}", 60)


def beam(sonde, root, work):
    page = Page(root, "recipes/beam.md")
    for title in ("create.py", "pipeline.py", "secure.py"):
        page.write(work, title, {})
    with recipe_servers.Server(sonde, work) as server:
        text = page.block("run", {"127.0.0.1:8086": server.address, "python ": f"{sys.executable} "})
        printed = run("bash", "-euc", text, cwd=work, env={**server.environment, "PATH": f"{sonde.parent}:{os.environ['PATH']}"}, seconds=240)
        check(re.search(r"\b60\b", printed), f"the table does not have 60 rows: {printed}")
    with recipe_servers.SecureServer(sonde, work / "secure") as server:
        server.grant("beam", "roles/bigtable.user")
        environment = {**recipe_servers.ENVIRONMENT, "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": str(server.ca), "SONDE_ADDRESS": server.address.replace("127.0.0.1", "localhost"),
                       "SONDE_KEY": str(server.key("beam"))}
        admin = {**environment, "GOOGLE_APPLICATION_CREDENTIALS": str(server.data / "admin-key.json")}
        table = (work / "create.py").read_text().replace('project="p", admin=True', 'project="p", admin=True, credentials=credentials, client_options=options')
        prefix = ("import os\nfrom google.api_core.client_options import ClientOptions\nfrom google.oauth2 import service_account\n"
                  "credentials = service_account.Credentials.from_service_account_file(os.environ['GOOGLE_APPLICATION_CREDENTIALS'], always_use_jwt_access=True)\n"
                  "options = ClientOptions(api_endpoint=os.environ['SONDE_ADDRESS'])\n")
        run(sys.executable, "-c", prefix + table, cwd=work, env=admin)
        run(sys.executable, work / "secure.py", cwd=work, env=environment, seconds=240)
        rows = run(sonde, "sql", "--endpoint", server.address.replace("127.0.0.1", "localhost"), "--ca-file", server.ca, "--key-file", server.data / "admin-key.json", "--project", "p",
                   "--instance", "i", "--format", "csv", "SELECT COUNT(*) AS n FROM balloons", env=environment)
        check("60" in rows.split(), f"the secure table does not have 60 rows: {rows}")


def main():
    name, sonde, root = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    recipes = {"first-server": first_server, "telegraf": telegraf, "prometheus": prometheus, "grafana": grafana, "kafka": kafka, "beam": beam}
    check(name in recipes, f"no recipe '{name}'; there are {', '.join(recipes)}")
    with tempfile.TemporaryDirectory() as work:
        left_out = recipes[name](sonde, root, pathlib.Path(work))
    if left_out:
        print(f"recipe-{name}: NOT RUN in full: {left_out}; the rest passed")
        sys.exit(77)
    print(f"recipe-{name}: what the page shows works")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main()
