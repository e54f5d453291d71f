#!/usr/bin/env python3
"""TLS on both ports of a server of its own: curl and Python over HTTPS, ALPN, bodies of several records both ways, silent and
plain clients, a certificate that is replaced by SIGHUP, a pair that does not fit, client certificates, and settings that are refused.

usage: tls.py SONDE
"""

import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def run(*command, **more):
    return subprocess.run([str(part) for part in command], capture_output=True, encoding="utf-8", errors="replace", timeout=60, **more)


def openssl(*arguments):
    done = run("openssl", *arguments)
    check(done.returncode == 0, f"openssl {arguments}: {done.stderr}")


def authority(directory, name):
    """Makes NAME.pem and NAME.key, a CA."""
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={name}",
            "-keyout", directory / f"{name}.key", "-out", directory / f"{name}.pem")


def certificate(directory, ca, name, extension):
    """Makes NAME.pem and NAME.key, which the CA has signed."""
    (directory / f"{name}.ext").write_text(extension)
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}", "-keyout",
            directory / f"{name}.key", "-out", directory / f"{name}.csr")
    openssl("x509", "-req", "-in", directory / f"{name}.csr", "-CA", directory / f"{ca}.pem", "-CAkey", directory / f"{ca}.key",
            "-CAcreateserial", "-days", "1", "-extfile", directory / f"{name}.ext", "-out", directory / f"{name}.pem")
    os.chmod(directory / f"{name}.key", 0o600)


SERVER = "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth"


