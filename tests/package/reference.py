#!/usr/bin/env python3
"""Every command and option that `sonde --help` and the help of all commands show is in the completions and in the manual page; the
shells load the completions and complete; the manual page has no fault that groff knows.

usage: reference.py SONDE ROOT
"""

import re
import shutil
import subprocess
import sys
import tempfile

OPTION = re.compile(r"^  (-[^ ]+)")
COMMAND = re.compile(r"^  ([a-z][a-z-]*)(?: |$)")


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def run(*command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, **options)
    check(done.returncode == 0, f"{command} ended with {done.returncode}: {done.stderr}")
    check(done.stderr == "", f"{command} complains: {done.stderr}")
    return done.stdout


def commands_of(sonde, path=()):
    """{words: (options, commands)}, by the help of each command alone."""
    if path == ("help",):  # shows the help of others
        return {("sonde", "help"): (["-h", "--help"], [])}
    options, below, section = [], [], ""
    for line in run(sonde, *path, "--help").splitlines():
        if re.match(r"^[A-Z]\w*:$", line):
            section = line
        elif line == "":
            section = ""
        elif section == "Options:" and (found := OPTION.match(line)):
            options += found.group(1).rstrip(",").split(",")
        elif section == "Subcommands:" and (found := COMMAND.match(line)):
            below.append(found.group(1))
    commands = {("sonde", *path): (options, below)}
    for name in below:
        commands |= commands_of(sonde, (*path, name))
    return commands


def words(text):
    return set(text.split())


class Bash:
    def __init__(self, sonde, directory):
        self.script = f"{directory}/sonde.bash"
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(run(sonde, "completion", "bash"))

    def complete(self, *line):
        ask = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); complete -p sonde > /dev/null; _sonde; '
               'printf "%s\\n" "${COMPREPLY[@]}"')
        return words(run("bash", "--norc", "-u", "-c", ask, "bash", self.script, *line))


class Zsh:
    """Its widgets run in an editor only: here, functions of the same names print what they are given."""

    def __init__(self, sonde, directory):
        self.script = f"{directory}/_sonde"
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(run(sonde, "completion", "zsh"))

    def complete(self, *line):
        ask = ('compdef() { [[ "$*" == "_sonde sonde" ]] || exit 3 }; compset() { }; _files() { print FILES }; '
               'compadd() { shift; print -l -- "$@" }; '
               '_describe() { local v="${@[-1]}"; for one in "${(@P)v}"; do print -r -- "${one%%:*}"; done }; '
               'source "$1"; shift; words=("$@"); CURRENT=$#; _sonde')
        return words(run("zsh", "-f", "-c", ask, "zsh", self.script, *line))


class Fish:
    def __init__(self, sonde, directory):
        self.home = directory
        self.script = f"{directory}/sonde.fish"
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(run(sonde, "completion", "fish"))

    def complete(self, *line):
        ask = f"source {self.script}; complete -C '{' '.join(line)}'"
        found = run("fish", "--no-config", "-c", ask, cwd=self.home, env={"HOME": self.home, "PATH": "/usr/bin:/bin"})
        return {one.split("\t")[0] for one in found.splitlines()}


def check_shell(shell, commands):
    name = type(shell).__name__
    for path, (options, below) in commands.items():
        for start in ["-", "--"]:
            wanted = {option for option in options if option.startswith(start)}
            missing = wanted - shell.complete(*path, start)
            check(not missing, f"{name}: {' '.join(path)} {start} is completed without {missing}")
        missing = set(below) - shell.complete(*path, "")
        check(not missing, f"{name}: {' '.join(path)} is completed without {missing}")
    # Values of options lead nowhere else, whatever they look like.
    check("--durability" in shell.complete("sonde", "serve", "--host", "sql", "--"), f"{name}: 'sql' of --host is taken for a command")
    check("load" not in shell.complete("sonde", "serve", "--data-dir", "series", ""), f"{name}: a value begins a command")
    check({"auto", "always", "never"} <= shell.complete("sonde", "sql", "--color", ""), f"{name}: --color has no choices")
    check({"bash", "zsh", "fish"} <= shell.complete("sonde", "completion", ""), f"{name}: completion has no shells")


def check_manual(sonde, commands):
    page = run(sonde, "manual")
    sections = {}
    section = ("sonde",)
    for line in page.splitlines():
        if found := re.match(r'^\.SS "(.*)"$', line):
            section = tuple(found.group(1).replace("\\-", "-").split())
            check(section not in sections, f"the manual page has two sections of {section}")
        sections.setdefault(section, []).append(line.replace("\\-", "-"))
    check(set(sections) == set(commands), f"sections and commands differ: {set(sections) ^ set(commands)}")
    for path, (options, _) in commands.items():
        there = set(re.findall(r"\\fB(-[^\\]+)\\fR", "\n".join(sections[path])))
        check(there == set(options), f"{' '.join(path)}: the manual page and --help differ in {there ^ set(options)}")
    groff = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, text=True, timeout=60)
    check(groff.returncode == 0 and groff.stderr == "", f"groff complains: {groff.stderr}")


def main():
    sonde = sys.argv[1]
    commands = commands_of(sonde)
    check(len(commands) >= 20 and ("sonde", "series", "query") in commands, f"the help shows only {list(commands)}")
    check(sum(len(options) for options, _ in commands.values()) > 100, "the help shows too few options")
    left_out = []
    with tempfile.TemporaryDirectory() as directory:
        for shell in [Bash, Zsh, Fish]:
            if shutil.which(shell.__name__.lower()):
                check_shell(shell(sonde, directory), commands)
            else:
                left_out.append(shell.__name__.lower())
    wrong = subprocess.run([sonde, "completion", "tcsh"], capture_output=True, text=True, timeout=60)
    check(wrong.returncode == 2 and "tcsh" in wrong.stderr, f"a shell that is not known ended with {wrong}")
    if shutil.which("groff"):
        check_manual(sonde, commands)
    else:
        left_out.append("groff")
    print(f"{len(commands)} commands")
    if left_out:
        print(f"not run, for want of {', '.join(left_out)}: the rest passed")
        sys.exit(77)


if __name__ == "__main__":
    main()
