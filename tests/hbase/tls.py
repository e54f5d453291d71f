#!/usr/bin/env python3
"""A server over a cluster that speaks TLS alone: rows are written and read by the Bigtable API, `sonde check` and `sonde copy` reach
the store, and each wrong setting is one line.

usage: SONDE_HBASE_TLS=1 tests/hbase/run tests/hbase/tls.py SONDE [--plain]

--plain: also how a server ends that speaks plain text to the cluster, which takes half a minute.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

NAMES = ("SONDE_STORE_TLS_CA", "SONDE_STORE_TLS_CERTIFICATE", "SONDE_STORE_TLS_KEY")


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


class Cluster:
    """What the commands are told of it."""

    def __init__(self, sonde):
        self.sonde = sonde
        self.masters = os.environ["SONDE_HBASE_MASTER"]
        self.store = f"hbase://{self.masters}/sonde_tls_{os.getpid()}"
        self.ca, self.certificate, self.key = (os.environ[name] for name in NAMES)
        self.environment = {name: value for name, value in os.environ.items() if name not in NAMES}

    def run(self, *arguments, status=0, seconds=60):
        done = subprocess.run([self.sonde, *map(str, arguments)], capture_output=True, text=True, timeout=seconds, env=self.environment)
        check(done.returncode == status, f"sonde {' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr}")
        return done

    def refused(self, expected, *arguments, **more):
        """The one line of a command that does not come about."""
        told = self.run(*arguments, status=1, **more).stderr.splitlines()
        lines = [line for line in told if not line.startswith("time=")]   # the server's log has its own
        check(len(lines) == 1 and re.search(expected, lines[0]), f"{arguments}: expected a line like '{expected}': {lines}")


class Server:
    def __init__(self, cluster, data, *flags):
        self.process = subprocess.Popen(
            [cluster.sonde, "serve", "--port", "0", "--no-http", "--data-dir", data, "--log-level", "error", "--store", cluster.store, *flags],
            stdout=subprocess.PIPE, text=True, env=cluster.environment)
        for line in self.process.stdout:
            if address := re.search(r"listening on (\S+)", line):
                self.endpoint = address[1]
                return
        sys.exit("FAILED: the server did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)


def wrong_settings(cluster, scratch):
    """Nobody waits for a wrong setting to become right."""
    handshake = re.escape(f"The TLS handshake with {cluster.masters.split(',')[0]} failed: ")
    own = ("--store-tls-certificate", cluster.certificate, "--store-tls-key", cluster.key)
    other = scratch / "other.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-subj", "/CN=other",
                    "-keyout", scratch / "other.key", "-out", other], check=True, capture_output=True)
    look = ("check", "--store", cluster.store)
    cluster.refused(handshake + "the server's certificate is of no authority of ", *look, "--store-tls-ca", other, *own, seconds=20)
    cluster.refused(handshake + "the server's certificate is not for hbase.example.com", *look, "--store-tls-ca", cluster.ca, *own,
                    "--store-tls-server-name", "hbase.example.com", seconds=20)
    cluster.refused(handshake + "the server refuses the connection, .* it may want a certificate of its clients, and none is given",
                    *look, "--store-tls-ca", cluster.ca, seconds=20)
    cluster.refused("/nowhere.pem cannot be read", "serve", "--data-dir", scratch / "refused", "--port", "0", "--no-http", "--store",
                    cluster.store, "--store-tls-ca", "/nowhere.pem", seconds=20)


def main():
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit(__doc__)
    cluster = Cluster(arguments[0])
    with tempfile.TemporaryDirectory() as directory:
        scratch = pathlib.Path(directory)
        # Files of its own, which may be replaced.
        files = {name: scratch / name for name in ("ca.pem", "client.pem", "client.key")}
        for path, source in zip(files.values(), (cluster.ca, cluster.certificate, cluster.key)):
            path.write_bytes(pathlib.Path(source).read_bytes())
            path.chmod(0o600)
        tls = ("--store-tls-ca", files["ca.pem"], "--store-tls-certificate", files["client.pem"], "--store-tls-key", files["client.key"])
        with Server(cluster, scratch / "front", *map(str, tls)) as server:
            at = ("--endpoint", server.endpoint)
            cluster.run("bench", "ingest", *at, "--table", "rows", "--schema", "tall", "--cells", "2000", "--clients", "1")
            rows = cluster.run("read", "rows", *at, "--limit", "3").stdout
            check(len(rows.strip()) > 0, "rows are read again")
            cluster.run("check", "--store", cluster.store, *tls)
            cluster.run("copy", "--from", cluster.store, *(
                word.replace("--store-tls", "--from-tls") if isinstance(word, str) else word for word in tls), "--to", scratch / "copied")
            check("rows" in cluster.run("tables", "--data-dir", scratch / "copied").stdout,
                  "the table was copied")
        wrong_settings(cluster, scratch)
        if "--plain" in arguments:
            cluster.refused("closed the connection before it answered anything, as HBase does where it wants TLS", "serve", "--data-dir",
                            scratch / "plain", "--port", "0", "--no-http", "--store", cluster.store, seconds=90)
    print("tls: all as expected")


if __name__ == "__main__":
    main()