class Server:
    def __init__(self, sonde, directory, *arguments):
        self.log_path = directory / "log"
        self.log = open(self.log_path, "w")
        self.process = subprocess.Popen(
            [sonde, "serve", "--port", "0", "--http-port", "0", "--durability", "os", "--data-dir", directory / "data",
             "--config", directory / "sonde.yaml", *arguments], stdout=subprocess.PIPE, stderr=self.log, text=True)
        for line in self.process.stdout:
            if page := re.search(r"web page at (https://\S+?)/?$", line.strip()):
                self.url = page[1]
                self.http_port = int(self.url.rsplit(":", 1)[1])
            if place := re.search(r"listening on \S+:(\d+)", line):
                self.port = int(place[1])
                return
        sys.exit(f"FAILED: the server did not start: {self.log_path.read_text()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        check(self.process.wait(timeout=60) == 0, "the server's exit")

    def wait_for_log(self, text):
        for _ in range(200):
            if text in self.log_path.read_text():
                return
            time.sleep(0.05)
        sys.exit(f"FAILED: '{text}' is not in the log: {self.log_path.read_text()}")


def handshake_with(port, directory):
    return run("openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-alpn", "h2,http/1.1", "-CAfile", directory / "ca.pem",
               "-verify_return_error", input="").stdout


def main():
    sonde = sys.argv[1]
    with tempfile.TemporaryDirectory() as place:
        directory = pathlib.Path(place)
        authority(directory, "ca")
        authority(directory, "clients")
        certificate(directory, "ca", "server", SERVER)
        certificate(directory, "clients", "client", "subjectAltName=email:a@example.com\nextendedKeyUsage=clientAuth")
        certificate(directory, "ca", "foreign", "subjectAltName=email:a@example.com\nextendedKeyUsage=clientAuth")
        settings = directory / "sonde.yaml"
        settings.write_text(f"tls:\n  certificate: {directory}/server.pem\n  key: {directory}/server.key\n"
                            f"  client_ca: {directory}/clients.pem\n")
        refused_settings(sonde, directory)
        with Server(sonde, directory) as server:
            https(server, directory)
            alpn(server, directory)
            strangers(server, directory)
            rotation(server, directory)
        settings.write_text(settings.read_text() + "  require_client_certificate: true\n")
        with Server(sonde, directory) as server:
            required(server, directory)
    print("passed")


def refused_settings(sonde, directory):
    def serve(*arguments):
        return run(sonde, "serve", "--port", "0", "--no-http", "--data-dir", directory / "refused", *arguments)

    key = directory / "server.key"
    done = serve("--tls-certificate", directory / "server.pem")
    check(done.returncode == 2 and "needs both a certificate and its key" in done.stderr, done.stderr)
    done = serve("--tls-certificate", directory / "server.pem", "--tls-key", directory / "client.key")
    check(done.returncode == 2 and "does not fit the certificate" in done.stderr, done.stderr)
    key.chmod(0o644)
    done = serve("--tls-certificate", directory / "server.pem", "--tls-key", key)
    key.chmod(0o600)
    check(done.returncode == 2 and "has the mode 0644" in done.stderr, done.stderr)
    done = serve("--host", "0.0.0.0")
    check(done.returncode == 2 and "--tls-certificate" in done.stderr and "--insecure-allow-remote" in done.stderr, done.stderr)
    done = serve("--host", "0.0.0.0", "--tls-certificate", directory / "server.pem", "--tls-key", key)
    check(done.returncode == 2 and "without authentication" in done.stderr, done.stderr)
    unknown = directory / "unknown.yaml"
    unknown.write_text("port: 0\ntls:\n  certificat: x\n")
    done = serve("--config", unknown)
    check(done.returncode == 2 and "unknown key 'certificat' in 'tls'" in done.stderr, done.stderr)


def https(server, directory):
    done = run("curl", "--silent", "--show-error", "--cacert", directory / "ca.pem", f"{server.url}/healthz")
    check(done.returncode == 0, done.stderr)
    context = ssl.create_default_context(cafile=str(directory / "ca.pem"))
    # Many records in, and many out.
    lines = "".join(f"load,host=h{i % 50} value={i} {1_700_000_000 + i}000000000\n" for i in range(40_000))
    for part in range(0, len(lines), 1 << 20):
        end = lines.rfind("\n", 0, part + (1 << 20)) + 1
        begin = lines.rfind("\n", 0, part) + 1
        request = urllib.request.Request(f"{server.url}/api/v2/write?bucket=b", data=lines[begin:end].encode())
        with urllib.request.urlopen(request, context=context, timeout=60) as answer:
            check(answer.status == 204, f"line protocol: {answer.status}")
    query = {"query": "SELECT n, REPEAT('x', 100) FROM UNNEST(GENERATE_ARRAY(1, 50000)) AS n"}
    request = urllib.request.Request(f"{server.url}/api/v1/sql", data=json.dumps(query).encode(),
                                     headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, context=context, timeout=60) as answer:
        check(answer.read().count(b"x" * 100) == 50_000, "the answer of many records")
    metrics = urllib.request.urlopen(f"{server.url}/metrics", context=context, timeout=60).read().decode()
    expiry = float(re.search(r"^sonde_tls_certificate_expiry_seconds (\S+)", metrics, re.M)[1])
    check(0 < expiry <= 86_400, f"expires in {expiry}")
    check(re.search(r"^sonde_tls_reload_failed 0", metrics, re.M), "sonde_tls_reload_failed")
    check(re.search(r"^sonde_insecure_remote 0", metrics, re.M), "sonde_insecure_remote")
    page = urllib.request.Request(f"{server.url}/healthz", headers={"Origin": server.url})
    check(urllib.request.urlopen(page, context=context, timeout=60).status == 200, "its own origin")
    page.add_header("Origin", server.url.replace("https", "http"))
    try:
        urllib.request.urlopen(page, context=context, timeout=60)
        sys.exit("FAILED: an origin without TLS was let in")
    except urllib.error.HTTPError as error:
        check(error.code == 403, f"an origin without TLS: {error.code}")


def alpn(server, directory):
    check("ALPN protocol: h2" in handshake_with(server.port, directory), "ALPN of the gRPC port")
    check("ALPN protocol: http/1.1" in handshake_with(server.http_port, directory), "ALPN of the HTTP port")
    for version in ("-tls1_1", "-tls1"):
        done = run("openssl", "s_client", version, "-cipher", "DEFAULT@SECLEVEL=0", "-connect", f"127.0.0.1:{server.http_port}",
                   input="")
        check(done.returncode != 0, f"{version} was let in")


def strangers(server, directory):
    """Plain and silent clients get nothing, and others are answered."""
    silent = [socket.create_connection(("127.0.0.1", server.http_port)) for _ in range(900)]
    with socket.create_connection(("127.0.0.1", server.http_port), timeout=20) as plain:
        plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        got = b""
        try:
            while part := plain.recv(1 << 16):
                got += part
        except ConnectionResetError:
            pass
        check(b"HTTP/1.1" not in got, "a plain request was answered")
    begin = time.monotonic()
    done = run("curl", "--silent", "--cacert", directory / "ca.pem", f"{server.url}/healthz")
    check(done.returncode == 0 and time.monotonic() - begin < 5, "an answer beside 900 silent clients")
    for connection in silent:
        connection.close()


def rotation(server, directory):
    def shown():
        return ssl.get_server_certificate(("127.0.0.1", server.http_port))

    before = shown()
    certificate(directory, "ca", "next", SERVER)
    os.replace(directory / "next.pem", directory / "server.pem")
    server.process.send_signal(signal.SIGHUP)
    server.wait_for_log("does not fit the certificate")
    check(shown() == before, "a pair that does not fit was shown")
    context = ssl.create_default_context(cafile=str(directory / "ca.pem"))
    metrics = urllib.request.urlopen(f"{server.url}/metrics", context=context, timeout=60).read().decode()
    check(re.search(r"^sonde_tls_reload_failed 1", metrics, re.M), "sonde_tls_reload_failed after a failure")
    os.replace(directory / "next.key", directory / "server.key")
    server.process.send_signal(signal.SIGHUP)
    server.wait_for_log("loaded anew")
    check(shown() != before, "the new certificate is not shown")
    data = directory / "data"
    check(data.stat().st_mode & 0o077 == 0, f"the data directory has the mode {data.stat().st_mode:o}")


def required(server, directory):
    def get(*arguments):
        return run("curl", "--silent", "--cacert", directory / "ca.pem", *arguments, f"{server.url}/healthz").returncode

    check(get("--cert", directory / "client.pem", "--key", directory / "client.key") == 0, "a client's certificate")
    check(get() != 0, "a client without its certificate was let in")
    check(get("--cert", directory / "foreign.pem", "--key", directory / "foreign.key") != 0, "a foreign CA was let in")


if __name__ == "__main__":
    main()
