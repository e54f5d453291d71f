"""The Python wheel: no Python in it, but the program and its libraries, which pip puts into bin and lib of an environment.

Source of the shape: the binary distribution format of the Python packaging specifications.
"""

import base64
import hashlib
import platform
import shutil
import time
import zipfile

import stage


def metadata(program):
    return (f"Metadata-Version: 2.1\nName: sonde\nVersion: {program.version}\n"
            f"Summary: A {stage.SUMMARY}: the program itself\nLicense: Apache-2.0\n"
            "Description-Content-Type: text/markdown\n\n"
            "# Sonde\n\nA time-series database that is a Bigtable, as one program:\n\n"
            "    sonde serve --data-dir DIRECTORY\n    sonde --help\n")


def build(program, out):
    library, version = platform.libc_ver()
    if library != "glibc":
        raise stage.PackageError(f"a wheel is made for glibc, but this machine has '{library}'")
    tag = f"py3-none-manylinux_{version.replace('.', '_')}_{program.machine}"
    base = f"sonde-{program.version}"
    carried = program.work / "wheel"
    program.carry(carried)
    files = {}  # name in the wheel: (bytes, mode)
    for path in sorted(carried.rglob("*")):
        if not path.is_file():
            continue
        inside = path.relative_to(carried).as_posix()
        where = f"scripts/{path.name}" if inside.startswith("bin/") else f"data/{inside}"
        files[f"{base}.data/{where}"] = (path.read_bytes(), path.stat().st_mode)
    shutil.rmtree(carried)
    files[f"{base}.dist-info/METADATA"] = (metadata(program).encode(), 0o100644)
    files[f"{base}.dist-info/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: sonde\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o100644)
    record = f"{base}.dist-info/RECORD"
    lines = []
    for name, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    files[record] = ("".join([*lines, f"{record},,\n"]).encode(), 0o100644)

    path = out / f"{base}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (content, mode) in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(program.date)[:6])
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return path
