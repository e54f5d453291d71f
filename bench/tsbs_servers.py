"""Servers that have TSBS's cpu-only by line protocol, for benchmarks that ask questions of them: Sonde and VictoriaMetrics."""

import pathlib
import subprocess
import urllib.request

import tsbs_questions as tsbs
from processes import Clock, Failure, Server, SondeServer, directory_bytes, free_port, run_json

BENCH = pathlib.Path(__file__).resolve().parent
LINES_A_BODY = 10_000
HOUR_STEPS = 360
# The tags come in this order, and so do those of an open series' keys.
TAGS = ["hostname", "region", "datacenter", "rack", "os", "arch", "team", "service", "service_version", "service_environment"]


def install(peer):
    done = subprocess.run([str(BENCH.parent / "scripts" / "install-peer"), peer], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Failure(f"scripts/install-peer {peer}: status {done.returncode}")
    return done.stdout.strip()


def request(url, data=None, method=None):
    with urllib.request.urlopen(urllib.request.Request(url, data=data, method=method), timeout=600) as response:
        return response.read()


def merge_victoria_metrics(endpoint):
    """What it has comes to be at rest."""
    request(f"http://{endpoint}/internal/force_flush")
    request(f"http://{endpoint}/internal/force_merge")


class Run:
    def __init__(self, arguments, scratch):
        self.arguments = arguments
        self.scratch = scratch
        self.clock = Clock(arguments.seconds)
        self.machine = None
        self.sizes = {}

    def post_lines(self, endpoint):
        """TSBS's data by line protocol."""
        arguments = self.arguments
        cells = arguments.hosts * arguments.hours * HOUR_STEPS * len(tsbs.METRICS)
        report = run_json([arguments.sonde, "bench", "lines", "--clients", 2, "--rows-per-request", LINES_A_BODY, "--hosts",
                           arguments.hosts, "--cells", cells, "--http-endpoint", endpoint, "--json"], self.clock)
        self.machine = report["machine"]
        written = report["results"][0]["cells"]
        if written != cells:
            raise Failure(f"{written} points were written, and {cells} asked for")

    def serve(self, data):
        return SondeServer(self.arguments.sonde, data, f"{data}.log")

    def load_sonde(self, name, declaration=None):
        """A data directory, with all cells in pages."""
        self.clock.tell(f"sonde, {name} series: load")
        data = self.scratch / name
        with self.serve(data) as server:
            if declaration:
                request(f"http://{server.http_endpoint}/api/v1/series/cpu", declaration.encode(), "PUT")
            self.post_lines(server.http_endpoint)
        self.compact(name, data)
        return data

    def compact(self, name, data):
        run_json([self.arguments.sonde, "compact", "--data-dir", data, "--json"], self.clock)
        self.sizes[f"sonde, {name}"] = directory_bytes(data)

    def start_victoria_metrics(self, name="victoria-metrics"):
        program = install("victoria-metrics")
        self.clock.tell(f"{name}: load")
        data = self.scratch / name
        endpoint = f"127.0.0.1:{free_port()}"
        return Server([program, f"-storageDataPath={data}", "-retentionPeriod=100y", f"-httpListenAddr={endpoint}",
                       "-search.maxPointsPerTimeseries=100000", "-search.maxUniqueTimeseries=10000000"], f"{data}.log"), endpoint, data

    def load_victoria_metrics(self, endpoint):
        self.post_lines(endpoint)
        merge_victoria_metrics(endpoint)
