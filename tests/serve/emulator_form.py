#!/usr/bin/env python3
"""`sonde -host H -port N`, as Google's emulator is called: several at once from one directory, each with data of its own
that is gone at the end, however it ends; and with --data-dir, data that stays.

usage: emulator_form.py SONDE
"""

import pathlib
import re
import signal
import subprocess
import sys
import tempfile


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


class Server:
    def __init__(self, sonde, home, *arguments):
        self.process = subprocess.Popen(
            [sonde, *arguments, "--http-port", "0", "--log-level", "warn"], cwd=home / "here", stdout=subprocess.PIPE,
            text=True, env={"TMPDIR": str(home / "tmp"), "PATH": "/usr/bin:/bin"})
        for line in self.process.stdout:
            if re.search(r"listening on \S+", line):
                return
        sys.exit(f"FAILED: {arguments}: the server did not start")

    def end(self, how):
        self.process.send_signal(how)
        self.process.communicate(timeout=60)
        return self.process.returncode


def main():
    sonde = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        home = pathlib.Path(name)
        for part in ["here", "tmp"]:
            (home / part).mkdir()
        form = ["-host", "127.0.0.1", "-port", "0"]
        left = lambda part: sorted(path.name for path in (home / part).iterdir())

        servers = [Server(sonde, home, *form) for _ in range(3)]
        check(left("here") == [], f"the servers left {left('here')} where they were called")
        check(len(left("tmp")) == 3, f"three servers have {left('tmp')}")
        check(servers[0].end(signal.SIGTERM) == 0, "SIGTERM did not end the server well")
        check(servers[1].end(signal.SIGINT) == 0, "SIGINT did not end the server well")
        check(len(left("tmp")) == 1, f"one server has {left('tmp')}")
        servers[2].end(signal.SIGKILL)
        killed = left("tmp")
        check(len(killed) == 1, f"a killed server cannot have removed its directory, but there is {killed}")
        server = Server(sonde, home, *form)
        check(killed[0] not in left("tmp") and len(left("tmp")) == 1,
              f"{killed} of the killed server is not removed: {left('tmp')}")
        taken = subprocess.run([sonde, *form[:3], "99999"], cwd=home / "here", capture_output=True, timeout=60)
        check(taken.returncode == 2, f"a port that cannot be was taken: {taken}")
        check(server.end(signal.SIGTERM) == 0 and left("tmp") == [], f"{left('tmp')} is left")

        server = Server(sonde, home, *form, "--data-dir", str(home / "data"))
        check(server.end(signal.SIGTERM) == 0, "SIGTERM did not end the server well")
        check((home / "data" / "FORMAT").exists(), "--data-dir was not kept")
        check(left("tmp") == [] and left("here") == [], "a server with --data-dir made directories elsewhere")

        Server(sonde, home, "serve", "--port", "0").end(signal.SIGTERM)
        check(left("here") == ["sonde-data"], f"`sonde serve` made {left('here')}")
        Server(sonde, home, "serve", "--port", "0", "--temporary").end(signal.SIGTERM)
        check(left("tmp") == [], f"`sonde serve --temporary` left {left('tmp')}")
    print("emulator_form: all is as it should be")


if __name__ == "__main__":
    main()
