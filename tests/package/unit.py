#!/usr/bin/env python3
"""The unit is as fenced in as it is meant to be, has no key that systemd does not know, and the user's file is one that sysusers reads.

usage: unit.py SONDE ROOT
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

EXPOSURE_MAX = 1.5


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def main():
    sonde, ops = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]) / "ops"
    for tool in ["systemd-analyze", "systemd-sysusers"]:
        if not shutil.which(tool):
            print(f"{tool} is not here: install systemd")
            sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        # Where the program of the unit is the one that was built, `verify` finds all that it names.
        unit = pathlib.Path(name) / "sonde.service"
        text = (ops / "sonde.service").read_text(encoding="utf-8")
        check("ExecStart=/usr/bin/sonde serve --config /etc/sonde/sonde.yaml\n" in text, "ExecStart is another")
        text = text.replace("/usr/bin/sonde", str(sonde)).replace("Documentation=man:sonde(1)\n", "")
        unit.write_text(text, encoding="utf-8")
        verified = run("systemd-analyze", "verify", "--man=no", unit)
        check(verified.returncode == 0 and "sonde" not in verified.stderr, f"verify says: {verified.stderr}")

        rated = run("systemd-analyze", "security", "--offline=yes", unit)
        exposure = re.search(r"exposure level for sonde.service: ([0-9.]+)", rated.stdout)
        check(exposure, f"systemd-analyze security says: {rated.stdout[-500:]}{rated.stderr}")
        check(float(exposure.group(1)) <= EXPOSURE_MAX, f"the exposure is {exposure.group(1)}, but must be at most {EXPOSURE_MAX}")
        print(f"exposure {exposure.group(1)}")

        root = pathlib.Path(name) / "root"
        (root / "etc").mkdir(parents=True)
        made = run("systemd-sysusers", f"--root={root}", ops / "sonde.sysusers")
        check(made.returncode == 0, f"systemd-sysusers says: {made.stderr}")
        users = (root / "etc/passwd").read_text(encoding="utf-8")
        check(re.search(r"^sonde:x:\d+:\d+:Sonde:/var/lib/sonde:\S*nologin$", users, re.MULTILINE), f"the users are {users}")


if __name__ == "__main__":
    main()
