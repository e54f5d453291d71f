#!/usr/bin/env python3
"""Makes the packages of a program that is built: see scripts/package.

The same program, source and date (SOURCE_DATE_EPOCH, or that of the last commit) give the same bytes.

usage: build.py --binary FILE --out DIRECTORY [--only deb|image|tarball|wheel]
Exit status: 0 the packages' paths are on stdout, 1 a step failed, 2 the call was wrong.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import debian
import image
import stage
import tarball
import wheel

KINDS = {"deb": debian.build, "image": image.build, "tarball": tarball.build, "wheel": wheel.build}


def source_date():
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    log = subprocess.run(["git", "-C", stage.ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True, check=True)
    return int(log.stdout)


def main():
    parser = argparse.ArgumentParser(description="Makes the packages of a program that is built.")
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--only", action="append", choices=sorted(KINDS))
    arguments = parser.parse_args()
    if not os.access(arguments.binary, os.X_OK):
        parser.error(f"--binary must name a program, but is {arguments.binary}")
    os.umask(0o022)
    arguments.out.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as work:
            program = stage.Program(arguments.binary.resolve(), pathlib.Path(work), source_date())
            for kind in arguments.only or sorted(KINDS):
                print(KINDS[kind](program, arguments.out))
    except subprocess.CalledProcessError as error:
        sys.exit(f"package: {' '.join(map(str, error.cmd))} failed: {error.stderr or error.stdout or error}")
    except stage.PackageError as error:
        sys.exit(f"package: {error}")


if __name__ == "__main__":
    main()
