"""The parts that all packages are made of: the program without symbols, the libraries it needs, licences, completions, manual page."""

import gzip
import pathlib
import platform
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The C library is the machine's own: another copy of it would not start.
OF_THE_MACHINE = re.compile(r"^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv)\.so")
COMPLETIONS = {"bash": "sonde", "zsh": "_sonde", "fish": "sonde.fish"}
SUMMARY = "time-series database that is a Bigtable"


# What the program's messages, README and the documents point to.  The layout is the repository's, so that links between them hold.
DOCUMENTS = ["README.md", "docs/*.md", "docs/*.json", "docs/*.js", "docs/pictures/*", "docs/recipes/*", "docs/formats/*", "docs/decisions/*",
             "examples/**/*.md", "examples/**/*.yaml", "ops/alerts.yaml", "ops/dashboard.json"]


class PackageError(Exception):
    """Something that the packages need is not there."""


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def write(path, content, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)


def copy(source, path, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, path)
    path.chmod(mode)


def packed(text):
    """gzip without name and time, so that the same text gives the same bytes."""
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


class Program:
    """What the packages say of the program, all of it asked from the program itself."""

    def __init__(self, binary, work, date):
        self.work = work
        self.date = date  # seconds since 1970, of all files in packages
        self.version = run(binary, "--version").split()[1]
        self.machine = platform.machine()
        self.manual = run(binary, "manual")
        self.completions = {shell: run(binary, "completion", shell) for shell in COMPLETIONS}
        self.stripped = work / "sonde"
        run("strip", "--strip-unneeded", "-o", self.stripped, binary)
        self.libraries = self._libraries(binary)

    def _libraries(self, binary):
        found = []
        for line in run("ldd", binary).splitlines():
            name, _, rest = line.strip().partition(" => ")
            name = pathlib.Path(name.split()[0]).name
            if OF_THE_MACHINE.match(name):
                continue
            if not rest or "not found" in rest:
                raise PackageError(f"the library {name} of {binary} is not on this machine")
            found.append((name, pathlib.Path(rest.split(" (")[0]).resolve()))
        return found

    def carry(self, directory):
        """directory/bin, lib, share: the program with its own libraries, which runs wherever the directory lies."""
        program = directory / "bin/sonde"
        copy(self.stripped, program, 0o755)
        # DT_RPATH, unlike DT_RUNPATH, also counts for the libraries that libraries need.
        run("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib/sonde", program)
        for name, path in self.libraries:
            copy(path, directory / "lib/sonde" / name)
        share = directory / "share"
        write(share / "man/man1/sonde.1", self.manual)
        write(share / "bash-completion/completions" / COMPLETIONS["bash"], self.completions["bash"])
        write(share / "zsh/site-functions" / COMPLETIONS["zsh"], self.completions["zsh"])
        write(share / "fish/vendor_completions.d" / COMPLETIONS["fish"], self.completions["fish"])
        self.add_licences(share / "doc/sonde")
        self.add_documents(share / "doc/sonde")

    def add_documents(self, directory):
        for pattern in DOCUMENTS:
            found = sorted(ROOT.glob(pattern))
            if not found:
                raise PackageError(f"no document is {pattern}")
            for path in found:
                copy(path, directory / path.relative_to(ROOT))

    def add_licences(self, directory):
        """The licence of Sonde, and those of everything that is linked into it or lies beside it."""
        copy(ROOT / "LICENSE", directory / "LICENSE")
        packages = self._linked_packages()
        for package in sorted(packages):
            path = pathlib.Path("/usr/share/doc") / package / "copyright"
            if not path.exists():
                raise PackageError(f"the package {package} has no {path}")
            copy(path, directory / "licenses" / f"{package}.txt")
        write(directory / "licenses/rocksdb.txt",
              "RocksDB is linked into sonde under the Apache License 2.0 (the file LICENSE of this package).\n"
              "Copyright (c) 2011-present, Facebook, Inc. and its affiliates.  All rights reserved.\n")
        write(directory / "licenses/hbase.txt",
              "The messages by which sonde speaks to HBase follow those of HBase, under the Apache License 2.0 (the file LICENSE\n"
              "of this package), cut to the fields that are used.\n"
              "Apache HBase - Shaded Protocol.  Copyright 2007-2020 The Apache Software Foundation.\n"
              "This product includes software developed at The Apache Software Foundation (http://www.apache.org/).\n")

    def _linked_packages(self):
        script = (ROOT / "scripts/install-dependencies").read_text(encoding="utf-8")
        listed = script.partition("build_packages=(")[2].partition("\n)")[0]
        wanted = set(re.findall(r'^ *"((?:lib[^ ]+|[^ ]+)-dev)\s', listed, re.MULTILINE)) - {"libgtest-dev", "libgmock-dev"}
        for _, path in self.libraries:
            for name in (path, pathlib.Path(str(path).removeprefix("/usr"))):  # Debian's two names of one directory
                asked = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False)
                if asked.returncode == 0:
                    wanted.add(asked.stdout.split(":")[0])
                    break
            else:
                raise PackageError(f"no package owns the library {path}")
        return wanted
