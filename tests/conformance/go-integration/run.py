#!/usr/bin/env python3
"""Runs the Go client's own integration tests and holds them to the list `expected.txt` beside this file.

usage: run.py --tests PROGRAM --directory DIRECTORY [--mode emulator|prod|tls|strangers] [PATTERN ...]

PROGRAM is the compiled test package of the client, DIRECTORY where its sources are.  Each mode runs against the server
that BIGTABLE_EMULATOR_HOST names: `emulator` through that variable, as a developer would, `prod` with -it.use-prod, in
which more tests run and the client does all that it does towards Google.  PATTERN (of fnmatch) picks tests.

`tls` is `prod` with a server of its own (SONDE_BINARY), as `sonde init` sets it up: by TLS, with the key of its first account.  The
outcomes are those of `prod`.  `strangers` is the same with a key that the server does not know, without a key, with one that may only
look, and with one that may also read: each test that passes in `prod` must fail.

A test whose outcome is not the listed one fails the run, in both directions; so does a test that is not on the list,
and a line of the list without a test.
"""

import argparse
import fnmatch
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

LIST = pathlib.Path(__file__).resolve().parent / "expected.txt"
MODES = ("emulator", "prod")  # the columns of the list
SECURE_MODES = ("tls", "strangers")
WITHOUT_SERVER = {"TestIntegration_NewClientWithEmulatorHost"}  # it asks an emulator of its own
# What the list may say of a test, and what its run must then end with; None: it is not run.
OUTCOMES = {"pass": "PASS", "skips": "SKIP", "unbuilt": "FAIL", "apart": None}
GROUP_TIMEOUT_SECONDS = 300
OUTPUT_LINES_MAX = 40  # of a test that surprises
# Run apart, without the part that needs an instance of its own: the client that it makes for that goes to Google whatever
# the endpoint is.
WITHOUT_INSTANCES = {"TestIntegration_AdminBackup"}
UNBUILT_TIMEOUT_SECONDS = 20  # some retry for minutes what is not there

RESULT = re.compile(r"^--- (PASS|FAIL|SKIP): (\S+) ")
NOW_SPEAKING = re.compile(r"^=== (?:RUN|CONT|NAME|PAUSE)\s+([^/\s]+)")


