#!/usr/bin/env python3
"""The alert rules: promtool takes them, their tests pass, each rule has a test that fires, one that does not, and an entry of its
name in the runbook; and nothing else has.

usage: alerts.py ROOT

Exit status 77: no promtool or no yaml here.
"""

import pathlib
import re
import shutil
import subprocess
import sys


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def promtool(*arguments):
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, timeout=500)
    check(done.returncode == 0, f"promtool {' '.join(map(str, arguments))}: {done.stdout[-3000:]}{done.stderr[-3000:]}")


def same(what, found, rules):
    check(len(found) == len(set(found)), f"{what}: {sorted(name for name in set(found) if found.count(name) > 1)} more than once")
    check(set(found) == set(rules), f"{what}: without {sorted(set(rules) - set(found))}, and too much {sorted(set(found) - set(rules))}")


def main():
    try:
        import yaml
    except ImportError:
        yaml = None
    if yaml is None or not shutil.which("promtool"):
        print("alerts: NOT RUN: python3-yaml and prometheus are needed (scripts/install-dependencies --tests)", file=sys.stderr)
        sys.exit(77)
    root = pathlib.Path(sys.argv[1])
    rules_file, tests_file = root / "ops/alerts.yaml", root / "ops/alerts_test.yaml"
    promtool("check", "rules", rules_file)
    promtool("test", "rules", tests_file)

    rules = [rule for group in yaml.safe_load(rules_file.read_text())["groups"] for rule in group["rules"]]
    names = [rule["alert"] for rule in rules]
    check(names and len(names) == len(set(names)), "a name stands for two rules, or there are none")
    for rule in rules:
        check(rule["labels"].get("severity") in ["page", "ticket"], f"{rule['alert']}: severity is {rule['labels']}")
        check(rule["annotations"].get("summary", "").endswith("."), f"{rule['alert']}: its summary is no sentence")
    fires, rests = [], []
    for test in yaml.safe_load(tests_file.read_text())["tests"]:
        for case in test["alert_rule_test"]:
            (fires if case["exp_alerts"] else rests).append(case["alertname"])
    same("tests that fire", fires, names)
    same("tests that do not", rests, names)
    runbook = (root / "docs/runbook.md").read_text()
    same("docs/runbook.md", re.findall(r"^## (\w+)$", runbook, re.MULTILINE), names)
    for entry in re.split(r"^## ", runbook, flags=re.MULTILINE)[1:]:
        parts = re.findall(r"^\*\*(\w+)\.\*\* \S", entry, re.MULTILINE)
        check(parts == ["Means", "Look", "Do"], f"docs/runbook.md: {entry.split()[0]} has {parts}")
    print(f"{len(names)} rules")


if __name__ == "__main__":
    main()
