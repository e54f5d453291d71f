#!/usr/bin/env python3
"""Prometheus scrapes its node exporter, writes what it finds to Sonde and is stopped; a second Prometheus, which has
nothing of its own, must answer the same questions by reading from Sonde.

SONDE_HTTP is set.  Exit status 77: no prometheus or prometheus-node-exporter here.
"""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

SCRAPES = 4
SCRAPE_SECONDS_MAX = 40
START_SECONDS = 20


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def get(url):
    with urllib.request.urlopen(url, timeout=20) as response:
        return response.read()


def wait_for(url):
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            return get(url)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


class Process:
    def __init__(self, log, *command):
        self.log = log
        with open(log, "wb") as file:
            self.process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def prometheus(directory, name, config, port):
    file = pathlib.Path(directory, f"{name}.yml")
    file.write_text(config)
    return Process(f"{directory}/{name}.log", "prometheus", f"--config.file={file}",
                   f"--storage.tsdb.path={directory}/{name}", f"--web.listen-address=127.0.0.1:{port}")


def ask(port, expression, at):
    query = urllib.parse.urlencode({"query": expression, "time": f"{at:.3f}"})
    answer = json.loads(get(f"http://127.0.0.1:{port}/api/v1/query?{query}"))
    assert answer["status"] == "success", answer
    return {json.dumps(one["metric"], sort_keys=True): one["value"][1] for one in answer["data"]["result"]}


QUESTIONS = [
    "up",
    "count(node_cpu_seconds_total)",
    "sum by (mode) (rate(node_cpu_seconds_total[30s]))",
    'node_memory_MemTotal_bytes{job="node"}',
    'count by (__name__) ({__name__=~"node_load.*"})',
    'node_filesystem_size_bytes{fstype!="tmpfs"}',
    "max_over_time(node_load1[30s])",
]


def main():
    if not shutil.which("prometheus") or not shutil.which("prometheus-node-exporter"):
        print("senders: NOT RUN: no prometheus and prometheus-node-exporter on PATH", file=sys.stderr)
        return 77
    sonde = os.environ["SONDE_HTTP"]
    node_port, write_port, read_port = free_port(), free_port(), free_port()
    with tempfile.TemporaryDirectory() as directory:
        with Process(f"{directory}/node.log", "prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{node_port}"), \
             prometheus(directory, "writer", f"""
global: {{ scrape_interval: 1s }}
scrape_configs: [{{ job_name: node, static_configs: [{{ targets: ["127.0.0.1:{node_port}"] }}] }}]
remote_write: [{{ url: "{sonde}api/v1/write", queue_config: {{ batch_send_deadline: 500ms }} }}]
""", write_port):
            wait_for(f"http://127.0.0.1:{write_port}/-/ready")
            end = time.monotonic() + SCRAPE_SECONDS_MAX
            while sum(float(count) for count in ask(write_port, "count_over_time(up[1m])", time.time()).values()) < SCRAPES:
                assert time.monotonic() < end, "prometheus does not scrape"
                time.sleep(0.5)
            at = time.time()
            time.sleep(2)  # a scrape that was under way then has its samples by now; all are sent before it ends
            expected = {question: ask(write_port, question, at) for question in QUESTIONS}
            metrics = get(f"http://127.0.0.1:{write_port}/metrics").decode()
            log = pathlib.Path(directory, "writer.log").read_text()
        failed = [line for line in metrics.splitlines()
                  if line.startswith("prometheus_remote_storage_samples_failed_total") and not line.endswith(" 0")]
        with prometheus(directory, "reader", f'remote_read: [{{ url: "{sonde}api/v1/read", read_recent: true }}]\n',
                        read_port):
            wait_for(f"http://127.0.0.1:{read_port}/-/ready")
            answers = {question: ask(read_port, question, at) for question in QUESTIONS}
    for question in QUESTIONS:
        assert expected[question], f"{question}: the writer itself has no answer"
        assert answers[question] == expected[question], (
            f"{question}: read from Sonde {answers[question]}, instead of {expected[question]}\n{log[-2000:]}")
    assert not failed, failed
    series = json.loads(get(f"{sonde}api/v1/series"))["series"]
    print(f"senders: {len(QUESTIONS)} questions agree, {len(series)} series, "
          f"{sum(len(answer) for answer in answers.values())} values")
    return 0


if __name__ == "__main__":
    sys.exit(main())
