#!/usr/bin/env python3
"""Points that come through a pipe can be read while the pipe is held open, as of `tail -f points.jsonl | sonde series load`.

usage: follow.py SONDE
"""
import subprocess
import sys
import tempfile
import time

import kill

WAIT_SECONDS = 60
DECLARATION = "series: s\ntags: { host: string }\nfields: { x: int }\nkey: [host, bucket]\nbucket: day\n"
POINTS = {
    "json": ["", '{"host": "a", "time": "2021-03-05T00:00:00Z", "x": 1}\n', '{"host": "a", "time": "2021-03-06T00:00:00Z", "x": 2}\n'],
    "csv": ["host,time,x\n", "b,2021-03-05T00:00:00Z,1\n", "b,2021-03-06T00:00:00Z,2\n"],
}


def count(sonde, declaration, server, host):
    result = subprocess.run([sonde, "series", "query", declaration, "--where", f"host={host}", "--format", "json",
                             "--endpoint", server.address], capture_output=True, text=True)
    return len(result.stdout.splitlines())


def main():
    sonde = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="sonde-follow-") as directory:
        declaration = f"{directory}/s.yaml"
        with open(declaration, "w") as file:
            file.write(DECLARATION)
        server = kill.Server(sonde, directory)
        try:
            for form, (header, *points) in POINTS.items():
                load = subprocess.Popen([sonde, "series", "load", declaration, "-", "--format", form, "--endpoint",
                                         server.address], stdin=subprocess.PIPE, text=True)
                load.stdin.write(header)
                for written, point in enumerate(points, 1):
                    load.stdin.write(point)
                    load.stdin.flush()
                    end = time.monotonic() + WAIT_SECONDS
                    while count(sonde, declaration, server, "a" if form == "json" else "b") < written:
                        assert time.monotonic() < end, f"{form}: point {written} is not there, {WAIT_SECONDS} s after it came"
                        assert load.poll() is None, "the load has ended"
                load.stdin.close()
                assert load.wait(WAIT_SECONDS) == 0
        finally:
            server.kill()
    print("points can be read while their pipe is open")


if __name__ == "__main__":
    main()