def read_list(names):
    """{mode: {test: expectation}} of all tests, and what is wrong with the list."""
    expected, wrong = {mode: {} for mode in MODES}, []
    for number, line in enumerate(LIST.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        pattern, *words = line.split(None, 3)
        reason = words[2] if len(words) == 3 else ""
        if len(words) < 2 or any(word not in OUTCOMES for word in words[:2]):
            wrong.append(f"line {number}: a test and two of {', '.join(OUTCOMES)} are wanted: {line}")
            continue
        if words[:2] != ["pass", "pass"] and not reason:
            wrong.append(f"line {number}: no reason: {line}")
        found = fnmatch.filter(names, pattern)
        if not found:
            wrong.append(f"line {number}: the client has no test {pattern}")
        for name in found:
            for mode, word in zip(MODES, words):
                if name in expected[mode]:
                    wrong.append(f"line {number}: {name} is listed twice")
                expected[mode][name] = word
    wrong += [f"{name} is not listed" for name in names if name not in expected[MODES[0]]]
    return expected, wrong


class SecureServer:
    """A server by TLS that asks who calls; its keys, by what they may."""

    def __init__(self, sonde, directory):
        data = directory / "data"

        def run(*words):
            subprocess.run([sonde, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        run("init", "--data-dir", data)
        run("auth", "create-key", "look", "--out", directory / "look.json", "--data-dir", data)
        run("auth", "bind", "look", "roles/bigtable.viewer", "--data-dir", data)
        run("auth", "create-key", "read", "--out", directory / "read.json", "--data-dir", data)
        run("auth", "bind", "read", "roles/bigtable.reader", "--data-dir", data)
        run("auth", "create-key", "stranger", "--out", directory / "stranger.json", "--auth", directory / "elsewhere.yaml")
        self.keys = {"admin": data / "admin-key.json", "viewer": directory / "look.json", "reader": directory / "read.json",
                     "stranger": directory / "stranger.json", "keyless": ""}
        self.authority = data / "certificates/ca.pem"
        self.process = subprocess.Popen([sonde, "serve", "--config", data / "sonde.yaml", "--port", "0", "--no-http"],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.process.stdout.readline().split()[-1]

    def environment(self, key):
        return {"SONDE_ADDRESS": self.address, "SSL_CERT_FILE": str(self.authority), "SONDE_KEY_FILE": str(self.keys[key])}

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=60)


class Tests:
    def __init__(self, program, directory, mode, secure=None):
        self.program = program
        self.directory = directory
        self.mode = mode
        self.secure = secure or {}  # what is set for a server by TLS
        self.runs = 0

    def list(self):
        done = subprocess.run([self.program, "-test.list", "^TestIntegration_"], cwd=self.directory, text=True,
                              env=self._environment(), capture_output=True, check=True)
        return [line for line in done.stdout.splitlines() if line.startswith("TestIntegration_")]

    def run(self, names, timeout_seconds, creates_instances=True):
        """({test: PASS, FAIL or SKIP}, {test: its lines}) of those that came to an end, in a project of their own."""
        self.runs += 1
        project = f"it-{self.mode}-{time.time_ns()}-{self.runs}"
        arguments = [f"-it.project={project}"]
        if self.mode != "emulator":
            arguments += ["-it.use-prod", "-it.instance=instance", "-it.cluster=sonde",
                          f"-it.project2={project}-2", "-it.cluster2=other"]
        command = [self.program, "-test.v", f"-test.timeout={timeout_seconds}s", "-test.parallel=4",
                   f"-test.run=^({'|'.join(names)})$", *arguments]
        environment = self._environment()
        if not creates_instances:
            environment["SONDE_WITHOUT_INSTANCES"] = "1"
        done = subprocess.run(command, cwd=self.directory, env=environment, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=2 * timeout_seconds)
        results, lines, speaker = {}, {}, None
        for line in done.stdout.splitlines():
            if now := NOW_SPEAKING.match(line):
                speaker = now[1]
            elif result := RESULT.match(line):
                results[result[2]] = result[1]
                speaker = result[2]
            lines.setdefault(speaker, []).append(line)
        return results, lines

    def _environment(self):
        environment = dict(os.environ)
        if self.mode != "emulator":
            environment["SONDE_ADDRESS"] = environment.pop("BIGTABLE_EMULATOR_HOST")
        return environment | self.secure


def run_mode(tests, expected):
    """The number of tests that did as listed, by expectation, and the surprises, each a text."""
    results, lines = {}, {}
    listed = [name for name, word in expected.items() if word in ("pass", "skips")]
    for apart in (False, True):
        group = [name for name in listed if (name in WITHOUT_INSTANCES) == apart]
        if group:
            found, said = tests.run(group, GROUP_TIMEOUT_SECONDS, creates_instances=not apart)
            results.update(found)
            lines.update(said)
    for name in (name for name, word in expected.items() if word == "unbuilt"):
        # Alone: some end their process.
        alone, said = tests.run([name], UNBUILT_TIMEOUT_SECONDS)
        results[name] = alone.get(name, "FAIL")
        lines[name] = said.get(name, [])
    counts, surprises = {}, []
    for name, word in expected.items():
        if OUTCOMES[word] is None or results.get(name) == OUTCOMES[word]:
            counts[word] = counts.get(word, 0) + 1
            continue
        said = "\n".join("    " + line for line in lines.get(name, lines.get(None, []))[-OUTPUT_LINES_MAX:])
        ended = results.get(name, "no result")
        surprises.append(f"{tests.mode}: {name}: listed as '{word}', ended with {ended}\n{said}")
    return counts, surprises


def run_strangers(program, directory, server, names):
    """The surprises: tests that did not fail though the caller may not do what they do."""
    surprises = []
    for key in ("stranger", "viewer", "reader", "keyless"):
        tests = Tests(program, directory, "strangers", server.environment(key))
        results, lines = tests.run(names, GROUP_TIMEOUT_SECONDS)
        refused = "PermissionDenied" if key in ("viewer", "reader") else "Unauthenticated"
        surprises += [f"strangers: {name}: the {key} was not refused: {results[name]}" for name in names
                      if results.get(name) not in ("FAIL", None)]
        said = sum(refused in line for some in lines.values() for line in some)
        if said == 0 or not any(result == "FAIL" for result in results.values()):
            surprises.append(f"strangers: the {key}: nothing ended with {refused}")
    return surprises


def run_secure(mode, arguments, picked):
    with tempfile.TemporaryDirectory() as work:
        server = SecureServer(os.environ["SONDE_BINARY"], pathlib.Path(work))
        try:
            if mode == "strangers":
                names = [name for name, word in picked.items() if word == "pass" and name not in WITHOUT_SERVER]
                found = run_strangers(arguments.tests, arguments.directory, server, names)
                return {"refused": len(names)}, found
            return run_mode(Tests(arguments.tests, arguments.directory, mode, server.environment("admin")), picked)
        finally:
            server.end()


def main():
    parser = argparse.ArgumentParser(description="Runs the Go client's own integration tests.")
    parser.add_argument("--tests", required=True)
    parser.add_argument("--directory", required=True)
    parser.add_argument("--mode", choices=MODES + SECURE_MODES)
    parser.add_argument("patterns", nargs="*", default=["*"])
    arguments = parser.parse_args()
    if not os.environ.get("BIGTABLE_EMULATOR_HOST"):
        parser.error("BIGTABLE_EMULATOR_HOST is not set: run tests/conformance/run go-integration SONDE")

    expected, surprises = read_list(Tests(arguments.tests, arguments.directory, "emulator").list())
    # A server that runs already is not asked for keys.
    modes = MODES + (SECURE_MODES if "SONDE_BINARY" in os.environ else ())
    for mode in [arguments.mode] if arguments.mode else modes:
        tests = Tests(arguments.tests, arguments.directory, mode)
        picked = {name: word for name, word in expected[mode if mode in MODES else "prod"].items()
                  if any(fnmatch.fnmatch(name, pattern) for pattern in arguments.patterns)}
        start = time.monotonic()
        counts, found = run_secure(mode, arguments, picked) if mode in SECURE_MODES else run_mode(tests, picked)
        surprises += found
        summary = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
        print(f"{mode}: as listed: {summary}; {len(found)} surprises; {time.monotonic() - start:.1f} s", flush=True)
    for surprise in surprises:
        print(surprise)
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
