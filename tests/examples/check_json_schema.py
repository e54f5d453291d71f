#!/usr/bin/env python3
"""Holds docs/series.schema.json against every declaration under examples/, and against declarations that are wrong.

usage: check_json_schema.py SONDE ROOT

A declaration that `sonde series check` can read must be valid, and each of the wrong ones must be neither.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
    import yaml
except ImportError as error:
    # Debian's packages are those of Debian's python.
    if os.path.exists("/usr/bin/python3") and os.environ.get("SONDE_PYTHON") != "debian":
        os.environ["SONDE_PYTHON"] = "debian"
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print(f"not run: {error} (scripts/install-dependencies --tests installs python3-jsonschema, python3-yaml)")
    sys.exit(77)

HEAD = "series: s\ntags: { host: string }\nfields: { x: double }\n"
WRONG = [
    "fields: { x: double }\nkey: [time]\nlayout: row\n",
    HEAD,
    HEAD + "key: []\n",
    HEAD + "key: [host]\nlayout: tall\n",
    HEAD + "key: [host]\nbucket: fortnight\n",
    HEAD + "key: [host]\ntabel: t\n",
    HEAD + "key: [host, { salt: 1 }]\n",
    HEAD + "key: [host, { time: hh }]\nlayout: row\n",
    HEAD + "key: [host]\nretention: { max_versions: none }\n",
    HEAD + "key: [host]\nderive: [ view: x ]\n",
    HEAD + "key: [host]\nderive: [ rollup: { table: r, aggregates: [avg] } ]\n",
    HEAD + "key: [host]\nqueries: [{ ask: x, rate: often }]\n",
    HEAD + "key: [host]\nversions: [{ until: soon, table: x }]\n",
    HEAD + "key: [host]\ntime: { origin: long ago }\n",
    HEAD.replace("double", "float") + "key: [host]\n",
]


def texts(node):
    """Scalars as the declaration's reader sees them: dates and the like are texts."""
    if isinstance(node, dict):
        return {str(key): texts(value) for key, value in node.items()}
    if isinstance(node, list):
        return [texts(value) for value in node]
    return node if isinstance(node, (bool, int, float, str)) or node is None else str(node)


class Loader(yaml.SafeLoader):
    """Without times: they are texts to Sonde."""


Loader.yaml_implicit_resolvers = {
    key: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for key, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def is_readable(sonde, path):
    result = subprocess.run([sonde, "series", "explain", str(path)], capture_output=True, text=True, check=False)
    return result.returncode == 0, result.stderr


def main():
    sonde, root = sys.argv[1], pathlib.Path(sys.argv[2])
    schema = json.loads((root / "docs/series.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    failures = []
    files = sorted((root / "examples").rglob("*.yaml"))
    for path in files:
        for error in validator.iter_errors(texts(yaml.load(path.read_text(), Loader))):
            failures.append(f"{path}: {'/'.join(map(str, error.path))}: {error.message}")
        readable, message = is_readable(sonde, path)
        if not readable:
            failures.append(f"{path}: sonde can't read it: {message}")
    with tempfile.TemporaryDirectory() as directory:
        for number, text in enumerate(WRONG):
            path = pathlib.Path(directory) / f"wrong{number}.yaml"
            path.write_text(text)
            if validator.is_valid(texts(yaml.load(text, Loader))):
                failures.append(f"valid, but wrong: {text!r}")
            if is_readable(sonde, path)[0]:
                failures.append(f"read, but wrong: {text!r}")
    print("\n".join(failures) or f"{len(files)} declarations are valid, {len(WRONG)} are not")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
