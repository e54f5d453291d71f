#!/usr/bin/env python3
"""The server as a service manager sees it: told that the data is opened, that both ports listen, that the engine answers, and that
the server ends; with a socket in a file and with an abstract one.

usage: notices.py SONDE ROOT
"""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request

WATCH_SECONDS = 3


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def follow(sonde, directory, name):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.settimeout(60)
        manager.bind(name.replace("@", "\0", 1) if name.startswith("@") else name)
        environment = {**os.environ, "NOTIFY_SOCKET": name, "WATCHDOG_USEC": str(WATCH_SECONDS * 1_000_000)}
        environment.pop("WATCHDOG_PID", None)
        with subprocess.Popen([sonde, "serve", "--port", "0", "--http-port", "0", "--data-dir", directory / "data"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment) as server:
            try:
                opening = manager.recv(1000).decode()
                check(opening == f"STATUS=opening {directory / 'data'}", f"the first notice is {opening!r}")
                ready = manager.recv(1000).decode()
                check(ready == "READY=1\nSTATUS=serving", f"the second notice is {ready!r}")
                # What READY promises: the page's port answers, the API's port takes connections.
                page = re.search(r"http://\S+/", server.stdout.readline()).group(0)
                host, port = re.search(r"listening on (\S+):(\d+)", server.stdout.readline()).groups()
                with urllib.request.urlopen(page + "readyz", timeout=60) as answer:
                    check(answer.status == 200, f"/readyz answers {answer.status}")
                socket.create_connection((host, int(port)), timeout=60).close()
                manager.settimeout(20)
                for _ in range(3):
                    alive = manager.recv(1000).decode()
                    check(alive == "WATCHDOG=1", f"{alive!r} is no sign of life")
                server.send_signal(signal.SIGTERM)
                while (last := manager.recv(1000).decode()) == "WATCHDOG=1":
                    pass
                check(last == "STOPPING=1\nSTATUS=ending", f"the last notice is {last!r}")
                check(server.wait(timeout=60) == 0, f"the server ended with {server.returncode}")
                manager.settimeout(0.1)
                try:
                    check(False, f"a notice came after the end: {manager.recv(1000)!r}")
                except TimeoutError:
                    pass
            finally:
                server.kill()


def main():
    sonde = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        follow(sonde, directory, str(directory / "notify"))
        follow(sonde, directory, f"@sonde-notices-{os.getpid()}")


if __name__ == "__main__":
    main()
