#!/usr/bin/env python3
"""docs/commands.md is what the program's help says, docs/metrics.md what its source says of metrics; a server that runs tells each of its
metrics as the page does, and the page has all that docs/stability.md promises.

usage: generated.py SONDE ROOT [--write]        --write: writes both pages (as `scripts/docs --write SONDE` does)
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request

OPTION = re.compile(r"^  (\S.*?)(?:  +|$)(.*)$")
TYPED = re.compile(r"^(\S+)(?: (.*))?$")   # names, and the value
DESCRIPTION_COLUMN = 30
HELP_OF_HELP = ["Show what a command does: sonde help series load", "Usage: sonde help COMMAND..."]   # its own help is that of others
CPP_TEXT = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
# Figure::Gauge("name", "help"), Begin("name", MetricKind::kCounter, "help"), and rows of tables {"name", "help", ...}.
METRIC = re.compile(r'(?:\b(Gauge|Counter|Histogram|gauge|counter)\(|Begin\(|one\(|\{)\s*"((?:sonde|process)_[a-z0-9_]+)",\s*'
                    r"(?:MetricKind::k(\w+),\s*)?" + CPP_TEXT)


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


# ---- commands
def help_of(sonde, path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SONDE_", "BIGTABLE_"))}
    done = subprocess.run([sonde, *path, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env=environment)
    check(done.returncode == 0, f"sonde {' '.join(path)} --help ended with {done.returncode}: {done.stderr}")
    return done.stdout


def escaped(text):
    """As words of a table."""
    return re.sub(r"([|<>*_\[\]])", r"\\\1", text) if "`" not in text else text.replace("|", "\\|").replace("<", "\\<")


def entries(lines):
    """[name, meaning] of each line of a list, whose meanings may stand a line below."""
    found = []
    for line in lines:
        if line.startswith(" " * DESCRIPTION_COLUMN):
            found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
        else:
            name, meaning = OPTION.match(line).groups()
            found.append([name, meaning])
    return found


def commands_page(sonde):
    out = ["# Commands", "",
           "All commands of the program, with their options, as `--help` tells them. `scripts/docs --write SONDE` writes this page,",
           "and the test `site.generated` compares it. `sonde manual` prints the same for `man`, and `sonde completion` a script for a",
           "shell. Exit statuses are in [stability.md](stability.md), the settings of `sonde serve` in [settings.md](settings.md).", ""]

    def command(path):
        lines = help_of(sonde, path).splitlines() if path != ("help",) else HELP_OF_HELP
        usage = next(i for i, line in enumerate(lines) if line.startswith("Usage: "))
        out.extend([f"{'#' * min(len(path) + 1, 3)} {' '.join(('sonde', *path))}" if path else "## sonde", "", *lines[:usage], "",
                    f"    {lines[usage].removeprefix('Usage: ')}", ""])
        section, lists, rest = "", {}, []
        for line in lines[usage + 1:]:
            if re.match(r"^(Positionals|Options|Subcommands):$", line):
                section = line[:-1]
            elif section and line == "":
                section = ""
            elif section:
                lists.setdefault(section, []).append(line)
            else:
                rest.append(line)
        below = entries(lists.get("Subcommands", []))
        if below:
            out.extend(["| command | what it does |", "| --- | --- |"])
            for name, meaning in below:
                words = " ".join(("sonde", *path, name))
                out.append(f"| [`{words}`](#{words.replace(' ', '-')}) | {escaped(meaning)} |")
            out.append("")
        table = [(name, meaning) for kind in ("Positionals", "Options") for name, meaning in entries(lists.get(kind, []))
                 if name not in ("-h,--help",)]
        if table:
            out.extend(["| option | value | meaning |", "| --- | --- | --- |"])
            for name, meaning in table:
                names, value = TYPED.match(name).groups()
                out.append(f"| `{names.replace(',', '`, `')}` | {escaped(value or '')} | {escaped(meaning)} |")
            out.append("")
        text = "\n".join(rest).strip("\n")
        if text:
            out.extend(["```text", text, "```", ""])
        for name, _ in below:
            command((*path, name))

    command(())
    return "\n".join(out)


# ---- metrics
def metrics_of(root):
    """{name: (kind, help)}, of the source."""
    found = {}
    for file in sorted((root / "src").rglob("*.cc")):
        place = file.relative_to(root / "src").as_posix()
        if place.endswith("_test.cc") or place.startswith(("cli/", "bench/", "engine/memory/")):
            continue
        for kind, name, begun, text in METRIC.findall(file.read_text(encoding="utf-8")):
            text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace('\\"', '"').replace("\\\\", "\\")
            kind = (kind or begun or ("Counter" if name.endswith("_total") else "Gauge")).lower()
            # Where two parts give samples of one metric, the engine's text is told, which says more.
            found[name] = max(found.get(name, (kind, "")), (kind, text), key=lambda one: len(one[1]))
    return found


GROUPS = (("process_", "The process"), ("sonde_build_", "The process"), ("sonde_requests", "Requests"), ("sonde_request_", "Requests"),
          ("sonde_grpc_", "Connections"), ("sonde_http_", "Connections"), ("sonde_points_", "Points of series"),
          ("sonde_series_", "Points of series"), ("sonde_table_", "Tables"),
          ("sonde_deleted_", "Deleted tables"), ("sonde_sql_", "SQL"), ("sonde_view_", "Materialized views"),
          ("sonde_change_stream_", "Change streams and journals"), ("sonde_journal_", "Change streams and journals"),
          ("sonde_settling_", "Settling and pages"), ("sonde_page", "Settling and pages"), ("sonde_gc_", "Garbage collection"),
          ("sonde_space_", "Garbage collection"), ("sonde_backup", "Backups"), ("sonde_automated_", "Backups"), ("sonde_scrub_", "Disk and damage"),
          ("sonde_disk_", "Disk and damage"), ("sonde_writes_", "Disk and damage"), ("sonde_memory_", "Memory"), ("sonde_allocator_", "Memory"),
          ("sonde_access_", "Security"), ("sonde_audit_", "Security"), ("sonde_tls_", "Security"), ("sonde_insecure_", "Security"),
          ("sonde_clock_", "The process"), ("sonde_keyviz_", "Key visualizer"), ("sonde_rocksdb_", "RocksDB"),
          ("sonde_hbase_", "HBase"))


def metrics_page(metrics):
    groups = {title: [] for _, title in GROUPS} | {"Others": []}
    for name in sorted(metrics):
        groups[next((title for start, title in GROUPS if name.startswith(start)), "Others")].append(name)
    out = ["# Metrics", "",
           "The metrics of `GET /metrics`, each with its `# HELP` line. `scripts/docs --write SONDE` writes this page from the source, and the",
           "test `site.generated` compares it with the source and with a server that runs. Which names stay is in",
           "[stability.md](stability.md), which of them to watch in [monitoring.md](monitoring.md). A metric is missing where there is nothing to",
           "tell, such as that of journals without a journal. Metrics of RocksDB, and of what else is no promise, may change with the engine.", ""]
    for title, names in groups.items():
        if names:
            out += [f"## {title}", "", "| metric | kind | meaning |", "| --- | --- | --- |"]
            out += [f"| `{name}` | {metrics[name][0]} | {escaped(metrics[name][1])} |" for name in names]
            out.append("")
    return "\n".join(out)


def told_by_server(sonde):
    """{name: (kind, help)}, of a server with little in it."""
    with tempfile.TemporaryDirectory() as name:
        log = pathlib.Path(name) / "out"
        with open(log, "wb") as out:
            server = subprocess.Popen([sonde, "serve", "--port", "0", "--http-port", "0", "--data-dir", f"{name}/data", "--pitr-tables", "*",
                                       "--log-file", f"{name}/log"], stdout=out, env={**os.environ, "SONDE_ALLOW_ROOT": "true"})
        try:
            for _ in range(600):
                if found := re.search(r"web page at (http://\S+)", log.read_text()):
                    break
                check(server.poll() is None, "the server ended")
                try:
                    server.wait(0.1)
                except subprocess.TimeoutExpired:
                    pass
            check(found, "the server does not start")
            urllib.request.urlopen(urllib.request.Request(f"{found[1]}write", b"cpu,host=a usage=1 1000000000"), timeout=60).read()
            text = urllib.request.urlopen(f"{found[1]}metrics", timeout=60).read().decode()
        finally:
            server.send_signal(signal.SIGTERM)
            ended = server.wait(60)
    check(ended == 0, f"the server ended with {ended}")
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    return {name: (kinds[name], text.replace("\\n", "\n").replace("\\\\", "\\")) for name, text in re.findall(r"^# HELP (\S+) (.*)$", text, re.MULTILINE)}


def main():
    sonde, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    metrics = metrics_of(root)
    pages = {"docs/commands.md": commands_page(sonde), "docs/metrics.md": metrics_page(metrics)}
    if sys.argv[3:] == ["--write"]:
        for name, text in pages.items():
            (root / name).write_text(text, encoding="utf-8")
        return
    for name, text in pages.items():
        check((root / name).exists() and (root / name).read_text(encoding="utf-8") == text, f"{name} differs: scripts/docs --write SONDE writes it")
    check(pages["docs/commands.md"].count("\n## ") + pages["docs/commands.md"].count("\n### ") > 40, "the page has too few commands")

    told = told_by_server(sonde)
    check(len(told) > 90, f"the server tells only {len(told)} metrics")
    for name, one in told.items():
        check(metrics.get(name) == one, f"{name}: the server says {one}, docs/metrics.md {metrics.get(name)}")
    promised = re.search(r"^```text metrics\n(.*?)^```", (root / "docs/stability.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lacking = set(promised[1].split()) - set(metrics)
    check(not lacking, f"docs/metrics.md lacks {sorted(lacking)}, which docs/stability.md promises")
    print(f"the pages of commands and of {len(metrics)} metrics are the program's own; a server tells {len(told)} of these")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main()
