#!/usr/bin/env python3
"""docs/settings.md and docs/settings.schema.json are what the program prints of its own settings; each word that the schema allows is
taken by `sonde serve --check-config`, and another one is refused; the packaged file keeps to the schema.

usage: settings.py SONDE ROOT
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def run(*command, **environment):
    return subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                          env={name: value for name, value in os.environ.items() if not name.startswith("SONDE_")} | environment)


def main():
    sonde, root = sys.argv[1], pathlib.Path(sys.argv[2])
    for command, name in (("reference", "settings.md"), ("schema", "settings.schema.json")):
        printed = run(sonde, "config", command)
        check(printed.returncode == 0 and printed.stderr == "", f"sonde config {command}: {printed.stderr}")
        file = root / "docs" / name
        check(printed.stdout == file.read_text(encoding="utf-8"), f"docs/{name} differs: sonde config {command} > docs/{name}")
    schema = json.loads(printed.stdout)["properties"]

    shown = {line["key"] for line in json.loads(run(sonde, "config", "show", "--json").stdout)}
    known = {key for key in schema if key != "tls"} | {f"tls.{key}" for key in schema["tls"]["properties"]}
    check(shown == known, f"config show and the schema differ in {shown ^ known}")

    with tempfile.TemporaryDirectory() as work:
        file = pathlib.Path(work) / "sonde.yaml"

        def taken(key, value):
            file.write_text(f"{key}: {value}\n", encoding="utf-8")
            done = run(sonde, "config", "show", "--config", file)
            check(done.returncode in (0, 2), f"{key}: {value} ends with {done.returncode}")
            # --audit and --audit-data ask for --auth beside, which is no fault of the word.
            return done.returncode == 0 or "need an authentication file" in done.stderr

        words = 0
        for key, facts in schema.items():
            for word in facts.get("enum", []):
                check(taken(key, word), f"{key}: {word} is in the schema, and refused")
                words += 1
            if "enum" in facts:
                check(not taken(key, "nothing"), f"{key}: nothing is not in the schema, and taken")
            if facts["type"] in ("boolean", "integer"):
                check(not taken(key, "[]") and not taken(key, "several"), f"{key} is a {facts['type']}, and takes a text")
            if "pattern" in facts:
                for value in ("64MiB", "1 gb", "1073741824", "30s", "1.5h", "2m30s", "lots", "-1s", "5 parsecs", "MiB", ""):
                    fits = re.search(facts["pattern"], value) is not None
                    check(fits or not taken(key, json.dumps(value)), f"{key}: {value} is not in the schema, and taken")
        check(words >= 15, f"the schema has only {words} words")

        packaged = (root / "ops/sonde.yaml").read_text(encoding="utf-8")
        keys = set(re.findall(r"^(?:# )?([a-z_]+):(?: |$)", packaged, re.MULTILINE))
        check(set(schema) == keys & set(schema), f"ops/sonde.yaml lacks {set(schema) - keys}")
    print("the page and the schema of the settings are the program's own")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main()
