#!/usr/bin/env python3
"""`sonde backup` and `sonde restore` as people run them: of a running server and of a stopped one, of all tables and of one, killed
in the midst, with a repository that is damaged, gone, or in use.

usage: repository.py SONDE [--kills N]

--kills N: how many backups and how many restores are killed (10 each if none is given).
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import urllib.request

POINTS = 20_000
START_SECONDS = 1_700_000_000


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


class Server:
    def __init__(self, sonde, data):
        self.process = subprocess.Popen(
            [sonde, "serve", "--port", "0", "--http-port", "0", "--data-dir", str(data), "--log-level", "error"],
            stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if page := re.search(r"web page at (http://\S+?)/?$", line.strip()):
                self.url = page[1]
            if address := re.search(r"listening on (\S+)", line):
                self.address = address[1]
                return
        sys.exit("FAILED: the server did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)

    def write(self, first, count):
        lines = "".join(f"weather,city=c{n % 10} degrees={n}.5 {(START_SECONDS + n) * 1_000_000_000}\n"
                        for n in range(first, first + count))
        with urllib.request.urlopen(f"{self.url}/api/v2/write?org=o&bucket=b&precision=ns", lines.encode()) as answer:
            check(answer.status == 204, f"a write was answered with {answer.status}")

    def rows(self, table):
        """All cells of a table, with their times, as text."""
        question = json.dumps({"query": f"SELECT * FROM `{table.rsplit('/', 1)[1]}`(with_history => TRUE)"}).encode()
        with urllib.request.urlopen(f"{self.url}/api/v1/sql", question) as answer:
            lines = answer.read().decode().splitlines()
        check('"stats"' in lines[-1], f"the answer about {table} ends with {lines[-1][:200]}")
        return lines[:-1]

    def tables(self):
        with urllib.request.urlopen(f"{self.url}/api/v1/tables") as answer:
            return sorted(table["name"] for table in json.load(answer)["tables"])


class Commands:
    def __init__(self, sonde, work):
        self.sonde, self.repository = sonde, work / "repository"

    def start(self, *arguments):
        return subprocess.Popen([self.sonde, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *arguments, status=0):
        ended = subprocess.run([self.sonde, *map(str, arguments)], capture_output=True, text=True, timeout=120)
        check(ended.returncode == status,
              f"{' '.join(map(str, arguments))}: exit status {ended.returncode} instead of {status}: {ended.stdout}{ended.stderr}")
        return ended.stdout + ended.stderr

    def create(self, data, *arguments):
        return json.loads(self.run("backup", "create", "--to", self.repository, "--data-dir", data, "--json", *arguments))

    def restore(self, to, *arguments):
        return json.loads(self.run("restore", "--from", self.repository, "--data-dir", to, "--json", *arguments))


def rows_of(server):
    return {table: server.rows(table) for table in server.tables()}


def running_and_stopped(commands, sonde, work):
    data = work / "data"
    with Server(sonde, data) as server:
        mode = stat.S_IMODE(os.stat(data / "admin.sock").st_mode)
        check(mode == 0o600, f"admin.sock has the mode {mode:o}")
        server.write(0, POINTS)
        first, before = commands.create(data), rows_of(server)
        check(before, "the server has no tables")
        check(set(first["tables"]) >= set(server.tables()), f"the backup has the tables {first['tables']}")
        server.write(POINTS, POINTS)
        after = rows_of(server)
        check(after != before, "the second half of the points changed nothing")
        commands.create(data)
        for _ in range(50):  # the server takes the checkpoint away when the command is gone
            if not any((data / "snapshots").iterdir()):
                break
            time.sleep(0.1)
        check(not any((data / "snapshots").iterdir()), "the server keeps a checkpoint")
    check(not (data / "admin.sock").exists(), "the server left its socket")
    stopped = commands.create(data)
    check(stopped["bytes_found"] > 0, "a backup of the stopped directory found nothing")
    listed = json.loads(commands.run("backup", "list", "--in", commands.repository, "--json"))
    check(len(listed) == 3 and listed[0]["id"] == first["id"], f"the list is {listed}")

    for backup, expected in ((first["id"], before), (stopped["id"], after)):
        restored = work / f"restored-{backup}"
        facts = commands.restore(restored, "--backup", backup)
        check(facts["id"] == backup and facts["moment"].endswith("Z"), f"restored {facts}")
        with Server(sonde, restored) as server:
            check(rows_of(server) == expected, f"backup {backup} has other rows")
        text = commands.run("restore", "--from", commands.repository, "--data-dir", restored, status=1)
        check("is not empty" in text, text)
    return data, first, before


def one_table(commands, sonde, work, data, first, before):
    table = max(before, key=lambda name: len("".join(before[name])))
    of_table = commands.create(data, "--table", table)
    check(of_table["tables"] == [table], f"the backup of a table has {of_table['tables']}")
    alone = work / "alone"
    commands.restore(alone, "--backup", of_table["id"])
    with Server(sonde, alone) as server:
        check(server.tables() == [table], f"the store of one table has {server.tables()}")
    copies = {}
    with Server(sonde, data) as server:
        name = f"{table}-running"
        commands.restore(data, "--backup", first["id"], "--table", table, "--as", name)
        copies[name] = server.rows(name)
        text = commands.run("restore", "--from", commands.repository, "--data-dir", data, "--table", table, "--as", name,
                            status=1)
        check("already exists" in text, text)
    name = f"{table}-stopped"
    commands.restore(data, "--backup", first["id"], "--table", table, "--as", name)
    with Server(sonde, data) as server:
        copies[name] = server.rows(name)
        check(not any((data / "snapshots").iterdir()), "a restore left its copy")
    for name, rows in copies.items():
        check(rows == before[table], f"{name} has other rows than {table} had")


def over_the_api(commands, sonde, work, first, before):
    """A table into a server that knows nothing of the repository, through its API; what is there already is left alone."""
    table = max(before, key=lambda name: len("".join(before[name])))
    name = f"{table}-sent"
    restore = ("restore", "--from", commands.repository, "--backup", first["id"], "--table", table, "--as", name, "--json")
    with Server(sonde, work / "other") as server:
        facts = json.loads(commands.run(*restore, "--address", server.address))
        check(facts["as"] == name and facts["rows"] > 0 and facts["cells"] >= facts["rows"], f"restored {facts}")
        check(server.rows(name) == before[table], f"{name} has other rows than {table} had")
        text = commands.run(*restore, "--address", server.address, status=1)
        check("There is a table" in text, text)
        check(server.rows(name) == before[table], "a restore that was refused changed the table")
        again = json.loads(commands.run(*restore, "--address", server.address, "--resume"))
        check((again["rows"], again["cells"]) == (facts["rows"], facts["cells"]), f"resumed {again}, restored {facts}")
        address = server.address
    check("no Bigtable server answers" in commands.run(*restore, "--address", address, status=1), "nobody answers")
    for wrong, words in (((), "one of them is needed"), (("--address", address, "--data-dir", work), "one of them is needed"),
                         (("--data-dir", work, "--resume"), "are for --address")):
        text = commands.run(*restore, *wrong, status=2)
        check(words in text, text)
    text = commands.run("restore", "--from", commands.repository, "--address", address, status=2)
    check("--address takes one table" in text, text)


def killed(commands, sonde, work, data, kills):
    source = random.Random(1)
    with Server(sonde, data) as server:
        for n in range(kills):
            server.write(2 * POINTS + 100 * n, 100)
            process = commands.start("backup", "create", "--to", commands.repository, "--data-dir", data, "--limit-rate", "2MiB")
            time.sleep(source.uniform(0, 0.4))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            commands.run("backup", "verify", "--in", commands.repository, "--read-data")
        whole, expected = commands.create(data), rows_of(server)
    restored = work / "killed"
    for _ in range(kills):
        process = commands.start("restore", "--from", commands.repository, "--data-dir", restored, "--limit-rate", "4MiB")
        time.sleep(source.uniform(0, 0.6))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if (restored / "FORMAT").exists():
            shutil.rmtree(restored)
    facts = commands.restore(restored)
    check(facts["id"] == whole["id"], f"the newest backup is {whole['id']}, restored is {facts['id']}")
    with Server(sonde, restored) as server:
        check(rows_of(server) == expected, "the store that was restored after kills has other rows")


def in_use(commands, work, data):
    slow = commands.start("backup", "create", "--to", work / "slow", "--data-dir", data, "--limit-rate", "1KiB")
    for _ in range(100):
        if (work / "slow" / "lock").exists():
            break
        time.sleep(0.05)
    for arguments in (("backup", "prune", "--in", work / "slow", "--keep-daily", "1"),
                      ("backup", "create", "--to", work / "slow", "--data-dir", data)):
        text = commands.run(*arguments, status=1)
        check(f"held by process {slow.pid}" in text, text)
    slow.kill()
    slow.communicate()
    commands.run("backup", "create", "--to", work / "slow", "--data-dir", data)


def damaged(commands, work):
    commands.run("backup", "verify", "--in", commands.repository)
    commands.run("check", "--repository", commands.repository)
    dry = json.loads(commands.run("backup", "prune", "--in", commands.repository, "--keep-daily", "1", "--dry-run", "--json"))
    check(dry["removed"] and dry["dry_run"], f"a dry run says {dry}")
    pruned = json.loads(commands.run("backup", "prune", "--in", commands.repository, "--keep-daily", "1", "--json"))
    check(pruned["removed"] == dry["removed"], f"a dry run said {dry}, then {pruned}")
    manifest = max((commands.repository / "backups").glob("*.json"), key=lambda path: path.stat().st_size)
    blob = max((commands.repository / "blobs").glob("??/*"), key=lambda path: path.stat().st_size)
    for path in (manifest, blob):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
        text = commands.run("backup", "verify", "--in", commands.repository, "--read-data", status=1)
        check(str(path) in text, f"the damage of {path} is not named: {text}")
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    commands.run("backup", "verify", "--in", work / "nowhere", status=2)
    commands.run("backup", "list", "--in", work / "nowhere", status=2)
    commands.run("check", "--data-dir", work, "--repository", work, status=2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sonde")
    parser.add_argument("--kills", type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        commands = Commands(arguments.sonde, work)
        data, first, before = running_and_stopped(commands, arguments.sonde, work)
        one_table(commands, arguments.sonde, work, data, first, before)
        over_the_api(commands, arguments.sonde, work, first, before)
        killed(commands, arguments.sonde, work, data, arguments.kills)
        in_use(commands, work, data)
        damaged(commands, work)
    print("passed")


if __name__ == "__main__":
    main()
