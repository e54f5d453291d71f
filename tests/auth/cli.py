#!/usr/bin/env python3
"""`sonde auth` as a person sees it: the transcripts beside this file, and what no transcript shows: modes of files, that secrets are
nowhere but where they belong, that a failed or killed command changes nothing, and that every command has help with examples.

usage: cli.py SONDE [--rewrite]

A block of a transcript runs in a fresh directory a file.  Its output is stdout, then stderr, then `exit STATUS` if that is not 0.  Ids,
tokens and times are replaced by KEY, TOKEN-ID, TOKEN-TEXT, TIME; $KEY and $TOKEN in a command are the ids that were made last,
$TEXT is the text of the token that was made last, and input lines go to the command's stdin.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))
import transcript  # noqa: E402

TOKEN = re.compile(r"sonde_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")
KEY_ID = re.compile(r"\b[0-9a-f]{40}\b")
TOKEN_ID = re.compile(r"\b[0-9a-f]{12}\b")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
COMMANDS = ["create-key", "create-token", "list", "revoke", "bind", "unbind", "check"]


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


class Runner:
    def __init__(self, sonde, directory):
        self.sonde = sonde
        self.directory = directory
        self.made = {"$KEY": "", "$TOKEN": "", "$TEXT": ""}

    def run(self, *arguments, stdin=""):
        done = subprocess.run([self.sonde, *arguments], cwd=self.directory, input=stdin, capture_output=True, text=True,
                              timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def fill(self, text):
        for name, value in self.made.items():
            text = text.replace(name, value)
        return text

    def note(self, text):
        if key := KEY_ID.search(text):
            self.made["$KEY"] = key[0]
        if token := TOKEN.search(text):
            self.made["$TEXT"], self.made["$TOKEN"] = token[0], token[1]

    def block(self, block):
        check(block.command[:2] == ["sonde", "auth"], f"line {block.line} is a command of sonde auth")
        stdin = "".join(self.fill(line) + "\n" for line in block.input)
        status, out, err = self.run(*[self.fill(word) for word in block.command[1:]], stdin=stdin)
        self.note(out)
        lines = (out + err).rstrip("\n").split("\n") if out + err else []
        if status != 0:
            lines.append(f"exit {status}")
        for pattern, name in ((TOKEN, "TOKEN-TEXT"), (KEY_ID, "KEY"), (TOKEN_ID, "TOKEN-ID"), (TIME, "TIME")):
            lines = [pattern.sub(name, line) for line in lines]
        return [line.strip() or "." for line in (re.sub(r"  +", "  ", re.sub("──+", "──", line)) for line in lines)]


def check_files(sonde, directory):
    runner = Runner(sonde, directory)
    auth, key = directory / "auth.yaml", directory / "key.json"
    os.umask(0)
    check(runner.run("auth", "create-key", "a", "--out", "key.json", "--auth", "auth.yaml")[0] == 0, "a key is made")
    status, token, talk = runner.run("auth", "create-token", "a", "--expires", "1d", "--auth", "auth.yaml")
    check(status == 0 and TOKEN.fullmatch(token.strip()), "a token is printed alone")
    secret = token.strip()[len("sonde_0123456789ab_"):]
    for path in (auth, key):
        check(path.stat().st_mode & 0o7777 == 0o600, f"{path.name} is its owner's alone, whatever the umask")
    check(sorted(path.name for path in directory.iterdir()) == ["auth.yaml", "key.json"], "no other file stays")
    check("PRIVATE" not in auth.read_text() and secret not in auth.read_text(), "no secret is in auth.yaml")
    private_lines = json.loads(key.read_text())["private_key"].split("\n")[1:-2]
    # Whatever a command prints, in whichever state, has no secret.
    runs = [runner.run("auth", "list", "--auth", "auth.yaml"), runner.run("auth", "list", "--auth", "auth.yaml", "--json"),
            runner.run("auth", "check", "--auth", "auth.yaml", stdin=f"Bearer {token.strip()}\n"),
            runner.run("auth", "check", "--auth", "auth.yaml", stdin=f"Bearer {token.strip()}x\n"),
            runner.run("auth", "check", "--auth", "auth.yaml", stdin=f"Basic {token.strip()}\n"),
            runner.run("auth", "create-key", "a", "--out", "key.json", "--auth", "auth.yaml")]
    printed = talk + "".join(out + err for _, out, err in runs)
    check(secret not in printed and not any(line in printed for line in private_lines), "secrets are not printed")
    check(runs[-1][0] == 1 and "exists already" in runs[-1][2], "a key file is not overwritten")


def check_audit(sonde, directory):
    """What the commands change has lines in the audit log, also while no server runs."""
    runner = Runner(sonde, directory)
    log = directory / "audit.log"

    def lines():
        return [json.loads(line) for line in log.read_text().splitlines()]

    for arguments in (("create-key", "a", "--out", "key.json"), ("create-token", "b", "--expires", "1d"),
                      ("bind", "a", "roles/bigtable.reader"), ("unbind", "a", "roles/bigtable.reader")):
        status, _, err = runner.run("auth", *arguments, "--data-dir", ".")
        check(status == 0, f"{arguments} has status {status}: {err}")
    check(runner.run("auth", "list", "--data-dir", ".")[0] == 0, "the file is listed")
    found = lines()
    check(log.stat().st_mode & 0o7777 == 0o600, "the audit log is its owner's alone")
    check([line["cause"] for line in found] == ["added", "added", "added", "added", "removed"], f"each change has a line: {found}")
    check(all(line["event"] == "changed" and line["method"] == "sonde auth" and line["principal"].startswith("local:") for line in found),
          f"the lines say who did what: {found}")
    check("serviceAccount:a@sonde.local" in found[1]["resource"] and "roles/bigtable.reader" in found[4]["resource"], f"{found}")
    check(not TOKEN.search(log.read_text()), "no token is in the audit log")
    before = (directory / "auth.yaml").read_text()
    log.chmod(0o644)
    status, _, err = runner.run("auth", "bind", "b", "roles/bigtable.user", "--data-dir", ".")
    check(status == 1 and "audit log" in err, f"an audit log that others may read is refused: {status} {err}")
    check((directory / "auth.yaml").read_text() == before, "and nothing is changed")
    log.chmod(0o600)
    status, _, err = runner.run("auth", "revoke", "none", "--data-dir", ".")
    check(status == 1 and len(lines()) == 5, f"what fails has no line: {status} {err}")
    check(runner.run("auth", "bind", "b", "roles/bigtable.user", "--data-dir", ".", "--audit-log", "other.log")[0] == 0, "another log")
    check(len(lines()) == 5 and "roles/bigtable.user" in (directory / "other.log").read_text(), "the line is in the other log")


def check_failures(sonde, directory):
    runner = Runner(sonde, directory)
    check(runner.run("auth", "create-token", "a", "--expires", "1d", "--auth", "auth.yaml")[0] == 0, "a token is made")
    auth = directory / "auth.yaml"
    before = auth.read_bytes()
    auth.chmod(0o644)
    check(runner.run("auth", "create-key", "a", "--out", "key.json", "--auth", "auth.yaml")[0] == 1, "a wide file is refused")
    check(not (directory / "key.json").exists(), "no key file stays that no server knows")
    auth.chmod(0o600)
    auth.write_bytes(before + b"what: 1\n")
    status, _, err = runner.run("auth", "create-token", "a", "--expires", "1d", "--auth", "auth.yaml")
    check(status == 2 and re.search(r"auth\.yaml:\d+: unknown key 'what'", err), f"the line is named: {err}")
    check(auth.read_bytes() == before + b"what: 1\n", "a file that is wrong is left as it is")
    auth.write_bytes(before)


def check_killed(sonde, directory):
    """A command that is killed leaves the file of before or of after, and the next command works."""
    runner = Runner(sonde, directory)
    check(runner.run("auth", "bind", "a", "roles/bigtable.reader", "--auth", "auth.yaml")[0] == 0, "a binding is made")
    for i in range(40):
        command = subprocess.Popen([sonde, "auth", "create-token", f"a{i}", "--expires", "1d", "--auth", "auth.yaml"],
                                   cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.0005 * i)
        command.send_signal(signal.SIGKILL)
        command.wait()
        status, out, err = runner.run("auth", "list", "--auth", "auth.yaml", "--json")
        check(status == 0 and json.loads(out)["bindings"], f"the file is whole: {err}")
    check(runner.run("auth", "bind", "b", "roles/bigtable.reader", "--auth", "auth.yaml")[0] == 0, "the next one works")
    check(not (directory / "auth.yaml.part").exists(), "nothing is left over")


def check_help(sonde, directory):
    runner = Runner(sonde, directory)
    for command in COMMANDS:
        status, out, _ = runner.run("auth", command, "--help")
        check(status == 0 and "Examples:\n" in out and "--json" in out, f"sonde auth {command} --help has examples")
        check(f"sonde auth {command}" in out.split("Examples:\n")[1], f"the example of {command} is of it")


def main():
    rewrite = "--rewrite" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--rewrite"]
    if len(arguments) != 1 or not os.access(arguments[0], os.X_OK):
        sys.exit(__doc__)
    sonde = os.path.abspath(arguments[0])
    with tempfile.TemporaryDirectory() as work:
        def directory(name):
            path = pathlib.Path(work, name)
            path.mkdir()
            return path

        status = transcript.main(sorted(HERE.glob("*.transcript")),
                                 lambda path: Runner(sonde, directory(path.stem)).block, rewrite)
        if status:
            sys.exit(status)
        for part in (check_help, check_files, check_audit, check_failures, check_killed):
            part(sonde, directory(part.__name__))
    print("sonde auth: help, files, failures and kills are as they must be")


if __name__ == "__main__":
    main()
